"""The console's pages of a study's data, and the admin's."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotations.exports import importing, services
from annotations.models import Export, Import
from tests.factories import StudyFactory, make_labelled, make_researcher
from tests.released import released

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture(autouse=True)
def var(settings, tmp_path):
    """The folder that files are kept in."""
    settings.VAR_DIR = tmp_path / "var"
    return settings.VAR_DIR


@pytest.fixture
def study():
    study = StudyFactory()
    for _ in range(3):
        make_labelled(study=study)
    return study


@pytest.fixture
def page(client, study):
    """A client in which the study's researcher is signed in."""
    client.force_login(make_researcher(study, username="rita"), backend=BACKEND)
    return client


def made(study, **values):
    export = services.ask(**{"study": study, "actor": None, "format_": "parlai", "splits": "1,0,0", **values})
    services.run(export.pk)
    export.refresh_from_db()
    return export


WANTED = {"format_": "csv", "rule": "majority_verifiers", "splits": "1,0,0", "seed": "2", "partial": "on"}


def test_asking_leads_to_the_page_of_the_export(page, study):
    response = page.post(f"/console/studies/{study.slug}/data/exports", WANTED)

    export = Export.objects.get()
    assert response.url == f"/console/exports/{export.pk}"
    assert (export.format, export.seed, export.mask, export.asked_by.username) == ("csv", 2, False, "rita")
    waiting = page.get(response.url).content.decode()
    assert "It waits for its turn." in waiting
    assert f'hx-get="/console/exports/{export.pk}/progress"' in waiting


def test_a_form_sent_twice_asks_once(page, study):
    for _ in range(2):
        page.post(f"/console/studies/{study.slug}/data/exports", WANTED)

    assert Export.objects.count() == 1


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("format_", "xml", "Choose one of the list."),
        ("rule", "any", "Choose one of the list."),
        ("splits", "1,1,1,1", "Write three shares that add up to 1, as in 0.8,0.1,0.1, or three counts"),
        ("seed", "-1", "Enter a whole number from 0 to 2,147,483,647."),
    ],
)
def test_settings_that_cannot_be_are_told_at_their_field(page, study, field, value, words):
    response = page.post(f"/console/studies/{study.slug}/data/exports", {**WANTED, field: value})

    assert (response.status_code, Export.objects.count()) == (422, 0)
    assert response.context["export_form"].errors[field][0].startswith(words)


def test_a_made_export_shows_its_files_and_counts_and_asks_no_more(page, study):
    export = made(study)

    text = page.get(f"/console/exports/{export.pk}").content.decode()

    assert f'href="/console/exports/{export.pk}/files/train.txt"' in text
    assert export.manifest["files"][0]["sha256"][:16] in text
    assert "hx-get" not in text.partition('id="main"')[2]


def test_files_are_sent_as_attachments_with_a_name_of_their_own(page, study):
    export = made(study, format_="hf")

    response = page.get(f"/console/exports/{export.pk}/files/data/train.parquet")

    wanted = services.file_of(export=export, name="data/train.parquet").read_bytes()
    assert b"".join(response.streaming_content) == wanted
    assert response["Content-Disposition"] == f'attachment; filename="{study.slug}-{export.pk}-train.parquet"'


async def test_a_file_is_streamed_over_asgi(async_client, db, var):
    from asgiref.sync import sync_to_async

    from annotations.exports.download import Download

    var.mkdir()
    (var / "big.txt").write_bytes(b"x" * 600_000)
    response = await sync_to_async(Download)(var / "big.txt", name="big.txt")

    sizes = [len(chunk) async for chunk in response]
    response.close()

    assert sizes == [262_144, 262_144, 75_712]


def test_publishing_asks_first_and_is_told(page, study):
    export = made(study)
    address = f"/console/exports/{export.pk}/publish"

    question = page.get(address).content.decode()
    answer = page.post(address, follow=True)

    assert "fix the splits of its 3 chats?" in question
    assert [str(message) for message in answer.context["messages"]] == [
        "The export is published. Its chats keep their splits from now on."
    ]
    assert list(study.dialogues.values_list("split", flat=True)) == ["train"] * 3


def test_a_failed_export_says_why(page, study):
    export = made(study, splits="9,9,9")

    text = page.get(f"/console/exports/{export.pk}/progress").content.decode()

    assert "The counts add up to 27, and there are 3 chats to export." in text


def test_an_export_can_be_stopped(page, study):
    export = services.ask(study=study, actor=None, format_="parlai")

    page.post(f"/console/exports/{export.pk}/cancel")
    again = page.post(f"/console/exports/{export.pk}/cancel", follow=True)

    export.refresh_from_db()
    assert export.state == "cancelled"
    assert [str(message) for message in again.context["messages"]] == [
        "The export is not under way any more."
    ]


def upload(page, study, content, **values):
    file = SimpleUploadedFile("valid.txt", content, content_type="text/plain")
    return page.post(f"/console/studies/{study.slug}/data/imports", {"file": file, **values})


