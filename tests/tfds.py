"""The rules of the TensorFlow Datasets parser of the released data (bad.md section 4), written down once more.

tensorflow/datasets, bot_adversarial_dialogue_dataset_builder.py, commit 2d369fb7.
"""

KEYS = {"text", "labels", "episode_done", "speaker_to_eval", "bot_persona"}


def parse(path):
    """The examples of a file as that parser gives them: a ValueError or KeyError where it would fail."""
    before, dialogue = 0, 0
    examples = []
    with path.open(encoding="utf-8") as file:
        for row in file:
            clean = row.replace("\\t", "\t").replace("\\n", "\n").replace("__PIPE__", "|")
            fields = dict(part.split(":", maxsplit=1) for part in clean.split("\t"))
            if set(fields) != KEYS:
                raise KeyError(sorted(fields))
            if fields["labels"] not in ("__ok__", "__notok__"):
                raise ValueError(fields["labels"])
            if fields["episode_done"].strip().lower() not in ("true", "false", "1", "0"):
                raise ValueError(fields["episode_done"])
            acts = fields["text"].split("\n")
            if len(acts) < before:
                before, dialogue = 0, dialogue + 1
            else:
                before += 1
            examples.append(
                {
                    "dialogue_id": dialogue,
                    "round_id": len(acts) - 1,
                    "text": acts[-1],
                    "label": fields["labels"].strip("_"),
                    "speaker": fields["speaker_to_eval"],
                    "persona": [
                        line.strip().split(": ", 1)[-1] for line in fields["bot_persona"].strip().split("\n")
                    ],
                }
            )
    return examples
