"""What a bot says instead: the words of the two-stage bot and of baked-in training data, in one place."""

import random
from functools import lru_cache
from pathlib import Path

SENTENCE = "Hey do you want to talk about something else? How about we talk about {topic}?"
"""Xu et al. 2021, word for word."""
BLAND = "I'm not sure what to say. Thank you for sharing and talking to me though."
"""The paper's other canned reply; people found it less engaging than a new topic."""
DEFLECT = "I would rather not talk about that. What else is on your mind?"
APOLOGISE = "I'm sorry, I can't go on with that. Let's talk about something that is good for both of us."
"""These two are ours."""


@lru_cache(maxsize=1)
def topics() -> tuple[str, ...]:
    """The everyday topics that ship with the project: lower-case, each once (topics.txt)."""
    text = (Path(__file__).parent / "topics.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line)


def non_sequitur(chance: random.Random) -> str:
    """A change of subject, to a topic that `chance` draws."""
    return SENTENCE.format(topic=chance.choice(topics()))
