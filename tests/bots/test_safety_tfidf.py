"""The small classifier by way of its commands: train, measure, label."""

import io
import json
import time
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from bots.safety import models, sources, tensors, tfidf
from bots.safety.errors import ModelError
from bots.safety.turns import Turn
from tests.bots.safety_data import write_bad, write_jsonl

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "bad" / "valid.txt"
TOPICS = {"drugs": "pills and needles", "nsfw": "naked pictures", "none": "a nice garden"}


def run(name, *words, **options):
    out = io.StringIO()
    call_command(name, *map(str, words), stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_bad(tmp_path_factory.mktemp("data") / "valid.txt", 60)


def train(data, out, *more):
    return run(
        "train_safety", "--base", "tfidf", "--train", f"{data}#train", "--valid", f"{data}#valid",
        "--test", f"{data}#test", "--out", out, *more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "small"
    train(data, out)
    return out


def test_training_learns_what_there_is_to_learn_and_says_how_well(folder, data):
    card = json.loads((folder / "card.json").read_text())

    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "card.json",
        "model.safetensors",
        "vocabulary.json",
    ]
    assert (card["kind"], card["labels"], card["context"]) == ("tfidf", ["ok", "notok"], 4)
    assert card["metrics"]["test"]["f1"] == 1.0
    assert card["metrics"]["test"]["f1_without_context"] == 1.0
    assert len(card["data"]["train"]["files"][0]["sha256"]) == 64
    assert [sorted(point) for point in card["curve"][:1]] == [["f1", "precision", "recall", "threshold"]]
    assert "| not OK | 1.000 | 1.000 to 1.000 |" in (folder / "README.md").read_text()


def test_training_again_gives_the_same_bytes(data, folder, tmp_path):
    train(data, tmp_path / "small")

    for path in folder.iterdir():
        assert (tmp_path / "small" / path.name).read_bytes() == path.read_bytes()


def test_what_is_saved_judges_as_what_was_trained(folder, data):
    from bots.safety import fit_tfidf

    examples = sources.load([f"{data}#train"])
    fresh = fit_tfidf.fit(
        examples, [1.0] * len(examples), ("ok", "notok"), context=4, progress=lambda _: None
    )

    loaded = models.load(folder).classifier

    assert [p for _, p in loaded.probabilities(examples)] == pytest.approx(
        [p for _, p in fresh.probabilities(examples)], abs=1e-5
    )


def test_judging_equals_scikit_learns_own_arithmetic(folder, data):
    import numpy as np
    from safetensors.numpy import load_file

    stored = load_file(folder / "model.safetensors")
    model = models.load(folder).classifier
    turn = sources.load([str(data)])[5]
    row = np.zeros(len(stored["idf"]))
    for place, value in tfidf.vector(tfidf.features(turn, 4), model.vocabulary, model.idf):
        row[place] = value

    logit = float(stored["weights"][0] @ row + stored["bias"][0])

    assert model.probabilities([turn])[0][1] == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-6)


def test_context_counts_only_as_far_as_the_model_reads():
    near, far = Turn(("x", "y"), "b", "bot"), Turn(("z", "y"), "b", "bot")

    assert tfidf.features(near, 2) == tfidf.features(far, 2)
    assert tfidf.features(near, 3) != tfidf.features(far, 3)
    assert tfidf.features(near, 1)["before"] == {}
    assert tfidf.features(near, 1)["said"] == {"bot b": 1}


def test_a_turn_takes_a_few_milliseconds_at_most_and_a_very_long_one_is_cut(folder):
    model = models.load(folder)
    turn = Turn(("how are you ?",) * 3, "a word " * 5_000, "human")

    started = time.process_time()
    verdict = model.judge([turn])[0]

    assert time.process_time() - started < 0.5
    assert 0 <= verdict.score <= 1


