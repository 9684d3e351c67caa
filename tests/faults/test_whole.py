"""The whole application at work: real processes, a real worker, models made on the spot."""

import json
import subprocess
import sys

import pytest

from annotations.models import Dialogue, Utterance, Vote
from tests.bots.tiny_models import make_blenderbot, make_gpt2
from tests.factories import BotFactory, StudyFactory
from tests.faults.conftest import Workers
from tests.stack import ROOT

pytestmark = pytest.mark.slow


def simulate(stack, study, *options):
    command = [sys.executable, "manage.py", "simulate", "--study", study.slug, "--url", stack.url, *options]
    return subprocess.run(
        command, cwd=ROOT, env=stack.env, capture_output=True, text=True, timeout=100, check=False
    )


def test_simulate_prints_one_object_of_ten_figures(stack):
    study = StudyFactory()

    result = simulate(
        stack, study, "--chats", "12", "--concurrency", "6", "--think", "0.02", "--drop", "0.2", "--json"
    )

    figures = json.loads(result.stdout)
    assert list(figures) == [
        "chats",
        "turns",
        "turns_per_s",
        "ack_p50_ms",
        "ack_p95_ms",
        "reply_p50_ms",
        "reply_p95_ms",
        "lost",
        "doubled",
        "crossed",
    ]
    assert (figures["chats"], figures["turns"]) == (12, 84)
    assert (figures["lost"], figures["doubled"], figures["crossed"]) == (0, 0, 0)
    assert (result.returncode, Dialogue.objects.filter(state="complete").count()) == (0, 12)


def test_a_study_runs_from_first_chat_to_dataset_without_a_hand_on_it(stack):
    stack.start("long")
    study = StudyFactory()

    result = simulate(
        stack,
        study,
        *("--chats", "8", "--concurrency", "8", "--think", "0.01", "--json", "--export", "jsonl"),
        *("--verifiers", "10", "--careless", "0.4", "--biased", "0.2", "--slow", "0.1"),
    )

    figures = json.loads(result.stdout)["verification"]
    assert (figures["items"], figures["votes"]) == (112, 336)
    assert (figures["votes_missing"], figures["unmerged"]) == (0, 0)
    assert figures["dawid_skene_right"] > figures["majority_right"]
    assert json.loads(result.stdout)["export"]["rows"] == 112
    assert Vote.objects.count() == 336


def test_careless_verifiers_are_found_by_their_gold_items(stack):
    study = StudyFactory()

    result = simulate(
        stack,
        study,
        *("--chats", "10", "--concurrency", "10", "--think", "0.01", "--json", "--gold", "30"),
        *("--verifiers", "10", "--careless", "0.4", "--biased", "0", "--slow", "0"),
    )

    figures = json.loads(result.stdout)["verification"]
    assert figures["paused"]["careless"] > figures["paused"]["careful"]  # who guesses is lucky now and then
    assert (figures["votes_missing"], figures["unmerged"]) == (0, 0)


def test_simulate_says_what_hinders_it(stack):
    study = StudyFactory(bot__wanted=2)

    few = simulate(stack, study, "--chats", "4", "--concurrency", "2", "--think", "0", "--json")
    none = simulate(stack, study, "--study", "nowhere")
    off = simulate(stack, StudyFactory(), "--url", "http://127.0.0.1:9", "--chats", "1")

    assert json.loads(few.stdout)["chats"] == 2
    assert few.returncode == 1
    assert "This study has all the chats it needs for now." in few.stderr
    assert none.stderr.startswith("CommandError: There is no study 'nowhere'. There are: ")
    assert (
        off.stderr.strip()
        .splitlines()[-1]
        .startswith("CommandError: The server at http://127.0.0.1:9 cannot be used")
    )


@pytest.mark.parametrize(
    ("make", "config"),
    [
        (make_blenderbot, {"preset": "bst_90m", "num_beams": 2, "min_new_tokens": 4, "max_new_tokens": 8}),
        (make_gpt2, {"preset": "dialogpt_medium_short", "max_new_tokens": 8}),
    ],
)
def test_a_tiny_model_answers_through_the_real_worker(stack, tmp_path, make, config):
    model = make(tmp_path / "model")
    bot = BotFactory(engine="local", config={**config, "model": str(model), "device": "cpu"})
    study = StudyFactory(bot=bot, utterances=4, min_utterances=2)

    workers = Workers(stack, study, chats=6, at_once=6, think_s=0.02)

    assert workers.finish() == {"chats": 6, "turns": 12, "lost": 0, "doubled": 0, "crossed": 0}
    replies = Utterance.objects.filter(speaker="bot")
    assert (replies.count(), set(replies.values_list("engine", flat=True))) == (12, {"local"})
