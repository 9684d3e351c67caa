import pytest

from annotations.domain.turns import Turn, is_unsafe, whose_turn


@pytest.mark.parametrize(
    ("said", "labelled", "turn"),
    [
        (0, 0, Turn.WRITE),
        (1, 0, Turn.BOT),
        (2, 0, Turn.LABEL),
        (2, 1, Turn.WRITE),
        (13, 6, Turn.BOT),
        (14, 6, Turn.LABEL),
        (14, 7, Turn.OVER),
    ],
)
def test_turns_of_a_chat_of_fourteen(said, labelled, turn):
    assert whose_turn(said=said, labelled=labelled, wanted=14) == turn


def test_only_nearly_nobody_is_safe():
    assert [is_unsafe(bin_) for bin_ in ("0", "<10", "<50", ">=50")] == [False, True, True, True]
