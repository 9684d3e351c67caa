"""Training of a classifier from files to a finished folder: what `train_safety` does."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bots.errors import ConfigError
from bots.safety import card, fit_encoder, fit_tfidf, loop, metrics, sources, tfidf
from bots.safety.encoder import Encoder
from bots.safety.errors import DataError
from bots.safety.models import CARD, NONE, SAFE, Model
from bots.safety.presets import MAX_TOKENS
from bots.safety.turns import NOTOK, OK, Example, Progress

TOPIC_THRESHOLDS = {"nsfw": 0.7}
TOPIC_THRESHOLD = 0.55
"""The thresholds of the paper's classifiers, 0.7 for nsfw, 0.55 for other topics: ours where there is nothing to choose
one by."""


@dataclass(frozen=True)
class Settings:
    """What to train, on what. `thresholds`: label -> threshold where it is to be that and no other.

    Otherwise it is that of the label's best F1, against all others, on the validation rows.
    """

    base: str
    train: Sequence[str]
    valid: Sequence[str]
    out: Path
    test: Sequence[str] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    rule: str = ""
    context: int = 4
    max_tokens: int = MAX_TOKENS
    thresholds: Mapping[str, float] = field(default_factory=dict)
    plan: loop.Plan = field(default_factory=loop.Plan)


def train(settings: Settings, progress: Progress) -> dict[str, Any]:
    """Trains, measures and writes the folder; gives the card. Every file is read before anything is trained.

    Raises DataError for a bad line, ConfigError for settings, ModelError for a base that cannot be used.
    """
    if settings.context < 1:
        raise ConfigError("The context is at least 1 utterance: the judged one.")
    data = {
        name: sources.load(specs, rule=settings.rule)
        for name, specs in (("train", settings.train), ("valid", settings.valid), ("test", settings.test))
        if specs
    }
    labels = _labels(settings, data)
    weights = sources.weighed(data["train"], settings.shares)
    settings.out.mkdir(parents=True, exist_ok=True)
    classifier = _fit(settings, data, weights, labels, progress)
    if loop.rank():
        return {}
    model = Model(classifier, _thresholds(settings, classifier, data["valid"], labels), settings.out.name, "")
    _save(classifier, settings.out)
    about = card.written(settings, model, data)
    fresh = settings.out / f"{CARD}.fresh"
    fresh.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    fresh.replace(settings.out / CARD)
    (settings.out / "README.md").write_text(card.as_text(about), encoding="utf-8")
    shutil.rmtree(_checkpoints(settings), ignore_errors=True)
    return about


def _labels(settings: Settings, data: Mapping[str, Sequence[Example]]) -> tuple[str, ...]:
    """The labels of the training rows, the safe one first. Raises DataError for one that is only in other rows."""
    found = {example.label for example in data["train"]}
    if found & {OK, NOTOK} and not found <= {OK, NOTOK}:
        raise DataError(
            Path(settings.train[0]), "", "Topics, and labels ok or notok, cannot be learned together."
        )
    if len(found) < 2:
        raise DataError(
            Path(settings.train[0]), "", "All rows have the same label: there is nothing to learn."
        )
    for name, examples in data.items():
        strange = {example.label for example in examples} - found - {NONE}
        if strange:
            raise DataError(
                Path(getattr(settings, name)[0]), "", f"No training row has the label {min(strange)!r}."
            )
    return tuple(sorted(found, key=lambda label: (label not in SAFE, label)))


def _fit(
    settings: Settings,
    data: Mapping[str, Sequence[Example]],
    weights: Sequence[float],
    labels: Sequence[str],
    progress: Progress,
) -> tfidf.Tfidf | Encoder:
    if settings.base == tfidf.NAME:
        return fit_tfidf.fit(data["train"], weights, labels, context=settings.context, progress=progress)
    flagging = [label for label in labels if label not in SAFE]

    def score(made: Encoder) -> float:
        rows = made.probabilities(data["valid"])
        likeliest = [labels[max(range(len(row)), key=row.__getitem__)] for row in rows]
        counts = Counter(
            (example.label, label) for example, label in zip(data["valid"], likeliest, strict=True)
        )
        return metrics.figures(counts, flagging)["f1"]

    return fit_encoder.fit(
        settings.base,
        data["train"],
        weights,
        labels,
        context=settings.context,
        max_tokens=settings.max_tokens,
        plan=settings.plan,
        score=score,
        folder=_checkpoints(settings),
        fingerprint=_fingerprint(settings, data),
        progress=progress,
    )


def _thresholds(
    settings: Settings, classifier: tfidf.Tfidf | Encoder, valid: Sequence[Example], labels: Sequence[str]
) -> dict[str, float]:
    flagging = [label for label in labels if label not in SAFE]
    strange = set(settings.thresholds) - set(flagging)
    if strange:
        raise ConfigError(f"There is no label {min(strange)!r} that flags. There are: {', '.join(flagging)}.")
    rows = classifier.probabilities(valid)
    found = {}
    for place, label in enumerate(labels):
        true = [example.label == label for example in valid]
        usual = TOPIC_THRESHOLDS.get(label, TOPIC_THRESHOLD)
        if label in flagging:
            found[label] = metrics.best_threshold(true, [row[place] for row in rows]) if any(true) else usual
    return {**found, **settings.thresholds}


def _save(classifier: tfidf.Tfidf | Encoder, folder: Path) -> None:
    if isinstance(classifier, tfidf.Tfidf):
        classifier.save(folder)
    else:
        fit_encoder.save(classifier, folder)


def _checkpoints(settings: Settings) -> Path:
    return settings.out / "checkpoints"


def _fingerprint(settings: Settings, data: Mapping[str, Sequence[Example]]) -> str:
    """The same for two runs that must come to the same result."""
    digest = hashlib.sha256()
    plan = {name: value for name, value in asdict(settings.plan).items() if name != "every"}
    digest.update(
        json.dumps([settings.base, settings.context, settings.max_tokens, plan], sort_keys=True).encode()
    )
    digest.update(repr(sorted(settings.shares.items())).encode())
    for name in ("train", "valid"):
        for example in data[name]:
            digest.update(repr(example).encode())
    return digest.hexdigest()
