"""The small classifier: a linear model over words and letters. This file judges; `fit_tfidf` trains.

What it looks at, each group of features a vector of length 1 (times the group's weight):

- `word`: words and pairs of words of the utterance;
- `char`: 2 to 5 letters in a row of each of its words;
- `said`: its words joined with who says them, for the same words weigh otherwise in a bot's mouth;
- `before`: words of the context;
- `who`: the speaker.

A feature that comes n times counts 1 + ln n, times its inverse document frequency (Salton and Buckley 1988, DOI
10.1016/0306-4573(88)90021-0). Groups and weights were chosen by cross-validation over dialogues (docs/safety.md).
Pure Python: a turn takes well under a millisecond, and a web process may load it.
"""

import json
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from bots.safety import tensors
from bots.safety.errors import ModelError
from bots.safety.turns import Turn, window
from bots.text import LONGEST

GROUPS = {"word": 1.0, "char": 1.0, "said": 0.5, "before": 0.5, "who": 1.0}
"""Every group of features and its weight."""
NAME = "tfidf"
_WEIGHTS, _VOCABULARY = "model.safetensors", "vocabulary.json"
_TOKEN = re.compile(r"\w+|[^\w\s]")
_LETTERS = (2, 3, 4, 5)

Features = dict[str, Counter[str]]
Vocabulary = dict[str, dict[str, int]]


def features(turn: Turn, utterances: int) -> Features:
    """How often each feature of each group comes in the turn, seen with `utterances` of the dialogue."""
    *context, (speaker, text) = window(turn, utterances)
    words = _words(text)
    return {
        "word": Counter([*words, *map(" ".join, pairwise(words))]),
        "char": Counter(_letters(words)),
        "said": Counter(f"{speaker} {word}" for word in words) if speaker else Counter(),
        "before": Counter(word for _, said in context for word in _words(said)),
        "who": Counter([speaker]) if speaker else Counter(),
    }


def _words(text: str) -> list[str]:
    return _TOKEN.findall(text[:LONGEST].lower())


def _letters(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        edged = f" {word} "
        for size in _LETTERS:
            yield from (edged[start : start + size] for start in range(len(edged) - size + 1))


def vector(found: Features, vocabulary: Vocabulary, idf: Sequence[float]) -> Iterator[tuple[int, float]]:
    """(place, value) of each feature that the vocabulary knows."""
    for group, weight in GROUPS.items():
        places = vocabulary[group]
        values = [
            (places[name], (1.0 + math.log(count)) * idf[places[name]])
            for name, count in found[group].items()
            if name in places
        ]
        length = math.sqrt(sum(value * value for _, value in values))
        yield from ((place, weight * value / length) for place, value in values)


class Tfidf:
    """A trained model. `weights` has a row of numbers for each label, one row in all where there are two.

    `probabilities(turns)` gives, for every turn, a probability for each of `labels`.
    """

    def __init__(
        self,
        labels: Sequence[str],
        context: int,
        *,
        vocabulary: Vocabulary,
        idf: "array[float]",
        weights: Sequence["array[float]"],
        bias: Sequence[float],
    ) -> None:
        self.labels, self.context = tuple(labels), context
        self.vocabulary, self.idf, self.weights, self.bias = vocabulary, idf, list(weights), list(bias)

    def probabilities(self, turns: Sequence[Turn]) -> list[list[float]]:
        return [self._one(turn) for turn in turns]

    def _one(self, turn: Turn) -> list[float]:
        known = list(vector(features(turn, self.context), self.vocabulary, self.idf))
        sums = [
            bias + sum(value * row[place] for place, value in known)
            for row, bias in zip(self.weights, self.bias, strict=True)
        ]
        if len(sums) == 1:
            sums = [0.0, *sums]
        top = max(sums)
        powers = [math.exp(each - top) for each in sums]
        return [power / sum(powers) for power in powers]

    def save(self, folder: Path) -> None:
        """Writes the numbers and the vocabulary; the card beside them is the caller's."""
        count = len(self.idf)
        flat = array("f", (number for row in self.weights for number in row))
        tensors.write(
            folder / _WEIGHTS,
            {
                "idf": ((count,), self.idf),
                "weights": ((len(self.weights), count), flat),
                "bias": ((len(self.bias),), array("f", self.bias)),
            },
        )
        names = {group: list(places) for group, places in self.vocabulary.items()}
        text = json.dumps(names, ensure_ascii=False, separators=(",", ":"))
        (folder / _VOCABULARY).write_text(text, encoding="utf-8")


def load(folder: Path, labels: Sequence[str], context: int) -> Tfidf:
    """The model in a folder. Raises ModelError if something in it is missing or does not fit together."""
    try:
        names = json.loads((folder / _VOCABULARY).read_text(encoding="utf-8"))
        vocabulary: Vocabulary = {}
        count = 0
        for group in GROUPS:
            vocabulary[group] = {name: count + place for place, name in enumerate(names[group])}
            count += len(names[group])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"The vocabulary in {folder} cannot be read: {error}") from error
    stored = tensors.read(folder / _WEIGHTS)
    rows = 1 if len(labels) == 2 else len(labels)
    shapes = {name: shape for name, (shape, _) in stored.items()}
    if shapes != {"idf": (count,), "weights": (rows, count), "bias": (rows,)}:
        raise ModelError(f"Numbers and vocabulary in {folder} do not belong together.")
    flat = stored["weights"][1]
    weights = [flat[row * count : (row + 1) * count] for row in range(rows)]
    return Tfidf(
        labels,
        context,
        vocabulary=vocabulary,
        idf=stored["idf"][1],
        weights=weights,
        bias=stored["bias"][1],
    )
