"""Reads a study's chats as rows, some at a time: memory stays flat, and no query stays open between two portions.

Each portion is three or four queries over its chats, put together here by the utterance's key. Plain tuples, since
an export reads every row of a study: model instances take three times as long.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotations.chats.models import Dialogue, Utterance
from annotations.domain.privacy import Pseudonyms, has_email, has_number, masked
from annotations.domain.rows import ExportRow, shown_persona
from annotations.verification.models import CATEGORIES, Merged, Vote

PORTION = 250
"""Chats read at a time."""

Chat = list[ExportRow]
_FLAGS = ("hate", "attack", "profanity", "other")
_UTTERANCE = (
    *("pk", "dialogue_id", "number", "speaker", "text", "at"),
    *("label__bin", "label__at", "label__changes"),
)
_DIALOGUE = (
    *("pk", "persona", "imported", "state", "worker_id", "bot_id", "instruction_set__slug"),
    *("chats_before", "started_at", "ended_at"),
)
_MERGED = (
    *("utterance_id", "rule", "version", "label", "tie", "ok_votes", "notok_votes", "probability"),
    *("category_ties", *_FLAGS),
)
_VOTE = (
    *("item__utterance_id", "verifier_id", "ok", "note", "seconds", "at", "changes", "set_aside_at"),
    *_FLAGS,
)


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
            key, verifier, ok, note, seconds, at, changes, set_aside_at, *flags = row
            found[key].append(
                {
                    "verifier": self.names.of("person", verifier),
                    "ok": ok,
                    "categories": _named(flags),
                    "note": masked(note) if self.mask else note,
                    "seconds": seconds,
                    "at": at.isoformat(),
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
        began, over = started.isoformat(), _when(ended)
        rows = []
        for place, (key, _, number, speaker, text, at, bin_, bin_at, changes) in enumerate(said):
            labels = merged.get(key, {})
            _, _, _, label, tie, ok, notok, probability, _, *flags = labels.get(self.rule, _UNMERGED)
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
                    categories=_named(flags),
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
                    at=at.isoformat(),
                    bin_at=_when(bin_at),
                    bin_changes=changes or 0,
                    started_at=began,
                    ended_at=over,
                    votes=votes.get(key, ()),
                    merged={rule: _whole(row) for rule, row in labels.items()} if self.whole else {},
                )
            )
        return rows


_UNMERGED = (0, "", "", "", False, 0, 0, None, "", False, False, False, False)
"""A row of `_MERGED` for an utterance without a label under the rule."""


def _named(flags: Sequence[bool]) -> tuple[str, ...]:
    return tuple(name for name, on in zip(CATEGORIES, flags, strict=True) if on) if any(flags) else ()


def _whole(row: tuple[Any, ...]) -> dict[str, Any]:
    _, _, version, label, tie, ok, notok, probability, category_ties, *flags = row
    return {
        "version": version,
        "label": label or None,
        "tie": tie,
        "ok_votes": ok,
        "notok_votes": notok,
        "categories": _named(flags),
        "category_ties": category_ties.split(",") if category_ties else [],
        "probability": probability,
    }


def _when(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
