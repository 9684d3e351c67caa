"""Reads a study's chats as rows, some at a time: memory stays flat, and no query stays open between two portions.

Each portion is three or four queries over its chats, put together here by the utterance's key. Plain tuples, since
an export reads every row of a study: model instances take three times as long.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from django.db.models import Func, TextField

from annotations.chats.models import Dialogue, Utterance
from annotations.domain.privacy import Pseudonyms, has_email, has_number, masked
from annotations.domain.rows import ExportRow, shown_persona
from annotations.verification.models import CATEGORIES, Merged, Vote

PORTION = 400
"""Chats read at a time."""

Chat = list[ExportRow]


class Iso(Func):
    """A time as ISO 8601 text with the offset of UTC, made by the database: Python would take longer for the times
    than for all else in a row.
    """

    arity = 1
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **kwargs: Any) -> Any:
        """The format is spelt out, so that the session's settings do not matter."""
        words = """to_char(%(expressions)s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')"""
        return super().as_sql(compiler, connection, template=words, **kwargs)

    def as_sqlite(self, compiler: Any, connection: Any, **kwargs: Any) -> Any:
        """Django keeps times as text, in UTC, without a fraction where that is nothing."""
        words = "substr(replace(%(expressions)s, ' ', 'T') || '.000000', 1, 26) || '+00:00'"
        return super().as_sql(compiler, connection, template=words, **kwargs)


_UTTERANCE = (
    *("pk", "dialogue_id", "number", "speaker", "text", Iso("at")),
    *("label__bin", Iso("label__at"), "label__changes"),
)
_DIALOGUE = (
    *("pk", "persona", "imported", "state", "worker_id", "bot_id", "instruction_set__slug"),
    *("chats_before", Iso("started_at"), Iso("ended_at")),
)
_MERGED = (
    *("utterance_id", "rule", "version", "label", "tie", "ok_votes", "notok_votes", "probability"),
    *("category_ties", *CATEGORIES),
)
_VOTE = (
    *("item__utterance_id", "verifier_id", "ok", "note", "seconds", Iso("at"), "changes", "set_aside_at"),
    *CATEGORIES,
)
_NAMED = {
    flags: tuple(name for name, on in zip(CATEGORIES, flags, strict=True) if on)
    for flags in product((False, True), repeat=len(CATEGORIES))
}
"""The names of the categories that are on."""


@dataclass(frozen=True)
class Reader:
    """What of a study is read, and how it is shown. `whole`: with every vote, and the label under each rule."""

    rule: str
    mask: bool
    whole: bool
    names: Pseudonyms

    def portions(self, splits: Mapping[int, str]) -> Iterator[list[Chat]]:
        """The chats in `splits` (key of the dialogue: its split), in that order, each as its rows in theirs."""
        keys = list(splits)
        for start in range(0, len(keys), PORTION):
            yield self._portion(keys[start : start + PORTION], splits)

    def _portion(self, keys: Sequence[int], splits: Mapping[int, str]) -> list[Chat]:
        dialogues = {row[0]: row for row in Dialogue.objects.filter(pk__in=keys).values_list(*_DIALOGUE)}
        said: dict[int, list[Any]] = defaultdict(list)
        utterances = Utterance.objects.filter(dialogue__in=keys).order_by("dialogue_id", "number")
        for row in utterances.values_list(*_UTTERANCE):
            said[row[1]].append(row)
        merged = self._merged(keys)
        votes = self._votes(keys) if self.whole else {}
        return [
            self._chat(dialogues[key], said[key], splits[key], merged, votes) for key in keys if said[key]
        ]

    def _merged(self, keys: Sequence[int]) -> dict[int, dict[str, tuple[Any, ...]]]:
        """For each utterance, by rule, its merged label."""
        rows = Merged.objects.filter(utterance__dialogue__in=keys).order_by("rule")
        if not self.whole:
            rows = rows.filter(rule=self.rule)
        found: dict[int, dict[str, tuple[Any, ...]]] = defaultdict(dict)
        for row in rows.values_list(*_MERGED):
            found[row[0]][row[1]] = row
        return found

    def _votes(self, keys: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
        """For each utterance its votes, in the order they were cast."""
        found: dict[int, list[dict[str, Any]]] = defaultdict(list)
        of_chats = Vote.objects.filter(item__kind="utterance", item__utterance__dialogue__in=keys)
        for row in of_chats.order_by("pk").values_list(*_VOTE):
            key, verifier, ok, note, seconds, at, changes, set_aside_at = row[:8]
            flags = row[8:]
            found[key].append(
                {
                    "verifier": self.names.of("person", verifier),
                    "ok": ok,
                    "categories": _NAMED[flags],
                    "note": masked(note) if self.mask else note,
                    "seconds": seconds,
                    "at": at,
                    "changes": changes,
                    "counts": set_aside_at is None,
                }
            )
        return found

    def _chat(
        self,
        dialogue: tuple[Any, ...],
        said: Sequence[tuple[Any, ...]],
        split: str,
        merged: Mapping[int, Mapping[str, tuple[Any, ...]]],
        votes: Mapping[int, Sequence[Mapping[str, Any]]],
    ) -> Chat:
        pk, persona, imported, state, worker, bot, instructions, before, started, ended = dialogue
        texts = tuple(masked(row[4]) if self.mask else row[4] for row in said)
        chat = self.names.of("chat", pk)
        lines = shown_persona(persona, imported=imported)
        who = None if imported else self.names.of("person", worker)
        with_whom = None if imported else self.names.of("bot", bot)
        rows = []
        for place, (key, _, number, speaker, text, at, bin_, bin_at, changes) in enumerate(said):
            labels = merged.get(key, {})
            mine = labels.get(self.rule, _UNMERGED)
            _, _, _, label, tie, ok, notok, probability = mine[:8]
            rows.append(
                ExportRow(
                    split=split,
                    chat=chat,
                    number=number,
                    speaker=speaker,
                    text=texts[place],
                    context=texts[:place],
                    persona=lines,
                    label=label or None,
                    tie=tie,
                    categories=_NAMED[mine[9:]],
                    ok_votes=ok,
                    notok_votes=notok,
                    probability=probability,
                    bin=bin_,
                    worker=who,
                    bot=with_whom,
                    instruction_set=instructions,
                    chats_before=before,
                    state=state,
                    imported=imported,
                    has_email=has_email(text),
                    has_number=has_number(text),
                    at=at,
                    bin_at=bin_at,
                    bin_changes=changes or 0,
                    started_at=started,
                    ended_at=ended,
                    votes=votes.get(key, ()),
                    merged={rule: _whole(row) for rule, row in labels.items()} if self.whole else {},
                )
            )
        return rows


_UNMERGED = (0, "", "", "", False, 0, 0, None, "", False, False, False, False)
"""A row of `_MERGED` for an utterance without a label under the rule."""


def _whole(row: tuple[Any, ...]) -> dict[str, Any]:
    _, _, version, label, tie, ok, notok, probability, category_ties = row[:9]
    return {
        "version": version,
        "label": label or None,
        "tie": tie,
        "ok_votes": ok,
        "notok_votes": notok,
        "categories": _NAMED[row[9:]],
        "category_ties": category_ties.split(",") if category_ties else [],
        "probability": probability,
    }
