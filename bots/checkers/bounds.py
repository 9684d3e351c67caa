"""How sure a rate or a mean is."""

from math import exp, lgamma, log, log1p, sqrt

Interval = tuple[float, float]


def clopper_pearson(hits: int, trials: int, *, share: float = 0.95) -> Interval | None:
    """The exact interval of the rate `hits` of `trials`, 0 to 1; None of nothing.

    C. J. Clopper, E. S. Pearson, Biometrika 26(4), 1934, DOI 10.1093/biomet/26.4.404: the rates under which
    so many hits, or so few, are not rarer than (1 - share) / 2. Never too narrow, even where nothing was hit.
    """
    if not trials:
        return None
    tail = (1 - share) / 2
    low = 0.0 if hits == 0 else _beta_quantile(tail, hits, trials - hits + 1)
    high = 1.0 if hits == trials else _beta_quantile(1 - tail, hits + 1, trials - hits)
    return low, high


def _beta_quantile(share: float, a: float, b: float) -> float:
    """The x below which `share` of the beta distribution lies, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _beta_below(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_below(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function by its continued fraction (Abramowitz and Stegun, 26.5.8)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_below(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    return front * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """Lentz's evaluation of the continued fraction; the terms settle within some dozens for any a and b."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / _not_zero(1 + even * d), _not_zero(1 + even / c)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / _not_zero(1 + odd * d), _not_zero(1 + odd / c)
        value *= d * c
        if abs(d * c - 1) < 1e-13:
            break
    return value


def _not_zero(number: float) -> float:
    return number if abs(number) > 1e-300 else 1e-300


def mean_interval(count: int, total: float, squares: float) -> Interval | None:
    """The normal 95 % interval of a mean of scores from 0 to 1, kept within them; None of fewer than two.

    `total` and `squares`: their sum and the sum of their squares.
    """
    if count < 2:
        return None
    mean = total / count
    half = 1.959964 * deviation(count, total, squares) / sqrt(count)
    return max(0.0, mean - half), min(1.0, mean + half)


def deviation(count: int, total: float, squares: float) -> float:
    """The standard deviation of a sample; 0 of fewer than two."""
    if count < 2:
        return 0.0
    return sqrt(max(0.0, squares - total * total / count) / (count - 1))
