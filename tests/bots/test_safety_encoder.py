"""Fine-tuning a real, tiny encoder by the command, and what comes out of it."""

import io
import json
import os
import subprocess
import sys
from collections import Counter

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from bots.safety import encoder, loop, models, presets, sources, training
from bots.safety.turns import Turn
from tests.bots.safety_data import KIND, RUDE, make_encoder, write_bad, write_jsonl

pytestmark = pytest.mark.slow

LEARNS = ("--rate", "0.003", "--optimizer", "adamw", "--batch", "8", "--epochs", "8", "--max-tokens", "48")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_bad(tmp_path_factory.mktemp("data") / "valid.txt", 60)


def run(name, *words):
    out = io.StringIO()
    call_command(name, *map(str, words), stdout=out, stderr=io.StringIO())
    return out.getvalue()


def words(base, data, out, *more):
    return (
        "--base",
        base,
        "--train",
        f"{data}#train",
        "--valid",
        f"{data}#valid",
        "--out",
        out,
        *LEARNS,
        *more,
    )


@pytest.fixture(scope="module")
def folder(base, data, tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "tuned"
    run("train_safety", *words(base, data, out, "--test", f"{data}#test"))
    return out


def test_it_learns_and_leaves_only_safetensors_and_json(folder):
    card = json.loads((folder / "card.json").read_text())

    assert (card["kind"], card["base"], card["labels"]) == ("encoder", "tiny", ["ok", "notok"])
    assert card["metrics"]["test"]["f1"] > 0.95
    assert card["settings"]["optimizer"] == "adamw"
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "card.json",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]


def test_plain_transformers_loads_it_and_scores_alike(folder):
    from transformers import pipeline

    turns = [
        Turn(("hello", KIND[0], RUDE[1]), KIND[2], "bot"),
        Turn((), RUDE[0], "human"),
        Turn(("no", "yes"), RUDE[2]),
    ]
    judge = pipeline("text-classification", model=str(folder), top_k=None)

    mine = models.load(folder).classifier.probabilities(turns)

    for turn, row in zip(turns, mine, strict=True):
        judged, before = encoder.written(turn, 4)
        given = {"text": judged, "text_pair": before} if before else judged
        theirs = {one["label"]: one["score"] for one in judge([given])[0]}
        assert row == pytest.approx([theirs["ok"], theirs["notok"]], abs=1e-5)


def test_a_batch_scores_as_its_rows_alone(folder, data):
    model = models.load(folder).classifier
    turns = sources.load([str(data)])[:40]

    together = model.probabilities(turns)

    for turn, row in zip(turns, together, strict=True):
        assert model.probabilities([turn])[0] == pytest.approx(row, abs=1e-5)


def test_the_tokens_are_those_of_the_tokenizer_and_the_oldest_go_first(folder):
    writer = models.load(folder).classifier.writer
    turn = Turn(("i like soup", "you idiot"), "i hate it", "human")

    ids, types = writer.rows([turn])[0]

    own = writer.tokenizer("human: i hate it", "human: i like soup\nbot: you idiot")
    assert (ids, types) == (own["input_ids"], own["token_type_ids"])
    ends = encoder.Ends(before=(1,), between=(2,), after=(2,), types=(0, 1))
    assert ends.join([7, 8], [3, 4, 5], 7) == ([1, 7, 8, 2, 4, 5, 2], [0, 0, 0, 0, 1, 1, 1])
    assert ends.join([7, 8, 9, 9], [3, 4], 5) == ([1, 7, 8, 2, 2], [0, 0, 0, 0, 1])
    long = writer.rows([Turn(("soup " * 500,), "soup " * 500)])[0][0]
    assert (len(long), writer.limit) == (48, 48)


def test_batches_are_of_like_length_and_hold_every_row_once():
    lengths = [5, 1, 9, 2, 2, 30]

    found = list(encoder.batches(lengths, 10))

    assert found == [[1, 3, 4], [0], [2], [5]]


class Stop(Exception):
    pass


def interrupted(settings, at):
    seen = []

    def progress(line):
        seen.append(line)
        if at in line:
            raise Stop

    with pytest.raises(Stop):
        training.train(settings, progress)
    return seen


def settings(base, data, out, **plan):
    return training.Settings(
        base=base,
        train=[f"{data}#train"],
        valid=[f"{data}#valid"],
        out=out,
        max_tokens=48,
        plan=loop.Plan(**{"epochs": 4, "batch": 8, "rate": 0.003, "optimizer": "adamw", "every": 7, **plan}),
    )


