"""Charts: drawn by a job where their rows have changed, and kept as files until they change again.

What is to be drawn stands in the `Figure` row, so that a lost queue or a killed worker costs a look: the next
one, a minute later, asks again. Drawing twice gives the same files.
"""

import json
import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotations.console.models import Figure
from annotations.domain.figures import Chart
from annotations.people.errors import Refused
from annotations.studies.models import Study

log = logging.getLogger(__name__)

PATIENCE = timedelta(minutes=1)
"""A job that gave no sign of life for this long has lost its worker, or its message."""
FILES = ("light-340.svg", "light-560.svg", "dark-340.svg", "dark-560.svg", "chart.png")
DRAWN_BY = 1
"""Version of the drawing: pictures of an older one are drawn anew."""


def key_of(*parts: object) -> str:
    """What rows are known by."""
    return sha256(json.dumps([DRAWN_BY, *parts], sort_keys=True).encode()).hexdigest()


def figures_of(*, study: Study, charts: Iterable[Chart], rule: str = "") -> list[Figure]:
    """The figure of each chart, in order; those that are not drawn yet, or of other rows, are asked for."""
    stored = [chart.stored() for chart in charts if chart.rows]
    wanted = {f"{chart['name']}:{rule}": (key_of(chart), {"chart": chart}) for chart in stored}
    return ask(study=study, wanted=wanted)


def ask(*, study: Study, wanted: Mapping[str, tuple[str, Mapping[str, Any]]]) -> list[Figure]:
    """The figures of these names, each made for the key and result that go with it, and queued where it has to be."""
    there = {row.name: row for row in Figure.objects.filter(study=study, name__in=wanted)}
    missing = [Figure(study=study, name=name) for name in wanted if name not in there]
    if missing:
        Figure.objects.bulk_create(missing, ignore_conflicts=True)
        there = {row.name: row for row in Figure.objects.filter(study=study, name__in=wanted)}
    for name, (key, result) in wanted.items():
        figure = there[name]
        if figure.rows_key != key or _files_are_gone(figure):
            figure.rows_key, figure.result = key, dict(result)
            _queue(figure)
    revive(there.values())
    return [there[name] for name in wanted]


def revive(figures: Iterable[Figure]) -> None:
    """Asks again for figures whose job is not over, or failed, and has given no sign of life for a minute."""
    over = timezone.now() - PATIENCE
    for figure in figures:
        if figure.state != Figure.State.DONE and (figure.alive_at is None or figure.alive_at < over):
            _queue(figure)


def _queue(figure: Figure) -> None:
    figure.state, figure.problem, figure.alive_at = Figure.State.WAITING, "", timezone.now()
    figure.save(update_fields=["state", "problem", "alive_at", "rows_key", "result"])

    def send() -> None:
        from annotations.console import tasks

        task = tasks.task_of(figure.name)
        try:
            task.delay(figure.pk)
        except task.OperationalError:
            log.warning("The queue cannot be reached: figure %s is asked for again in a minute.", figure.pk)

    transaction.on_commit(send)


def begin(figure_id: int) -> Figure | None:
    """The figure, marked as under way; None where nothing is to be done any more."""
    waiting = Figure.objects.filter(
        Q(state=Figure.State.WAITING) | Q(state=Figure.State.RUNNING), pk=figure_id
    )
    if not waiting.update(state=Figure.State.RUNNING, alive_at=timezone.now()):
        return None
    return Figure.objects.select_related("study").get(pk=figure_id)


def finish(figure: Figure, *, result: Mapping[str, Any], problem: str = "") -> None:
    """Stores what came of the job; of rows that were replaced meanwhile, nothing."""
    state = Figure.State.FAILED if problem else Figure.State.DONE
    Figure.objects.filter(pk=figure.pk, rows_key=figure.rows_key).update(
        state=state, result=dict(result), problem=problem, finished_at=timezone.now()
    )


@contextmanager
def noted(figure: Figure) -> Iterator[None]:
    """Work on a figure: what it breaks with is noted, so that nobody waits for it. A database that is away is not."""
    try:
        yield
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        log.exception("Figure %s could not be worked out", figure.pk)
        problem = "This could not be worked out. The log of the worker tells more."
        finish(figure, result=figure.result, problem=problem)


def draw(*, figure_id: int) -> None:
    """Draws a figure that waits for it. Safe to run twice."""
    figure = begin(figure_id)
    if figure is None:
        return
    problem = write(figure, Chart.of(figure.result["chart"]))
    finish(figure, result=figure.result, problem=problem)


def write(figure: Figure, chart: Chart) -> str:
    """Writes the files of a chart and drops those of older rows. What went wrong, in words; or nothing."""
    from annotations.console import drawing

    try:
        files = drawing.draw(chart)
        folder = _folder(figure)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except Exception:
        log.exception("Figure %s could not be drawn", figure.pk)
        return "The chart could not be drawn. Its data stands in the table and the CSV file."
    for old in folder.parent.iterdir():
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    return ""


def _folder(figure: Figure) -> Path:
    return Path(settings.VAR_DIR, "figures", str(figure.pk), figure.rows_key[:16])


def _files_are_gone(figure: Figure) -> bool:
    """Whether the figure was drawn, and somebody has emptied the folder since."""
    drawn = figure.state == Figure.State.DONE and "chart" in figure.result
    return drawn and not (_folder(figure) / FILES[-1]).exists()


def file_of(*, study: Study, name: str, file: str) -> Path:
    """Where a chart's file lies. Raises Refused no_such_chart."""
    figure = _named(study, [name]).filter(state=Figure.State.DONE).first()
    path = _folder(figure) / file if figure and file in FILES else None
    if path is None or not path.exists():
        raise Refused("no_such_chart", "This chart is not drawn yet. Open its page and wait.", status=404)
    return path


def rows_of(*, study: Study, name: str) -> tuple[list[str], list[list[object]]]:
    """The columns and rows a chart is drawn from. Raises Refused no_such_chart."""
    figure = _named(study, [name]).first()
    chart = figure.result.get("chart") if figure else None
    if chart is None:
        raise Refused("no_such_chart", "There is no such chart. Open its page first.", status=404)
    return chart["columns"], chart["cells"]


def _named(study: Study, names: Iterable[str]) -> QuerySet[Figure]:
    """The study's figures of these names. They come from an address: PostgreSQL takes no NUL."""
    return Figure.objects.filter(study=study, name__in=filter(str.isprintable, names)).order_by("pk")


def by_name(*, study: Study, names: Iterable[str]) -> list[Figure]:
    """The figures of these names that there are; those whose job has gone are asked for again."""
    found = list(_named(study, names))
    revive(row for row in found if row.state != Figure.State.FAILED)
    return found
