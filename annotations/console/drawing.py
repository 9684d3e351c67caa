"""Charts as pictures. Only jobs import this: altair and the renderer take a second to load."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt  # noqa: TID253 this module is imported by jobs only, inside functions
import vl_convert  # noqa: TID253

from annotations.domain.figures import Chart

WIDTHS = (340, 560)
THEMES: dict[str, dict[str, Any]] = {
    "light": {
        "ink": "#14201e",
        "soft": "#475653",
        "grid": "#d3dbd8",
        "mark": "#0f5d66",
        "second": "#b4551d",
        "ground": "#ffffff",
    },
    "dark": {
        "ink": "#e6edeb",
        "soft": "#a8b6b2",
        "grid": "#2d3937",
        "mark": "#7dccd4",
        "second": "#f29c60",
        "ground": "#182120",
    },
}
FONT = "Segoe UI, Roboto, Liberation Sans, Arial, sans-serif"
LINE = 30
"""Height of a line of names."""


def draw(chart: Chart) -> dict[str, bytes]:
    """The chart's files by name: an SVG for each theme and width, and one PNG, twice as large, on white."""
    files = {
        f"{theme}-{width}.svg": vl_convert.vegalite_to_svg(_spec(chart, theme, width)).encode()
        for theme in THEMES
        for width in WIDTHS
    }
    spec = _spec(chart, "light", WIDTHS[-1]) | {"background": THEMES["light"]["ground"], "padding": 16}
    return files | {"chart.png": vl_convert.vegalite_to_png(spec, scale=2)}


def _spec(chart: Chart, theme: str, width: int) -> dict[str, Any]:
    colours = THEMES[theme]
    layers = {"shares": _shares, "alpha": _alpha, "forest": _forest, "lines": _lines, "bars": _bars}[
        chart.kind
    ]
    drawn = layers(chart, colours, width).properties(width=width, autosize=_FIT)
    spec: dict[str, Any] = drawn.to_dict()
    return spec | {"config": _config(colours)}


_FIT = alt.AutoSizeParams(type="fit-x", contains="padding")


def _data(rows: Sequence[Mapping[str, Any]]) -> Any:
    return alt.Data(values=list(rows))  # type: ignore[no-untyped-call]


def _config(colours: dict[str, Any]) -> dict[str, Any]:
    """The look of every chart (design.md section 3)."""
    axis = {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelColor": colours["soft"],
        "titleColor": colours["soft"],
        "gridColor": colours["grid"],
        "domain": False,
        "ticks": False,
        "labelPadding": 6,
    }
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "axis": axis,
        "legend": {"disable": True},
        "text": {"fontSize": 12, "color": colours["soft"]},
        "point": {"size": 80, "filled": True, "color": colours["mark"], "opacity": 1},
        "rule": {"strokeWidth": 2, "color": colours["mark"]},
        "line": {"strokeWidth": 2},
        "area": {"opacity": 0.16},
        "bar": {"color": colours["mark"], "cornerRadiusEnd": 2},
    }


def _names(rows: list[dict[str, Any]], colours: dict[str, Any], width: int) -> alt.Y:
    """The axis of names, in the order of the rows."""
    limit = 135 if width < WIDTHS[-1] else 200
    return alt.Y(
        "name:N",
        sort=[row["name"] for row in rows],
        title=None,
        axis=alt.Axis(
            labelColor=colours["ink"],
            labelFontSize=13,
            labelLimit=limit - 8,
            labelPadding=limit,
            labelAlign="left",
            grid=False,
        ),
    )


