"""The precision-recall curve and the reliability plot, as vector graphics."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bots.safety import metrics
from bots.safety.metrics import Judged

COLOURS = ["#0f5d66", "#b4551d", "#73827e", "#8e2a3c"]


def save(folder: Path, judged: Mapping[str, Sequence[Judged]], flagging: Sequence[str]) -> list[Path]:
    """Both plots of some models (name -> its rows); the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    points: dict[str, list[dict[str, Any]]] = {"precision-recall": [], "reliability": []}
    for name, rows in judged.items():
        unsafe = [row.example.label in flagging for row in rows]
        scores = [row.score for row in rows]
        points["precision-recall"] += [
            {"model": name, "recall": one["recall"], "precision": one["precision"]}
            for one in metrics.thinned(metrics.curve(unsafe, scores))
        ]
        points["reliability"] += [{"model": name, **one} for one in metrics.reliability(unsafe, scores)]
    axes = {
        "precision-recall": ("recall", "Recall of the unsafe class", "precision", "Precision"),
        "reliability": ("score", "Score", "unsafe", "Share that is unsafe"),
    }
    paths = []
    for kind, rows_ in points.items():
        path = folder / f"{kind}.svg"
        _chart(rows_, *axes[kind], diagonal=kind == "reliability").save(path)
        paths.append(path)
    return paths


def _chart(
    rows: Sequence[dict[str, Any]], x: str, x_title: str, y: str, y_title: str, *, diagonal: bool
) -> Any:
    import altair as alt

    share = alt.Scale(domain=[0, 1])
    lines = (
        alt.Chart(alt.InlineData(values=list(rows)))
        .mark_line(point=diagonal)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, scale=share),
            y=alt.Y(f"{y}:Q", title=y_title, scale=share),
            color=alt.Color("model:N", title=None, scale=alt.Scale(range=COLOURS)),
            order=f"{x}:Q",
        )
    )
    if not diagonal:
        return lines.properties(width=340, height=340)
    ends = alt.Chart(alt.InlineData(values=[{x: 0, y: 0}, {x: 1, y: 1}])).mark_line(
        strokeDash=[4, 4], color=COLOURS[2]
    )
    return (ends.encode(x=f"{x}:Q", y=f"{y}:Q") + lines).properties(width=340, height=340)
