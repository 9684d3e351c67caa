"""A model folder and its card: the only way to a classifier, whatever it is made of."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from bots.safety import encoder, tfidf
from bots.safety.errors import ModelError
from bots.safety.turns import OK, Turn

DEFAULT = Path(__file__).parent / "default"
"""The classifier that ships with the project."""
CARD = "card.json"
NONE = "none"
"""The label of a turn on no sensitive topic."""
SAFE = (OK, NONE)
"""Labels that flag nothing; every other one has a threshold."""


class Classifier(Protocol):
    """What judges: for each turn a probability for each of its labels."""

    labels: tuple[str, ...]
    context: int

    def probabilities(self, turns: Sequence[Turn]) -> list[list[float]]: ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """`label` is the highest of those whose probability reaches its threshold, or the safe one.

    `score` is the highest probability of any label that flags, from 0 to 1; `flagged` says that it counted, and
    `threshold` is the one that the label of that score has.
    """

    label: str
    score: float
    threshold: float
    flagged: bool


class Model:
    """A classifier with its thresholds. `version` changes whenever what it may answer does."""

    def __init__(
        self, classifier: Classifier, thresholds: Mapping[str, float], name: str, version: str
    ) -> None:
        self.classifier, self.name, self.version = classifier, name, version
        self.labels = classifier.labels
        self.safe = next((label for label in self.labels if label in SAFE), NONE)
        self.thresholds = dict(thresholds)

    def judge(self, turns: Sequence[Turn]) -> list[Verdict]:
        """A verdict for each turn, in their order."""
        return [self.verdict(row) for row in self.classifier.probabilities(turns)]

    def verdict(self, probabilities: Sequence[float]) -> Verdict:
        """What the thresholds make of a row of probabilities, one for each label."""
        of = {label: p for label, p in zip(self.labels, probabilities, strict=True) if label not in SAFE}
        over = {label: p for label, p in of.items() if p >= self.thresholds[label]}
        label, score = max((over or of).items(), key=lambda item: item[1])
        return Verdict(label if over else self.safe, score, self.thresholds[label], bool(over))

    def at(self, thresholds: Mapping[str, float]) -> "Model":
        """The same classifier under other thresholds; labels that are not named keep theirs."""
        return Model(self.classifier, {**self.thresholds, **thresholds}, self.name, self.version)


@lru_cache(maxsize=4)
def _loaded(folder: Path, _card: str) -> Model:
    card = read_card(folder)
    try:
        labels = tuple(map(str, card["labels"]))
        context, kind = int(card["context"]), str(card["kind"])
        thresholds = {str(label): float(value) for label, value in card["thresholds"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"The card in {folder} lacks something, or it is not what it should be: {error}"
        ) from error
    if set(thresholds) != set(labels) - set(SAFE):
        raise ModelError(f"The card in {folder} must have a threshold for each label that flags.")
    loaders: dict[str, Callable[[Path, Sequence[str], int], Classifier]] = {
        tfidf.NAME: tfidf.load,
        encoder.NAME: encoder.load,
    }
    if kind not in loaders:
        raise ModelError(f"The card in {folder} names a kind of model that there is not: {kind!r}.")
    classifier = loaders[kind](folder, labels, context)
    return Model(classifier, thresholds, str(card.get("name") or folder.name), version_of(folder))


def load(folder: Path) -> Model:
    """The model in a folder that `train_safety` wrote; once a process as long as its card stays as it is.

    Raises ModelError with what to do.
    """
    if not (folder / CARD).is_file():
        raise ModelError(f"{folder} holds no card.json: it is not a folder that train_safety has finished.")
    return _loaded(folder.resolve(), (folder / CARD).read_text(encoding="utf-8"))


def read_card(folder: Path) -> dict[str, Any]:
    """The card as it is stored. Raises ModelError if it is no JSON object."""
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"The card in {folder} cannot be read: {error}") from error
    if not isinstance(card, dict):
        raise ModelError(f"The card in {folder} must be a JSON object.")
    return card


def version_of(folder: Path) -> str:
    """Twelve characters out of the hash of everything that decides: the weights and the card's settings."""
    digest = hashlib.sha256()
    card = read_card(folder)
    decides = {key: card.get(key) for key in ("kind", "labels", "context", "thresholds")}
    digest.update(json.dumps(decides, sort_keys=True).encode())
    with (folder / "model.safetensors").open("rb") as file:
        digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]


def folder_of(name: str) -> Path:
    """What a command's `--model` means: `default`, or a folder."""
    return DEFAULT if name == "default" else Path(name)
