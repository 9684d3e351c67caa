"""The `local` engine with real, tiny models, by way of `bots.replies`."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from bots import replies
from bots.engines import local
from bots.engines.generation import Model, Request
from bots.errors import EngineError
from bots.models import Bot
from tests.bots import tiny_models

pytestmark = pytest.mark.slow

PERSONA = ["i like cats.", "i am a doctor."]
WORDS = ["hello", "you", "school", "cook", "cats", "dog", "music", "town", "sea", "food", "pizza", "soup"]


def history(chat):
    """1, 3 or 5 utterances of very different length, different for every chat."""
    return [f"{' '.join(WORDS[: 1 + (chat * 5 + n) % 12])} {chat}" for n in range(1 + 2 * (chat % 3))]


def bot(**config):
    return Bot(engine="local", slug="t", config=config)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    return {
        "blenderbot": tiny_models.make_blenderbot(base / "blenderbot"),
        "small": tiny_models.make_blenderbot_small(base / "small"),
        "gpt2": tiny_models.make_gpt2(base / "gpt2"),
        "chat": tiny_models.make_chat(base / "chat"),
        "ender": tiny_models.make_blenderbot(base / "ender", end_bias=100.0),
    }


BOTS = {
    "blenderbot beam": ("blenderbot", {"preset": "bst_400m"}),
    "blenderbot greedy": ("blenderbot", {"preset": "bst_400m", "num_beams": 1}),
    "small": ("small", {"preset": "bst_90m"}),
    "dialogpt": ("gpt2", {"preset": "dialogpt_medium_long", "num_beams": 4}),
    "dialogpt greedy": ("gpt2", {"kind": "causal", "layout": "dialogpt", "block_context_ngram": 2}),
    "gpt2": ("gpt2", {"preset": "gpt2_large", "num_beams": 1}),
    "chat greedy": ("chat", {"kind": "chat"}),
    "chat drawn": ("chat", {"preset": "chat", "seed": 7}),
}


@pytest.mark.parametrize("name", BOTS)
def test_fifty_chats_at_once_get_what_each_would_get_alone(name, folders):
    folder, config = BOTS[name]
    asked = bot(**{"max_new_tokens": 24, **config}, model=folders[folder], timeout_s=600)
    alone = [replies.reply(asked, history(chat), PERSONA).text for chat in range(50)]
    before = local.counts(asked.config)

    with ThreadPoolExecutor(50) as pool:
        futures = list(pool.map(lambda chat: replies.submit(asked, history(chat), PERSONA), range(50)))
    together = [future.result(600).text for future in futures]

    after = local.counts(asked.config)
    assert together == alone
    assert after.rows - before.rows == 50
    assert after.largest > 1
    assert len(set(alone)) > 25  # else equal replies would prove nothing


def test_bots_of_one_model_share_one_copy(folders):
    greedy = {"kind": "causal", "model": folders["gpt2"]}
    beams = {**greedy, "num_beams": 3}
    before = local.counts(greedy).rows

    replies.reply(bot(**greedy), ["hello"])
    replies.reply(bot(**beams), ["hello"])

    assert (local.counts(greedy).rows - before, local.counts(beams).rows - before) == (2, 2)


@pytest.mark.parametrize(("minimum", "tokens"), [(1, 2), (20, 21)])
def test_a_reply_has_at_least_the_minimum_of_tokens(minimum, tokens, folders):
    config = {"preset": "bst_400m", "model": folders["ender"], "min_new_tokens": minimum}
    before = local.counts(config).tokens

    replies.reply(bot(**config), ["hello"])

    assert local.counts(config).tokens - before == tokens  # the end token is one more


def grams(ids, size=3):
    return [tuple(ids[n : n + size]) for n in range(len(ids) - size + 1)]


@pytest.mark.parametrize(
    ("family", "folder", "preset"),
    [
        ("seq2seq", "blenderbot", "bst_400m"),
        ("causal", "gpt2", "dialogpt_medium_long"),
    ],
)
def test_no_trigram_comes_twice_or_from_the_context(family, folder, preset, folders):
    model = Model(folders[folder], family, "cpu")
    settings = local.check({"preset": preset, "model": folders[folder], "num_beams": 3})
    free = local.check({**settings, "no_repeat_ngram": 0, "block_context_ngram": 0, "num_beams": 1})
    context = model._context(Request(settings, ("hello how are you",), ()), 128)
    babble = tokens_of(model, context, free)
    context = [*context, *babble]  # what it would say again

    blocked = tokens_of(model, context, settings)
    unblocked = tokens_of(model, context, {**settings, "no_repeat_ngram": 0, "block_context_ngram": 0})

    assert len(grams(blocked)) == len(set(grams(blocked)))
    assert set(grams(blocked)) & set(grams(context)) == set()
    assert unblocked != blocked


def tokens_of(model, context, settings):
    """The reply's tokens: what `_generate` decodes."""
    import torch

    ids = torch.tensor([context])
    skip = 1 if model.family == "seq2seq" else len(context)
    ends = model._ends_of(settings["layout"])
    output = model.model.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        generation_config=model._search(settings, ends),
        logits_processor=model._processors([context], settings, ends, skip),
    )
    return [token for token in output[0, skip:].tolist() if token not in ends]


