"""The paper's Table 3: which circumstances make an utterance not OK, by logistic regression."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LEAST_CLUSTERS = 20
"""Errors clustered by fewer workers come out too small (Cameron and Miller, JHR 50(2), 2015, section VI)."""
LEAST_EVENTS = 10
"""Of the rarer outcome, for each predictor (Peduzzi et al., J Clin Epidemiol 49(12), 1996)."""
RUNAWAY = 15.0
"""A coefficient of a predictor of unit deviation beyond this is on its way to infinity: odds of 3 million to 1."""


class CannotFit(ValueError):
    """The data cannot bear the regression; the words say why, and what would help."""


@dataclass(frozen=True)
class Term:
    """A predictor's coefficient in log odds, its clustered standard error, 95% interval and p (two-sided z test)."""

    name: str
    coefficient: float
    error: float
    low: float
    high: float
    p: float

    @property
    def stars(self) -> str:
        """As in the paper: * under .05, ** under .01, *** under .001."""
        return "*" * sum(self.p < limit for limit in (0.05, 0.01, 0.001))


@dataclass(frozen=True)
class Fit:
    """A regression: its terms, the constant last; how many rows and clusters; predictors left out as constant."""

    terms: list[Term]
    rows: int
    events: int
    clusters: int
    dropped: list[str]


def fit(
    *, outcome: Sequence[bool], predictors: Mapping[str, Sequence[float]], clusters: Sequence[int]
) -> Fit:
    """The logit of `outcome` on the predictors and a constant, with errors clustered by `clusters`.

    All sequences are of one length, a place for each utterance. Predictors that never vary are left out and
    named. Raises CannotFit: too few rows or clusters, an outcome that never varies, predictors that say the
    same, or one that settles the outcome by itself (separation).
    """
    import numpy as np

    y = np.asarray(outcome, dtype=float)
    values = {name: np.asarray(column, dtype=float) for name, column in predictors.items()}
    varying = {name: column for name, column in values.items() if len(column) and np.ptp(column) > 0}
    groups = np.asarray(clusters)
    _check(y, varying, len(set(clusters)))
    x = np.column_stack([*varying.values(), np.ones(len(y))])
    found = _logit(y, x, groups)
    low, high = found.conf_int(0.05).T
    names = [*varying, "constant"]
    terms = [
        Term(name, *(float(part[place]) for part in (found.params, found.bse, low, high, found.pvalues)))
        for place, name in enumerate(names)
    ]
    dropped = [name for name in values if name not in varying]
    return Fit(terms, len(y), int(y.sum()), len(set(clusters)), dropped)


def _check(y: Any, predictors: Mapping[str, Any], clusters: int) -> None:
    """Raises CannotFit with the first reason found."""
    if not len(y):
        raise CannotFit("There is no labelled utterance of a known worker yet.")
    rarer = int(min(y.sum(), len(y) - y.sum()))
    if not rarer:
        word = "not OK" if y[0] else "OK"
        raise CannotFit(f"All {len(y):,} utterances are {word}: there is nothing to explain.")
    if not predictors:
        raise CannotFit("Every predictor has the same value throughout: there is nothing to explain it by.")
    if clusters < LEAST_CLUSTERS:
        raise CannotFit(
            f"The utterances come from {clusters} workers. Errors clustered by worker need at least "
            f"{LEAST_CLUSTERS}."
        )
    needed = LEAST_EVENTS * len(predictors)
    if rarer < needed:
        raise CannotFit(
            f"The rarer outcome occurs {rarer:,} times. {len(predictors)} predictors need at least {needed:,}, "
            f"{LEAST_EVENTS} for each."
        )
    if len(predictors) >= clusters:
        raise CannotFit(f"{len(predictors)} predictors need more than {clusters} workers.")
    _check_collinear(predictors)
    _check_separated(y, predictors)


def _check_collinear(predictors: Mapping[str, Any]) -> None:
    import numpy as np

    names = list(predictors)
    scaled = [(column - column.mean()) / column.std() for column in predictors.values()]
    x = np.column_stack(scaled)
    full = int(np.linalg.matrix_rank(x))
    if full == len(names):
        return
    # Whoever can be left out without loss is part of what says the same.
    same = [
        name for place, name in enumerate(names) if np.linalg.matrix_rank(np.delete(x, place, axis=1)) == full
    ]
    raise CannotFit(f"These predictors say the same, so they cannot be told apart: {', '.join(same)}.")


def _check_separated(y: Any, predictors: Mapping[str, Any]) -> None:
    """Looks for a predictor with a threshold below which, or above which, the outcome is always the same."""
    for name, column in predictors.items():
        bad, fine = column[y == 1], column[y == 0]
        if bad.min() >= fine.max() or fine.min() >= bad.max():
            raise CannotFit(_separated(name))
        if set(column.tolist()) == {0.0, 1.0} and len(set(y[column == 1].tolist())) == 1:
            raise CannotFit(_separated(name))


def _separated(name: str) -> str:
    return (
        f"“{name}” settles the outcome by itself, so that no finite coefficient fits. More data may mend it."
    )


def _logit(y: Any, x: Any, groups: Any) -> Any:
    """The fitted model. Raises CannotFit where it runs away: several predictors together settle the outcome."""
    import warnings

    import numpy as np
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.tools.sm_exceptions import (
        ConvergenceWarning,
        PerfectSeparationError,
        PerfectSeparationWarning,
    )

    together = "The predictors together settle the outcome, so that no finite coefficients fit. More data may mend it."
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error", PerfectSeparationWarning)
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            found = Logit(y, x).fit(
                disp=False,
                maxiter=100,
                cov_type="cluster",
                cov_kwds={"groups": groups, "use_correction": True},
            )
        except (
            PerfectSeparationError,
            PerfectSeparationWarning,
            ConvergenceWarning,
            np.linalg.LinAlgError,
        ) as error:
            raise CannotFit(together) from error
    spread = np.append(x[:, :-1].std(axis=0), 1)
    if not np.all(np.isfinite(found.bse)) or np.max(np.abs(found.params * spread)) > RUNAWAY:
        raise CannotFit(together)
    return found
