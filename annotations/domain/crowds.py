"""Labels by models of the annotators: how often each is right is worked out from all votes together.

crowd-kit does the mathematics; it is slow to import, so that only jobs and commands call this.
"""

import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version as release

from annotations.domain.merging import Counts, Outcome, label_of, outcome, votes_for

MODELS = {
    "dawid_skene": "Dawid and Skene's model of the annotators",
    "mace": "MACE, a model of the annotators",
}
"""By name, beside the rules of annotations.domain.merging."""

_VERSION = "1"
_ROUNDS = {"dawid_skene": 100, "mace": 50}
"""Rounds of expectation and maximisation: crowd-kit's defaults."""
_RESTARTS = 10
"""MACE starts from chance; the best of that many is taken (Hovy et al. 2013)."""
_SEED = 0
_EXACT = 1e-12
"""Less than this is what the arithmetic leaves of nothing."""


def version(model: str, unsafe_from: str, tie: str) -> str:
    """What is stored with a label of `model`, one of MODELS: all that can change it. Raises KeyError for another."""
    parts = [_VERSION, f"crowd-kit={release('crowd-kit')}", f"rounds={_ROUNDS[model]}"]
    if model == "mace":
        parts += [f"restarts={_RESTARTS}", f"seed={_SEED}"]
    return " ".join([*parts, f"unsafe_from={unsafe_from}", f"tie={tie or 'none'}"])


def not_ok(
    model: str, *, tasks: Sequence[int], annotators: Sequence[int], notok: Sequence[bool]
) -> Mapping[int, float]:
    """The probability, 0 to 1, that each task is not OK.

    The three sequences are as long as there are votes: what was judged, by whom, whether as not OK. Dawid and
    Skene (Applied Statistics 28(1), 1979) give each annotator a rate for each kind of mistake and begin from the
    majority. MACE (Hovy et al., NAACL 2013) lets each either know or guess; by variational Bayes, which its
    authors found the better of their two, from a fixed seed. Raises KeyError for a model that is not among MODELS.
    """
    rounds = _ROUNDS[model]
    if not tasks:
        return {}
    import pandas as pd
    from crowdkit.aggregation import MACE, DawidSkene

    votes = pd.DataFrame({"task": tasks, "worker": annotators, "label": pd.Series(notok, dtype=int)})
    if len(set(notok)) == 1:  # nothing to tell annotators apart by, and MACE divides by 0
        return dict.fromkeys(tasks, float(notok[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # crowd-kit's, of the pandas that is pinned
        if model == "dawid_skene":
            found = DawidSkene(n_iter=rounds).fit_predict_proba(votes)
        else:
            mace = MACE(n_restarts=_RESTARTS, n_iter=rounds, random_state=_SEED)
            found = mace.fit_predict_proba(votes)
    return {int(task): float(chance) for task, chance in found[1].items()}


def label(chance: float, counts: Counts, *, unsafe_from: str, tie: str) -> Outcome:
    """The label of an utterance that is not OK with this chance, with the votes behind it.

    Not OK above a half, OK below; a half is a tie. The worker's bin counts: the worker is one annotator more.
    """
    ok, notok = votes_for(counts, unsafe_from)
    tied = abs(chance - 0.5) < _EXACT
    likelier = label_of(tie) if tied else "notok" if chance > 0.5 else "ok"
    return outcome(likelier, counts, tied=tied, ok=ok, notok=notok)
