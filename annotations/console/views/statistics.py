"""What came out of a study: the paper's tables and figures, as tables, charts and data."""

from typing import Any

from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotations.console import charts, measures, regressions, sheets
from annotations.console.access import person, researchers_only
from annotations.console.models import Figure
from annotations.domain import figures
from annotations.studies.models import Study
from annotations.studies.services import study_for_researcher
from annotations.verification.services import plan_of

TYPES = {"svg": "image/svg+xml", "png": "image/png"}


@require_GET
@researchers_only
def study_statistics(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    rule, rules = _rule(request, study)
    cells = measures.cells(study, rule) if rules else []
    drawn = [
        figures.by_bot(cells),
        figures.by_position(cells),
        figures.by_category(cells),
        figures.by_instructions(cells),
        figures.unsafe_messages(measures.unsafe_messages(study, rule) if rules else {}),
    ]
    speakers = figures.not_ok(cells, lambda cell: cell.speaker)
    values = {
        "tab": "statistics",
        "study": study,
        "rule": rule,
        "rule_words": measures.RULES[rule],
        "rules": [(name, measures.RULES[name]) for name in rules],
        "total": sum(cell.n for cell in cells),
        "shares": [
            ("People’s messages not OK", speakers.get("human", figures.Share(0, 0))),
            ("Bots’ replies not OK", speakers.get("bot", figures.Share(0, 0))),
        ],
        "table": figures.table_1(cells),
        "dialogues": drawn[-1],
        "has_categories": bool(drawn[2].rows),
        **slots(study, drawn, rule),
    }
    return render(request, "console/statistics.html", values)


def _rule(request: HttpRequest, study: Study) -> tuple[str, list[str]]:
    """The rule whose labels are shown, and those there are."""
    rules = measures.rules_of(study)
    return measures.chosen_rule(plan_of(study), rules, request.GET.get("rule", "")), rules


def slots(study: Study, drawn: list[figures.Chart], rule: str = "") -> dict[str, Any]:
    """What a page needs to show charts: each with its figure where there is something to draw."""
    rows = charts.figures_of(study=study, charts=drawn, rule=rule)
    return {"figures": rows, "pending": pending(rows)}


def pending(rows: list[Figure]) -> list[Figure]:
    """Those that are still worked on."""
    return [row for row in rows if row.state in (Figure.State.WAITING, Figure.State.RUNNING)]


@require_GET
@researchers_only
def study_charts(request: HttpRequest, slug: str) -> HttpResponse:
    """The figures that a page waits for, as soon as they are done."""
    study = study_for_researcher(user=person(request), slug=slug)
    rows = charts.by_name(study=study, names=request.GET.getlist("name")[:20])
    waiting = pending(rows)
    done = [row for row in rows if row not in waiting]
    return render(request, "console/_charts.html", {"study": study, "done": done, "pending": waiting})


@require_GET
@researchers_only
def study_chart(request: HttpRequest, slug: str, name: str, file: str) -> HttpResponse | FileResponse:
    """A file of a chart, or its data."""
    study = study_for_researcher(user=person(request), slug=slug)
    if file == "data.csv":
        columns, rows = charts.rows_of(study=study, name=name)
        return csv_file(f"{slug}-{name.replace(':', '-')}.csv", sheets.sheet(columns, rows))
    path = charts.file_of(study=study, name=name, file=file)
    answer = FileResponse(path.open("rb"), content_type=TYPES[path.suffix[1:]])
    answer["Cache-Control"] = "private, max-age=86400" if request.GET.get("v") else "no-cache"
    return answer


@require_GET
@researchers_only
def study_table(request: HttpRequest, slug: str) -> HttpResponse:
    """Table 1 as CSV."""
    study = study_for_researcher(user=person(request), slug=slug)
    rule, rules = _rule(request, study)
    rows = figures.table_1_rows(figures.table_1(measures.cells(study, rule) if rules else []))
    columns = ["speaker", "label", "split", "utterances"]
    cells = [[row[column] for column in columns] for row in rows]
    return csv_file(f"{slug}-table-1-{rule}.csv", sheets.sheet(columns, cells))


@require_GET
@researchers_only
def study_regression(request: HttpRequest, slug: str) -> HttpResponse:
    """The paper's Table 3."""
    study = study_for_researcher(user=person(request), slug=slug)
    rule, rules = _rule(request, study)
    rows = regressions.ask(study=study, rule=rule)
    values = {
        "tab": "statistics",
        "study": study,
        "rule": rule,
        "rule_words": measures.RULES[rule],
        "rules": [(name, measures.RULES[name]) for name in rules],
        "figures": rows,
        "pending": pending(rows),
    }
    return render(request, "console/regression.html", values)


def csv_file(name: str, text: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)
