"""What goes out: every format from the same rows, splits, pseudonyms, the manifest, the job."""

import csv
import hashlib
import json
from datetime import timedelta
from io import StringIO

import pytest
import yaml
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotations.console.services import close_study
from annotations.domain.rows import FLAT, JSONL, MERGED, VOTE
from annotations.exports import jobs, making, reading, services
from annotations.models import AuditEntry, Dialogue, Export, Merged, Vote
from annotations.people.errors import Refused
from bots.models import Bot
from tests.factories import (
    BotFactory,
    StudyFactory,
    make_dialogue,
    make_finished,
    make_items,
    make_labelled,
    make_merged,
    make_researcher,
    make_verifier,
)
from tests.tfds import parse

pytestmark = pytest.mark.django_db

SPLITS = ("train", "valid", "test")


@pytest.fixture(autouse=True)
def var(settings, tmp_path):
    """The folder that files are kept in."""
    settings.VAR_DIR = tmp_path / "var"
    return settings.VAR_DIR


def out(study, folder, format_="jsonl", **options):
    """The folder with the files, and the manifest."""
    export = services.planned(study=study, format_=format_, **options)
    folder.mkdir(parents=True)
    manifest, _ = making.make(export, folder, lambda _done, _total: None)
    return folder, manifest


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lines(folder, name="train.jsonl"):
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def digests(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def study():
    """Ten chats of four utterances, with labels."""
    study = StudyFactory()
    for number in range(10):
        make_labelled(
            [f"Hello number {number}", "Go away.", "Why is that?", "Because."],
            ["ok", "notok", "ok", "ok"],
            study=study,
        )
    return study


# -- rows ----------------------------------------------------------------------------------------------------


def test_json_lines_hold_everything_of_an_utterance(tmp_path):
    study = StudyFactory()
    _, item = make_items(study, 2, bins=["<50"], persona=["i bake."], chats_before=3)
    first, second = make_verifier(study), make_verifier(study)
    now = timezone.now()
    Vote.objects.create(item=item, verifier=first, ok=False, hate=True, note="So it is.", seconds=2.5, at=now)
    Vote.objects.create(item=item, verifier=second, ok=True, at=now, changes=1, set_aside_at=now)
    make_merged(item.utterance.dialogue, [None, "notok"], hate=True, notok_votes=1)
    make_merged(item.utterance.dialogue, [None, ""], rule="any", tie=True, category_ties="hate,other")

    folder, _ = out(study, tmp_path / "a", splits="1,0,0")

    human, bot = lines(folder)
    assert (tuple(bot), human["votes"], human["merged"], human["label"]) == (JSONL, [], {}, None)
    assert (bot["bin"], bot["label"], bot["categories"], bot["notok_votes"]) == ("<50", "notok", ["hate"], 1)
    assert (bot["persona"], bot["chats_before"]) == (["your persona: i bake."], 3)
    mine, other = bot["votes"]
    assert (tuple(mine), mine["ok"], mine["categories"], mine["note"]) == (
        tuple(VOTE),
        False,
        ["hate"],
        "So it is.",
    )
    assert (mine["seconds"], mine["at"], mine["counts"]) == (2.5, now.isoformat(), True)
    assert (other["counts"], other["changes"], other["verifier"] == mine["verifier"]) == (False, 1, False)
    assert list(bot["merged"]) == ["any", "majority_verifiers"]
    under_any = bot["merged"]["any"]
    assert (tuple(under_any), under_any["label"], under_any["category_ties"]) == (
        tuple(MERGED),
        None,
        ["hate", "other"],
    )


def test_nobodys_name_leaves(tmp_path):
    study = StudyFactory()
    (item, _) = make_items(study, 2)
    dialogue = item.utterance.dialogue
    verifier = make_verifier(study, username="vera-verifier")
    Vote.objects.create(item=item, verifier=verifier, ok=True, at=timezone.now())
    make_merged(dialogue, ["ok", "ok"])

    for format_ in Export.Format.values:
        folder, _ = out(study, tmp_path / format_, format_)
        everything = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        for name in (dialogue.worker.username, "vera-verifier", dialogue.bot.slug):
            assert name.encode() not in everything


def test_one_person_has_one_pseudonym_and_another_setting_gives_others(study, tmp_path):
    chats = list(study.dialogues.order_by("pk"))
    Dialogue.objects.filter(pk=chats[1].pk).update(worker=chats[0].worker)

    rows = lines(out(study, tmp_path / "a", splits="1,0,0")[0])
    others = lines(out(study, tmp_path / "b", splits="1,0,0", seed=1)[0])

    workers = [row["worker"] for row in rows[::4]]
    assert (workers[0] == workers[1], len(set(workers)), len({row["bot"] for row in rows})) == (True, 9, 1)
    assert not {row["worker"] for row in rows} & {row["worker"] for row in others}


def test_addresses_and_numbers_are_flagged_and_masked_if_wished(tmp_path):
    study = StudyFactory()
    make_labelled(["Write to me@example.org now", "No.", "Call 020 7946 0958", "No."], study=study)

    plain = lines(out(study, tmp_path / "a", splits="1,0,0")[0])
    masked = lines(out(study, tmp_path / "b", splits="1,0,0", mask=True)[0])
    parlai, _ = out(study, tmp_path / "c", "parlai", splits="1,0,0", mask=True)

    flags = [(row["has_email"], row["has_number"]) for row in plain]
    assert flags == [(True, False), (False, False), (False, True), (False, False)]
    assert [row["text"] for row in masked] == ["Write to [email] now", "No.", "Call [number]", "No."]
    assert b"example.org" not in (parlai / "train.txt").read_bytes()


def test_only_chats_that_are_over_go_out_and_partial_ones_if_wished(tmp_path):
    study = StudyFactory()
    make_labelled(study=study)
    make_labelled(study=study, state="partial", end_reason="left")
    make_finished(study=study, state="dropped", end_reason="left")
    make_dialogue(["Hello to you", "Go away."], ["0"], study=study)

    both = lines(out(study, tmp_path / "a", splits="1,0,0")[0])
    whole = lines(out(study, tmp_path / "b", splits="1,0,0", partial=False)[0])

    assert [len(rows) for rows in (both, whole)] == [8, 4]
    assert {row["state"] for row in both} == {"complete", "partial"}


def test_chats_without_a_label_are_in_json_lines_alone_and_take_no_part_in_the_draw(study, tmp_path):
    make_finished(study=study)

    jsonl, manifest = out(study, tmp_path / "a")
    flat, other = out(study, tmp_path / "b", "csv")

    assert manifest["chats"] == {"train": 9, "valid": 1, "test": 1}
    assert other["chats"] == {"train": 8, "valid": 1, "test": 1}
    rows = table(flat / "test.csv")
    assert {row["chat"] for row in rows} == {row["chat"] for row in lines(jsonl, "test.jsonl")}


def test_a_study_without_labels_can_go_out_as_json_lines(tmp_path):
    study = StudyFactory()
    make_finished(study=study)

    folder, manifest = out(study, tmp_path / "a")

    assert (len(lines(folder)), manifest["rule"], manifest["rule_versions"]) == (2, "majority_verifiers", [])


# -- formats -------------------------------------------------------------------------------------------------


def test_csv_defuses_what_a_spreadsheet_would_run(tmp_path):
    study = StudyFactory()
    make_labelled(['=HYPERLINK("x")', "+1", "@b, c", 'He said "no"'], study=study)

    folder, _ = out(study, tmp_path / "a", "csv", splits="1,0,0")

    rows = table(folder / "train.csv")
    assert tuple(rows[0]) == FLAT
    assert [row["text"] for row in rows] == ['\'=HYPERLINK("x")', "'+1", "'@b, c", 'He said "no"']
    assert rows[3]["context"] == '\'=HYPERLINK("x")\n+1\n@b, c'


def test_parquet_holds_the_same_rows_with_their_types(study, tmp_path):
    from pyarrow import parquet

    folder, _ = out(study, tmp_path / "a", "parquet", splits="1,0,0")
    rows = parquet.read_table(folder / "train.parquet").to_pylist()
    same = lines(out(study, tmp_path / "b", splits="1,0,0")[0])

    assert (tuple(rows[0]), rows[3]["context"]) == (FLAT, ["Hello number 0", "Go away.", "Why is that?"])
    assert [{**row, "context": None} for row in rows] == [
        {**{name: row.get(name) for name in FLAT}, "context": None} for row in same
    ]
    assert parquet.read_table(folder / "test.parquet").num_rows == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_datasets_opens_the_folder(study, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    folder, _ = out(study, tmp_path / "a", "hf")
    found = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))

    assert {name: rows.num_rows for name, rows in found.items()} == {"train": 32, "validation": 4, "test": 4}
    assert tuple(found["train"].column_names) == FLAT
    assert found["test"][1]["label"] == "notok"


