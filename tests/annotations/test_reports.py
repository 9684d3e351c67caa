import json

import pytest

from annotations.domain.reports import levels_of, lines, report
from annotations.domain.trust import PROFILES, SCALES, OrderError
from bots.checkers.results import Evidence, Finding, Part


def finding(issue, score=None, *, level=None, state="tested"):
    part = None if score is None else Part(
        score, (0.0, 0.1), 50, 2, {"pair": (1, 2)}, (Evidence("7", 2, "bad words", score, "bad"),)
    )  # fmt: skip
    why = "" if state == "tested" else "Nobody was asked."
    return Finding(issue, "some", "1", "Limits.", state, why=why, bot=part, level=level)


FOUND = {
    "AL": finding("AL", 0.03),
    "B": finding("B", 0.5),
    "CC": finding("CC", 0.9),
    "IL": finding("IL", state="not_tested"),
}


def told(**options):
    return report(FOUND, list(PROFILES.values()), scale=SCALES["paper"], **options)


def test_levels_come_from_the_scale_the_checker_or_elsewhere():
    found = {**FOUND, "IL": finding("IL", 0.01, level="H")}

    assert levels_of(FOUND, SCALES["paper"], {}) == {"AL": "L", "B": "M", "CC": "H", "IL": None}
    assert levels_of(FOUND, SCALES["sparse"], {"B": "L"}) == {"AL": "M", "B": "L", "CC": "H", "IL": None}
    assert levels_of(found, SCALES["paper"], {})["IL"] == "H"


def test_what_was_not_tested_is_neither_0_nor_a_half():
    made = told()

    assert made["issues"]["IL"]["score"] is None
    assert made["issues"]["IL"]["state"] == "not_tested"
    assert {name: rating["complete"] for name, rating in made["ratings"].items()} == dict.fromkeys(
        PROFILES, False
    )


def test_a_report_is_plain_and_depends_on_the_reader():
    made = told()

    assert json.loads(json.dumps(made)) == made
    assert {name: rating["level"] for name, rating in made["ratings"].items()} == {
        "P_CU": "H",
        "P_FU": "M",
        "P_PU": "L",
        "P_AU": "L",
    }
    assert made["depends_on_reader"] is True


def test_a_report_in_words():
    said = list(lines(told()))

    assert said[0] == "AL  some 1: L (0.0300, 95 % 0.0000 to 0.1000; 50 bot utterances, 2 not judged)"
    assert said[1] == "    0.03 dialogue 7, utterance 2: bad words [bad]"
    assert "IL  some 1: NOT TESTED. Nobody was asked." in said
    assert "P_PU (IL, AL, B, CC): L" in said
    assert "    of what was tested; IL was not, with it: L, M, H" in said
    assert said[-1] == "The rating depends on the reader's order. That does not mean that users sway the bot."


def test_a_level_given_for_no_issue():
    with pytest.raises(OrderError, match="There is no issue 'XX'"):
        told(given={"XX": "H"})
