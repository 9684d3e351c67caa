"""The paper's first step: an encoder learns a language from a corpus by guessing words that are hidden from it.

Masked language modelling (Devlin et al. 2019, arXiv 1810.04805): of 15 % of the tokens, 80 % are hidden, 10 % are
others and 10 % stay. What comes out is a base for `train_safety`.
"""

import hashlib
import json
import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bots.safety import loop
from bots.safety.encoder import batches
from bots.safety.errors import DataError, ModelError
from bots.safety.fit_encoder import make_config, make_tokenizer, own_device, tokens_of
from bots.safety.presets import MAX_TOKENS, SHAPES
from bots.safety.readers.lines import numbered
from bots.safety.sources import sha256
from bots.safety.turns import Progress
from bots.text import one_line

HIDDEN, KEPT_BACK = 0.15, 0.05
ABOUT = "pretraining.json"
_NOT_JUDGED = -100
_TOKENS = 4_096


@dataclass(frozen=True)
class Settings:
    """`corpus`: text files, a passage a line. `base`: a shape by name, or an encoder to go on from."""

    base: str
    corpus: Sequence[Path]
    out: Path
    max_tokens: int = MAX_TOKENS
    plan: loop.Plan = field(default_factory=loop.Plan)


def pretrain(settings: Settings, progress: Progress) -> dict[str, Any]:
    """Trains and writes the folder; gives what is known of it. Killed and run again, it goes on.

    A twentieth of the lines, by their hash, are kept back to measure on. Raises DataError for a file that cannot be
    read or too small a corpus, ModelError for a base that cannot be used.
    """
    import torch

    texts = [text for path in settings.corpus for text in _lines(path)]
    held = [text for text in texts if _held_back(text)]
    rest = [text for text in texts if not _held_back(text)]
    if not held or not rest:
        raise DataError(
            settings.corpus[0], "", f"{len(texts)} lines are too few to learn from and to measure on."
        )
    device = own_device()
    torch.manual_seed(settings.plan.seed)
    model, tokenizer = _start(settings.base, rest)
    limit = min(settings.max_tokens, tokens_of(model, tokenizer))
    tokenizer.model_max_length = limit
    masker = _Masker(tokenizer, device)
    rows, measured = masker.rows(rest, limit), masker.rows(held, limit)
    progress(f"{len(rows)} lines, {sum(p.numel() for p in model.parameters()):,} parameters, on {device}")

    def loss(outer: Any, places: Sequence[int]) -> Any:
        batch, wanted = masker.batch([rows[place] for place in places])
        with torch.autocast("cuda", torch.bfloat16, enabled=device.startswith("cuda")):
            logits = outer(**batch).logits
        return torch.nn.functional.cross_entropy(
            logits.float().flatten(0, 1), wanted.flatten(), ignore_index=_NOT_JUDGED, reduction="sum"
        ) / (wanted != _NOT_JUDGED).sum().clamp(min=1)

    task = loop.Task(
        loss, lambda made: masker.chance(made, measured), [len(row) for row in rows], [1.0] * len(rows)
    )
    folder = settings.out / "checkpoints"
    state = loop.train(
        model,
        task,
        settings.plan,
        folder,
        fingerprint=_fingerprint(settings),
        device=device,
        progress=progress,
    )
    about = {
        "base": Path(settings.base).name,
        "corpus": [{"file": path.name, "sha256": sha256(path)} for path in settings.corpus],
        "lines": len(texts),
        "settings": {"max_tokens": settings.max_tokens, **asdict(settings.plan)},
        "perplexity": round(1 / max(state.best, 1e-9), 3),
    }
    if not loop.rank():
        model.save_pretrained(settings.out)
        tokenizer.save_pretrained(settings.out)
        (settings.out / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(folder)
    return about


class _Masker:
    """Lines into token ids, and these into batches with hidden places."""

    def __init__(self, tokenizer: Any, device: str) -> None:
        if tokenizer.mask_token_id is None:
            raise ModelError("The tokenizer has no mask token: this base cannot be trained by hiding words.")
        self.tokenizer, self.device = tokenizer, device
        self.special = sorted(tokenizer.all_special_ids)

    def rows(self, texts: Sequence[str], limit: int) -> list[list[int]]:
        return list(self.tokenizer(list(texts), truncation=True, max_length=limit)["input_ids"])

    def batch(self, rows: Sequence[list[int]]) -> tuple[dict[str, Any], Any]:
        """The model's input, and the tokens to guess (elsewhere a mark that nothing is)."""
        import torch

        width = max(map(len, rows))
        pad = self.tokenizer.pad_token_id
        ids = torch.tensor([row + [pad] * (width - len(row)) for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        hidden = (torch.rand(ids.shape) < HIDDEN) & ~torch.isin(ids, torch.tensor(self.special))
        wanted = torch.where(hidden, ids, _NOT_JUDGED)
        draw = torch.rand(ids.shape)
        other = torch.randint(len(self.tokenizer), ids.shape)
        shown = torch.where(hidden & (draw < 0.8), self.tokenizer.mask_token_id, ids)
        shown = torch.where(hidden & (draw >= 0.9), other, shown)
        named = {"input_ids": shown.to(self.device), "attention_mask": mask.to(self.device)}
        return named, wanted.to(self.device)

    def chance(self, model: Any, rows: Sequence[list[int]]) -> float:
        """The chance that the model gives the right token, as a geometric mean: 1 over its perplexity."""
        import torch

        torch.manual_seed(0)  # the same places are hidden every time
        was_training, total, places = model.training, 0.0, 0
        model.eval()
        with torch.inference_mode():
            for some in batches([len(row) for row in rows], _TOKENS):
                batch, wanted = self.batch([rows[place] for place in some])
                logits = model(**batch).logits.float().flatten(0, 1)
                total += torch.nn.functional.cross_entropy(
                    logits, wanted.flatten(), ignore_index=_NOT_JUDGED, reduction="sum"
                ).item()
                places += int((wanted != _NOT_JUDGED).sum())
        model.train(was_training)
        return math.exp(-total / max(places, 1))


def _lines(path: Path) -> Iterator[str]:
    if not path.is_file():
        raise DataError(path, "", "There is no such file.")
    return (text for _, line in numbered(path) if (text := one_line(line)))


def _held_back(text: str) -> bool:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) / 2**64 < KEPT_BACK


def _start(base: str, texts: Sequence[str]) -> tuple[Any, Any]:
    from transformers import AutoModelForMaskedLM, AutoTokenizer, BertForMaskedLM

    if base in SHAPES:
        tokenizer = make_tokenizer(texts, SHAPES[base])
        return BertForMaskedLM(make_config(SHAPES[base], tokenizer)), tokenizer
    try:
        tokenizer = AutoTokenizer.from_pretrained(base)
        model = AutoModelForMaskedLM.from_pretrained(base, use_safetensors=True)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ModelError(f"The base {base} cannot be loaded: {str(error)[:300]}") from error
    return model.float(), tokenizer


def _fingerprint(settings: Settings) -> str:
    plan = {name: value for name, value in asdict(settings.plan).items() if name != "every"}
    decides = [settings.base, settings.max_tokens, plan, [sha256(path) for path in settings.corpus]]
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
