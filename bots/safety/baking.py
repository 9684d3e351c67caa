"""Training data with safety baked in (Xu et al. 2021, "baked-in safety layer").

Where the last utterance of the context or the response is flagged, the response becomes a change of subject. Examples
so changed and those left alone are two pools, which training mixes by weights of its own. The paper changed half of
the flagged examples of its model from scratch and left out the rest.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from bots.errors import ConfigError
from bots.safety import flags
from bots.safety.corpora import dumped
from bots.safety.models import Model
from bots.safety.nonsequitur import non_sequitur
from bots.safety.turns import Progress

REST = ("drop", "keep")
SAFE, BAKED, REPORT = "safe.jsonl", "baked.jsonl", "report.json"


def bake_in(
    model: Model,
    inputs: Sequence[Path],
    out: Path,
    *,
    progress: Progress,
    replace_share: float = 0.5,
    rest: str = "drop",
    seed: int = 0,
) -> dict[str, Any]:
    """Writes the two pools and a report to the folder `out`; gives the report.

    `replace_share`: of the flagged pairs, the share that is changed. `rest`: what happens to the others; kept, they go
    unchanged into the safe pool. Which ones, and the topics, follow from the seed and the place in the corpus. Raises
    DataError for a bad line, ConfigError for settings or if `out` holds another run.
    """
    if not 0 <= replace_share <= 1 or rest not in REST:
        raise ConfigError(f"The share is from 0 to 1, and the rest is one of {', '.join(REST)}.")
    pairs = flags.judge(model, inputs, out, progress)
    counts = Counter[str]()
    with ExitStack() as stack:
        safe, baked = (
            stack.enter_context((out / f"{name}.fresh").open("w", encoding="utf-8")) for name in (SAFE, BAKED)
        )
        for place, (pair, flag) in enumerate(flags.flagged(inputs, out)):
            counts["context"] += flag.context
            counts["response"] += flag.response
            chance = _chance(seed, place)
            if not flag:
                kind = "clean"
                safe.write(pair.line() + "\n")
            elif chance.random() < replace_share:
                kind = "replaced"
                baked.write(replace(pair, response=non_sequitur(chance)).line() + "\n")
            elif rest == "keep":
                kind = "kept"
                safe.write(pair.line() + "\n")
            else:
                kind = "dropped"
            counts[kind] += 1
    for name in (SAFE, BAKED):
        (out / f"{name}.fresh").replace(out / name)
    report = {
        **flags.about(model, inputs),
        "replace_share": replace_share,
        "rest": rest,
        "seed": seed,
        "pairs": pairs,
        "flagged": {
            "context": counts["context"],
            "response": counts["response"],
            "either": pairs - counts["clean"],
        },
        "pools": {SAFE: counts["clean"] + counts["kept"], BAKED: counts["replaced"]},
        "dropped": counts["dropped"],
    }
    (out / REPORT).write_text(dumped(report), encoding="utf-8")
    return report


def _chance(seed: int, place: int) -> random.Random:
    """A source of chance for one pair: the same whatever comes before it."""
    return random.Random(hashlib.sha256(f"{seed}:{place}".encode()).digest())