def test_a_long_history_is_answered_as_its_newest_part_with_the_persona(folders):
    asked = bot(preset="bst_400m", model=folders["blenderbot"], max_context_tokens=80)
    newest = ["you like soup", "hello"]
    old = ["pizza and soup and music by the sea"] * 40

    whole = replies.reply(
        asked, [*old, "how are you today and where are you from " * 10, *newest], PERSONA
    ).text

    assert whole == replies.reply(asked, newest, PERSONA).text
    assert whole != replies.reply(asked, newest).text


def test_a_reply_does_not_hold_the_prompt_or_special_tokens(folders):
    model = Model(folders["gpt2"], "causal", "cpu")
    settings = local.check({"kind": "causal", "model": folders["gpt2"], "max_new_tokens": 5})

    [result] = model([Request(settings, ("unmistakable words here",), ())])

    assert result.text.count("unmistakable") + result.text.count("<|endoftext|>") == 0
    assert result.tokens <= 5


def test_the_same_seed_and_context_draw_the_same_and_another_seed_another(folders):
    config = {"preset": "chat", "model": folders["chat"], "temperature": 2.0, "top_p": 1.0}

    said = [replies.reply(bot(**config, seed=seed), ["hello"]).text for seed in (1, 1, 2)]

    assert said[0] == said[1]
    assert said[0] != said[2]


def test_draws_follow_the_softmax():
    import torch

    from bots.engines.generation import Draw

    draw = Draw([[n] for n in range(2000)], 5, "cpu")
    scores = torch.log(torch.tensor([0.7, 0.2, 0.1])).repeat(2000, 1)

    shares = draw(None, scores).argmax(1).bincount(minlength=3) / 2000

    assert shares.tolist() == pytest.approx([0.7, 0.2, 0.1], abs=0.03)


def test_memory_that_runs_out_halves_the_batch(folders):
    import torch

    from bots.engines.batching import Batcher, Job

    model = Model(folders["gpt2"], "causal", "cpu")
    settings = local.check({"kind": "causal", "model": folders["gpt2"]})
    alone = [model([Request(settings, tuple(history(n)), ())])[0].text for n in range(8)]

    def small_memory(_module, _args, kwargs):
        if len(kwargs["input_ids"]) > 2:
            raise torch.OutOfMemoryError("full")

    model.model.register_forward_pre_hook(small_memory, with_kwargs=True)
    batcher = Batcher(lambda: model)
    jobs = [Job(Request(settings, tuple(history(n)), ()), "g", 8, 60.0) for n in range(8)]

    together = [future.result(60) for future in [batcher.submit(job) for job in jobs]]

    assert together == alone
    assert batcher.counts().largest <= 2


def test_a_missing_folder_is_told_and_can_be_put_there_later(tmp_path):
    asked = bot(kind="causal", model=str(tmp_path / "gone"))

    with pytest.raises(EngineError) as caught:
        replies.reply(asked, ["hello"])
    tiny_models.make_gpt2(tmp_path / "gone")
    later = replies.reply(asked, ["hello"])

    assert str(caught.value) == f"There is no folder {tmp_path / 'gone'} on this machine."
    assert caught.value.retry is False
    assert later.engine == "local"


@pytest.mark.parametrize(
    ("kind", "folder", "family"),
    [
        ("causal", "blenderbot", "causal"),
        ("seq2seq", "gpt2", "seq2seq"),
    ],
)
def test_a_model_of_another_kind_is_refused(kind, folder, family, folders):
    with pytest.raises(EngineError) as caught:
        replies.reply(bot(kind=kind, model=folders[folder]), ["hello"])

    assert str(caught.value) == (
        f"The folder {folders[folder]} does not hold a {family} model that can be read: it is of another kind"
    )


def test_weights_that_are_missing_are_not_made_up(tmp_path):
    from safetensors.torch import load_file, save_file

    file = tmp_path / "m" / "model.safetensors"
    tiny_models.make_gpt2(file.parent)
    weights = load_file(file)
    del weights["transformer.ln_f.weight"]
    save_file(weights, file, metadata={"format": "pt"})

    with pytest.raises(EngineError) as caught:
        replies.reply(bot(kind="causal", model=str(file.parent)), ["hello"])

    assert str(caught.value) == (
        f"The folder {file.parent} does not hold a causal model that can be read: "
        "weights are missing: transformer.ln_f.weight"
    )


def test_a_reply_longer_than_the_model_can_write_is_refused(folders):
    with pytest.raises(EngineError) as caught:
        replies.reply(bot(kind="causal", model=folders["gpt2"], max_new_tokens=250), ["hello"])

    assert str(caught.value) == "max_new_tokens is too large for a model of 256 positions."


def test_a_deadline_that_passed_while_waiting_can_be_tried_again(folders):
    asked = bot(kind="causal", model=folders["gpt2"], timeout_s=0.001)

    with pytest.raises(EngineError) as caught:
        replies.reply(asked, ["hello"])  # an idle model waits longer than that for company

    assert caught.value.retry is True


def test_a_bad_request_does_not_fail_its_batch(folders):
    asked = bot(kind="causal", model=folders["gpt2"])
    futures = [replies.submit(asked, said) for said in (["hello"], [" "], ["you"])]

    problems = [future.exception(60) for future in futures]

    assert [str(problem) for problem in problems] == ["None", "There is nothing to answer.", "None"]
