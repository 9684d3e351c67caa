"""The paper's tables and figures, from counts of merged labels (Xu et al. 2021; bad.md section 3)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from annotations.domain.intervals import wilson

CATEGORIES = {
    "hate": "Hate speech",
    "attack": "Personal attack",
    "profanity": "Profanity",
    "other": "Other offensive",
}
SPEAKERS = {"human": "People", "bot": "Bots"}
LABELS = {"ok": "OK", "notok": "Not OK", "": "No label"}
SPLITS = ("train", "valid", "test", "")

Row = dict[str, str | int | float]
"""A line of a figure's data, as it stands in its CSV."""


class Cell(NamedTuple):
    """So many utterances (`n`) alike in split, bot, instruction set, place in the chat and merged label.

    `number` is from 1, odd ones are people's. `label`: ok, notok, or empty for none. The last four: how many
    of them are in each category.
    """

    split: str
    bot: str
    instructions: str
    number: int
    label: str
    n: int
    hate: int
    attack: int
    profanity: int
    other: int

    @property
    def speaker(self) -> str:
        return "human" if self.number % 2 else "bot"


@dataclass(frozen=True)
class Share:
    """`hits` of `total`, and the 95% Wilson interval, as percentages."""

    hits: int
    total: int

    @property
    def percent(self) -> float:
        return 100 * self.hits / self.total if self.total else 0

    @property
    def low(self) -> float:
        return 100 * (wilson(self.hits, self.total) or (0, 0))[0]

    @property
    def high(self) -> float:
        return 100 * (wilson(self.hits, self.total) or (0, 0))[1]

    def row(self) -> Row:
        """The share as the cells of a line of data."""
        return {
            "not_ok": self.hits,
            "of": self.total,
            "percent": round(self.percent, 2),
            "low": round(self.low, 2),
            "high": round(self.high, 2),
        }


@dataclass(frozen=True)
class Chart:
    """What is drawn, and the rows it is drawn from. `finding` says what it shows, to those who do not see it."""

    name: str
    title: str
    note: str
    kind: Literal["shares", "lines", "bars", "forest", "alpha"]
    rows: list[Row]
    finding: str
    axis: str = ""

    def stored(self) -> dict[str, Any]:
        """As JSON that keeps the order of the columns, which databases do not keep of an object."""
        columns = list(self.rows[0]) if self.rows else []
        cells = [[row[column] for column in columns] for row in self.rows]
        parts = {name: getattr(self, name) for name in ("name", "title", "note", "kind", "finding", "axis")}
        return parts | {"columns": columns, "cells": cells}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Chart":
        """The chart that was `stored`."""
        parts = {name: value for name, value in stored.items() if name not in ("columns", "cells")}
        rows = [dict(zip(stored["columns"], cells, strict=True)) for cells in stored["cells"]]
        return cls(rows=rows, **parts)


# -- Table 1 -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableRow:
    """Utterances of a speaker with a label: in each split, and in all. `share` is of the speaker's labelled."""

    speaker: str
    label: str
    counts: list[int]
    total: int
    shares: list[Share | None]

    @property
    def cells(self) -> list[tuple[int, Share | None]]:
        """Count and share by split, then of all."""
        return list(zip([*self.counts, self.total], self.shares, strict=True))


@dataclass(frozen=True)
class Table:
    """Table 1: utterances by speaker, label and split."""

    splits: list[str]
    rows: list[TableRow] = field(default_factory=list)


def table_1(cells: Sequence[Cell]) -> Table:
    """Utterances by speaker and label, a column for each split there is and one for all.

    Not OK comes with its share of the speaker's labelled utterances, as in the paper. Utterances without a
    label (ties left open) have a line of their own where there are any.
    """
    splits = [split for split in SPLITS if any(cell.split == split for cell in cells)]
    count: dict[tuple[str, str, str], int] = {}
    for cell in cells:
        key = (cell.speaker, cell.label, cell.split)
        count[key] = count.get(key, 0) + cell.n
    table = Table(splits)
    for speaker in SPEAKERS:
        for label in LABELS:
            counts = [count.get((speaker, label, split), 0) for split in splits]
            oks = [count.get((speaker, "ok", split), 0) for split in splits]
            if label or any(counts):
                none: list[Share | None] = [None] * (len(splits) + 1)
                shares = _shares(counts, oks) if label == "notok" else none
                table.rows.append(TableRow(speaker, label, counts, sum(counts), shares))
    return table


def _shares(bad: Sequence[int], ok: Sequence[int]) -> list[Share | None]:
    pairs = [*zip(bad, ok, strict=True), (sum(bad), sum(ok))]
    return [Share(n, n + m) for n, m in pairs]


def table_1_rows(table: Table) -> list[Row]:
    """Table 1 as data, a line for each speaker, label and split."""
    return [
        {"speaker": row.speaker, "label": row.label or "none", "split": split or "none", "utterances": count}
        for row in table.rows
        for split, count in zip(table.splits, row.counts, strict=True)
    ]


# -- shares of not OK ----------------------------------------------------------------------------------------


def not_ok(cells: Iterable[Cell], key: Callable[[Cell], object]) -> dict[object, Share]:
    """By `key`, the share of the labelled utterances that are not OK; of all cells alike with a constant key."""
    hits: dict[object, int] = {}
    total: dict[object, int] = {}
    for cell in cells:
        if cell.label:
            found = key(cell)
            total[found] = total.get(found, 0) + cell.n
            hits[found] = hits.get(found, 0) + (cell.n if cell.label == "notok" else 0)
    return {found: Share(hits[found], total[found]) for found in total}


