"""Tokens a second of the `local` engine with several chats waiting at once, against one after another.

    python bench/batching.py [--quick] [--device cuda]

Models are made on the spot, randomly initialised, in the shapes of GPT-2 small (greedy) and BlenderBot 90M
(beam 10); every reply has the same number of tokens, contexts are of 1 to 7 utterances. Needs torch and
transformers, no Django, no network.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bots.engines import local

SAID = (
    "hello how are you today ?",
    "i am fine , thank you . what do you do for a living ?",
    "i work at a school .",
)
SPECIAL = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
ENDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def save_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=list(SPECIAL.values()), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(SAID, trainer)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL).save_pretrained(folder)


def make_gpt2(folder: Path) -> dict[str, Any]:
    from transformers import GPT2Config, GPT2LMHeadModel

    GPT2LMHeadModel(GPT2Config(**ENDS)).save_pretrained(folder)
    save_tokenizer(folder)
    return {"model": str(folder), "kind": "causal", "layout": "dialogpt"}


def make_blenderbot(folder: Path) -> dict[str, Any]:
    from transformers import BlenderbotSmallConfig, BlenderbotSmallForConditionalGeneration

    config = BlenderbotSmallConfig(vocab_size=54944, d_model=512, **ENDS)
    BlenderbotSmallForConditionalGeneration(config).save_pretrained(folder)
    save_tokenizer(folder)
    return {"preset": "bst_90m", "model": str(folder)}


def history(chat: int) -> list[str]:
    """1, 3, 5 or 7 utterances, different for every chat."""
    return [f"{chat} {SAID[(chat + turn) % 3]}" for turn in range(1 + 2 * (chat % 4))]


def rate(config: dict[str, Any], chats: int, *, together: bool, repeats: int) -> tuple[float, float]:
    """The best rate of some repeats (tokens a second), and the rows a batch had then."""
    best = (0.0, 0.0)
    for _ in range(repeats):
        before = local.counts(config)
        started = time.perf_counter()
        if together:
            for future in [local.submit(config, history(chat), ()) for chat in range(chats)]:
                future.result()
        else:
            for chat in range(chats):
                local.submit(config, history(chat), ()).result()
        seconds = time.perf_counter() - started
        after = local.counts(config)
        rows = (after.rows - before.rows) / (after.batches - before.batches)
        best = max(best, ((after.tokens - before.tokens) / seconds, rows))
    return best


def measure(name: str, config: dict[str, Any], sizes: list[int], repeats: int) -> None:
    rate(config, 4, together=False, repeats=1)  # loads the model and warms up
    floor, _ = rate(config, 8, together=False, repeats=repeats)
    print(f"{name:<34}{'one by one':>12}{floor:>12.1f}{1:>8.2f}{1:>8.1f}")
    for chats in sizes:
        speed, rows = rate(config, chats, together=True, repeats=repeats)
        print(f"{name:<34}{f'{chats} at once':>12}{speed:>12.1f}{speed / floor:>8.2f}{rows:>8.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1 and 8 chats, short replies")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    options = parser.parse_args()
    import torch

    on_gpu = options.device != "cpu" and torch.cuda.is_available()
    sizes = [1, 8] if options.quick else [1, 8, 32] if on_gpu else [1, 4, 8, 16]
    tokens = 10 if options.quick else 32
    shared = {
        "device": "cuda" if on_gpu else "cpu",
        "max_new_tokens": tokens,
        "min_new_tokens": tokens,
        "timeout_s": 3600,
    }
    where = torch.cuda.get_device_name() if on_gpu else f"CPU, {torch.get_num_threads()} threads"
    print(f"torch {torch.__version__}, {where}, {tokens} tokens a reply")
    print(f"{'model':<34}{'chats':>12}{'tokens/s':>12}{'ratio':>8}{'batch':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, make, search in (
            ("GPT-2 small, greedy", make_gpt2, {}),
            ("BlenderBot 90M, greedy", make_blenderbot, {"num_beams": 1}),
            ("BlenderBot 90M, beam 10", make_blenderbot, {"num_beams": 10}),
        ):
            made = make(Path(folder) / name.split(",", maxsplit=1)[0].replace(" ", "_"))
            measure(name, {**made, **shared, **search}, sizes, repeats=1 if options.quick else 3)


if __name__ == "__main__":
    main()
