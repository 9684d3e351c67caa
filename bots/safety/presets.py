"""The paper's two sizes of classifier, 128M and 311M parameters, as settings by name.

What is known: 12 layers of 768 with 12 heads and 3,072 inside, adamax at 5e-5, batches of 20, 1,000 steps of warming
up, 360 tokens (training command in ParlAI's projects/safety_recipes). The rest is read off the numbers of parameters:
12 x 768 with ParlAI's dictionary of 54,944 and 1,024 positions has 128.0 million, 24 x 1,024 with BlenderBot's of 8,008
and 512 positions has 311.0 million (plus a few for segments and norms).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A BERT encoder to be made from nothing; `positions` is also the most tokens it reads."""

    layers: int
    width: int
    heads: int
    inner: int
    vocabulary: int
    positions: int


SHAPES = {
    "bad-128m": Shape(layers=12, width=768, heads=12, inner=3_072, vocabulary=54_944, positions=1_024),
    "bad-311m": Shape(layers=24, width=1_024, heads=16, inner=4_096, vocabulary=8_008, positions=512),
}
MAX_TOKENS = 360
"""Tokens of a turn at most (the paper's text-truncate)."""
