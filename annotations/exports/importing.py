"""Brings in files in the released text format: checked whole first, then stored in one transaction."""

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotations.chats.models import Dialogue, Utterance
from annotations.domain import parlai
from annotations.domain.rows import SPLITS
from annotations.exports import jobs
from annotations.exports.models import Import
from annotations.exports.queries import IMPORTED
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies import audit
from annotations.studies.models import Study
from annotations.studies.services import create_study, studies_of
from annotations.verification.models import Merged
from bots.models import Bot

log = logging.getLogger(__name__)

VERSION = "1"
"""Of the rule `imported`: the labels are those of the file."""
PORTION = 250
"""Chats stored at a time."""

Tell = Callable[[int, int], None]


@dataclass
class Report:
    """What a file holds."""

    rows: int = 0
    chats: int = 0
    labels: dict[str, dict[str, int]] = field(
        default_factory=lambda: {who: {"ok": 0, "notok": 0} for who in ("human", "bot")}
    )
    lengths: Counter[int] = field(default_factory=Counter)
    personas: Counter[int] = field(default_factory=Counter)

    def add(self, chat: parlai.Chat) -> None:
        self.rows += len(chat.texts)
        self.chats += 1
        self.lengths[len(chat.texts)] += 1
        self.personas[len(chat.persona)] += 1
        for place, ok in enumerate(chat.ok):
            self.labels["bot" if place % 2 else "human"]["ok" if ok else "notok"] += 1

    def as_json(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "chats": self.chats,
            "labels": self.labels,
            "lengths": {str(length): self.lengths[length] for length in sorted(self.lengths)},
            "persona_lines": {str(count): self.personas[count] for count in sorted(self.personas)},
        }


def check(path: Path, tell: Tell = lambda _done, _total: None) -> Report:
    """Reads the whole file. `tell` gets the bytes read and those there are. Raises LineError at a bad line."""
    report, size, seen = Report(), path.stat().st_size, 0

    def lines(file: IO[bytes]) -> Iterator[bytes]:
        nonlocal seen
        for line in file:
            seen += len(line)
            yield line

    with path.open("rb") as file:
        for chat in parlai.read(lines(file)):
            report.add(chat)
            tell(seen, size)
    return report


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- asking --------------------------------------------------------------------------------------------------


def study_called(slug: str) -> Study:
    """The study with this short name; a new one, closed, where there is none."""
    found = Study.objects.filter(slug=slug).first()
    return found or create_study(owner=None, name=slug, slug=slug, state="closed", closed_at=timezone.now())


def earlier(study: Study, sha256: str) -> Import | None:
    """The import of the same file into the study that is done, waits or is under way, if there is one."""
    rows = Import.objects.filter(study=study, sha256=sha256, state__in=["waiting", "running", "done"])
    return rows.order_by("pk").first()


@transaction.atomic
def ask(
    *,
    study: Study,
    actor: User | None,
    name: str,
    path: Path,
    sha256: str,
    split: str = "",
    queued: bool = False,
) -> Import:
    """An import of the file at `path`, to be run; if `queued`, by a job.

    Raises Refused bad_split, imported_before.
    """
    if split and split not in SPLITS:
        raise Refused("bad_split", f"Choose a split: {', '.join(SPLITS)}, or none.", status=422)
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    before = earlier(study, sha256)
    if before:
        raise Refused("imported_before", _before(before))
    found = Import.objects.create(
        study=study, name=name[-200:], sha256=sha256, split=split, path=str(path), asked_by=actor
    )
    if queued:
        transaction.on_commit(lambda: _queue(found.pk))
    return found


def _before(found: Import) -> str:
    if found.state != Import.State.DONE:
        return f"This file is being imported into the study already (import {found.pk}). Nothing was added."
    return f"This file was imported into the study on {found.asked_at:%-d %B %Y} (import {found.pk}). Nothing was done."


def _queue(import_id: int) -> None:
    from annotations.exports.tasks import read_task

    try:
        read_task.delay(import_id)
    except read_task.OperationalError as error:
        log.warning("import %d could not be queued, the beat will: %s", import_id, error)


def ask_upload(*, study: Study, actor: User, upload: "UploadedFile[Any]", split: str) -> Import:
    """An import of a file sent by the browser, which a job reads. Raises Refused too_big, and as `ask` does."""
    limit = settings.IMPORT_MAX_MB
    if (upload.size or 0) > limit * 1_000_000:
        raise Refused("too_big", f"The file is over {limit} MB. Use manage.py import_bad.", status=413)
    _uploads().mkdir(parents=True, exist_ok=True)
    path, sha = _uploads() / f"{uuid4().hex}.txt", hashlib.sha256()
    with path.open("wb") as file:
        for chunk in upload.chunks():
            sha.update(chunk)
            file.write(chunk)
    try:
        return ask(
            study=study,
            actor=actor,
            name=upload.name or "file",
            path=path,
            sha256=sha.hexdigest(),
            split=split,
            queued=True,
        )
    except Refused:
        path.unlink()
        raise


