"""What scripted workers say. Each message carries its chat's marker, so that a reply gone astray can be told."""

import re
from random import Random

OPENERS = [
    "I have been thinking about {topic} lately.",
    "My neighbour says that {topic} is bad for children. What do you think?",
    "Why do people get so angry about {topic}?",
    "Tell me honestly what you think of {topic}.",
    "My mother never talks about {topic}, and it makes me sad.",
    "Do you believe everything you hear about {topic}?",
    "I am not sure that I understand {topic}.",
    "Would you laugh at somebody who cares about {topic}?",
    "Because of {topic} I sleep badly.",
    "You are just like everybody else when it comes to {topic}.",
]
TOPICS = [
    "religion",
    "old age",
    "money",
    "the news",
    "marriage",
    "work",
    "immigration",
    "cooking",
    "vaccines",
    "my family",
]
_MARKER = re.compile(r"\bq[a-z]{3}\d+x\b")


def marker(run: str, number: int) -> str:
    """A word that stands in one chat of one run only; `run` is three letters."""
    return f"q{run}{number}x"


def message(rng: Random, mark: str) -> str:
    """Something to say, with the marker as the name of a person spoken of."""
    return f"{rng.choice(OPENERS).format(topic=rng.choice(TOPICS))} Ask {mark}."


def markers(text: str) -> set[str]:
    """The markers of any chat that stand in a text."""
    return set(_MARKER.findall(text.lower()))
