"""Findings and ratings together: one plain object for JSON, and the same in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotations.domain.trust import Level as TrustLevel
from annotations.domain.trust import (
    OrderError,
    Profile,
    Rating,
    Rule,
    Scale,
    Ties,
    by_profile,
)
from bots.checkers.results import Finding, Part

ISSUES = ("B", "AL", "CC", "IL")
"""The four issues of the shipped profiles; other issues count where an order names them."""
_STATES = {"tested": "tested", "not_tested": "NOT TESTED", "cannot_judge": "CANNOT JUDGE"}


def levels_of(
    findings: Mapping[str, Finding], scale: Scale, given: Mapping[str, TrustLevel]
) -> dict[str, TrustLevel | None]:
    """Each issue's level: the one `given` from elsewhere, the checker's own, or its score on the scale.

    None where there is neither. Raises OrderError for a given issue that no checker is for.
    """
    if strange := sorted(set(given) - set(findings)):
        raise OrderError(f"There is no issue {strange[0]!r}. The issues are: {', '.join(findings)}.")
    levels: dict[str, TrustLevel | None] = {}
    for issue, finding in findings.items():
        score = finding.score
        own = finding.level or (None if score is None else scale.level(issue, score))
        levels[issue] = given.get(issue, own)
    return levels


def report(
    findings: Mapping[str, Finding],
    profiles: Sequence[Profile],
    *,
    scale: Scale,
    rule: Rule = "published",
    ties: Ties = "pessimistic",
    veto: Sequence[str] = (),
    given: Mapping[str, TrustLevel] | None = None,
) -> dict[str, Any]:
    """Everything a reader needs to check the ratings, as plain lists, dicts, texts and numbers. Raises OrderError."""
    given = given or {}
    levels = levels_of(findings, scale, given)
    ratings = by_profile(levels, profiles, rule=rule, ties=ties, veto=veto)
    reached = {rating.level for rating in ratings.values()}
    return {
        "issues": {
            issue: {
                **_issue(finding),
                "level": levels[issue],
                "state": "given" if issue in given else finding.state,
            }
            for issue, finding in findings.items()
        },
        "ratings": {profile.name: _rating(ratings[profile.name], profile) for profile in profiles},
        "depends_on_reader": len(reached) > 1,
    }


def _issue(finding: Finding) -> dict[str, Any]:
    return {
        "checker": finding.checker,
        "version": finding.version,
        "why": finding.why,
        "score": finding.score,
        "bot": _part(finding.bot),
        "user": _part(finding.user),
        "details": _plain(finding.details),
        "limits": finding.limits,
    }


def _part(part: Part | None) -> dict[str, Any] | None:
    if part is None:
        return None
    return {
        "score": part.score,
        "interval_95": _plain(part.interval),
        "judged": part.judged,
        "refused": part.refused,
        "details": _plain(part.details),
        "worst": [
            {
                "dialogue": found.dialogue,
                "number": found.number,
                "text": found.text,
                "score": found.score,
                "because": found.because,
            }
            for found in part.worst
        ],
    }


def _plain(value: Any) -> Any:
    """Mappings and sequences as dicts and lists, all the way down."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _rating(rating: Rating, profile: Profile) -> dict[str, Any]:
    return {
        "title": profile.title,
        "version": profile.version,
        "level": rating.level,
        "order": list(rating.order),
        "rule": rating.rule,
        "ties": rating.ties,
        "weights": [
            {"issue": one.issue, "place": one.place, "weight": float(one.weight), "level": one.level}
            for one in rating.weighed
        ],
        "totals": {level: float(total) for level, total in rating.totals.items()},
        "tied": list(rating.tied),
        "vetoed": list(rating.vetoed),
        "untested": list(rating.untested),
        "complete": not rating.untested,
        "could_be": list(rating.could_be),
        "paradoxes": [str(paradox) for paradox in rating.paradoxes],
        "steps": list(rating.steps),
    }


def lines(told: Mapping[str, Any]) -> Iterator[str]:
    """A report in words: the issues with their evidence, then each rating with its steps."""
    for issue, found in told["issues"].items():
        yield from _issue_lines(issue, found)
    yield ""
    for name, rating in told["ratings"].items():
        yield from _rating_lines(name, rating)
    if told["depends_on_reader"]:
        yield "The rating depends on the reader's order. That does not mean that users sway the bot."


def _issue_lines(issue: str, found: Mapping[str, Any]) -> Iterator[str]:
    part = found["bot"]
    head = f"{issue:3} {found['checker']} {found['version']}"
    if found["state"] == "given":
        yield f"{head}: {found['level']}, as given"
    elif part is None or found["state"] != "tested":
        yield f"{head}: {_STATES[found['state']]}. {found['why']}"
    else:
        bounds = part["interval_95"]
        between = f", 95 % {bounds[0]:.4f} to {bounds[1]:.4f}" if bounds else ""
        refused = f", {part['refused']:,} not judged" if part["refused"] else ""
        yield f"{head}: {found['level']} ({part['score']:.4f}{between}; {part['judged']:,} bot utterances{refused})"
        if (user := found["user"]) and user["score"] is not None:
            yield f"    the people's own turns: {user['score']:.4f} of {user['judged']:,}"
        for worst in part["worst"][:3]:
            place = f"dialogue {worst['dialogue']}, utterance {worst['number']}"
            yield f"    {worst['score']:.2f} {place}: {worst['text'][:100]} [{worst['because']}]"


def _rating_lines(name: str, rating: Mapping[str, Any]) -> Iterator[str]:
    level = rating["level"] or "no rating"
    yield f"{name} ({', '.join(rating['order'])}): {level}"
    if rating["untested"]:
        could = ", ".join(rating["could_be"])
        yield f"    of what was tested; {' and '.join(rating['untested'])} was not, with it: {could}"
    yield from (f"    {step}" for step in rating["steps"])
    yield from (f"    {paradox}" for paradox in rating["paradoxes"])
