"""The verbs about exports: ask for one, make it, publish it, hand out its files."""

import json
import logging
import secrets
import shutil
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotations.chats.models import Dialogue
from annotations.domain.splits import SplitError, parse
from annotations.exports import jobs, making, queries
from annotations.exports.models import Export, Import
from annotations.people.errors import Refused
from annotations.people.models import User
from annotations.studies import audit
from annotations.studies.models import Study
from annotations.studies.services import studies_of

log = logging.getLogger(__name__)

DRAWN = ".drawn.json"
"""The file, beside an export's own, that holds which chat it put in which split. It is not handed out."""
HIGHEST_SEED = 2_147_483_647


def planned(
    *,
    study: Study,
    format_: str,
    rule: str = "",
    splits: str = "0.8,0.1,0.1",
    seed: int = 0,
    mask: bool = False,
    partial: bool = True,
) -> Export:
    """An export with these settings, checked and not stored. `rule` "": that of the study's plan, else one it has.

    Raises Refused bad_format, bad_rule, bad_splits, bad_seed.
    """
    if format_ not in Export.Format.values:
        raise Refused("bad_format", f"Choose a format: {', '.join(Export.Format.values)}.", status=422)
    there = queries.rules(study)
    rule = rule or queries.default_rule(study)
    if there and rule not in there:
        raise Refused(
            "bad_rule", f"The study has no labels under {rule!r}. It has: {', '.join(there)}.", status=422
        )
    if len(rule) > 24:
        raise Refused("bad_rule", "There is no rule with such a long name.", status=422)
    splits = splits.replace(" ", "")
    try:
        parse(splits)
    except SplitError as error:
        raise Refused("bad_splits", str(error), status=422) from error
    if len(splits) > 60:
        raise Refused("bad_splits", "Write the splits with fewer digits.", status=422)
    if not 0 <= seed <= HIGHEST_SEED:
        raise Refused("bad_seed", f"The seed is a whole number from 0 to {HIGHEST_SEED:,}.", status=422)
    export = Export(
        study=study, format=format_, rule=rule, splits=splits, seed=seed, mask=mask, partial=partial
    )
    export.key = making.key_of(export)
    return export


@transaction.atomic
def ask(
    *,
    study: Study,
    actor: User | None,
    format_: str,
    rule: str = "",
    splits: str = "0.8,0.1,0.1",
    seed: int = 0,
    mask: bool = False,
    partial: bool = True,
) -> Export:
    """Asks for an export, made by a job. The same asked for while it waits or is made is that one.

    Raises what `planned` raises.
    """
    export = planned(
        study=study, format_=format_, rule=rule, splits=splits, seed=seed, mask=mask, partial=partial
    )
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # two clicks at once ask once
    same = {name: getattr(export, name) for name in ("format", "rule", "splits", "seed", "mask", "partial")}
    waiting = Export.objects.filter(study=study, state__in=["waiting", "running"], **same).first()
    if waiting:
        return waiting
    export.asked_by = actor
    export.save()
    audit.record(action="export_asked", study=study, actor=actor, export=export.pk, **same)
    transaction.on_commit(lambda: _queue(export.pk))
    return export


def _queue(export_id: int) -> None:
    from annotations.exports.tasks import make_task

    try:
        make_task.delay(export_id)
    except make_task.OperationalError as error:
        log.warning("export %d could not be queued, the beat will: %s", export_id, error)


def run(export_id: int) -> None:
    """Makes an export that was asked for. Twice is once; one whose maker was killed begins anew."""
    jobs.work(Export, export_id, _run)