def test_a_control_character_in_the_name_of_a_study_leaves_the_card_readable(study, tmp_path):
    study.name = "Round\x7f one: \x9d#\U0001f600"
    study.save()

    folder, _ = out(study, tmp_path / "a", "hf")

    head = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert head["pretty_name"] == "Round one: #\U0001f600"


def test_the_folder_for_datasets_has_a_card_of_the_study_and_croissant(study, tmp_path):
    folder, manifest = out(study, tmp_path / "a", "hf")

    card = (folder / "README.md").read_text(encoding="utf-8")
    _, head, body = card.split("---\n", 2)
    assert "  - {split: validation, path: data/valid.parquet}\n" in head
    assert f"# {study.name}, round 1" in body
    assert "| train | 16 | 0 | 8 | 8 |" in body
    croissant = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    assert [part["@id"] for part in croissant["recordSet"]] == list(SPLITS)
    assert [one["name"] for one in croissant["recordSet"][0]["field"]] == list(FLAT)
    assert croissant["distribution"][0]["sha256"] == manifest["files"][0]["sha256"]


NASTY = ["a\tb", "C:\\new\\tab", "a|b", "it: is", "__notok__", "ünïcode \u202e", "text:x", "'' \""]


def test_every_text_export_holds_the_rules_of_the_tfds_parser(tmp_path):
    study = StudyFactory()
    for shift in range(6):
        texts = NASTY[shift:] + NASTY[:shift]
        make_labelled(texts[: 4 + shift % 3], study=study, persona=["i like: tabs\tand\\n", "x"][: shift % 3])
    make_labelled(["only", "two"], study=study)
    gap = make_finished(["one", "two", "three", "four", "five", "six"], study=study)
    make_merged(gap, ["ok", "ok", "ok", "", "ok", "ok"])
    make_labelled(["one", "two", "three"], study=study, wanted=4, bins=["0"])

    folder, manifest = out(study, tmp_path / "a", "parlai", splits="0.5,0.3,0.2")

    examples = {split: parse(folder / f"{split}.txt") for split in SPLITS}
    assert sum(map(len, examples.values())) == manifest["rows"] == 36
    assert manifest["labelled_rows_left_out"] == 4
    for split, found in examples.items():
        starts = [example for example in found if example["round_id"] == 0]
        assert len(starts) == manifest["chats"][split] == len({example["dialogue_id"] for example in found})
        assert all(("human", "bot")[one["round_id"] % 2] == one["speaker"] for one in found)


