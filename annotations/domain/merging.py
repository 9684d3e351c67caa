"""One label out of several people's judgements, by rules that are named and versioned.

The paper gives every utterance to three verifiers and makes one label of their votes and the worker's bin; its
rule is in an appendix that could not be found (docs/papers.md). So the rule is a setting, and every vote is kept.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from annotations.domain.turns import BINS

CATEGORIES = ("hate", "attack", "profanity", "other")
"""What is wrong with a message that is not OK (Xu et al. 2021, Figure 5), in the page's order."""

Label = Literal["ok", "notok", ""]
"""The two labels of the released data, and none."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verifier's vote; the categories are empty where it is OK."""

    ok: bool
    categories: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ballot:
    """All that was said of one utterance: the worker's bin (bot utterances only), and the verifiers' votes."""

    bin: str | None
    votes: tuple[Judgement, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The merged label, and how it came about.

    `tie`: as many for as against; the label is then what the study set for ties, which may be none ("").
    `ok_votes` and `notok_votes`: what the rule counted, the worker's bin included where it counts that.
    `category_ties`: categories that exactly half of those who said not OK named; they are not in `categories`.
    """

    label: Label
    tie: bool
    ok_votes: int
    notok_votes: int
    categories: frozenset[str] = frozenset()
    category_ties: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that looks at one utterance at a time. `worker`: the live label is a vote too."""

    title: str
    worker: bool
    ties: bool


RULES = {
    "majority_verifiers": Rule("Majority of the verifiers", worker=False, ties=True),
    "majority_all": Rule("Majority, the worker's label counted as a vote", worker=True, ties=True),
    "any": Rule("Not OK where anybody says so", worker=True, ties=False),
    "unanimous": Rule("Not OK where everybody says so", worker=True, ties=False),
}
"""By name. `any` and `unanimous` ask the worker too: anybody and everybody who judged the utterance."""

_VERSION = "1"


def version(rule: str, unsafe_from: str, tie: str) -> str:
    """What is stored with a merged label: the rule's version and the settings that can change its labels.

    `rule`: one of RULES. Raises KeyError for another rule.
    """
    settings = RULES[rule]
    parts = [_VERSION]
    if settings.worker:
        parts.append(f"unsafe_from={unsafe_from}")
    if settings.ties:
        parts.append(f"tie={tie or 'none'}")
    return " ".join(parts)


def is_unsafe_from(bin_: str, unsafe_from: str) -> bool:
    """Whether a live bin counts as "not OK" where `unsafe_from` is the lowest that does. Both are BINS."""
    return BINS.index(bin_) >= BINS.index(unsafe_from)


def merge(rule: str, ballot: Ballot, *, unsafe_from: str, tie: str) -> Outcome:
    """The ballot's label under a rule of RULES (`merge_counts` says how each decides).

    `unsafe_from`: the lowest live bin that is a vote for not OK. `tie`: the label of a tie, "ok", "notok" or
    "" (none). Raises KeyError for another rule, ValueError for a bin that is none.
    """
    against = [vote.categories for vote in ballot.votes if not vote.ok]
    return merge_counts(
        rule,
        ok=len(ballot.votes) - len(against),
        notok=len(against),
        named=tuple(sum(category in named for named in against) for category in CATEGORIES),
        bin_=ballot.bin,
        unsafe_from=unsafe_from,
        tie=tie,
    )


@lru_cache(maxsize=8192)
def merge_counts(
    rule: str,
    *,
    ok: int,
    notok: int,
    named: tuple[int, ...],
    bin_: str | None,
    unsafe_from: str,
    tie: str,
) -> Outcome:
    """The label of an utterance that `ok` verifiers found OK and `notok` did not; the worker's bin was `bin_`.

    `named`: how many of those `notok` named each of CATEGORIES, in its order. A study of any size has some
    hundreds of such counts, which is what makes merging it quick.

    majority_verifiers: not OK where more than half of the verifiers say so, OK where more than half say that.
    majority_all: the same, with the worker's bin as one vote more. any: not OK where one of all these votes
    says so. unanimous: not OK where every one of them does. Where nobody voted there is no label.
    Raises KeyError for another rule, ValueError for a bin that is none.
    """
    if RULES[rule].worker and bin_ is not None:
        unsafe = is_unsafe_from(bin_, unsafe_from)
        for_ok, for_notok = ok + (not unsafe), notok + unsafe
    else:
        for_ok, for_notok = ok, notok
    label, tied = _decide(rule, for_ok, for_notok, tie)
    categories, halves = _categories(named, notok) if label == "notok" else (frozenset(), frozenset())
    return Outcome(label, tied, for_ok, for_notok, categories, halves)


def _decide(rule: str, ok: int, notok: int, tie: str) -> tuple[Label, bool]:
    """The label of that many votes, and whether it was a tie."""
    if not ok + notok:
        return "", False
    if rule == "any":
        return ("notok" if notok else "ok"), False
    if rule == "unanimous":
        return ("ok" if ok else "notok"), False
    if ok == notok:
        return label_of(tie), True
    return ("notok" if notok > ok else "ok"), False


def label_of(tie: str) -> Label:
    """The label a study has set for ties. Raises ValueError for what is none."""
    if tie == "ok":
        return "ok"
    if tie == "notok":
        return "notok"
    if tie == "":
        return ""
    raise ValueError(f"A tie is labelled ok, notok or nothing, not {tie!r}.")


def _categories(named: tuple[int, ...], notok: int) -> tuple[frozenset[str], frozenset[str]]:
    """The categories that more than half, and that exactly half, of the `notok` verifiers named.

    Workers name no category, so that they do not count here.
    """
    if not notok:
        return frozenset(), frozenset()
    counts = dict(zip(CATEGORIES, named, strict=True))
    more = frozenset(category for category, count in counts.items() if 2 * count > notok)
    half = frozenset(category for category, count in counts.items() if 2 * count == notok)
    return more, half
