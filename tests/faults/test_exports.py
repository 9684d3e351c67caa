"""The worker of long jobs is killed while it exports or imports. Afterwards everything is there, once."""

import json
import urllib.request
from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.exports import importing, making
from annotations.models import Dialogue, Export, Import, Merged, Study, Utterance
from tests.factories import StudyFactory, make_researcher, make_token
from tests.released import released
from tests.stack import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.faults]

LONG = [{"long": 1, "bots": 0}]
CHATS = 800
SAID = [("Hello to you, this is a message like many others. " * 3, number % 2) for number in range(14)]


@pytest.fixture
def file(tmp_path):
    """A file of enough chats that a job with it lasts a while."""
    path = tmp_path / "many.txt"
    path.write_bytes(released([("nan", [(f"Chat {n}", 1), *SAID[1:]]) for n in range(CHATS)]))
    return path


def brought_in(study, file):
    """An import that waits, and that the beat takes for forgotten at its next look."""
    found = importing.ask(
        study=study, actor=None, name=file.name, path=file, sha256=importing.digest(file), split="train"
    )
    forgotten(found)
    return found


def forgotten(job):
    """The job as it would be a while from now: silent for longer than a living one is."""
    long_ago = timezone.now() - timedelta(minutes=5)
    type(job).objects.filter(pk=job.pk).update(asked_at=long_ago)
    type(job).objects.filter(pk=job.pk, state="running").update(alive_at=long_ago)


def state(job):
    return type(job).objects.values_list("state", flat=True).get(pk=job.pk)


def killed_while_it_runs(stack, job):
    wait_for(lambda: state(job) == "running", seconds=60, every=0.005, what="the job's start")
    stack.kill("long")
    assert state(job) == "running"
    stack.start("long")
    forgotten(job)
    wait_for(lambda: state(job) != "running", seconds=60, what="the job's end or new start")
    wait_for(lambda: state(job) == "done", seconds=60, what="the job's end")


def ask(stack, study, researcher):
    request = urllib.request.Request(
        f"{stack.url}/api/v1/studies/{study.slug}/exports",
        json.dumps({"format": "jsonl", "rule": "imported"}).encode(),
        {"Authorization": f"Bearer {make_token(researcher)}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return Export.objects.get(pk=json.load(answer)["id"])


@pytest.mark.parametrize("stack", LONG, indirect=True)
def test_the_worker_is_killed_while_it_exports(stack, file, tmp_path):
    study = StudyFactory()
    importing.run(brought_in(study, file).pk)
    export = ask(stack, study, make_researcher(study))

    killed_while_it_runs(stack, export)

    export.refresh_from_db()
    folder = tmp_path / "again"
    folder.mkdir()
    manifest, _ = making.make(export, folder, lambda _done, _total: None)
    assert manifest == export.manifest
    kept = stack.folder / "exports" / str(export.pk)
    assert (kept / "train.jsonl").read_bytes() == (folder / "train.jsonl").read_bytes()
    assert [path.name for path in kept.parent.iterdir()] == [str(export.pk)]


@pytest.mark.parametrize("stack", LONG, indirect=True)
def test_the_worker_is_killed_while_it_imports(stack, file):
    study = StudyFactory()
    found = brought_in(study, file)

    killed_while_it_runs(stack, found)

    counts = (Dialogue.objects.count(), Utterance.objects.count(), Merged.objects.count())
    assert counts == (CHATS, 14 * CHATS, 14 * CHATS)
    assert Import.objects.get().report["rows"] == 14 * CHATS
    assert Study.objects.count() == 1
