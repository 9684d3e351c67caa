"""A training loop that can be killed at any moment and goes on to the same result.

Whatever chance decides (the order of rows, dropout, masks) follows from the seed and the number of the step, so that
a checkpoint needs the weights, the optimizer and that number, and nothing else. Runs on a CPU, a GPU, or several
processes by torchrun. Checkpoints are safetensors and JSON: nothing in them can run when it is read.
"""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bots.errors import ConfigError
from bots.safety.turns import Progress

OPTIMIZERS = ("adamw", "adamax")
_CLIP = 1.0
_WINDOW = 32
"""Batches whose rows are sorted by length together: less padding, and still a fair draw."""


@dataclass(frozen=True)
class Plan:
    """How to train. Defaults are the paper's where it gives them (ParlAI projects/safety_recipes): adamax, 5e-5,
    batches of 20, 1,000 steps of warming up; the rest is our choice.
    """

    epochs: int = 4
    batch: int = 20
    rate: float = 5e-5
    warmup: int = 1_000
    optimizer: str = "adamax"
    seed: int = 0
    patience: int = 2
    every: int = 200

    def __post_init__(self) -> None:
        if self.optimizer not in OPTIMIZERS:
            raise ConfigError(f"The optimizer is one of {', '.join(OPTIMIZERS)}, not {self.optimizer!r}.")
        if min(self.epochs, self.batch, self.patience, self.every) < 1 or self.rate <= 0 or self.warmup < 0:
            raise ConfigError(
                "Epochs, batch, patience and steps between checkpoints are at least 1, the rate above 0."
            )


@dataclass(frozen=True)
class Task:
    """What to learn. `loss(model, rows)` is the mean loss of these rows; `score(model)` says how good the model is now,
    higher being better; `lengths` and `weights` have an entry a row.
    """

    loss: Callable[[Any, Sequence[int]], Any]
    score: Callable[[Any], float]
    lengths: Sequence[int]
    weights: Sequence[float]


@dataclass
class State:
    """Where a run is. `best` and `epochs_since` are for early stopping."""

    step: int = 0
    epoch: int = 0
    in_epoch: int = 0
    best: float = -1.0
    epochs_since: int = 0
    done: bool = False
    scores: list[float] = field(default_factory=list)


def train(
    model: Any, task: Task, plan: Plan, folder: Path, *, fingerprint: str, device: str, progress: Progress
) -> State:
    """Trains `model` in place and leaves it with the weights of its best epoch.

    Checkpoints go to `folder`; if there are some, the run goes on from the last. Raises ConfigError if they are of
    another run (`fingerprint`).
    """
    run = _Run(
        model=model,
        task=task,
        plan=plan,
        folder=folder,
        fingerprint=fingerprint,
        device=device,
        progress=progress,
    )
    while not run.state.done:
        run.epoch()
    run.load_best()
    return run.state


def rank() -> int:
    """The number of this process among those that torchrun started; 0 without it."""
    return int(os.environ.get("RANK", "0"))


def world() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def order(plan: Plan, epoch: int, lengths: Sequence[int], weights: Sequence[float]) -> list[list[int]]:
    """The batches of an epoch: every row once if all weigh alike, else as many rows drawn by weight."""
    import torch

    chance = torch.Generator().manual_seed(plan.seed * 1_000_003 + epoch)
    if len(set(weights)) == 1:
        drawn = torch.randperm(len(weights), generator=chance).tolist()
    else:
        table = torch.tensor(weights, dtype=torch.float64)
        drawn = torch.multinomial(table, len(weights), replacement=True, generator=chance).tolist()
    window = plan.batch * _WINDOW
    batches: list[list[int]] = []
    for start in range(0, len(drawn), window):
        near = sorted(drawn[start : start + window], key=lambda row: lengths[row])
        batches += [near[at : at + plan.batch] for at in range(0, len(near), plan.batch)]
    return [batches[place] for place in torch.randperm(len(batches), generator=chance).tolist()]


