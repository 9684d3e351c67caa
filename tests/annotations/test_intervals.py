import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.domain.intervals import wilson


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17, 1998, table I, method 3: the Wilson score interval.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_published_intervals(hits, total, low, high):
    found = wilson(hits, total)

    assert (round(found[0], 4), round(found[1], 4)) == (low, high)


def test_nothing_has_no_interval():
    assert wilson(0, 0) is None


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_share_lies_in_its_interval_within_0_and_1(counts):
    hits, total = counts

    low, high = wilson(hits, total)

    assert 0 <= low <= hits / total + 1e-12
    assert hits / total - 1e-12 <= high <= 1