@pytest.mark.parametrize("optimizer", loop.OPTIMIZERS)
def test_broken_off_and_resumed_it_is_the_same_model(base, data, tmp_path, optimizer):
    whole, broken = (settings(base, data, tmp_path / n / "m", optimizer=optimizer) for n in "ab")
    training.train(whole, lambda _: None)

    interrupted(broken, "step 50 of")
    said = []
    training.train(broken, said.append)

    assert [line for line in said if "going on" in line] == ["going on from step 49 of 88"]
    for path in (tmp_path / "a" / "m").iterdir():
        assert (tmp_path / "b" / "m" / path.name).read_bytes() == path.read_bytes()


def test_a_checkpoint_of_other_settings_is_refused(base, data, tmp_path):
    interrupted(settings(base, data, tmp_path / "m"), "step 50 of")

    with pytest.raises(ValueError, match="holds a checkpoint of a run with other data or settings"):
        training.train(settings(base, data, tmp_path / "m", seed=1), lambda _: None)


def test_it_stops_when_it_gets_no_better_and_keeps_the_best(base, data, tmp_path):
    said = []

    training.train(settings(base, data, tmp_path / "m", epochs=30, rate=1e-9, patience=2), said.append)

    assert [line.split(":")[0] for line in said if line.startswith("epoch")] == [
        "epoch 1 of 30",
        "epoch 2 of 30",
        "epoch 3 of 30",
    ]


def test_rows_that_weigh_more_are_drawn_more_often():
    plan = loop.Plan(batch=10, seed=3)

    even = loop.order(plan, 0, [1] * 100, [1.0] * 100)
    uneven = loop.order(plan, 0, [1] * 4_000, [3.0] * 1_000 + [1.0] * 3_000)

    assert sorted(row for batch in even for row in batch) == list(range(100))
    assert loop.order(plan, 0, [1] * 100, [1.0] * 100) == even != loop.order(plan, 1, [1] * 100, [1.0] * 100)
    assert 1_850 < Counter(row < 1_000 for batch in uneven for row in batch)[True] < 2_150


def test_a_topic_classifier_by_the_same_command(base, tmp_path):
    texts = {"drugs": RUDE[3], "nsfw": RUDE[1], "none": KIND[0]}
    rows = write_jsonl(
        tmp_path / "t.jsonl", [{"text": f"{t} {n}", "label": k} for n in range(30) for k, t in texts.items()]
    )

    files = ("--base", base, "--train", rows, "--valid", rows, "--out", tmp_path / "m")
    run("train_safety", *files, *LEARNS, "--epochs", 16, "--patience", 16, "--threshold", "nsfw=0.7")

    model = models.load(tmp_path / "m")
    found = model.classifier.probabilities([Turn((), f"{text} 5") for text in texts.values()])
    assert model.thresholds["nsfw"] == 0.7
    assert [model.labels[row.index(max(row))] for row in found] == ["drugs", "nsfw", "none"]


def test_two_processes_of_torchrun_make_one_model(base, data, tmp_path):
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node",
        "2",
        "--standalone",
        "manage.py",
    ]
    environ = {**os.environ, "OMP_NUM_THREADS": "1", "DJANGO_SETTINGS_MODULE": "tests.settings"}

    done = subprocess.run(
        [*command, "train_safety", *map(str, words(base, data, tmp_path / "m"))],
        check=False, env=environ, capture_output=True, text=True, timeout=110,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr[-2_000:]
    assert models.load(tmp_path / "m").judge([Turn((), RUDE[0], "human")])[0].flagged
    assert done.stdout.count("valid: F1") == 1


@pytest.mark.parametrize(("name", "millions"), [("bad-128m", 128.0), ("bad-311m", 311.0)])
def test_the_papers_sizes_have_its_numbers_of_parameters(name, millions):
    import torch
    from transformers import BertConfig, BertModel

    shape = presets.SHAPES[name]
    config = BertConfig(
        vocab_size=shape.vocabulary, hidden_size=shape.width, num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads, intermediate_size=shape.inner, max_position_embeddings=shape.positions,
    )  # fmt: skip
    with torch.device("meta"):
        model = BertModel(config, add_pooling_layer=False)

    assert round(sum(p.numel() for p in model.parameters()) / 1e6, 1) == millions


def test_a_base_that_is_no_model_is_refused_in_words(data, tmp_path):
    with pytest.raises(CommandError, match="cannot be loaded"):
        run("train_safety", *words(tmp_path / "nothing", data, tmp_path / "m"))


def test_a_model_with_other_labels_than_its_card_is_refused(folder, tmp_path):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    card = json.loads((folder / "card.json").read_text())
    (tmp_path / "card.json").write_text(json.dumps({**card, "labels": ["notok", "ok"]}))

    with pytest.raises(
        models.ModelError, match=r"are \['ok', 'notok'\], and its card says \['notok', 'ok'\]"
    ):
        models.load(tmp_path)
