import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "dstc2_babi6"
RESTAURANT = sorted(DATA.glob("*.txt"), reverse=True) if DATA.is_dir() else []
TALK = "1 hi\tHello , how may I help you ?\n2 cheap food please\tThe house is in the north of town .\n"


@pytest.fixture
def talk(tmp_path):
    path = tmp_path / "talk.txt"
    path.write_text(TALK)
    return path


def rated(capsys, *paths, **options):
    call_command("rate", *(f"--corpus={path}" for path in paths), json=True, **options)
    return json.loads(capsys.readouterr().out)


def test_all_profiles_by_their_names(talk, capsys):
    told = rated(capsys, talk)

    assert list(told["ratings"]) == ["P_CU", "P_FU", "P_PU", "P_AU"]
    assert told["corpus"] == {
        "files": ["talk.txt"],
        "dialogues": 1,
        "utterances": {"bot": 2, "human": 2},
        "broken": 0,
        "broken_lines": [],
    }
    assert told["issues"]["IL"]["state"] == "not_tested"
    assert told["issues"]["IL"]["score"] is None


def test_one_profile_or_an_order(talk, capsys):
    by_profile = rated(capsys, talk, profile="p_pu")
    by_order = rated(capsys, talk, order="il, al, b, cc")

    assert list(by_profile["ratings"]) == ["P_PU"]
    assert list(by_order["ratings"]) == ["IL,AL,B,CC"]
    assert by_order["ratings"]["IL,AL,B,CC"]["level"] == by_profile["ratings"]["P_PU"]["level"]
    assert by_profile["ratings"]["P_PU"]["untested"] == ["IL"]
    assert by_profile["ratings"]["P_PU"]["could_be"] == ["L", "M", "H"]


def test_a_level_from_elsewhere_rules_and_ties(talk, capsys):
    told = rated(capsys, talk, profile="P_PU", given=["il=h"], ties="optimistic")
    strict = rated(capsys, talk, order="AL,CC,B,IL", given=["IL=H"], veto="IL", rule="median_sum")

    assert told["issues"]["IL"]["level"] == "H"
    assert told["ratings"]["P_PU"]["complete"] is True
    assert told["ratings"]["P_PU"]["level"] == "L"
    assert strict["ratings"]["AL,CC,B,IL"]["vetoed"] == ["IL"]


def test_an_order_may_name_accuracy_too(talk, capsys):
    told = rated(capsys, talk, order="AC,IL,AL,B,CC")

    assert told["ratings"]["AC,IL,AL,B,CC"]["untested"] == ["AC", "IL"]


def test_in_words(talk, capsys):
    call_command("rate", corpus=[talk], profile="P_AU")
    said = capsys.readouterr().out.splitlines()

    assert said[0] == "1 dialogues, 2 bot utterances."
    assert "P_AU (AL, CC, B, IL): L" in said
    assert "    AL stands in place 1, weighs 3, and is L." in said
    assert (
        "IL  leakage 1: NOT TESTED. Leakage shows only when the bot itself is asked by other users;"
        " a corpus cannot be asked."
    ) in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"profile": "P_XX"}, "There is no profile 'P_XX'. The profiles are: P_CU, P_FU, P_PU, P_AU."),
        ({"order": "IL,AL,B"}, "The order lacks CC. It must name all of: B, AL, CC, IL."),
        ({"order": "IL,AL,B,B,CC"}, "B stands more than once in the order. Name each issue once."),
        ({"order": ""}, "The order lacks B and AL and CC and IL. It must name all of: B, AL, CC, IL."),
        ({"order": "IL,AL,B,CC,XX"}, "There is no issue 'XX'. The issues are: B, AL, CC, IL."),
        ({"veto": "XX"}, "The veto names 'XX', which is not in the order."),
        ({"given": ["IL"]}, "--given takes an issue and a level, as in IL=H, not 'IL'."),
        ({"given": ["XX=H"]}, "There is no issue 'XX'. The issues are: AC, AL, B, CC, IL."),
        ({"set": ["reference"]}, "--set takes checker.name=value, as in complexity.reference=longest, not 'reference'."),
        ({"checker": ["x"]}, "There is no checker 'x'. There are: abuse, accuracy, bias, complexity, leakage, readability."),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_words(talk, options, words):
    with pytest.raises(CommandError) as error:
        call_command("rate", corpus=[talk], **options)

    assert str(error.value) == words


def test_a_file_that_is_not_there():
    with pytest.raises(CommandError, match=r"/nowhere/x cannot be read: No such file or directory\."):
        call_command("rate", corpus=[Path("/nowhere/x")])


def test_broken_lines_are_told(talk, capsys):
    talk.write_text(TALK + "nonsense\n")

    assert rated(capsys, talk)["corpus"]["broken_lines"] == [
        "line 3: does not begin with a number and a space"
    ]


@pytest.mark.skipif(len(RESTAURANT) < 2, reason="needs ../shared/data/dstc2_babi6")
def test_the_restaurant_corpus(capsys):
    """The row of Table II, whose levels are B L, AL L, CC M (docs/trust.md says what differs and why)."""
    told = rated(capsys, *RESTAURANT, given=["IL=H"], set=["bias.features=published"])

    levels = {issue: told["issues"][issue]["level"] for issue in ("B", "AL", "CC", "IL")}
    assert told["corpus"]["dialogues"] == 2_118
    assert sum(told["corpus"]["utterances"].values()) == 29_433
    assert levels == {"B": "L", "AL": "L", "CC": "M", "IL": "H"}
    assert {name: rating["level"] for name, rating in told["ratings"].items()} == {
        "P_CU": "M",
        "P_FU": "L",
        "P_PU": "H",
        "P_AU": "L",
    }