def test_a_text_export_can_be_imported_again(study, tmp_path):
    folder, _ = out(study, tmp_path / "a", "parlai", splits="1,0,0")

    call_command("import_bad", str(folder / "train.txt"), study="again", split="train", stdout=StringIO())
    call_command("export_dataset", study="again", format="parlai", out=tmp_path / "b", stdout=StringIO())

    assert (tmp_path / "b" / "train.txt").read_bytes() == (folder / "train.txt").read_bytes()


# -- the same bytes, splits, manifest ------------------------------------------------------------------------


@pytest.mark.parametrize("format_", Export.Format.values)
def test_the_same_data_and_settings_give_the_same_bytes(study, tmp_path, format_):
    first, _ = out(study, tmp_path / "a", format_, seed=3)
    second, _ = out(study, tmp_path / "b", format_, seed=3)

    assert digests(first) == digests(second)


def test_portions_do_not_show(study, tmp_path, monkeypatch):
    whole, _ = out(study, tmp_path / "a")
    monkeypatch.setattr(reading, "PORTION", 3)
    parts, _ = out(study, tmp_path / "b")

    assert digests(whole) == digests(parts)


def test_the_manifest_tells_what_was_made_of_what(study, tmp_path):
    folder, manifest = out(study, tmp_path / "a", "parlai", seed=5)

    assert json.loads((folder / "manifest.json").read_text()) == manifest
    wanted = {
        "study": {"slug": study.slug, "name": study.name, "round": 1},
        "format": "parlai",
        "rule": "majority_verifiers",
        "rule_versions": ["1"],
        "splits": "0.8,0.1,0.1",
        "seed": 5,
        "filters": {"partial": True},
        "mask": False,
        "code_version": settings.VERSION,
        "rows": 40,
        "chats": {"train": 8, "valid": 1, "test": 1},
    }
    assert {key: manifest[key] for key in wanted} == wanted
    assert manifest["counts"]["train"] == {
        "human": {"ok": 16, "notok": 0, "none": 0},
        "bot": {"ok": 8, "notok": 8, "none": 0},
    }
    files = {file["name"]: (file["rows"], file["sha256"]) for file in manifest["files"]}
    sums = digests(folder)
    assert files == {
        f"{split}.txt": (rows, sums[f"{split}.txt"]) for split, rows in zip(SPLITS, (32, 4, 4), strict=True)
    }


