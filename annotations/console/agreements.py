"""How far a study's verifiers agree, worked out by a job: the intervals are drawn again a thousand times."""

from annotations.console import charts, measures
from annotations.console.models import Figure
from annotations.domain.agreement import Agreement
from annotations.domain.figures import CATEGORIES, Chart, Row
from annotations.studies.models import Study
from annotations.verification import agreement

NOBODY = "No utterance has two votes yet, so there is nothing to agree on."


def ask(*, study: Study, rule: str) -> Figure:
    """The figure of the study's agreement; asked for anew where votes or labels have changed."""
    key = charts.key_of("agreement", measures.stamp(study, rule))
    return charts.ask(study=study, wanted={f"agreement:{rule}": (key, {})})[0]


def work_out(*, figure_id: int) -> None:
    """Works out the agreement and draws it. Safe to run twice."""
    figure = charts.begin(figure_id)
    if figure is None:
        return
    with charts.noted(figure):
        chart = _chart(figure.study, figure.name.partition(":")[2])
        if chart is None:
            charts.finish(figure, result={"refused": NOBODY})
        else:
            charts.finish(figure, result={"chart": chart.stored()}, problem=charts.write(figure, chart))


def _chart(study: Study, rule: str) -> Chart | None:
    """Alpha of all, of each speaker's utterances, of each category, and of worker against merged label."""
    found = agreement.by_verifiers(study)
    speakers = {"human": "People’s messages", "bot": "Bots’ replies"}
    lines = {"All utterances": found.overall}
    lines |= {words: found.speakers[speaker] for speaker, words in speakers.items()}
    lines |= {words: found.categories[category] for category, words in CATEGORIES.items()}
    lines["Worker and merged"] = agreement.worker_against_merged(study, rule=rule).agreement
    rows = [row for words, line in lines.items() if (row := _row(words, line))]
    if not rows:
        return None
    told = [f"{row['among']} {row['alpha']:.2f} ({row['low']:.2f} to {row['high']:.2f})" for row in rows]
    note = f"Krippendorff’s alpha, 95% interval; {found.votes:,} votes"
    return Chart("agreement", "Agreement", note, "alpha", rows, "Krippendorff’s alpha: " + ", ".join(told))


def _row(words: str, line: Agreement) -> Row | None:
    """A line of the chart; None where alpha cannot be worked out."""
    alpha, raw = line.alpha, line.raw
    if None in (alpha.value, alpha.low, alpha.high, raw.value, raw.low, raw.high):
        return None
    figures = {
        "alpha": alpha.value,
        "low": alpha.low,
        "high": alpha.high,
        "raw_agreement": raw.value,
        "raw_low": raw.low,
        "raw_high": raw.high,
    }
    rounded: Row = {name: round(value, 4) for name, value in figures.items() if value is not None}
    return {"among": words, **rounded, "utterances": line.units}
