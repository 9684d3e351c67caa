"""How far a study's verifiers agree, worked out by a job: the intervals are drawn again hundreds of times."""

from annotations.console import charts, measures
from annotations.console.models import Figure
from annotations.studies.models import Study


def ask(*, study: Study, rule: str) -> Figure:
    """The figure of the study's agreement; asked for anew where votes or labels have changed."""
    key = charts.key_of("agreement", measures.stamp(study, rule))
    return charts.ask(study=study, wanted={f"agreement:{rule}": (key, {})})[0]
