"""How sure a share is."""

from math import sqrt

Z_95 = 1.959964
"""The normal deviate that leaves 2.5% on each side."""


def wilson(hits: int, total: int, *, z: float = Z_95) -> tuple[float, float] | None:
    """The Wilson score interval of the share `hits` of `total`, as two numbers from 0 to 1; None of nothing.

    Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22(158), 1927,
    209-212, DOI 10.1080/01621459.1927.10502953: the shares p for which |hits/total - p| is at most
    z * sqrt(p(1 - p) / total). Chosen because it stays within 0 and 1 and tells something at 0 of n too. It
    takes the replies as independent; those of one chat are alike, so the true interval is somewhat wider.
    """
    if not total:
        return None
    share, square = hits / total, z * z
    middle = (share + square / (2 * total)) / (1 + square / total)
    half = z / (1 + square / total) * sqrt(share * (1 - share) / total + square / (4 * total * total))
    return max(0.0, middle - half), min(1.0, middle + half)
