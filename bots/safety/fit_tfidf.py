"""Training of the small classifier: logistic regression by scikit-learn, over the features of `tfidf`."""

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Any

from bots.safety.tfidf import GROUPS, Features, Tfidf, Vocabulary, features, vector
from bots.safety.turns import Example, Progress

ROWS_AT_LEAST = 3
"""A feature that fewer rows have is left out: it would be learned by heart. And the shipped model stays small."""
STRENGTH = 1.0
"""scikit-learn's C: the inverse of the penalty on large weights."""


def fit(
    examples: Sequence[Example],
    weights: Sequence[float],
    labels: Sequence[str],
    *,
    context: int,
    progress: Progress,
) -> Tfidf:
    """The model of best likelihood, each example counting by its weight. The same rows give the same model."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    found = [features(example, context) for example in examples]
    vocabulary, idf = _vocabulary(found)
    progress(f"{len(examples)} rows, {len(idf)} features")
    places, values, ends = array("l"), array("d"), array("l", [0])
    for each in found:
        for place, value in vector(each, vocabulary, idf):
            places.append(place)
            values.append(value)
        ends.append(len(places))
    matrix: Any = csr_matrix((values, places, ends), shape=(len(found), len(idf)))
    known = {label: number for number, label in enumerate(labels)}
    wanted = np.array([known[example.label] for example in examples])
    model = LogisticRegression(C=STRENGTH, max_iter=2_000)
    model.fit(matrix, wanted, sample_weight=np.array(weights))
    rows = [array("f", row) for row in model.coef_.tolist()]
    bias = model.intercept_.tolist()
    return Tfidf(labels, context, vocabulary=vocabulary, idf=idf, weights=rows, bias=bias)


def _vocabulary(found: Sequence[Features]) -> tuple[Vocabulary, "array[float]"]:
    """The features that enough rows have, sorted, and their smoothed inverse document frequency."""
    vocabulary: Vocabulary = {}
    idf = array("f")
    for group in GROUPS:
        rows = Counter(name for each in found for name in each[group])
        kept = sorted(name for name, count in rows.items() if count >= ROWS_AT_LEAST)
        vocabulary[group] = {name: len(idf) + place for place, name in enumerate(kept)}
        idf.extend(math.log((1 + len(found)) / (1 + rows[name])) + 1 for name in kept)
    return vocabulary, idf