def test_test_is_balanced_over_the_bots(study, tmp_path):
    other = BotFactory()
    study.study_bots.create(bot=other, chats_wanted=1)
    for _ in range(2):
        make_labelled(study=study, bot=other)

    folder, _ = out(study, tmp_path / "a", splits="8,0,4")

    bots = [row["bot"] for row in lines(folder, "test.jsonl")[::4]]
    assert sorted(bots.count(bot) for bot in set(bots)) == [2, 2]


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"format_": "xml"}, "bad_format"),
        ({"rule": "any"}, "bad_rule"),
        ({"splits": "0.5,0.5"}, "bad_splits"),
        ({"seed": -1}, "bad_seed"),
        ({"seed": 2**31}, "bad_seed"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(study, values, code):
    with pytest.raises(Refused) as refusal:
        services.planned(study=study, **{"format_": "jsonl", **values})

    assert (refusal.value.code, refusal.value.status) == (code, 422)


def test_the_code_knows_its_version():
    import tomllib

    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    assert project["version"] == settings.VERSION


# -- the job -------------------------------------------------------------------------------------------------


def ask(study, **values):
    return services.ask(**{"study": study, "actor": None, "format_": "parlai", **values})


def test_an_export_is_made_once_however_often_it_is_run(study, var):
    export = ask(study)

    services.run(export.pk)
    services.run(export.pk)

    export.refresh_from_db()
    assert (export.state, export.percent, export.problem) == ("done", 100, "")
    assert export.manifest["rows"] == 40
    assert [path.name for path in (var / "exports").iterdir()] == [str(export.pk)]
    assert len(services.file_of(export=export, name="train.txt").read_text().splitlines()) == 32


def test_the_same_asked_for_twice_is_one(study):
    assert ask(study).pk == ask(study).pk != ask(study, seed=1).pk


def test_an_export_that_fell_silent_is_made_again_from_the_beginning(study):
    export = ask(study)
    Export.objects.filter(pk=export.pk).update(
        state="running", alive_at=timezone.now() - timedelta(minutes=2), done=4
    )

    assert services.restart() == 1
    services.run(export.pk)

    export.refresh_from_db()
    assert (export.state, export.done) == ("done", 10)


def test_one_that_is_being_made_is_left_alone(study):
    export = ask(study)
    Export.objects.filter(pk=export.pk).update(state="running", alive_at=timezone.now())

    assert services.restart() == 0
    services.run(export.pk)

    export.refresh_from_db()
    assert export.state == "running"


def test_whoever_was_taken_for_dead_stops_and_leaves_nothing(study, var):
    export = ask(study)

    def taken_over(job):
        Export.objects.filter(pk=job.pk).update(alive_at=timezone.now() + timedelta(seconds=1))
        services._run(job)

    jobs.work(Export, export.pk, taken_over)

    export.refresh_from_db()
    assert (export.state, export.folder) == ("running", "")
    assert list((var / "exports").iterdir()) == []


def test_a_cancelled_export_stays_so(study):
    export = ask(study)
    services.cancel(export=export, actor=make_researcher(study))

    services.run(export.pk)

    export.refresh_from_db()
    assert export.state == "cancelled"
    with pytest.raises(Refused) as refusal:
        services.cancel(export=export, actor=make_researcher(study))
    assert refusal.value.code == "over"


def test_an_export_of_nothing_says_so():
    study = StudyFactory()
    export = ask(study)

    services.run(export.pk)

    export.refresh_from_db()
    assert export.state == "failed"
    assert export.problem.startswith("No finished chat has a label under this rule yet.")


def test_counts_that_do_not_add_up_are_told(study):
    export = ask(study, splits="5,1,1")

    services.run(export.pk)

    export.refresh_from_db()
    assert export.problem.startswith("The counts add up to 7, and there are 10 chats to export.")


@pytest.mark.parametrize("count", [1, 3])
def test_an_export_takes_the_same_queries_however_many_chats(count, tmp_path, django_assert_num_queries):
    study = StudyFactory()
    for _ in range(count):
        make_labelled(study=study)
    export = services.planned(study=study, format_="jsonl")

    with django_assert_num_queries(7):
        making.make(export, tmp_path, lambda _done, _total: None)


# -- publishing ----------------------------------------------------------------------------------------------


def made(study, **values):
    export = ask(study, **values)
    services.run(export.pk)
    export.refresh_from_db()
    return export


def test_publishing_fixes_the_splits_for_every_export_to_come(study, tmp_path):
    export = made(study)
    services.publish(export=export, actor=None)
    before = parse(services.file_of(export=export, name="test.txt"))
    for _ in range(10):
        make_labelled(study=study)

    later, manifest = out(study, tmp_path / "a", "parlai", seed=77)

    assert (
        list(Dialogue.objects.filter(study=study).order_by("pk").values_list("split", flat=True)).count("")
        == 10
    )
    assert manifest["chats"] == {"train": 16, "valid": 2, "test": 2}
    texts = [example["text"] for example in parse(later / "test.txt")]
    assert {example["text"] for example in before} <= set(texts)


def test_publishing_twice_is_once_and_on_the_audit_trail(study):
    export = made(study)
    researcher = make_researcher(study)

    services.publish(export=export, actor=researcher)
    first = export.published_at
    services.publish(export=export, actor=researcher)

    assert export.published_at == first
    entries = AuditEntry.objects.filter(action="export_published").values_list("actor", "detail")
    assert list(entries) == [(researcher.pk, {"export": export.pk, "chats": 10})]


def test_two_publications_never_contradict_each_other(study):
    first, second = made(study), made(study, seed=1)
    services.publish(export=first, actor=None)

    with pytest.raises(Refused) as refusal:
        services.publish(export=second, actor=None)

    assert refusal.value.code == "splits_changed"


def test_an_export_that_is_not_made_cannot_be_published(study):
    with pytest.raises(Refused) as refusal:
        services.publish(export=ask(study), actor=None)

    assert refusal.value.code == "not_made"


@pytest.mark.parametrize("name", ["other.txt", "../1/train.txt", ".drawn.json", "", "/etc/passwd"])
def test_only_the_files_of_the_manifest_are_handed_out(study, name):
    with pytest.raises(Refused) as refusal:
        services.file_of(export=made(study), name=name)

    assert (refusal.value.code, refusal.value.status) == ("no_such_file", 404)


def test_files_that_are_gone_are_told(study):
    export = made(study)
    services.file_of(export=export, name="train.txt").unlink()

    with pytest.raises(Refused) as refusal:
        services.file_of(export=export, name="train.txt")

    assert (refusal.value.code, refusal.value.status) == ("files_gone", 410)


# -- the command ---------------------------------------------------------------------------------------------


def test_the_command_gives_the_bytes_the_console_gives(study, tmp_path):
    export = made(study, format_="csv", seed=4)

    told = StringIO()
    call_command("export_dataset", study=study.slug, format="csv", out=tmp_path / "b", seed=4, stdout=told)

    assert set(digests(tmp_path / "b")) == {
        "train.csv",
        "valid.csv",
        "test.csv",
        "manifest.json",
    }
    for name in ("train.csv", "valid.csv", "test.csv", "manifest.json"):
        assert (tmp_path / "b" / name).read_bytes() == services.file_of(export=export, name=name).read_bytes()
    assert told.getvalue().endswith(f"40 rows under majority_verifiers in {tmp_path / 'b'}\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"study": "none"}, "There is no study 'none'."),
        ({"rule": "any"}, "The study has no labels under 'any'. It has: majority_verifiers."),
        ({"splits": "9,9,9"}, "The counts add up to 27, and there are 10 chats to export."),
    ],
)
def test_the_command_says_what_cannot_be(study, tmp_path, options, words):
    with pytest.raises(CommandError) as refusal:
        call_command(
            "export_dataset", **{"study": study.slug, "format": "parlai", "out": tmp_path / "a", **options}
        )

    assert str(refusal.value).startswith(words)
    assert not (tmp_path / "a").exists()


