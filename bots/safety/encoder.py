"""A fine-tuned transformers encoder as a classifier. This file judges; `fit_encoder` trains.

How a turn is written down: the judged utterance first, "bot: ..." or "human: ...", then, as the second segment, the
context in the same way, a line an utterance. The tokenizer's own separators stand around the two, so that what is
judged is never mistaken for what was said before, and `transformers.pipeline` given `{"text": ..., "text_pair": ...}`
reads the same. Where it is too long, the oldest words of the context go first. (Our choice: the released model saw the
utterances joined by newlines and nothing of who speaks; ParlAI issue 3858.)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bots.safety.errors import ModelError
from bots.safety.turns import Turn, window

NAME = "encoder"
TOKENS_A_BATCH = {"cpu": 2_048, "cuda": 32_768}
"""Tokens judged together, padding included: more would not be quicker (bench/scoring.py)."""


def written(turn: Turn, utterances: int) -> tuple[str, str]:
    """The judged utterance and its context as the model reads them."""
    *before, judged = (
        f"{speaker}: {text}" if speaker else text for speaker, text in window(turn, utterances)
    )
    return judged, "\n".join(before)


@dataclass(frozen=True, slots=True)
class Ends:
    """What a tokenizer puts before, between and after the segments, and the type it gives each of the two."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    types: tuple[int, int]

    def join(self, judged: list[int], context: list[int], limit: int) -> tuple[list[int], list[int]]:
        """Token ids and segment types, `limit` at most: first the start of the context goes, then the utterance's
        end.
        """
        fixed = len(self.before) + len(self.between) + len(self.after)
        judged = judged[: limit - fixed]
        room = limit - fixed - len(judged)
        context = context[max(0, len(context) - room) :] if room else []
        first = [*self.before, *judged, *self.between]
        second = [*context, *self.after]
        return [*first, *second], [self.types[0]] * len(first) + [self.types[1]] * len(second)


def ends_of(tokenizer: Any, *, pair: bool) -> Ends:
    """How this tokenizer joins two segments (or wraps one), read off an example."""
    made = tokenizer("a", "a") if pair else tokenizer("a")
    whose, ids = made.sequence_ids(), list(made["input_ids"])
    types = list(made.get("token_type_ids") or [0] * len(ids))
    first = [place for place, one in enumerate(whose) if one == 0]
    second = [place for place, one in enumerate(whose) if one == 1] or [len(ids)]
    if not first:
        raise ModelError("The tokenizer does not know the letter a: it cannot be the one of this model.")
    return Ends(
        before=tuple(ids[: first[0]]),
        between=tuple(ids[first[-1] + 1 : second[0]]),
        after=tuple(ids[second[-1] + 1 :]),
        types=(types[first[0]], types[second[0]] if pair else types[first[0]]),
    )


class Writer:
    """Turns into token ids. `limit` tokens at most, the model's own limit respected."""

    def __init__(self, tokenizer: Any, context: int, limit: int) -> None:
        if tokenizer.pad_token_id is None:
            raise ModelError("The tokenizer has no padding token: this is no encoder.")
        self.tokenizer, self.context, self.limit = tokenizer, context, limit
        self.single, self.pair = ends_of(tokenizer, pair=False), ends_of(tokenizer, pair=True)

    def rows(self, turns: Sequence[Turn]) -> list[tuple[list[int], list[int]]]:
        """(token ids, segment types) of each turn."""
        texts = [written(turn, self.context) for turn in turns]
        judged = self._ids([one for one, _ in texts])
        context = self._ids([one for _, one in texts])
        return [
            (self.pair if after else self.single).join(ids, after, self.limit)
            for ids, after in zip(judged, context, strict=True)
        ]

    def _ids(self, texts: list[str]) -> list[list[int]]:
        made = self.tokenizer(
            texts,
            add_special_tokens=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        return list(made["input_ids"])

    def batch(self, rows: Sequence[tuple[list[int], list[int]]], device: str) -> dict[str, Any]:
        """The rows as tensors, padded to the longest."""
        import torch

        width = max(len(ids) for ids, _ in rows)
        pad = self.tokenizer.pad_token_id
        named = {
            "input_ids": [ids + [pad] * (width - len(ids)) for ids, _ in rows],
            "attention_mask": [[1] * len(ids) + [0] * (width - len(ids)) for ids, _ in rows],
        }
        if "token_type_ids" in self.tokenizer.model_input_names:
            named["token_type_ids"] = [types + [0] * (width - len(types)) for _, types in rows]
        return {name: torch.tensor(table).to(device) for name, table in named.items()}


class Encoder:
    """A model in memory. `probabilities(turns)` gives, for every turn, a probability for each of `labels`."""

    def __init__(self, model: Any, writer: Writer, labels: Sequence[str], device: str) -> None:
        self.model, self.writer, self.device = model, writer, device
        self.labels, self.context = tuple(labels), writer.context

    def probabilities(self, turns: Sequence[Turn]) -> list[list[float]]:
        import torch

        rows = self.writer.rows(turns)
        found: list[list[float]] = [[] for _ in rows]
        was_training = self.model.training
        self.model.eval()
        with torch.inference_mode():
            for places in batches([len(ids) for ids, _ in rows], TOKENS_A_BATCH[self.device]):
                logits = self.model(
                    **self.writer.batch([rows[place] for place in places], self.device)
                ).logits
                for place, row in zip(places, logits.float().softmax(-1).tolist(), strict=True):
                    found[place] = row
        self.model.train(was_training)
        return found


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Places of rows to judge together: of like length, and `tokens` at most with padding (one row at least)."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        if batch and lengths[place] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def device_of() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def load(folder: Path, labels: Sequence[str], context: int) -> Encoder:
    """The model in a folder. Raises ModelError if transformers cannot load it, or if its labels are others."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForSequenceClassification.from_pretrained(
            folder, local_files_only=True, use_safetensors=True
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ModelError(f"The model in {folder} cannot be loaded: {str(error)[:300]}") from error
    own = [model.config.id2label[number] for number in range(model.config.num_labels)]
    if own != list(labels):
        raise ModelError(f"The labels of the model in {folder} are {own}, and its card says {list(labels)}.")
    device = device_of()
    return Encoder(
        model.to(device).eval(), Writer(tokenizer, context, tokenizer.model_max_length), labels, device
    )
