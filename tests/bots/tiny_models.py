"""Makers of tiny, randomly initialised models with a tokenizer trained on the spot: nothing is downloaded.

Each takes a folder, saves a model there that transformers loads like any other, and gives the folder as text. What
they say is gibberish, but the same gibberish for the same context.
"""

import json
from pathlib import Path
from typing import Any

TEXT = """hello how are you today . i am fine thank you and you ? what do you do for a living ?
i work at a school and i like to cook . do you have any pets ? yes i have two cats and a dog .
your persona: i like cats. your persona: i am a doctor. that is nice , tell me more about it .
where are you from ? i am from a small town near the sea . do you like music ? i play the guitar .
A: what is your favorite food ? B: i love pizza and soup . I think we should talk about something else ."""

CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

NO_SYSTEM_TEMPLATE = (
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}<|im_start|>assistant"
)


def byte_level_bpe(special: list[str], *, size: int = 400) -> Any:
    """A `tokenizers.Tokenizer` whose first tokens are `special`."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT.split("\n"), trainer)
    return tokenizer


def blenderbot_tokenizer() -> Any:
    from transformers import BlenderbotTokenizer

    model = json.loads(byte_level_bpe(["<pad>", "<s>", "</s>", "<unk>", "<mask>"]).to_str())["model"]
    return BlenderbotTokenizer(vocab=model["vocab"], merges=[tuple(pair) for pair in model["merges"]])


def gpt2_tokenizer() -> Any:
    from transformers import PreTrainedTokenizerFast

    end = "<|endoftext|>"
    return PreTrainedTokenizerFast(tokenizer_object=byte_level_bpe([end]), eos_token=end, bos_token=end)


def chat_tokenizer(template: str = CHAT_TEMPLATE) -> Any:
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=byte_level_bpe(["<|endoftext|>", "<|im_start|>", "<|im_end|>"]),
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
    )
    tokenizer.chat_template = template
    return tokenizer


def blenderbot_small_tokenizer(folder: Path) -> Any:
    """Letters, and one merged word: the newline mark, as in the released vocabulary."""
    from transformers import BlenderbotSmallTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,!?:'_"
    words = ["__null__", "__start__", "__end__", "__unk__", "__newln__"]
    vocabulary = {word: n for n, word in enumerate([*words, *letters, *(f"{c}@@" for c in letters)])}
    parts = ["_", "_", "n", "e", "w", "l", "n", "_", "_</w>"]
    merges = [f"{''.join(parts[:n])} {parts[n]}" for n in range(1, len(parts))]
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]))
    return BlenderbotSmallTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))


def make_blenderbot(folder: Path, *, seed: int = 0, end_bias: float = 0.0, positions: int = 128) -> str:
    """`end_bias` is added to the end token's score: with 100 every reply ends as soon as it may."""
    from transformers import BlenderbotConfig, BlenderbotForConditionalGeneration

    tokenizer = blenderbot_tokenizer()
    config = BlenderbotConfig(
        **_seq2seq(len(tokenizer), positions), pad_token_id=0, bos_token_id=1, eos_token_id=2
    )
    return _save(folder, tokenizer, config, BlenderbotForConditionalGeneration, seed=seed, end_bias=end_bias)


def make_blenderbot_small(folder: Path, *, seed: int = 0) -> str:
    from transformers import BlenderbotSmallConfig, BlenderbotSmallForConditionalGeneration

    tokenizer = blenderbot_small_tokenizer(folder)
    config = BlenderbotSmallConfig(
        **_seq2seq(len(tokenizer), 128), pad_token_id=0, bos_token_id=1, eos_token_id=2
    )
    return _save(folder, tokenizer, config, BlenderbotSmallForConditionalGeneration, seed=seed)


def make_gpt2(folder: Path, *, seed: int = 0, positions: int = 256) -> str:
    """As DialoGPT and as GPT-2."""
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = gpt2_tokenizer()
    end = tokenizer.eos_token_id
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=positions,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=end,
        eos_token_id=end,
        initializer_range=0.3,
    )
    return _save(folder, tokenizer, config, GPT2LMHeadModel, seed=seed)


def make_chat(folder: Path, *, seed: int = 0, template: str = CHAT_TEMPLATE) -> str:
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = chat_tokenizer(template)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=512,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.3,
    )
    return _save(folder, tokenizer, config, LlamaForCausalLM, seed=seed)


def _seq2seq(vocabulary: int, positions: int) -> dict[str, Any]:
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 64))
    }
    return {
        **sides,
        "vocab_size": vocabulary,
        "d_model": 32,
        "max_position_embeddings": positions,
        "decoder_start_token_id": 1,
        "forced_eos_token_id": None,
        "init_std": 0.3,
    }


def _save(folder: Path, tokenizer: Any, config: Any, kind: Any, *, seed: int, end_bias: float = 0.0) -> str:
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(config)
    if end_bias:
        model.final_logits_bias[0, config.eos_token_id] = end_bias
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