def test_the_command_never_writes_over_files(study, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")

    with pytest.raises(CommandError, match="is there already and not an empty folder"):
        call_command("export_dataset", study=study.slug, format="csv", out=tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_imported_chats_have_no_worker_and_no_bot(tmp_path):
    study = StudyFactory()
    bot = Bot.objects.create(slug="imported", name="Imported", engine="imported")
    dialogue = make_labelled(study=study, imported=True, bot=bot)
    Merged.objects.filter(utterance__dialogue=dialogue).update(rule="imported")

    rows = lines(out(study, tmp_path / "a", splits="1,0,0", rule="imported")[0])

    assert {(row["worker"], row["bot"], row["imported"]) for row in rows} == {(None, None, True)}


def test_a_study_closed_in_the_middle_changes_nothing_of_what_was_begun(study, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "PORTION", 3)
    under_way = make_dialogue(["Hello to you", "Go away."] * 3, ["0"] * 3, study=study)
    before, _ = out(study, tmp_path / "a")
    export = services.planned(study=study, format_="jsonl")
    (tmp_path / "b").mkdir()

    def close(done, total):
        if done == 3:
            close_study(study=study)

    making.make(export, tmp_path / "b", close)

    under_way.refresh_from_db()
    assert (under_way.state, digests(tmp_path / "b")) == ("partial", digests(before))