def by_bot(cells: Sequence[Cell]) -> Chart:
    """Replies not OK, for each bot."""
    shares = not_ok((cell for cell in cells if cell.speaker == "bot"), lambda cell: cell.bot)
    rows = _sorted_rows("bot", shares)
    return Chart(
        "bots",
        "Not OK by bot",
        f"{sum(share.total for share in shares.values()):,} replies, 95% Wilson interval",
        "shares",
        rows,
        _ends("replies not OK", rows),
    )


def by_instructions(cells: Sequence[Cell]) -> Chart:
    """Messages and replies not OK, for each instruction set."""
    shares = not_ok(cells, lambda cell: f"{cell.instructions or 'none'}, {SPEAKERS[cell.speaker].lower()}")
    rows = _sorted_rows("instructions", shares)
    return Chart(
        "instructions",
        "Not OK by instruction set",
        "people’s messages and bots’ replies, 95% Wilson interval",
        "shares",
        rows,
        _ends("not OK", rows),
    )


def by_position(cells: Sequence[Cell]) -> Chart:
    """Utterances not OK, by their place in the chat."""
    shares = not_ok(cells, lambda cell: cell.number)
    rows: list[Row] = []
    for number, share in sorted(shares.items(), key=lambda pair: int(str(pair[0]))):
        place = int(str(number))
        speaker = SPEAKERS["human" if place % 2 else "bot"]
        rows.append({"speaker": speaker, "position": place, **share.row()})
    parts = []
    for speaker in SPEAKERS.values():
        own = [row for row in rows if row["speaker"] == speaker]
        if len(own) > 1:
            first, last = own[0], own[-1]
            parts.append(
                f"{speaker}: {first['percent']:.0f}% not OK at {first['position']}, "
                f"{last['percent']:.0f}% at {last['position']}"
            )
    return Chart(
        "positions",
        "Not OK by position",
        "place of the message in its chat, bands: 95% interval",
        "lines",
        rows,
        ". ".join(parts) or "Too few messages to compare.",
        "position in the chat",
    )


def by_category(cells: Sequence[Cell]) -> Chart:
    """Figure 5: of the utterances that are not OK, the share in each category; one can be in several."""
    total = dict.fromkeys(SPEAKERS, 0)
    hits = {(name, speaker): 0 for name in CATEGORIES for speaker in SPEAKERS}
    for cell in cells:
        if cell.label == "notok":
            total[cell.speaker] += cell.n
            for name in CATEGORIES:
                hits[name, cell.speaker] += getattr(cell, name)
    shares: dict[object, Share] = {
        f"{CATEGORIES[name]}, {SPEAKERS[speaker].lower()}": Share(count, total[speaker])
        for (name, speaker), count in hits.items()
        if total[speaker]
    }
    rows = _sorted_rows("category", shares) if any(hits.values()) else []
    for row in rows:
        row["in_category"] = row.pop("not_ok")
    return Chart(
        "categories",
        "What is not OK",
        "share of the utterances merged as not OK; one can be in several categories",
        "shares",
        rows,
        _ends("of what is not OK", rows),
    )


def _sorted_rows(name: str, shares: Mapping[object, Share]) -> list[Row]:
    ordered = sorted(shares.items(), key=lambda pair: (-pair[1].percent, str(pair[0])))
    return [{name: str(key), **share.row()} for key, share in ordered]


def _ends(what: str, rows: Sequence[Row]) -> str:
    """The highest and the lowest line, in words."""
    if not rows:
        return "Nothing to show yet."
    told = [
        f"{next(iter(row.values()))} {row['percent']:.0f}% ({row['low']:.0f}% to {row['high']:.0f}%)"
        for row in (rows[0], rows[-1])
    ]
    return f"Share {what}: {told[0]}" + (f" is the highest, {told[1]} the lowest" if len(rows) > 1 else "")


# -- Table 6 -------------------------------------------------------------------------------------------------


def unsafe_messages(dialogues: Mapping[int, int]) -> Chart:
    """Table 6: dialogues by how many of the person's messages are not OK. `dialogues`: count by that number."""
    total = sum(dialogues.values())
    rows: list[Row] = []
    left = total
    for number in range(max(dialogues, default=-1) + 1):
        count = dialogues.get(number, 0)
        rows.append(
            {
                "unsafe_messages": number,
                "dialogues": count,
                "percent": round(100 * count / total, 2),
                "percent_at_least": round(100 * left / total, 2),
            }
        )
        left -= count
    three = sum(count for number, count in dialogues.items() if number >= 3)
    finding = (
        f"{100 * three / total:.0f}% of {total:,} dialogues have at least 3 human messages that are not OK"
        if total
        else "Nothing to show yet."
    )
    title, note = "Dialogues by unsafe human messages", f"{total:,} dialogues"
    return Chart("messages", title, note, "bars", rows, finding, "human messages not OK")


def votes_a_day(days: Sequence[tuple[str, int]], *, last_is_over: bool) -> Chart:
    """Votes on each day, given in order; `last_is_over` is false for a day that still goes on."""
    rows: list[Row] = [
        {"day": day, "votes": count, "over": int(last_is_over or number < len(days))}
        for number, (day, count) in enumerate(days, 1)
    ]
    counts = [count for _, count in days]
    finding = (
        f"Votes a day over {len(days)} days: lowest {min(counts):,}, highest {max(counts):,}"
        if any(counts)
        else "No votes in these days."
    )
    note = "outlined: today is not over" if not last_is_over else ""
    return Chart("votes", "Votes a day", note, "bars", rows if any(counts) else [], finding)
