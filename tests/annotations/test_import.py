"""Files in the released text format come in whole, once, and go out again byte for byte."""

import hashlib
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from annotations.exports import importing
from annotations.models import AuditEntry, Dialogue, Import, Merged, Study, User, Utterance
from annotations.people.errors import Refused
from annotations.studies.services import studies_of
from bots import replies
from bots.errors import EngineError
from bots.models import Bot
from tests.factories import StudyFactory, UserFactory, make_researcher
from tests.released import CHATS, REAL, released

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def var(settings, tmp_path):
    """The folder that files are kept in."""
    settings.VAR_DIR = tmp_path / "var"
    return settings.VAR_DIR


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(released())
    return path


def run(path, study="brought", **options):
    out = StringIO()
    call_command("import_bad", str(path), study=study, stdout=out, **options)
    return out.getvalue()


def export(tmp_path, study="brought", name="out", **options):
    folder = tmp_path / name
    call_command("export_dataset", study=study, format="parlai", out=folder, stdout=StringIO(), **options)
    return folder


def test_the_study_is_made_closed_and_the_chats_stored(file):
    run(file)

    study = Study.objects.get(slug="brought")
    rows = Dialogue.objects.order_by("pk").values_list(
        "said", "wanted", "state", "end_reason", "imported", "split", "bot__slug", "worker__username"
    )
    assert (study.state, study.closed_at is None) == ("closed", False)
    assert list(rows) == [
        (3, 14, "partial", "imported", True, "", "imported", "imported"),
        (4, 14, "partial", "imported", True, "", "imported", "imported"),
        (14, 14, "complete", "imported", True, "", "imported", "imported"),
    ]


def test_utterances_labels_and_personas_come_in_as_they_stand(file):
    run(file)

    first, second, third = Dialogue.objects.order_by("pk")
    assert first.persona == ["your persona: i live alone.", "your persona:i bake ."]
    assert second.persona == ["your persona: i live alone.", "your persona: i bake.", "Steak"]
    assert third.persona == []
    assert list(first.utterances.values_list("number", "speaker", "text")) == [
        (1, "human", "Hello to you"),
        (2, "bot", "I hate you. "),
        (3, "human", "a|b"),
    ]
    labels = Merged.objects.filter(utterance__dialogue=first).order_by("utterance__number")
    assert list(labels.values_list("rule", "version", "label")) == [
        ("imported", "1", "ok"),
        ("imported", "1", "notok"),
        ("imported", "1", "ok"),
    ]
    assert first.started_at <= first.ended_at


def test_the_command_tells_what_it_read(file):
    assert run(file) == (
        "Imported into brought: 21 rows of 3 chats.\n"
        "   human: 10 OK, 1 not OK\n"
        "     bot: 2 OK, 8 not OK\n"
        "   chats: 1 of 3, 1 of 4, 1 of 14 utterances\n"
        "personas: 1 with 0, 1 with 2, 1 with 3 lines\n"
        "Only administrators see this study. Give it to somebody with --researcher NAME.\n"
    )


def test_the_study_can_be_given_to_a_researcher(file):
    researcher = make_researcher()

    told = run(file, researcher=researcher.username)

    assert "administrators" not in told
    assert [study.slug for study in studies_of(researcher, "researcher")] == ["brought"]
    with pytest.raises(CommandError, match="There is no account 'nobody'"):
        run(file, researcher="nobody")


def test_what_comes_in_goes_out_byte_for_byte(file, tmp_path):
    run(file, split="test")

    folder = export(tmp_path)

    assert (folder / "test.txt").read_bytes() == released()
    assert [(folder / name).read_bytes() for name in ("train.txt", "valid.txt")] == [b"", b""]


@pytest.mark.skipif(not REAL.exists(), reason=f"the released data is not at {REAL}")
def test_the_released_valid_split_goes_out_byte_for_byte(tmp_path):
    told = run(REAL, split="valid")

    folder = export(tmp_path)

    assert told.splitlines()[:3] == [
        "Imported into brought: 7,002 rows of 513 chats.",
        "   human: 1,625 OK, 1,876 not OK",
        "     bot: 2,614 OK, 887 not OK",
    ]
    assert (folder / "valid.txt").read_bytes() == REAL.read_bytes()


def test_the_same_file_a_second_time_does_nothing_and_says_so(file):
    run(file)

    told = run(file, split="test")

    assert told.startswith("This file was imported into the study on ")
    assert told.endswith(f"(import {Import.objects.get().pk}). Nothing was done.\n")
    assert (Dialogue.objects.count(), set(Dialogue.objects.values_list("split", flat=True))) == (3, {""})


def test_the_same_file_can_come_into_another_study(file):
    run(file)
    run(file, study="other")

    assert Dialogue.objects.filter(study__slug="other").count() == 3
    assert (
        Bot.objects.filter(engine="imported").count(),
        User.objects.filter(username="imported").count(),
    ) == (1, 1)


def test_a_file_with_a_bad_line_brings_in_nothing_and_makes_no_study(file):
    lines = released().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:5], lines[5].replace(b"__notok__", b"bad"), *lines[6:]]))

    with pytest.raises(CommandError) as refusal:
        run(file)

    assert str(refusal.value) == (
        f"{file}: Line 6: labels is 'bad', neither __ok__ nor __notok__. Nothing was imported."
    )
    assert (Study.objects.count(), Import.objects.count(), Utterance.objects.count()) == (0, 0, 0)