class _Run:
    def __init__(
        self,
        *,
        model: Any,
        task: Task,
        plan: Plan,
        folder: Path,
        fingerprint: str,
        device: str,
        progress: Progress,
    ) -> None:
        import torch

        self.task, self.plan, self.folder, self.progress = task, plan, folder, progress
        self.fingerprint, self.state = fingerprint, State()
        self.model = model.to(device)
        self.outer = _shared(self.model, device)
        kinds = {"adamw": torch.optim.AdamW, "adamax": torch.optim.Adamax}
        self.optimizer: Any = kinds[plan.optimizer](self.model.parameters(), lr=plan.rate)
        self.steps = -(-len(task.lengths) // plan.batch) * plan.epochs
        folder.mkdir(parents=True, exist_ok=True)
        self._resume()

    def epoch(self) -> None:
        """The rest of an epoch, its score, and whether to stop."""
        state = self.state
        for rows in order(self.plan, state.epoch, self.task.lengths, self.task.weights)[state.in_epoch :]:
            self._step(rows)
            if state.step % self.plan.every == 0:
                self._save()
        score = self.task.score(self.model)
        state.scores.append(score)
        state.epoch, state.in_epoch = state.epoch + 1, 0
        if score > state.best:
            state.best, state.epochs_since = score, 0
            self._save_best()
        else:
            state.epochs_since += 1
        state.done = state.epoch == self.plan.epochs or state.epochs_since == self.plan.patience
        self._save()
        self.progress(f"epoch {state.epoch} of {self.plan.epochs}: {score:.4f} on the validation rows")

    def _step(self, rows: Sequence[int]) -> None:
        import torch

        state = self.state
        torch.manual_seed((self.plan.seed * 1_000_003 + state.step) * world() + rank())
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.rate * self._warmth()
        # Every process takes its share of the batch; one that gets none has a row that does not count.
        mine = rows[rank() :: world()]
        share = world() * len(mine) / len(rows)
        loss = self.task.loss(self.outer, mine or rows[:1]) * share
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), _CLIP)
        self.optimizer.step()
        state.step += 1
        state.in_epoch += 1
        if state.step % 50 == 0:
            self.progress(f"step {state.step} of {self.steps}, loss {loss.item():.4f}")

    def _warmth(self) -> float:
        """The share of the full rate at this step: up to 1 while warming up, then down towards 0."""
        warmup = min(self.plan.warmup, self.steps // 10)
        step = self.state.step
        if step < warmup:
            return (step + 1) / warmup
        return (self.steps - step) / (self.steps - warmup)

    def _save(self) -> None:
        """Writes a checkpoint beside the last and then puts it in its place: there is always a whole one."""
        from safetensors.torch import save_file

        if rank():
            return
        last, fresh, old = (self.folder / name for name in ("last", "fresh", "old"))
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        save_file(_copied(self.model.state_dict()), fresh / "model.safetensors")
        save_file(self._moments(), fresh / "optimizer.safetensors")
        about = {"fingerprint": self.fingerprint, "state": asdict(self.state)}
        (fresh / "state.json").write_text(json.dumps(about))
        shutil.rmtree(old, ignore_errors=True)
        if last.exists():
            last.rename(old)
        fresh.rename(last)
        shutil.rmtree(old, ignore_errors=True)

    def _moments(self) -> dict[str, Any]:
        state = self.optimizer.state_dict()["state"]
        return {
            f"{number}.{name}": value.clone()
            for number, values in state.items()
            for name, value in values.items()
        }

    def _save_best(self) -> None:
        from safetensors.torch import save_file

        if rank():
            return
        fresh = self.folder / "best.fresh"
        save_file(_copied(self.model.state_dict()), fresh)
        fresh.replace(self.folder / "best.safetensors")

    def load_best(self) -> None:
        from safetensors.torch import load_file

        _wait()
        self.model.load_state_dict(load_file(self.folder / "best.safetensors"))

    def _resume(self) -> None:
        from safetensors.torch import load_file

        found = [
            self.folder / name for name in ("last", "old") if (self.folder / name / "state.json").is_file()
        ]
        _wait()
        if not found:
            return
        about = json.loads((found[0] / "state.json").read_text())
        if about["fingerprint"] != self.fingerprint:
            raise ConfigError(
                f"{self.folder} holds a checkpoint of a run with other data or settings. "
                "Remove it, or choose another --out."
            )
        self.state = State(**about["state"])
        self.model.load_state_dict(load_file(found[0] / "model.safetensors"))
        moments: dict[int, dict[str, Any]] = {}
        for key, value in load_file(found[0] / "optimizer.safetensors").items():
            number, _, name = key.partition(".")
            moments.setdefault(int(number), {})[name] = value
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        self.progress(f"going on from step {self.state.step} of {self.steps}")


def _copied(tensors: dict[str, Any]) -> dict[str, Any]:
    """Copies of their own: tied weights share memory, which safetensors refuses."""
    return {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}


def _shared(model: Any, device: str) -> Any:
    """The model, its gradients averaged over the processes where torchrun started several."""
    if world() == 1:
        return model
    import torch

    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    return torch.nn.parallel.DistributedDataParallel(model)


def _wait() -> None:
    if world() > 1:
        import torch

        torch.distributed.barrier()