def _shares(chart: Chart, colours: dict[str, Any], width: int) -> Any:
    """A dot with its interval for each line, the percentage at the end."""
    top = max(float(row["high"]) for row in chart.rows)
    scale = alt.Scale(domain=[0, min(100, 10 * (int(top) // 10 + 1))], nice=False)
    axis = alt.Axis(tickCount=5, labelFlush=False, labelExpr="datum.value + '%'")
    whiskers = _whiskers(chart, colours, width, value="percent", x={"scale": scale, "axis": axis})
    return alt.layer(*whiskers, _at_the_end(chart, colours, width, "format(datum.percent, '.0f') + '%'"))


def _alpha(chart: Chart, colours: dict[str, Any], width: int) -> Any:
    """A dot with its interval for each line, from 0 or below to 1, the figure at the end."""
    bottom = min(0.0, *(float(row["low"]) for row in chart.rows))
    scale = alt.Scale(domain=[bottom, 1], nice=False)
    axis = alt.Axis(tickCount=4, labelFlush=False)
    whiskers = _whiskers(chart, colours, width, value="alpha", x={"scale": scale, "axis": axis})
    return alt.layer(*whiskers, _at_the_end(chart, colours, width, "format(datum.alpha, '.2f')"))


def _forest(chart: Chart, colours: dict[str, Any], width: int) -> Any:
    """A coefficient with its interval for each predictor, against 0."""
    zero = alt.Chart(_data([{"at": 0}])).mark_rule(strokeDash=[3, 2], strokeWidth=1, color=colours["soft"])
    x = {"title": chart.axis, "axis": alt.Axis(tickCount=5, labelFlush=False)}
    whiskers = _whiskers(chart, colours, width, value="coefficient", x=x)
    return alt.layer(zero.encode(x="at:Q"), *whiskers)


def _whiskers(
    chart: Chart, colours: dict[str, Any], width: int, *, value: str, x: dict[str, Any]
) -> list[Any]:
    """The intervals and the dots."""
    base, y = _by_name(chart, colours, width)
    rule = base.mark_rule().encode(x=alt.X("low:Q", **{"title": None, **x}), x2="high:Q", y=y)
    return [rule, base.mark_point().encode(x=f"{value}:Q", y=y)]


def _at_the_end(chart: Chart, colours: dict[str, Any], width: int, told: str) -> Any:
    """A figure for each line, behind the axis."""
    base, y = _by_name(chart, colours, width)
    words = base.transform_calculate(told=told).mark_text(align="right", dx=44)
    return words.encode(x=alt.value("width"), y=y, text="told:N")


def _by_name(chart: Chart, colours: dict[str, Any], width: int) -> tuple[Any, alt.Y]:
    """The rows, named by their first column, and the axis of names."""
    rows = [{"name": str(next(iter(row.values()))), **row} for row in chart.rows]
    base = alt.Chart(_data(rows), height=LINE * len(rows) + 4)
    return base, _names(rows, colours, width)


def _lines(chart: Chart, colours: dict[str, Any], width: int) -> Any:  # noqa: ARG001 all drawers are called alike
    """Two series with bands; named at their ends, the people's dashed."""
    base = alt.Chart(_data(chart.rows), height=190)
    speakers = alt.Scale(domain=["Bots", "People"], range=[colours["mark"], colours["second"]])
    colour = alt.Color("speaker:N", scale=speakers)
    dashes = alt.StrokeDash("speaker:N", scale=alt.Scale(domain=["Bots", "People"], range=[[1, 0], [5, 3]]))
    x = alt.X(
        "position:Q", title=chart.axis, axis=alt.Axis(grid=False, tickMinStep=1), scale=alt.Scale(nice=False)
    )
    y = alt.Y(
        "percent:Q",
        title=None,
        scale=alt.Scale(zero=True),
        axis=alt.Axis(tickCount=4, labelExpr="datum.value + '%'"),
    )
    named = [
        alt.Chart(_data([row])).mark_text(dy=dy).encode(x=x, y=y, text="speaker:N", color=colour)
        for row, dy in _named(chart)
    ]
    return alt.layer(
        base.mark_area().encode(x=x, y=alt.Y("low:Q", title=None), y2="high:Q", color=colour),
        base.mark_line().encode(x=x, y=y, color=colour, strokeDash=dashes),
        base.mark_point(size=40).encode(x=x, y=y, color=colour),
        *named,
    )


def _named(chart: Chart) -> list[tuple[Mapping[str, Any], int]]:
    """A point in the middle of each series, to write its name at: above the upper series, below the lower."""
    series = {
        speaker: [row for row in chart.rows if row["speaker"] == speaker] for speaker in ("Bots", "People")
    }
    points = [rows[len(rows) // 2] for rows in series.values() if rows]
    upper = max(float(row["percent"]) for row in points)
    return [(row, -16 if row["percent"] == upper else 18) for row in points]


def _bars(chart: Chart, colours: dict[str, Any], width: int) -> Any:
    """Counts; a period that is not over is outlined."""
    across, count = list(chart.rows[0])[:2]
    rows = [{"over": 1, **row} for row in chart.rows]
    few = len(rows) > 8 and width < WIDTHS[-1]
    labels: Any = [row[across] for row in rows[:: 4 if few else 2 if len(rows) > 10 else 1]]
    x = alt.X(
        f"{across}:O",
        sort=None,
        title=chart.axis or None,
        axis=alt.Axis(labelAngle=0, grid=False, values=labels),
        scale=alt.Scale(paddingInner=0.25),
    )
    y = alt.Y(f"{count}:Q", title=None, axis=alt.Axis(tickCount=4, format=",d", tickMinStep=1))
    base = alt.Chart(_data(rows), height=190)
    whole = base.transform_filter("datum.over").mark_bar().encode(x=x, y=y)
    part = base.transform_filter("!datum.over").mark_bar(
        fill=None, stroke=colours["mark"], strokeWidth=1.5, strokeDash=[3, 2]
    )
    return alt.layer(whole, part.encode(x=x, y=y))
