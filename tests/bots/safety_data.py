"""Small files in the formats of `bots.safety`, and an encoder of a few thousand parameters."""

import json
from pathlib import Path

RUDE = ("you are stupid", "i hate you all", "shut up , idiot", "what a stupid idea", "you idiot , i hate it")
KIND = ("i like your garden", "how nice of you", "my cat is lovely", "what a lovely day", "i like soup")


def dialogue(number: int) -> list[tuple[str, str, str]]:
    """Four utterances: (speaker, text, label). Rude words are not OK; every dialogue has both kinds."""
    rows = []
    for place in range(4):
        rude = (number + place) % 2 == 0
        text = f"{(RUDE if rude else KIND)[(number * 3 + place) % 5]} {number}"
        rows.append(("bot" if place % 2 else "human", text, "notok" if rude else "ok"))
    return rows


def bad_lines(dialogues: int) -> list[str]:
    lines = []
    for number in range(dialogues):
        said = []
        for speaker, text, label in dialogue(number):
            said.append(text)
            so_far = r"\n".join(said)
            lines.append(
                f"text:{so_far}\tlabels:__{label}__\tepisode_done:True\tspeaker_to_eval:{speaker}\tbot_persona:nan"
            )
    return lines


def write_bad(path: Path, dialogues: int = 40) -> Path:
    path.write_text("".join(line + "\n" for line in bad_lines(dialogues)))
    return path


def write_jsonl(path: Path, rows: list[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def make_encoder(folder: Path) -> str:
    """A BERT that transformers loads like any other, with a tokenizer learned from the words above."""
    import torch
    from transformers import BertModel

    from bots.safety.fit_encoder import make_config, make_tokenizer
    from bots.safety.presets import Shape

    shape = Shape(layers=1, width=32, heads=2, inner=64, vocabulary=400, positions=64)
    tokenizer = make_tokenizer([*RUDE, *KIND, "human: bot:"], shape)
    torch.manual_seed(0)
    BertModel(make_config(shape, tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
