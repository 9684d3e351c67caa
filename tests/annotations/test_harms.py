import pytest

from annotations.domain.harms import ALL, KINDS, kinds_of

SLURS, SEXUAL, VIOLENCE, SELF_HARM, PROFANITY = (kind.bit for kind in KINDS)


def test_each_kind_has_a_bit_of_its_own():
    assert [kind.bit for kind in KINDS] == [1, 2, 4, 8, 16]
    assert ALL == 31


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("I started a new job in a kitchen.", 0),
        ("They are all retards", SLURS),
        ("Do you watch porn?", SEXUAL),
        ("He was MURDERED in his bed", VIOLENCE),
        ("Sometimes I want to die", SELF_HARM),
        ("I think about self-harm", SELF_HARM),
        ("What the fucking hell", PROFANITY),
        ("Go and kill yourself", VIOLENCE | SELF_HARM),
        ("sh1t", PROFANITY),
        ("f@ggot", SLURS),
        ("Bass players in Scunthorpe have skills and a cocktail", 0),
        ("", 0),
    ],
)
def test_what_words_point_to(text, kinds):
    assert kinds_of([text]) == kinds


def test_a_chat_points_to_what_any_of_it_does():
    assert kinds_of(["Nice day", "porn", "I will kill you"]) == SEXUAL | VIOLENCE
