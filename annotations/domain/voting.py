"""One order out of many: voting rules, how far people agree with the outcome, and who thinks alike.

An order is a tuple of tiers, the most important first; issues in one tier tie. What a person did not rank ties below
all that they ranked: our reading of a partial order. Every rule gives tiers too, so that ties stay visible; `broken`
breaks them by a rule that is named. F. Brandt and others (editors), "Handbook of Computational Social Choice",
Cambridge 2016, DOI 10.1017/CBO9781107446984, chapters 2 to 4.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import Literal

Order = tuple[frozenset[str], ...]
Method = Literal["plurality", "borda", "approval", "copeland", "kemeny"]
METHODS: tuple[Method, ...] = ("plurality", "borda", "approval", "copeland", "kemeny")
LONGEST = 8
"""Issues, at most: Kemeny's rule tries every order of them, 40,320 of eight."""


class VoteError(ValueError):
    """What is wrong with an order or a vote."""


def order(tiers: Iterable[str | Iterable[str]], issues: Sequence[str]) -> Order:
    """An order of all `issues` from tiers; issues that are left out form the last tier.

    A tier is an issue or several that tie. Raises VoteError for an issue that is unknown or named twice.
    """
    found: list[frozenset[str]] = []
    named: set[str] = set()
    for tier in tiers:
        members = [tier] if isinstance(tier, str) else list(tier)
        for issue in members:
            if issue not in issues:
                raise VoteError(f"There is no issue {issue!r}. The issues are: {', '.join(issues)}.")
            if issue in named:
                raise VoteError(f"{issue} stands more than once in the order.")
            named.add(issue)
        if members:
            found.append(frozenset(members))
    rest = frozenset(issues) - named
    return (*found, rest) if rest else tuple(found)


def places(ranked: Order) -> dict[str, int]:
    """The tier of each issue, 0 the first."""
    return {issue: n for n, tier in enumerate(ranked) for issue in tier}


