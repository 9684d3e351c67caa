"""Makes the files of an export: draws the splits, reads, writes, counts, and says in a manifest what it did."""

import gc
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from annotations.domain.privacy import Pseudonyms, derived_key
from annotations.domain.rows import SPLITS
from annotations.domain.splits import assign
from annotations.exports import queries, writing
from annotations.exports.card import card, croissant
from annotations.exports.models import Export
from annotations.exports.reading import Chat, Reader
from annotations.people.errors import Refused
from annotations.studies.models import Study

Tell = Callable[[int, int], None]
"""Is told how many of how many chats are done."""


@dataclass
class Tally:
    """What has been written: rows by file, chats by split, and labels by split and speaker."""

    rows: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SPLITS, 0))
    chats: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SPLITS, 0))
    counts: dict[str, Any] = field(
        default_factory=lambda: {
            split: {who: {"ok": 0, "notok": 0, "none": 0} for who in ("human", "bot")} for split in SPLITS
        }
    )
    left_out: int = 0


def key_of(export: Export) -> str:
    """The key of an export's pseudonyms: the same for the same study and settings, whatever the format.

    Our choice of the two things wanted, names that cannot be matched between exports and the same bytes from the
    same settings: it hangs on every setting that changes what is in the rows.
    """
    wanted = (export.rule, export.splits, export.seed, export.mask, export.partial)
    return derived_key(settings.SECRET_KEY, "export", export.study_id, *wanted)


def make(export: Export, folder: Path, tell: Tell) -> tuple[dict[str, Any], dict[int, str]]:
    """Writes the files into `folder`, which is there and empty.

    Gives the manifest, which is also written, and the split of each chat that was drawn. Raises SplitError, and
    Refused nothing_to_export. Whatever `tell` raises ends it; the files are then in part.
    """
    drawn, others = _draw(export)
    splits = dict(sorted((drawn | others).items()))
    if not splits:
        raise Refused("nothing_to_export", _NOTHING)
    tally = _write(export, splits, folder, tell)
    manifest = _manifest(export, folder, tally)
    if export.format == Export.Format.HF:
        (folder / "README.md").write_text(card(export, manifest), encoding="utf-8")
        (folder / "croissant.json").write_text(croissant(export, manifest), encoding="utf-8")
        manifest["files"] += [_described(folder, name, "", 0) for name in ("README.md", "croissant.json")]
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    return manifest, drawn


_NOTHING = (
    "No finished chat has a label under this rule yet. Wait for the votes, choose another rule, or export JSON lines, "
    "which need no labels."
)


def _draw(export: Export) -> tuple[dict[int, str], dict[int, str]]:
    """The splits of chats with labels under the rule; and of the others, which only JSON lines hold.

    A chat without labels takes no part in the draw, so that every format has the same splits. It counts as train.
    """
    chats = queries.candidates(export.study, partial=export.partial)
    labelled = queries.labelled_chats(export.study, export.rule)
    drawn = assign([chat for chat in chats if chat.chat in labelled], export.splits, export.seed)
    if export.format != Export.Format.JSONL:
        return drawn, {}
    return drawn, {chat.chat: chat.split or "train" for chat in chats if chat.chat not in labelled}


def _write(export: Export, splits: Mapping[int, str], folder: Path, tell: Tell) -> Tally:
    reader = Reader(
        rule=export.rule,
        mask=export.mask,
        whole=export.format == Export.Format.JSONL,
        names=Pseudonyms(export.key),
    )
    paths = {split: folder / writing.file_name(export.format, split) for split in SPLITS}
    for path in paths.values():
        path.parent.mkdir(exist_ok=True)
    tally = Tally()
    writers = {split: writing.writer(export.format, path) for split, path in paths.items()}
    done = 0
    # Rows refer to nothing that refers back; looking for such rings among them takes an eighth of the time.
    gc.disable()
    try:
        for portion in reader.portions(splits):
            for split, to in writers.items():
                to.add(_held(export.format, [chat for chat in portion if chat[0].split == split], tally))
            done += len(portion)
            tell(done, len(splits))
    finally:
        gc.enable()
        for to in writers.values():
            to.close()
    return tally


def _held(format_: str, chats: list[Chat], tally: Tally) -> list[Any]:
    """The rows of these chats, all of one split, that the format holds; counted."""
    rows: list[Any] = []
    for chat in chats:
        held = writing.held(format_, chat)
        rows += held
        split = chat[0].split
        tally.rows[split] += len(held)
        tally.chats[split] += bool(held)
        tally.left_out += sum(1 for row in chat if row.label) - sum(1 for row in held if row.label)
    for row in rows:
        tally.counts[row.split][row.speaker][row.label or "none"] += 1
    return rows


CHATS_AT_ONCE = 500


def lines_of(chats: Sequence[int]) -> str:
    """These chats of one study as JSON lines, under the rule of its plan. Raises Refused too_many, two_studies."""
    if len(chats) > CHATS_AT_ONCE:
        raise Refused("too_many", f"Choose at most {CHATS_AT_ONCE} chats, or export the study.", status=422)
    studies = list(Study.objects.filter(dialogues__in=chats).distinct()[:2])
    if len(studies) != 1:
        raise Refused("two_studies", "Choose chats of one study.", status=422)
    study = studies[0]
    names = Pseudonyms(derived_key(settings.SECRET_KEY, "chats", study.pk, *chats))
    reader = Reader(rule=queries.default_rule(study), mask=False, whole=True, names=names)
    rows = [row for portion in reader.portions(dict.fromkeys(chats, "")) for chat in portion for row in chat]
    return writing.jsonl(rows)


def _manifest(export: Export, folder: Path, tally: Tally) -> dict[str, Any]:
    """What was made of what. No time is in it: the same data and settings give the same bytes."""
    study = export.study
    return {
        "study": {"slug": study.slug, "name": study.name, "round": study.round},
        "format": export.format,
        "rule": export.rule,
        "rule_versions": queries.versions(study, export.rule),
        "splits": export.splits,
        "seed": export.seed,
        "filters": {"partial": export.partial},
        "mask": export.mask,
        "code_version": settings.VERSION,
        "rows": sum(tally.rows.values()),
        "chats": tally.chats,
        "counts": tally.counts,
        "labelled_rows_left_out": tally.left_out,
        "files": [
            _described(folder, writing.file_name(export.format, split), split, tally.rows[split])
            for split in SPLITS
        ],
    }


def _described(folder: Path, name: str, split: str, rows: int) -> dict[str, Any]:
    path = folder / name
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": name, "split": split, "rows": rows, "bytes": path.stat().st_size, "sha256": sha256}