@pytest.mark.parametrize("text", ["", "   ", "🙂", "\x00", "ﷺ" * 100, "null"])
def test_any_text_gets_a_verdict(folder, text):
    assert models.load(folder).judge([Turn((text,), text, "bot")])[0].label in ("ok", "notok")


def test_a_topic_classifier_has_a_threshold_for_each_topic(tmp_path):
    rows = [
        {"text": f"{text} {number}", "label": label} for number in range(30) for label, text in TOPICS.items()
    ]
    data = write_jsonl(tmp_path / "topics.jsonl", rows)

    words = ("train_safety", "--base", "tfidf", "--train", data, "--valid", data, "--out")
    run(*words, tmp_path / "m", "--threshold", "drugs=0.55", "nsfw=0.7")

    model = models.load(tmp_path / "m")
    assert model.labels == ("none", "drugs", "nsfw")
    assert model.thresholds == {"drugs": 0.55, "nsfw": 0.7}
    assert [model.judge([Turn((), text)])[0].label for text in TOPICS.values()] == ["drugs", "nsfw", "none"]
    assert model.verdict([0.2, 0.1, 0.65]) == models.Verdict("none", 0.65, 0.7, flagged=False)
    assert model.verdict([0.2, 0.6, 0.2]) == models.Verdict("drugs", 0.6, 0.55, flagged=True)
    assert "| drugs | 1.000 |" in (tmp_path / "m" / "README.md").read_text()


def test_thresholds_are_chosen_on_the_validation_rows_as_far_as_there_are_some(tmp_path):
    rows = [
        {"text": f"{text} {number}", "label": label} for number in range(30) for label, text in TOPICS.items()
    ]
    data = write_jsonl(tmp_path / "topics.jsonl", rows)
    few = write_jsonl(tmp_path / "few.jsonl", [row for row in rows if row["label"] != "nsfw"])

    run("train_safety", "--base", "tfidf", "--train", data, "--valid", few, "--out", tmp_path / "m")

    model = models.load(tmp_path / "m")
    scores = [row[1] for row in model.classifier.probabilities([Turn((), one["text"]) for one in rows])]
    drugs = [score for score, one in zip(scores, rows, strict=True) if one["label"] == "drugs"]
    others = [score for score, one in zip(scores, rows, strict=True) if one["label"] == "none"]
    assert max(others) < model.thresholds["drugs"] < min(drugs)
    assert model.thresholds["nsfw"] == 0.7


