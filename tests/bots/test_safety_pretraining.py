"""Masked language modelling by the command, and the encoder it leaves as a base."""

import io
import json
import random

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from bots.safety import loop, models, pretraining
from tests.bots.safety_data import KIND, RUDE, make_encoder, write_bad

pytestmark = pytest.mark.slow


def corpus(path, lines=300):
    chance = random.Random(0)
    path.write_text(
        "".join(f"{chance.choice(KIND)} and {chance.choice(RUDE)} {n % 7}\n" for n in range(lines))
    )
    return path


def run(name, *words):
    out = io.StringIO()
    call_command(name, *map(str, words), stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.fixture
def base(tmp_path):
    return make_encoder(tmp_path / "base")


def test_it_learns_the_corpus_and_leaves_a_base_for_train_safety(base, tmp_path):
    source, out = corpus(tmp_path / "corpus.txt"), tmp_path / "encoder"
    plan = ("--rate", 0.003, "--optimizer", "adamw", "--batch", 16, "--max-tokens", 48)

    before = run(
        "pretrain_encoder", "--base", base, "--corpus", source, "--out", tmp_path / "a", *plan, "--epochs", 1
    )
    after = run("pretrain_encoder", "--base", base, "--corpus", source, "--out", out, *plan, "--epochs", 8)
    data = write_bad(tmp_path / "valid.txt", 20)
    run("train_safety", "--base", out, "--train", data, "--valid", data, "--out", tmp_path / "m", *plan)

    assert float(after.split()[-1]) < 0.7 * float(before.split()[-1])
    assert json.loads((out / "pretraining.json").read_text())["lines"] == 300
    assert not (out / "checkpoints").exists()
    assert models.load(tmp_path / "m").labels == ("ok", "notok")


def test_broken_off_and_resumed_it_is_the_same_encoder(base, tmp_path):
    source = corpus(tmp_path / "corpus.txt")
    plan = loop.Plan(epochs=3, batch=16, rate=0.003, every=5)
    whole, broken = (
        pretraining.Settings(base, [source], tmp_path / name, 48, plan) for name in ("whole", "broken")
    )

    def stop(line):
        if "epoch 2 of" in line:
            raise KeyboardInterrupt

    pretraining.pretrain(whole, lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        pretraining.pretrain(broken, stop)
    pretraining.pretrain(broken, lambda _: None)

    for path in whole.out.iterdir():
        assert (broken.out / path.name).read_bytes() == path.read_bytes()


def test_about_15_of_100_tokens_are_hidden_and_no_special_one(base):
    import torch
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    masker = pretraining._Masker(tokenizer, "cpu")
    rows = masker.rows(["i like your garden"] * 400, 48)

    torch.manual_seed(0)
    batch, wanted = masker.batch(rows)

    hidden = wanted != -100
    inner = len(rows[0]) - 2
    assert not hidden[:, 0].any()
    assert 0.13 < hidden.sum().item() / (400 * inner) < 0.17
    assert 0.7 < (batch["input_ids"][hidden] == tokenizer.mask_token_id).float().mean().item() < 0.9


def test_too_small_a_corpus_is_refused(base, tmp_path):
    source = corpus(tmp_path / "corpus.txt", lines=1)

    with pytest.raises(CommandError, match="1 lines are too few to learn from and to measure on"):
        run("pretrain_encoder", "--base", base, "--corpus", source, "--out", tmp_path / "m")
