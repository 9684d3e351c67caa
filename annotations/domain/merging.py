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
class Counts:
    """A ballot without who said what: every rule can be decided on it.

    `ok` and `notok` verifiers' votes; `named`: how many of those `notok` named each of CATEGORIES, in its order;
    `bin`: the worker's.
    """

    ok: int
    notok: int
    named: tuple[int, ...]
    bin: str | None


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


def merge(rule: str, ballot: Ballot, *, unsafe_from: str, tie: str) -> Outcome:
    """The ballot's label under a rule of RULES (`merge_counts` says how each decides).

    `unsafe_from`: the lowest live bin that is a vote for not OK. `tie`: the label of a tie, "ok", "notok" or
    "" (none). Raises KeyError for another rule, ValueError for a bin or label that is none.
    """
    against = [vote.categories for vote in ballot.votes if not vote.ok]
    named = tuple(sum(category in vote for vote in against) for category in CATEGORIES)
    counts = Counts(len(ballot.votes) - len(against), len(against), named, ballot.bin)
    return merge_counts(rule, counts, unsafe_from=unsafe_from, tie=tie)


@lru_cache(maxsize=8192)
def merge_counts(rule: str, counts: Counts, *, unsafe_from: str, tie: str) -> Outcome:
    """What `merge` gives, from the counts: a study of any size has some hundreds of them, so merging it is quick.

    majority_verifiers: not OK where more than half of the verifiers say so, OK where more than half say that.
    majority_all: the same, with the worker's bin as one vote more. any: not OK where one of all these votes
    says so. unanimous: not OK where every one of them does. Where nobody voted there is no label.
    """
    ok, notok = votes_for(counts, unsafe_from) if RULES[rule].worker else (counts.ok, counts.notok)
    label, tied = _decide(rule, ok, notok, tie)
    return outcome(label, counts, tied=tied, ok=ok, notok=notok)


def votes_for(counts: Counts, unsafe_from: str) -> tuple[int, int]:
    """The votes for OK and for not OK, with the worker's bin as one more where there is one."""
    if counts.bin is None:
        return counts.ok, counts.notok
    unsafe = is_unsafe_from(counts.bin, unsafe_from)
    return counts.ok + (not unsafe), counts.notok + unsafe


def is_unsafe_from(bin_: str, unsafe_from: str) -> bool:
    """Whether a live bin is a vote for not OK where `unsafe_from` is the lowest that is. Both are of BINS."""
    return BINS.index(bin_) >= BINS.index(unsafe_from)


def outcome(label: Label, counts: Counts, *, tied: bool, ok: int, notok: int) -> Outcome:
    """What is stored of a label; where it is not OK, with the categories that most of those who said so named.

    `ok` and `notok` are the votes that were counted. Workers name no category, so that they do not count there.
    """
    if label != "notok" or not counts.notok:
        return Outcome(label, tied, ok, notok)
    named = dict(zip(CATEGORIES, counts.named, strict=True))
    more = frozenset(category for category, count in named.items() if 2 * count > counts.notok)
    half = frozenset(category for category, count in named.items() if 2 * count == counts.notok)
    return Outcome(label, tied, ok, notok, more, half)


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
