"""One line of text, safe to store and to export; for people's messages and bots' replies alike."""

import re
import unicodedata

LONGEST = 2_000
"""Characters in an utterance, at most."""
_BREAKS = re.compile("\r\n|[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")


def one_line(raw: str) -> str:
    """`raw` trimmed, tabs and line breaks as single spaces, control characters and broken halves of pairs removed.

    Why: the released format holds one utterance between tabs on one line (bad.md section 4), and PostgreSQL
    stores neither NUL nor a lone surrogate. Marks of right-to-left text stay: languages need them.
    """
    spaced = _BREAKS.sub(" ", raw)
    if spaced.isprintable():
        return spaced.strip()
    return "".join(c for c in spaced if unicodedata.category(c) not in ("Cc", "Cs")).strip()