@pytest.mark.parametrize(
    ("name", "study", "words"),
    [
        ("absent.txt", "brought", "absent.txt cannot be read: No such file or directory."),
        (
            "some.txt",
            "not a slug",
            "--study 'not a slug' is no slug: use up to 60 letters, digits and hyphens.",
        ),
    ],
)
def test_what_cannot_be_imported_is_told(file, name, study, words):
    with pytest.raises(CommandError) as refusal:
        run(file.with_name(name), study=study)

    assert str(refusal.value).endswith(words)


def ask(study, path, **values):
    sha = hashlib.sha256(path.read_bytes()).hexdigest()
    return importing.ask(study=study, actor=None, name=path.name, path=path, sha256=sha, **values)


def test_a_job_reads_a_file_once_however_often_it_is_run(file):
    study = StudyFactory()
    found = ask(study, file)

    importing.run(found.pk)
    importing.run(found.pk)

    found.refresh_from_db()
    assert (found.state, found.percent, found.report["rows"]) == ("done", 100, 21)
    assert study.dialogues.count() == 3
    assert list(AuditEntry.objects.values_list("action", "detail")) == [
        ("imported", {"file": "some.txt", "rows": 21, "chats": 3})
    ]


def test_a_job_that_meets_a_bad_line_says_which_and_stores_nothing(file):
    file.write_bytes(released() + b"\n")
    found = ask(StudyFactory(), file)

    importing.run(found.pk)

    found.refresh_from_db()
    assert (found.state, found.problem) == ("failed", "Line 22: it is blank.")
    assert Dialogue.objects.count() == 0


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda path: path.unlink(), "The file is not there any more. Upload it again."),
        (lambda path: path.write_bytes(b"x"), "The file has changed since it was chosen. Start again."),
    ],
)
def test_a_file_that_changed_meanwhile_is_not_read(file, spoil, problem):
    found = ask(StudyFactory(), file)
    spoil(file)

    importing.run(found.pk)

    found.refresh_from_db()
    assert (found.state, found.problem) == ("failed", problem)


def test_a_file_that_is_being_imported_is_refused(file):
    study = StudyFactory()
    first = ask(study, file)

    with pytest.raises(Refused) as refusal:
        ask(study, file)

    assert refusal.value.detail == (
        f"This file is being imported into the study already (import {first.pk}). Nothing was added."
    )


def test_two_jobs_with_the_same_file_store_it_once(file):
    study = StudyFactory()
    first = ask(study, file)
    Import.objects.filter(pk=first.pk).update(state="failed")
    second = ask(study, file)
    Import.objects.filter(pk=first.pk).update(state="waiting")

    importing.run(first.pk)
    importing.run(second.pk)

    second.refresh_from_db()
    assert (second.state, second.problem) == (
        "failed",
        "The same file was imported by another job meanwhile.",
    )
    assert study.dialogues.count() == 3


def test_an_unknown_split_is_refused(file):
    with pytest.raises(Refused) as refusal:
        ask(StudyFactory(), file, split="dev")

    assert refusal.value.code == "bad_split"


def test_a_person_called_imported_is_not_taken_for_the_placeholder(file):
    UserFactory(username="imported")
    found = ask(StudyFactory(), file)

    importing.run(found.pk)

    found.refresh_from_db()
    assert found.state == "failed"
    assert found.problem.startswith("A bot or an account is called 'imported'.")


def test_the_placeholders_can_do_nothing(file):
    run(file)

    worker, bot = User.objects.get(username="imported"), Bot.objects.get(slug="imported")
    assert (worker.is_active, worker.has_usable_password(), worker.roles()) == (False, False, [])
    assert bot.enabled is False
    with pytest.raises(EngineError) as error:
        replies.reply(bot, ["Hello"])
    assert (str(error.value), error.value.retry) == (
        "This bot stands for those of imported chats. It cannot answer.",
        False,
    )


def test_nobody_is_offered_the_bot_of_imported_chats(client, file):
    run(file)
    study = StudyFactory()
    client.force_login(make_researcher(study), backend="django.contrib.auth.backends.ModelBackend")

    new = client.get("/console/new-bot").context["form"]
    edit = client.get(f"/console/studies/{study.slug}/edit").context["bots"]

    assert "imported" not in [value for value, _ in new.fields["engine"].choices]
    assert "imported" not in [bot.slug for bot in edit.forms[-1].fields["bot"].queryset]


def test_an_import_costs_the_same_queries_however_many_chats(file, tmp_path, django_assert_max_num_queries):
    other = tmp_path / "more.txt"
    other.write_bytes(released(CHATS * 30))
    for path in (file, other):
        found = ask(StudyFactory(), path)
        with django_assert_max_num_queries(40):
            importing.run(found.pk)


@pytest.mark.parametrize("state", ["waiting", "cancelled"])
def test_an_upload_that_is_not_imported_is_not_kept(var, state):
    study = StudyFactory()
    upload = SimpleUploadedFile("bad.txt", b"no line of the format\n")
    found = importing.ask_upload(study=study, actor=make_researcher(study), upload=upload, split="")
    Import.objects.update(state=state)

    importing.run(found.pk)

    found.refresh_from_db()
    assert found.state == ("failed" if state == "waiting" else "cancelled")
    assert list((var / "imports").iterdir()) == []