def tiers_by(scores: Mapping[str, Fraction]) -> Order:
    """Issues with the same score in one tier, the highest score first."""
    steps = sorted(set(scores.values()), reverse=True)
    return tuple(frozenset(issue for issue in scores if scores[issue] == step) for step in steps)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rule makes of the votes: the joint order in tiers, and the score of each issue where the rule has some.

    `optimal`: for Kemeny, every order of the least distance; their number tells how settled the outcome is.
    """

    method: Method
    joint: Order
    scores: Mapping[str, Fraction]
    optimal: tuple[tuple[str, ...], ...] = ()


def vote(method: Method, votes: Sequence[Order], *, top: int = 2) -> Outcome:
    """The joint order of the votes. `top`: how many issues a person approves of, for `approval`.

    plurality: a vote for the first issue; those who tie there share it. borda: half a point for each issue that is
    tied, one for each that is below. approval: a point for each issue of the first tiers until `top` are named, the
    whole tier that reaches it included. copeland: majorities won less majorities lost, one against one. kemeny: the
    orders with the least Kendall distance to all votes together; issues that these do not all put in the same order
    tie. Raises VoteError without votes, for more than LONGEST issues, or votes on different issues.
    """
    issues = _issues(votes)
    if method == "kemeny":
        return _kemeny(votes, issues)
    scorers: Mapping[str, Callable[[Order], Mapping[str, Fraction]]] = {
        "plurality": _plurality,
        "borda": _borda,
        "approval": lambda ranked: _approval(ranked, top),
    }
    scores = dict.fromkeys(issues, Fraction(0))
    if method == "copeland":
        for (a, b), margin in _margins(votes, issues).items():
            scores[a] += (margin > 0) - (margin < 0)
            scores[b] += (margin < 0) - (margin > 0)
    else:
        for ranked, times in Counter(votes).items():
            for issue, score in scorers[method](ranked).items():
                scores[issue] += times * score
    return Outcome(method, tiers_by(scores), scores)


def _issues(votes: Sequence[Order]) -> tuple[str, ...]:
    if not votes:
        raise VoteError("There are no votes.")
    issues = frozenset().union(*votes[0])
    if any(frozenset().union(*ranked) != issues for ranked in set(votes)):
        raise VoteError("The votes are on different issues.")
    if len(issues) > LONGEST:
        raise VoteError(f"{len(issues)} issues are more than {LONGEST}.")
    return tuple(sorted(issues))


def _plurality(ranked: Order) -> Mapping[str, Fraction]:
    return dict.fromkeys(ranked[0], Fraction(1, len(ranked[0])))


def _borda(ranked: Order) -> Mapping[str, Fraction]:
    scores: dict[str, Fraction] = {}
    below = sum(map(len, ranked))
    for tier in ranked:
        below -= len(tier)
        scores |= dict.fromkeys(tier, below + Fraction(len(tier) - 1, 2))
    return scores


def _approval(ranked: Order, top: int) -> Mapping[str, Fraction]:
    approved: set[str] = set()
    for tier in ranked:
        if len(approved) >= top:
            break
        approved |= tier
    return dict.fromkeys(approved, Fraction(1))


def _margins(votes: Sequence[Order], issues: Sequence[str]) -> dict[tuple[str, str], int]:
    """How many more people put the first of a pair above the second than the other way round."""
    margins = dict.fromkeys(combinations(issues, 2), 0)
    for ranked, times in Counter(votes).items():
        at = places(ranked)
        for a, b in margins:
            margins[a, b] += times * ((at[a] < at[b]) - (at[b] < at[a]))
    return margins


def _kemeny(votes: Sequence[Order], issues: tuple[str, ...]) -> Outcome:
    margins = _margins(votes, issues)
    above = {**margins, **{(b, a): -margin for (a, b), margin in margins.items()}}
    best: list[tuple[str, ...]] = []
    most: int | None = None
    for tried in permutations(issues):
        agreed = sum(above[pair] for pair in combinations(tried, 2))
        if most is None or agreed > most:
            best, most = [tried], agreed
        elif agreed == most:
            best.append(tried)
    return Outcome("kemeny", _common(best), {}, tuple(best))


def _common(orders: Sequence[tuple[str, ...]]) -> Order:
    """The tiers all the orders agree on: a tier ends where the same issues stand above in each of them."""
    joint: list[frozenset[str]] = []
    start = 0
    for end in range(1, len(orders[0]) + 1):
        if len({frozenset(one[start:end]) for one in orders}) == 1:
            joint.append(frozenset(orders[0][start:end]))
            start = end
    return tuple(joint)


def broken(
    joint: Order, votes: Sequence[Order], *, by: Literal["borda", "list"], listed: Sequence[str]
) -> list[str]:
    """The joint order without ties. `list`: issues that tie stand as in `listed`; `borda`: by their Borda score, and
    those that tie in that too as in `listed`.
    """
    scores = vote("borda", votes).scores if by == "borda" else {}
    at = {issue: n for n, issue in enumerate(listed)}
    return [
        issue
        for tier in joint
        for issue in sorted(tier, key=lambda name: (-scores.get(name, Fraction(0)), at[name]))
    ]


def distance(one: Order, other: Order) -> Fraction:
    """Kendall's distance: pairs of issues in opposite order count 1, pairs that tie in one order only count 1/2.

    R. Fagin and others, "Comparing and aggregating rankings with ties", PODS 2004, DOI 10.1145/1055558.1055568: the
    distance K with p = 1/2, a metric. 0 to k(k - 1)/2 for k issues.
    """
    a, b = places(one), places(other)
    twice = 0
    for x, y in combinations(sorted(a), 2):
        in_a, in_b = (a[x] > a[y]) - (a[x] < a[y]), (b[x] > b[y]) - (b[x] < b[y])
        twice += abs(in_a - in_b)
    return Fraction(twice, 2)


def tau(one: Order, other: Order) -> Fraction | None:
    """Agreement from -1 (reversed) to 1 (the same): 1 - 2 distance / pairs; Kendall's tau where nothing ties.

    None of fewer than two issues.
    """
    count = sum(map(len, one))
    pairs = count * (count - 1) // 2
    return 1 - 2 * distance(one, other) / pairs if pairs else None


def agreement(votes: Sequence[Order], joint: Order) -> Fraction | None:
    """The mean agreement (`tau`) of the votes with a joint order; None without votes or pairs."""
    found = [(tau(ranked, joint), times) for ranked, times in Counter(votes).items()]
    if not found or found[0][0] is None:
        return None
    return sum((value * times for value, times in found if value is not None), Fraction(0)) / len(votes)


@dataclass(frozen=True, slots=True)
class Dispute:
    """A pair of issues and which methods put which of them first; `tie`: those that put neither."""

    pair: tuple[str, str]
    first: tuple[Method, ...]
    second: tuple[Method, ...]
    tie: tuple[Method, ...]


def disputes(outcomes: Iterable[Outcome]) -> list[Dispute]:
    """The pairs on which the methods do not all say the same; a tie against a decision is one too."""
    found = {outcome.method: places(outcome.joint) for outcome in outcomes}
    listed = []
    for a, b in combinations(sorted(next(iter(found.values()), {})), 2):
        first = tuple(method for method, at in found.items() if at[a] < at[b])
        second = tuple(method for method, at in found.items() if at[a] > at[b])
        tie = tuple(method for method, at in found.items() if at[a] == at[b])
        if max(map(len, (first, second, tie))) < len(found):
            listed.append(Dispute((a, b), first, second, tie))
    return listed


def nearest(ranked: Order, profiles: Mapping[str, Order], *, farthest: Fraction | int = 2) -> tuple[str, ...]:
    """The profiles of the least distance to an order, all that tie; () where that is more than `farthest`."""
    by = {name: distance(ranked, profile) for name, profile in profiles.items()}
    least = min(by.values(), default=None)
    if least is None or least > farthest:
        return ()
    return tuple(name for name, found in by.items() if found == least)


def clusters(votes: Sequence[Order], *, farthest: Fraction | int = 2) -> list[list[int]]:
    """People who think alike: the places of their votes in `votes`, group by group, the largest first.

    Groups are joined while the mean distance between their members is at most `farthest` (average linkage: R. R. Sokal,
    C. D. Michener, 1958), the nearest first; of equally near ones those whose first votes come first.
    """
    members: dict[Order, list[int]] = {}
    for n, ranked in enumerate(votes):
        members.setdefault(ranked, []).append(n)
    groups = list(members.values())
    far = {
        (i, j): distance(votes[groups[i][0]], votes[groups[j][0]])
        for i, j in combinations(range(len(groups)), 2)
    }
    while far:
        (i, j), least = min(far.items(), key=lambda entry: (entry[1], entry[0]))
        if least > farthest:
            break
        a, b = len(groups[i]), len(groups[j])
        for k in {n for pair in far for n in pair} - {i, j}:
            to_i, to_j = (min(k, i), max(k, i)), (min(k, j), max(k, j))
            far[to_i] = (a * far[to_i] + b * far.pop(to_j)) / (a + b)
        del far[i, j]
        groups[i], groups[j] = groups[i] + groups[j], []
    return sorted((sorted(group) for group in groups if group), key=lambda group: (-len(group), group))