def test_a_threshold_that_was_asked_for_is_the_one(data, tmp_path):
    train(data, tmp_path / "m", "--threshold", "0.9")

    assert models.load(tmp_path / "m").thresholds == {"notok": 0.9}


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--threshold", "drugs=0.5"], "There is no label 'drugs' that flags. There are: notok."),
        (["--weight", "wtc=3"], "There is no source 'wtc' to weigh. There are: bad."),
        (["--weight", "3"], "3: this must be NAME=NUMBER."),
        (["--context", "0"], "The context is at least 1 utterance: the judged one."),
        (
            ["--epochs", "0"],
            "Epochs, batch, patience and steps between checkpoints are at least 1, the rate above 0.",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused_in_words(data, tmp_path, more, reason):
    with pytest.raises(CommandError) as caught:
        train(data, tmp_path / "m", *more)

    assert str(caught.value) == reason


def test_a_bad_line_anywhere_trains_nothing(data, tmp_path):
    broken = tmp_path / "broken.txt"
    broken.write_text(data.read_text() + "text:oops\n")

    with pytest.raises(CommandError, match=r"broken.txt, line 241: The field 'labels' is missing or empty."):
        run("train_safety", "--base", "tfidf", "--train", data, "--valid", broken, "--out", tmp_path / "m")

    assert not (tmp_path / "m").exists()


def test_labels_that_cannot_be_learned_are_refused(tmp_path):
    def refused(train, valid):
        rows = [write_jsonl(tmp_path / f"{n}.jsonl", [{"text": "a", "label": x} for x in labels])
                for n, labels in enumerate((train, valid))]  # fmt: skip
        with pytest.raises(CommandError) as caught:
            run(
                "train_safety",
                "--base",
                "tfidf",
                "--train",
                rows[0],
                "--valid",
                rows[1],
                "--out",
                tmp_path / "m",
            )
        return str(caught.value).split(": ", 1)[1]

    assert refused(["ok", "ok"], ["ok"]) == "All rows have the same label: there is nothing to learn."
    assert refused(["ok", "drugs"], ["ok"]) == "Topics, and labels ok or notok, cannot be learned together."
    assert refused(["drugs", "nsfw"], ["medical"]) == "No training row has the label 'medical'."
    assert refused([], ["ok"]) == "Neither the released text format, nor JSON lines, nor .json, nor .csv."


def test_eval_prints_one_object_whose_f1_is_that_of_the_unsafe_class(folder, data):
    found = json.loads(run("eval_safety", "--model", folder, "--data", f"{data}#test", "--json"))

    assert found["f1"] == found["classes"]["notok"]["f1"] == 1.0
    assert found["model"] == "small"
    assert found["version"] == models.load(folder).version
    assert sorted(found["by_speaker"]) == ["bot", "human"]


def test_eval_sets_models_side_by_side_and_keeps_what_they_got_wrong(folder, data, tmp_path):
    other = tmp_path / "timid"
    train(data, other, "--threshold", "0.999999")

    text = run(
        "eval_safety", "--model", folder, other, "--data", f"{data}#test", f"again={data}#valid",
        "--errors", tmp_path / "errors", "--plots", tmp_path / "plots",
    )  # fmt: skip

    head, small, timid, *_ = text.splitlines()
    assert head.split() == ["model", "again", "bad", "mean", "precision", "recall", "accuracy"]
    assert small.split() == ["small", *["100.0"] * 6]
    assert timid.split()[:5] == ["timid", "0.0", "0.0", "0.0", "0.0"]
    assert (tmp_path / "errors" / "small.jsonl").read_text() == ""
    wrong = [json.loads(line) for line in (tmp_path / "errors" / "timid.jsonl").read_text().splitlines()]
    assert {(row["label"], row["predicted"]) for row in wrong} == {("notok", "ok")}
    with pytest.raises(CommandError, match=r"Two models are called small"):
        run("eval_safety", "--model", folder, folder, "--data", data)
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == [
        "precision-recall.svg",
        "reliability.svg",
    ]


def test_eval_refuses_labels_that_the_model_does_not_know(folder, tmp_path):
    data = write_jsonl(tmp_path / "topics.jsonl", [{"text": "a", "label": "drugs"}])

    with pytest.raises(CommandError, match=r"small knows no label 'drugs'"):
        run("eval_safety", "--model", folder, "--data", data)


def test_score_keeps_the_row_and_adds_label_and_score(folder, tmp_path):
    rows = [
        {"text": "you stupid idiot", "speaker": "human", "id": 7, "ärger": "ö"},
        {"text": "how lovely", "context": ["hi"], "speaker": "bot"},
    ]
    data = write_jsonl(tmp_path / "rows.jsonl", rows)

    said = run("score_safety", "--model", folder, "--in", data, "--out", tmp_path / "out.jsonl")

    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert said == f"2 rows, by small {models.load(folder).version}\n"
    assert [row["predicted"] for row in found] == ["notok", "ok"]
    assert [{key: row[key] for key in one} for row, one in zip(found, rows, strict=True)] == rows
    assert found[0]["score"] > 0.5 > found[1]["score"]


def test_scored_rows_can_be_trained_on(folder, data, tmp_path):
    rows = write_jsonl(tmp_path / "rows.jsonl", [{"text": t} for t in ("you stupid idiot", "how lovely")])

    run("score_safety", "--model", folder, "--in", rows, "--out", tmp_path / "out.jsonl", "--key", "label")
    silver = f"silver={tmp_path / 'out.jsonl'}"
    more = ("--train", data, silver, "--valid", data, "--weight", "bad=3", "silver=1")
    run("train_safety", "--base", "tfidf", *more, "--out", tmp_path / "m")

    assert sorted(json.loads((tmp_path / "m" / "card.json").read_text())["data"]["train"]["rows"]) == [
        "bad",
        "silver",
    ]


def test_a_bad_row_stops_scoring_with_its_number_and_the_corrected_file_begins_anew(folder, tmp_path):
    rows = write_jsonl(tmp_path / "rows.jsonl", [{"text": "a"}, {"txt": "b"}])
    words = ("score_safety", "--model", folder, "--in", rows, "--out", tmp_path / "out.jsonl")

    with pytest.raises(CommandError, match=r"rows.jsonl, line 2: There is no text here."):
        run(*words)
    write_jsonl(rows, [{"text": "a"}, {"text": "b"}])
    run(*words)

    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 2


def test_a_folder_that_holds_no_model_is_refused_in_words(folder, tmp_path):
    with pytest.raises(ModelError, match=r"holds no card.json"):
        models.load(tmp_path)

    def broken(**changes):
        card = json.loads((folder / "card.json").read_text())
        (tmp_path / "card.json").write_text(json.dumps({**card, **changes}))
        for name in ("model.safetensors", "vocabulary.json"):
            (tmp_path / name).write_bytes((folder / name).read_bytes())
        with pytest.raises(ModelError) as caught:
            models.load(tmp_path)
        return str(caught.value)

    assert "names a kind of model that there is not: 'pickle'" in broken(kind="pickle")
    assert "must have a threshold for each label that flags" in broken(thresholds={})
    assert "lacks something" in broken(context="many")
    assert "do not belong together" in broken(
        labels=["ok", "notok", "other"], thresholds={"notok": 1, "other": 1}
    )


def test_tensors_are_read_by_the_safetensors_package_and_its_by_us(tmp_path):
    from array import array

    import numpy as np
    from safetensors.numpy import load_file, save_file

    tensors.write(tmp_path / "a", {"x": ((2, 1), array("f", [1.5, -2])), "y": ((0,), array("f"))})
    save_file({"z": np.ones((2, 2), np.float32)}, tmp_path / "b", metadata={"format": "pt"})

    assert load_file(tmp_path / "a")["x"].tolist() == [[1.5], [-2.0]]
    assert tensors.read(tmp_path / "b") == {"z": ((2, 2), array("f", [1, 1, 1, 1]))}


@pytest.mark.parametrize(
    "raw", [b"", b"\xff" * 8, b"\x02\x00\x00\x00\x00\x00\x00\x00[]", b"\x05" + b"\x00" * 7 + b"{}"]
)
def test_a_file_that_is_no_safetensors_is_refused(tmp_path, raw):
    (tmp_path / "a").write_bytes(raw)

    with pytest.raises(ModelError):
        tensors.read(tmp_path / "a")


def test_the_model_that_ships_is_small_and_its_card_says_how_good_it_is():
    card = models.read_card(models.DEFAULT)

    assert sum(path.stat().st_size for path in models.DEFAULT.iterdir()) < 2_000_000
    assert card["data"]["train"]["dialogues"] == 339
    assert card["metrics"]["test"]["rows"] == 1424
    assert 0.65 < card["metrics"]["test"]["f1"] < 0.80
    assert models.load(models.DEFAULT).judge([Turn((), "you are an idiot", "human")])[0].flagged


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_file(), reason="../shared/data is not there")
def test_the_model_that_ships_is_what_its_command_makes(tmp_path):
    train(REAL, tmp_path / "default")

    made = models.load(tmp_path / "default").classifier
    shipped = models.load(models.DEFAULT).classifier
    turns = sources.load([f"{REAL}#test"])
    assert made.vocabulary == shipped.vocabulary
    assert [p for _, p in made.probabilities(turns)] == pytest.approx(
        [p for _, p in shipped.probabilities(turns)], abs=1e-3
    )
