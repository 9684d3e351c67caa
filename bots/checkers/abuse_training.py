"""Training the abuse checker: labelled tweets in, weights that a person can read and their card out.

Two L1 and L2 logistic regressions, each one class against the rest, after Davidson et al. 2017: the first drops
what tells nothing, the second weighs what is left. Only the rare side is made heavier (n / 3 n_class), as
LIBLINEAR does it in their version of scikit-learn. Weighing both sides, which is what today's "balanced" means in
a one-against-rest, costs hate .09 of precision (docs/trust.md).
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bots.checkers import abuse

VERSION = "1"
STRENGTH = 0.01
"""C of both regressions, as published."""
CLEAN_LIMIT = 0.005
"""AL on dialogue known to be clean must stay below this: 83 % of the tweets are abusive, so a careless
model calls ordinary talk abusive too."""


class TrainingError(ValueError):
    """What is wrong with the data or with what came of them."""


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """How one class is found in the held-out tenth: three shares from 0 to 1 and how many there were."""

    precision: float
    recall: float
    f1: float
    count: int


@dataclass(frozen=True, slots=True)
class Clean:
    """What the model says of dialogue known to be clean: `al` is (hate + 0.5 offensive) / utterances."""

    utterances: int
    hate: int
    offensive: int
    al: float
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trained:
    """A model (as `abuse.json` holds it) with its figures."""

    model: dict[str, Any]
    held_out: dict[str, ClassFigures]
    accuracy: float
    clean: Clean | None


def train(
    tweets: Sequence[tuple[str, int]], clean: Iterable[str] | None = None, *, seed: int = 42, min_df: int = 5
) -> Trained:
    """A model of nine tenths of the tweets (text, class by its number in abuse.CLASSES), tried on the tenth.

    `clean`: utterances that are known to be harmless. Raises TrainingError where a class has fewer than ten
    tweets, and where AL on the clean ones is not below CLEAN_LIMIT.
    """
    from sklearn.model_selection import train_test_split

    counts = Counter(label for _, label in tweets)
    if min((counts[n] for n in range(3)), default=0) < 10:
        raise TrainingError("Each of the classes 0 (hate), 1 (offensive) and 2 (neither) needs 10 tweets.")
    taught, kept = train_test_split(list(tweets), test_size=0.1, random_state=seed)
    model = _fit(taught, min_df)
    held = abuse.read(model)
    found = [(abuse.classify(held, text).label, abuse.CLASSES[label]) for text, label in kept]
    figures: dict[str, ClassFigures] = {name: _figures(found, name) for name in abuse.CLASSES}
    accuracy = sum(said == true for said, true in found) / len(found)
    cleanliness = _clean(held, clean) if clean is not None else None
    if cleanliness is not None and cleanliness.al >= CLEAN_LIMIT:
        raise TrainingError(f"AL is {cleanliness.al:.4f} on clean dialogue; it must be below {CLEAN_LIMIT}.")
    return Trained(model, figures, accuracy, cleanliness)


def _fit(tweets: Sequence[tuple[str, int]], min_df: int) -> dict[str, Any]:
    import numpy as np
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        analyzer=_same, smooth_idf=False, norm=None, max_features=10_000, min_df=min_df, max_df=0.75
    )
    by_term = vectorizer.fit_transform([abuse.grams(abuse.tokens(text)) for text, _ in tweets])
    by_number = np.array([list(abuse.numbers(text).values()) for text, _ in tweets])
    features = hstack([by_term, csr_matrix(by_number)]).tocsr()
    labels = np.array([label for _, label in tweets])
    chosen, _ = _one_against_rest(features, labels, l1_ratio=1)
    kept = np.flatnonzero(np.abs(chosen).sum(axis=0) > 1e-5)
    weights, intercepts = _one_against_rest(features[:, kept], labels, l1_ratio=0)
    names = [*vectorizer.get_feature_names_out(), *abuse.NUMBERS]
    terms: dict[str, dict[str, float]] = {}
    numbers: dict[str, dict[str, float]] = {}
    for column, at in enumerate(kept):
        row: dict[str, float] = {name: _short(weights[n, column]) for n, name in enumerate(abuse.CLASSES)}
        if at < by_term.shape[1]:
            terms[str(names[at])] = {"idf": _short(vectorizer.idf_[at]), **row}
        else:
            numbers[names[at]] = row
    intercept = {name: _short(intercepts[n]) for n, name in enumerate(abuse.CLASSES)}
    return {
        "version": VERSION,
        "intercept": intercept,
        "numbers": numbers,
        "terms": dict(sorted(terms.items())),
    }


def _same(grams: list[str]) -> list[str]:
    return grams


def _one_against_rest(features: Any, labels: Any, *, l1_ratio: int) -> tuple[Any, Any]:
    """Weights (3 x features) and intercepts (3) of three regressions, one for each class."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    weights, intercepts = [], []
    for n in range(3):
        mine = labels == n
        heavier = {True: len(labels) / (3 * mine.sum()), False: 1.0}
        fitted = LogisticRegression(
            solver="liblinear",
            C=STRENGTH,
            l1_ratio=l1_ratio,
            class_weight=heavier,
            random_state=0,
            max_iter=1000,
        ).fit(features, mine)
        weights.append(fitted.coef_[0])
        intercepts.append(fitted.intercept_[0])
    return np.array(weights), np.array(intercepts)


