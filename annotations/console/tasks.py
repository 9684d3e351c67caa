from typing import Any

from celery import shared_task


def task_of(name: str) -> Any:
    """The task that makes the figure of this name: as in bots:any, regression-human:any or agreement:any."""
    kind = name.partition("-")[0].partition(":")[0]
    return {"regression": regress_task, "agreement": agree_task}.get(kind, draw_task)


@shared_task(name="console.draw", ignore_result=True)
def draw_task(figure_id: int) -> None:
    from annotations.console import charts

    charts.draw(figure_id=figure_id)


@shared_task(name="console.regress", ignore_result=True)
def regress_task(figure_id: int) -> None:
    from annotations.console import regressions

    regressions.regress(figure_id=figure_id)


@shared_task(name="console.agree", ignore_result=True)
def agree_task(figure_id: int) -> None:
    from annotations.console import agreements

    agreements.work_out(figure_id=figure_id)
