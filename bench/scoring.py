"""Rows a second of `score_safety`'s classifier against transformers' own pipeline, and milliseconds a turn of tfidf.

    python bench/scoring.py [--quick]

The encoder is made on the spot, randomly initialised: 4 layers of 256, tokenizer learned from the rows. The pipeline
runs as it comes (a row at a time) and with batches of 32; both give the same scores for the same rows, which is
checked. Rows are made up: 1 to 4 utterances of 2 to 40 words, most of them short, as in the released data. The last
part is training: steps a second of `train_safety`'s loop against a bare PyTorch loop over the same batches.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bots.safety import encoder, fit_encoder, loop, models
from bots.safety.presets import Shape
from bots.safety.turns import Turn

WORDS = [
    f"{start}{end}" for start in ("ba", "co", "di", "fu", "ge", "lo", "mi") for end in ("n", "rt", "sta", "l")
]
SHAPE = Shape(layers=4, width=256, heads=4, inner=1_024, vocabulary=2_000, positions=512)


def made_up(rows: int) -> list[Turn]:
    chance = random.Random(0)

    def said() -> str:
        return " ".join(chance.choices(WORDS, k=min(40, 2 + int(chance.expovariate(1 / 9)))))

    return [Turn(tuple(said() for _ in range(chance.randrange(4))), said(), "bot") for _ in range(rows)]


def make_model(turns: list[Turn]) -> Any:
    import torch
    from transformers import BertForSequenceClassification

    tokenizer = fit_encoder.make_tokenizer([turn.text for turn in turns], SHAPE)
    torch.manual_seed(0)
    model = BertForSequenceClassification(fit_encoder.make_config(SHAPE, tokenizer))
    device = encoder.device_of()
    return encoder.Encoder(
        model.to(device).eval(), encoder.Writer(tokenizer, 4, 360), ("ok", "notok"), device
    )


def best(run: Any, repeats: int) -> tuple[float, Any]:
    found = []
    for _ in range(repeats):
        started = time.perf_counter()
        result = run()
        found.append((time.perf_counter() - started, result))
    return min(found, key=lambda one: one[0])


def scoring(made: Any, turns: list[Turn], repeats: int) -> None:
    from transformers import TextClassificationPipeline

    given = []
    for turn in turns:
        judged, before = encoder.written(turn, 4)
        given.append({"text": judged, "text_pair": before} if before else {"text": judged})
    pipeline = TextClassificationPipeline(
        model=made.model, tokenizer=made.writer.tokenizer, device=made.device, top_k=None
    )
    seconds, mine = best(lambda: made.probabilities(turns), repeats)
    print(f"{'score_safety':<34}{len(turns) / seconds:>10.0f}{1:>8.2f}")
    for size in (1, 32):
        taken, theirs = best(lambda size=size: pipeline(given, batch_size=size), repeats)
        print(f"{f'pipeline, batch_size={size}':<34}{len(turns) / taken:>10.0f}{seconds / taken:>8.2f}")
        for row, other in zip(mine, theirs, strict=True):
            scores = {one["label"]: one["score"] for one in other}
            assert abs(row[1] - scores["LABEL_1"]) < 1e-4


def one_turn(turns: list[Turn]) -> None:
    model = models.load(models.DEFAULT)
    taken = []
    for turn in turns:
        started = time.perf_counter()
        model.judge([turn])
        taken.append(1_000 * (time.perf_counter() - started))
    taken.sort()
    print(
        f"\ntfidf, one turn: median {statistics.median(taken):.2f} ms, 99 % under {taken[int(0.99 * len(taken))]:.2f} ms"
    )


def training(made: Any, turns: list[Turn], repeats: int) -> None:
    import torch

    rows = made.writer.rows(turns)
    targets = [place % 2 for place in range(len(rows))]
    lengths = [len(ids) for ids, _ in rows]
    plan = loop.Plan(epochs=1, batch=20, optimizer="adamw", every=10_000)

    def loss(model: Any, places: Any) -> Any:
        batch = made.writer.batch([rows[place] for place in places], made.device)
        wanted = torch.tensor([targets[place] for place in places]).to(made.device)
        return torch.nn.functional.cross_entropy(model(**batch).logits, wanted)

    def ours() -> None:
        with tempfile.TemporaryDirectory() as folder:
            task = loop.Task(loss, lambda _: 0.5, lengths, [1.0] * len(rows))
            loop.train(
                made.model,
                task,
                plan,
                Path(folder),
                fingerprint="",
                device=made.device,
                progress=lambda _: None,
            )

    def bare() -> None:
        optimizer = torch.optim.AdamW(made.model.parameters(), lr=plan.rate)
        made.model.train()
        for places in loop.order(plan, 0, lengths, [1.0] * len(rows)):
            value = loss(made.model, places)
            optimizer.zero_grad(set_to_none=True)
            value.backward()
            torch.nn.utils.clip_grad_norm_(made.model.parameters(), 1.0)
            optimizer.step()

    steps = -(-len(rows) // plan.batch)
    floor, _ = best(bare, repeats)
    taken, _ = best(ours, repeats)
    print(f"\n{'training':<34}{'steps/s':>10}{'ratio':>8}")
    print(f"{'bare PyTorch loop':<34}{steps / floor:>10.2f}{1:>8.2f}")
    print(f"{'train_safety, checkpoints included':<34}{steps / taken:>10.2f}{floor / taken:>8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rows, once")
    options = parser.parse_args()
    import torch

    turns = made_up(300 if options.quick else 2_000)
    repeats = 1 if options.quick else 3
    made = make_model(turns)
    where = (
        torch.cuda.get_device_name() if made.device == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    )
    print(f"torch {torch.__version__}, {where}, {len(turns)} rows, encoder of 4 x 256")
    print(f"{'':<34}{'rows/s':>10}{'ratio':>8}")
    made.probabilities(turns[:64])
    scoring(made, turns, repeats)
    one_turn(turns)
    training(made, turns[: 200 if options.quick else 1_000], repeats)


if __name__ == "__main__":
    main()
