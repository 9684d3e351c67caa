"""Files in the released text format, small and real, for tests."""

from pathlib import Path

REAL = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "bad" / "valid.txt"
"""The VALID split of the released data. It is not in the project: tests that read it skip where it is absent."""

CHATS = [
    (
        "your persona: i live alone.\\nyour persona:i bake .",
        [("Hello to you", 1), ("I hate you. ", 0), ("a__PIPE__b", 1)],
    ),
    (
        "your persona: i live alone.\\nyour persona: i bake.\\nSteak",
        [("Café", 1), ("Why?", 1), ("=1+1", 0), ("So.", 1)],
    ),
    ("nan", [(f"Message {number}", number % 2) for number in range(1, 15)]),
]


def released(chats=CHATS):
    """The bytes of a file with these chats: (persona, [(utterance, whether OK)])."""
    lines = []
    for persona, said in chats:
        for place, (_, ok) in enumerate(said):
            text = "\\n".join(utterance for utterance, _ in said[: place + 1])
            label, speaker = ("__notok__", "__ok__")[ok], ("human", "bot")[place % 2]
            lines.append(
                f"text:{text}\tlabels:{label}\tepisode_done:True\tspeaker_to_eval:{speaker}\tbot_persona:{persona}\n"
            )
    return "".join(lines).encode()