def _short(number: float) -> float:
    return float(f"{float(number):.6g}")


def _figures(found: Sequence[tuple[str, str]], name: str) -> ClassFigures:
    right = sum(said == true == name for said, true in found)
    claimed = sum(said == name for said, _ in found)
    count = sum(true == name for _, true in found)
    precision = right / claimed if claimed else 0.0
    recall = right / count if count else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return ClassFigures(precision, recall, f1, count)


def _clean(held: abuse.Model, texts: Iterable[str]) -> Clean:
    counts: Counter[str] = Counter()
    examples: dict[str, None] = {}
    for text in texts:
        label = abuse.classify(held, text).label
        counts[label] += 1
        if label != "neither" and len(examples) < 10:
            examples[f"{label}: {text}"] = None
    total = counts.total()
    if not total:
        raise TrainingError("There is no utterance in the clean dialogue.")
    al = (counts["hate"] + 0.5 * counts["offensive"]) / total
    return Clean(total, counts["hate"], counts["offensive"], al, tuple(examples))


def write(trained: Trained, folder: Path, *, source: str) -> None:
    """`abuse.json`, a term a line, and its card `abuse.md` into a folder; `source`: where the tweets are from."""
    text = json.dumps(trained.model, indent=None, ensure_ascii=False, separators=(", ", ": "))
    text = text.replace('}, "', '},\n"').replace("}}", "}\n}")
    (folder / "abuse.json").write_text(text + "\n", encoding="utf-8")
    (folder / "abuse.md").write_text(card(trained, source=source), encoding="utf-8")


def card(trained: Trained, *, source: str) -> str:
    """The model's card in Markdown."""
    rows = "\n".join(
        f"| {name} | {f.precision:.3f} | {f.recall:.3f} | {f.f1:.3f} | {f.count:,} |"
        for name, f in trained.held_out.items()
    )
    clean = "Not tried on clean dialogue."
    if (c := trained.clean) is not None:
        listed = "\n".join(f"- {text}" for text in c.examples) or "- none"
        clean = (
            f"Of {c.utterances:,} utterances of clean dialogue it calls {c.hate} hate and {c.offensive} offensive: "
            f"AL {c.al:.5f} (the limit is {CLEAN_LIMIT}). Those it flags:\n\n{listed}"
        )
    return _CARD.format(
        version=trained.model["version"],
        terms=len(trained.model["terms"]),
        numbers=", ".join(trained.model["numbers"]) or "none",
        source=source,
        rows=rows,
        accuracy=trained.accuracy,
        wrong=1 - trained.held_out["hate"].precision,
        clean=clean,
    )


_CARD = """# Card of the abuse checker, version {version}
What it is: three logistic regressions over {terms} stemmed words, pairs and triples, and these numbers of a text:
{numbers}. The weights stand in `abuse.json`, a term a line. Method: T. Davidson and others, ICWSM 2017, arXiv
1703.04009, without the n-grams of parts of speech.

What it is for: to count hate speech and offensive language in what a chatbot says, in English. It judges one
utterance at a time and knows nothing of what was said before. It is no ground to punish a person by.

Trained on: nine tenths of {source}. It holds slurs, because it must know them.

## On the held-out tenth
| class | precision | recall | F1 | tweets |
|---|---|---|---|---|
{rows}

Accuracy {accuracy:.3f}. Of what it calls hate, {wrong:.0%} was labelled otherwise: read the evidence.

## On clean dialogue
{clean}

## Known bias and limits
- The tweets were found by a list of slurs and labelled by a crowd. Classifiers trained on them call tweets in African
  American English abusive far more often than others (T. Davidson, D. Bhattacharya, I. Weber, "Racial Bias in Hate
  Speech and Abusive Language Detection Datasets", 2019, arXiv 1905.12516). This one has not been freed of that.
- 83 % of the tweets are abusive. What clean talk is, it has learnt from 4,163 tweets only.
- A word is enough: quoting or forbidding an insult counts like using it, and abuse in polite words is missed.
- English only; other languages are refused, not scored.
"""


def as_json(trained: Trained) -> dict[str, Any]:
    """The figures without the weights."""
    return {key: value for key, value in asdict(trained).items() if key != "model"}
