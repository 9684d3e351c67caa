import pytest

from bots.checkers.accuracy import AnswersError, is_right, load


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("We open at nine in the morning.", True),
        ("at nine!", True),
        ("nine", True),
        ("We open at ten.", False),
        ("I do not know", False),
        ("", False),
    ],
)
def test_a_right_reply_holds_an_answer_or_most_of_its_words(reply, right):
    assert is_right(reply, (("at", "nine"),)) == right


def test_questions_and_answers_of_csv_and_json_lines(tmp_path):
    sheet, rows = tmp_path / "qa.csv", tmp_path / "qa.jsonl"
    sheet.write_text("Question,Answer\nWhen do you open?,At nine\nWhen do you open?,9 am\n")
    rows.write_text('{"question": "When do you open?", "answers": ["At nine", "9 am"]}\n\n')

    assert load(sheet) == load(rows) == {"when do you open": (("at", "nine"), ("9", "am"))}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "holds no question"),
        ("a,b\n1,2\n", "holds no question"),
        ('{"question": "x"}\n', "Line 1 needs a question and an answer"),
        ("{broken\n", "Line 1 needs a question and an answer"),
        ("question,answer\n???,yes\n", "have no words|has no words|have no words"),
    ],
)
def test_a_file_that_is_none_is_refused_in_words(tmp_path, content, words):
    path = tmp_path / "qa"
    path.write_text(content)

    with pytest.raises(AnswersError, match=words):
        load(path)


def test_a_file_that_is_not_there():
    from pathlib import Path

    with pytest.raises(AnswersError, match="cannot be read"):
        load(Path("/nowhere/qa.csv"))