def _run(export: Export) -> None:
    folder = _exports() / str(export.pk)
    part = folder.with_name(f"{export.pk}.{secrets.token_hex(4)}.part")
    for left in folder.parent.glob(f"{export.pk}.*.part"):
        shutil.rmtree(
            left, ignore_errors=True
        )  # of one who was killed, or who will find that the job is ours now
    part.mkdir(parents=True)
    try:
        manifest, drawn = making.make(export, part, lambda done, total: jobs.tell(export, done, total))
        (part / DRAWN).write_text(json.dumps(drawn))
        total = len(drawn)
        with transaction.atomic():
            jobs.finish(export, manifest=manifest, folder=str(export.pk), done=total, total=total)
            # In the transaction, so that an export that is done has its files.
            shutil.rmtree(folder, ignore_errors=True)
            part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _exports() -> Path:
    return Path(settings.VAR_DIR) / "exports"


def cancel(*, export: Export, actor: User) -> None:
    """Stops an export that is not made yet. Raises Refused over."""
    if not jobs.cancel(export):
        raise Refused("over", "The export is not under way any more.")
    audit.record(action="export_cancelled", study=export.study, actor=actor, export=export.pk)


def restart() -> int:
    """Queues again the exports and imports that nobody works on though they are not done; how many."""
    from annotations.exports.tasks import make_task, read_task

    exports, imports = jobs.forgotten(Export), jobs.forgotten(Import)
    # The next look sends them again, so that messages do not pile up behind a long job.
    for pk in exports:
        make_task.apply_async((pk,), expires=30)
    for pk in imports:
        read_task.apply_async((pk,), expires=30)
    return len(exports) + len(imports)


@transaction.atomic
def publish(*, export: Export, actor: User | None) -> None:
    """Marks an export as published: its chats keep their splits in every export from now on. Twice is once.

    Raises Refused not_made, files_gone, splits_changed.
    """
    Study.objects.select_for_update(no_key=True).get(pk=export.study_id)
    export.refresh_from_db()
    if export.published_at:
        return
    if export.state != Export.State.DONE:
        raise Refused("not_made", "Only an export that is made can be published.")
    drawn = _drawn(export)
    fixed = Dialogue.objects.filter(study=export.study).exclude(split="").values_list("pk", "split")
    if any(drawn.get(pk, split) != split for pk, split in fixed.iterator(2000)):
        raise Refused(
            "splits_changed",
            "Since this export was made, another was published with other splits. Make it again, then publish that.",
        )
    for split in ("train", "valid", "test"):
        keys = [pk for pk, name in drawn.items() if name == split]
        for start in range(0, len(keys), 500):
            Dialogue.objects.filter(pk__in=keys[start : start + 500]).update(split=split)
    export.published_at = timezone.now()
    export.save(update_fields=["published_at"])
    audit.record(
        action="export_published", study=export.study, actor=actor, export=export.pk, chats=len(drawn)
    )


def _drawn(export: Export) -> dict[int, str]:
    try:
        found = json.loads((_exports() / export.folder / DRAWN).read_text())
    except OSError as error:
        raise Refused(
            "files_gone", "The files of this export are gone. Make it again.", status=410
        ) from error
    return {int(pk): split for pk, split in found.items()}


def export_for(*, user: User, export_id: int) -> Export:
    """An export of a study the person runs. Raises Refused no_such_export."""
    rows = Export.objects.select_related("study", "asked_by").filter(study__in=studies_of(user, "researcher"))
    export: Export | None = rows.filter(pk=export_id).first()
    if export is None:
        raise Refused(
            "no_such_export", "This export is not here, or it is of a study you do not run.", status=404
        )
    return export


def download_name(export: Export, name: str) -> str:
    """What one of its files is called where people save it: no two exports' files have the same name."""
    return f"{export.study.slug}-{export.pk}-{name.rpartition('/')[2]}"


def file_of(*, export: Export, name: str) -> Path:
    """One of the export's files, by the name its manifest gives it. Raises Refused no_such_file, files_gone."""
    names = [file["name"] for file in export.manifest.get("files", ())]
    if export.state != Export.State.DONE or name not in [*names, "manifest.json"]:
        raise Refused("no_such_file", "This export has no such file.", status=404)
    path = _exports() / export.folder / name
    if not path.is_file():
        raise Refused("files_gone", "The files of this export are gone. Make it again.", status=410)
    return path
