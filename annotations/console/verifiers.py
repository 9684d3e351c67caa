"""What a researcher should look at in a verifier's figures."""

from dataclasses import dataclass

from annotations.domain.figures import Share
from annotations.studies.models import Study
from annotations.verification.models import Plan
from annotations.verification.queries import VerifierRow, verifier_rows

ENOUGH = 20
"""Votes before any of these is said."""
QUICK = 2.0
"""Seconds from shown to voted, of the middle vote: shorter than it takes to read most messages."""
APART = 10
"""Percentage points by which the whole interval of a verifier's agreement lies under everybody's."""


@dataclass(frozen=True)
class Verifier:
    """A verifier's figures, with their flags. The limits are our choice; a flag stops nobody, a person decides."""

    row: VerifierRow
    agreement: Share
    flags: list[str]

    @property
    def counted(self) -> int:
        return self.row.votes - self.row.set_aside

    @property
    def gold(self) -> Share:
        return Share(self.row.gold_right, self.row.gold_of)

    @property
    def notok(self) -> Share:
        return Share(self.row.notok, self.row.votes)


def verifiers_of(study: Study, plan: Plan, rule: str) -> list[Verifier]:
    """The study's verifiers by name, compared with the labels of `rule`."""
    rows = verifier_rows(study, rule=rule)
    shares = [Share(round((row.agreement or 0) * row.compared), row.compared) for row in rows]
    everybody = Share(sum(share.hits for share in shares), sum(share.total for share in shares))
    return [
        Verifier(row, share, _flags(row, share, everybody, plan))
        for row, share in zip(rows, shares, strict=True)
    ]


def _flags(row: VerifierRow, agreement: Share, everybody: Share, plan: Plan) -> list[str]:
    found = []
    if row.gold_of >= plan.floor_after and row.gold_right < plan.floor * row.gold_of:
        found.append("gold items under the floor")
    if row.votes >= ENOUGH:
        if row.median_seconds is not None and row.median_seconds < QUICK:
            found.append(f"half the votes in under {QUICK:g} s")
        if row.notok in (0, row.votes):
            found.append("always the same answer")
        if agreement.total >= ENOUGH and agreement.high < everybody.percent - APART:
            found.append("agrees less than the others")
    return found