def test_an_uploaded_file_is_read_by_a_job_and_its_report_shown(page, study, var):
    response = upload(page, study, released(), split="test")
    found = Import.objects.get()
    waiting = page.get(response.url).content.decode()

    importing.run(found.pk)

    text = page.get(f"/console/imports/{found.pk}/progress").content.decode()
    assert response.url == f"/console/imports/{found.pk}"
    assert f'hx-get="/console/imports/{found.pk}/progress"' in waiting
    assert "21 rows of 3 chats are in the study, fixed to test." in text
    assert list((var / "imports").iterdir()) == []


def test_an_upload_that_cannot_be_read_says_which_line(page, study):
    upload(page, study, released() + b"x\n")
    found = Import.objects.get()

    importing.run(found.pk)

    text = page.get(f"/console/imports/{found.pk}").content.decode()
    assert "Line 22: it has 1 fields parted by tabs, not 5. Nothing was imported." in text


def test_the_same_upload_twice_is_refused_and_not_kept(page, study, var):
    upload(page, study, released())

    response = upload(page, study, released())

    assert response.status_code == 422
    assert response.context["import_form"].errors["file"][0].startswith("This file is being imported")
    assert len(list((var / "imports").iterdir())) == 1


def test_a_file_over_the_limit_is_refused(page, study, settings):
    settings.IMPORT_MAX_MB = 0

    response = upload(page, study, released())

    assert response.context["import_form"].errors["file"] == [
        "The file is over 0 MB. Use manage.py import_bad."
    ]
    assert Import.objects.count() == 0


def test_without_a_file_one_is_asked_for(page, study):
    response = page.post(f"/console/studies/{study.slug}/data/imports", {})

    assert response.context["import_form"].errors["file"] == ["Choose a file."]


@pytest.mark.parametrize("count", [1, 3])
def test_the_data_page_takes_the_same_queries_however_many_jobs(
    page, study, count, django_assert_max_num_queries
):
    for number in range(count):
        made(study, seed=number)
        file = SimpleUploadedFile("a.txt", released() * (number + 1))
        importing.ask_upload(study=study, actor=None, upload=file, split="")

    with django_assert_max_num_queries(9):
        assert page.get(f"/console/studies/{study.slug}/data").status_code == 200


def test_what_is_another_studys_looks_as_if_it_were_not_there(client, study):
    export = made(study)
    found = importing.ask_upload(
        study=study, actor=None, upload=SimpleUploadedFile("a.txt", released()), split=""
    )
    client.force_login(make_researcher(StudyFactory()), backend=BACKEND)

    gets = [
        f"/console/studies/{study.slug}/data",
        f"/console/exports/{export.pk}",
        f"/console/exports/{export.pk}/progress",
        f"/console/exports/{export.pk}/files/train.txt",
        f"/console/exports/{export.pk}/publish",
        f"/console/imports/{found.pk}",
        f"/console/imports/{found.pk}/progress",
    ]
    posts = [
        f"/console/studies/{study.slug}/data/exports",
        f"/console/studies/{study.slug}/data/imports",
        f"/console/exports/{export.pk}/cancel",
        f"/console/exports/{export.pk}/publish",
    ]
    assert [client.get(path).status_code for path in gets] == [404] * len(gets)
    assert [client.post(path, WANTED).status_code for path in posts] == [404] * len(posts)
    export.refresh_from_db()
    assert (export.published_at, Export.objects.count()) == (None, 1)


def test_hostile_names_are_escaped(page, study):
    file = SimpleUploadedFile("<script>x.txt", released())
    importing.ask_upload(study=study, actor=None, upload=file, split="")

    assert "<script>x" not in page.get(f"/console/studies/{study.slug}/data").content.decode()


# -- admin ---------------------------------------------------------------------------------------------------


@pytest.fixture
def admin(admin_client):
    return admin_client


def act(admin, path, action, *keys):
    return admin.post(path, {"action": action, "_selected_action": keys}, follow=True)


def test_the_admin_exports_studies_by_an_action(admin, study):
    response = act(admin, "/admin/annotations/study/", "export_jsonl", study.pk)

    export = Export.objects.get()
    assert (export.format, export.study) == ("jsonl", study)
    assert [str(message) for message in response.context["messages"]] == [
        f"{study}: export {export.pk} is being made."
    ]


def test_the_admin_downloads_chosen_chats(admin, study):
    first, second, _ = study.dialogues.order_by("pk").values_list("pk", flat=True)

    response = act(admin, "/admin/annotations/dialogue/", "download_chats", first, second)

    assert response["Content-Disposition"] == 'attachment; filename="chats.jsonl"'
    assert len(response.content.decode().splitlines()) == 8


def test_the_admin_shows_exports_and_imports_but_no_key(admin, study):
    export = made(study)

    text = admin.get(f"/admin/annotations/export/{export.pk}/change/").content.decode()

    assert export.key not in text
    assert f"/console/exports/{export.pk}/files/manifest.json" in text
    for path in ("export", "import"):
        assert admin.get(f"/admin/annotations/{path}/").status_code == 200
        assert admin.get(f"/admin/annotations/{path}/add/").status_code == 403