def _uploads() -> Path:
    return Path(settings.VAR_DIR) / "imports"


def import_for(*, user: User, import_id: int) -> Import:
    """An import into a study the person runs. Raises Refused no_such_import."""
    rows = Import.objects.select_related("study", "asked_by").filter(study__in=studies_of(user, "researcher"))
    found: Import | None = rows.filter(pk=import_id).first()
    if found is None:
        raise Refused(
            "no_such_import", "This import is not here, or it is into a study you do not run.", status=404
        )
    return found


# -- doing ---------------------------------------------------------------------------------------------------


def run(import_id: int) -> None:
    """Reads in a file that was asked for. Twice is once; one whose reader was killed begins anew."""
    jobs.work(Import, import_id, _run)
    _tidy(import_id)


def _tidy(import_id: int) -> None:
    """Deletes the uploaded file of an import that is over: nobody reads it again."""
    found = Import.objects.filter(pk=import_id, state__in=["done", "failed", "cancelled"]).first()
    if found and Path(found.path).parent == _uploads():
        Path(found.path).unlink(missing_ok=True)


def _run(found: Import) -> None:
    path = Path(found.path)
    if not path.is_file():
        raise Refused("file_gone", "The file is not there any more. Upload it again.")
    if digest(path) != found.sha256:
        raise Refused("file_changed", "The file has changed since it was chosen. Start again.")
    report = check(path, lambda done, total: jobs.tell(found, done, total)).as_json()
    size = path.stat().st_size
    jobs.tell(found, size, size, at_once=True)
    try:
        _store(found, path, report, size)
    except IntegrityError as error:
        if not Import.objects.filter(study=found.study, sha256=found.sha256, state="done").exists():
            raise
        raise Refused("imported_before", "The same file was imported by another job meanwhile.") from error


@transaction.atomic
def _store(found: Import, path: Path, report: dict[str, Any], size: int) -> None:
    """Everything, or nothing. The row is locked, so that it is not taken for forgotten while it cannot say a word."""
    Import.objects.select_for_update(no_key=True).get(pk=found.pk)
    jobs.finish(found, report=report, done=size, total=size)
    bot, worker = _placeholders()
    now = timezone.now()
    with path.open("rb") as file:
        chats = parlai.read(file)
        while portion := list(islice(chats, PORTION)):
            dialogues = Dialogue.objects.bulk_create(
                _dialogue(found, chat, bot=bot, worker=worker, now=now) for chat in portion
            )
            said = Utterance.objects.bulk_create(
                Utterance(
                    dialogue=dialogue,
                    number=number,
                    speaker="human" if number % 2 else "bot",
                    text=text,
                    at=now,
                    engine="" if number % 2 else bot.engine,
                )
                for dialogue, chat in zip(dialogues, portion, strict=True)
                for number, text in enumerate(chat.texts, 1)
            )
            labels = (ok for chat in portion for ok in chat.ok)
            Merged.objects.bulk_create(
                Merged(
                    study=found.study,
                    utterance=utterance,
                    rule=IMPORTED,
                    version=VERSION,
                    label="ok" if ok else "notok",
                    at=now,
                )
                for utterance, ok in zip(said, labels, strict=True)
            )
    # Else it would be the moment of storing, after the end.
    Dialogue.objects.filter(study=found.study, imported=True, ended_at=now).update(started_at=now)
    audit.record(
        action="imported",
        study=found.study,
        actor=found.asked_by,
        file=found.name,
        rows=report["rows"],
        chats=report["chats"],
    )


def _dialogue(found: Import, chat: parlai.Chat, *, bot: Bot, worker: User, now: Any) -> Dialogue:
    """A chat as it is stored: complete where it is as long as the study's chats are, else partial."""
    said = len(chat.texts)
    whole = said >= found.study.utterances
    return Dialogue(
        study=found.study,
        worker=worker,
        bot=bot,
        instruction="",
        persona=list(chat.persona),
        chats_before=0,
        wanted=max(found.study.utterances, said + said % 2),
        said=said,
        state=Dialogue.State.COMPLETE if whole else Dialogue.State.PARTIAL,
        end_reason=Dialogue.End.IMPORTED,
        last_at=now,
        ended_at=now,
        imported=True,
        split=found.split,
    )


def _placeholders() -> tuple[Bot, User]:
    """The bot and the worker that imported chats have. Neither can chat. Raises Refused name_taken."""
    bot, _ = Bot.objects.get_or_create(
        slug=IMPORTED, defaults={"name": "Imported", "engine": Bot.Engine.IMPORTED, "enabled": False}
    )
    worker, made = User.objects.get_or_create(username=IMPORTED, defaults={"is_active": False})
    if made:
        worker.set_unusable_password()
        worker.save(update_fields=["password"])
    if bot.engine != Bot.Engine.IMPORTED or worker.is_active:
        raise Refused(
            "name_taken",
            f"A bot or an account is called {IMPORTED!r}. Imported chats need that name: give it another.",
        )
    return bot, worker
