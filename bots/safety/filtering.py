"""Safer training data by leaving out: Xu et al. 2021, "safe utterance" and "safe author" pre-processing.

By utterance: an example goes if its context (the last utterance of it) or its response is flagged. By author: every
example of an author goes if more than a share of what they wrote is flagged; the paper takes 12 %.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bots.errors import ConfigError
from bots.safety import flags
from bots.safety.corpora import dumped
from bots.safety.errors import DataError
from bots.safety.models import Model
from bots.safety.turns import Progress

BY = ("utterance", "author")
AUTHOR_THRESHOLD = 0.12
KEPT, REPORT = "kept.jsonl", "report.json"


def filter_corpus(
    model: Model,
    inputs: Sequence[Path],
    out: Path,
    *,
    by: str,
    progress: Progress,
    author_threshold: float = AUTHOR_THRESHOLD,
) -> dict[str, Any]:
    """Writes what is kept and a report of what was dropped to the folder `out`; gives the report.

    Raises DataError for a bad line, or by author for a row that names none; ConfigError if `out` holds another run.
    """
    if by not in BY or not 0 <= author_threshold < 1:
        raise ConfigError(f"By {' or '.join(BY)}; an author's share is at least 0 and under 1.")
    pairs = flags.judge(model, inputs, out, progress)
    dropped_authors, authors = _authors(inputs, out, author_threshold) if by == "author" else (set(), 0)
    counts = Counter[str]()
    fresh = out / f"{KEPT}.fresh"
    with fresh.open("w", encoding="utf-8") as file:
        for pair, flag in flags.flagged(inputs, out):
            counts["context"] += flag.context
            counts["response"] += flag.response
            counts["either"] += bool(flag)
            if pair.author not in dropped_authors if by == "author" else not flag:
                counts["kept"] += 1
                file.write(pair.line() + "\n")
    fresh.replace(out / KEPT)
    report = {
        **flags.about(model, inputs),
        "by": by,
        "pairs": pairs,
        "flagged": {name: counts[name] for name in ("context", "response", "either")},
        "kept": counts["kept"],
        "dropped": pairs - counts["kept"],
        "kept_share": counts["kept"] / pairs,
    }
    if by == "author":
        report["authors"] = {
            "all": authors,
            "dropped": len(dropped_authors),
            "threshold": author_threshold,
        }
    (out / REPORT).write_text(dumped(report), encoding="utf-8")
    return report


def _authors(inputs: Sequence[Path], out: Path, threshold: float) -> tuple[set[str], int]:
    """Those of whose responses more than `threshold` are flagged, and how many authors there are."""
    wrote, flagged = Counter[str](), Counter[str]()
    for place, (pair, flag) in enumerate(flags.flagged(inputs, out), 1):
        if not pair.author:
            raise DataError(inputs[0], f"pair {place}", "It names no author: filter by utterance.")
        wrote[pair.author] += 1
        flagged[pair.author] += flag.response
    return {author for author in wrote if flagged[author] > threshold * wrote[author]}, len(wrote)
