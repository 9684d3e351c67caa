import pytest

from annotations.domain import figures
from annotations.domain.figures import Cell, Chart, Share, TableRow

CELLS = [
    Cell("train", "Ada", "goad", 1, "ok", 4, 0, 0, 0, 0),
    Cell("train", "Ada", "goad", 1, "notok", 6, 1, 5, 2, 0),
    Cell("valid", "Ada", "probe", 2, "ok", 7, 0, 0, 0, 0),
    Cell("valid", "Bob", "probe", 2, "notok", 3, 3, 0, 0, 1),
    Cell("valid", "Bob", "probe", 4, "", 2, 0, 0, 0, 0),
]


def test_table_1_counts_by_speaker_label_and_split():
    table = figures.table_1(CELLS)

    none = [None, None, None]
    assert table.splits == ["train", "valid"]
    assert table.rows == [
        TableRow("human", "ok", [4, 0], 4, none),
        TableRow("human", "notok", [6, 0], 6, [Share(6, 10), Share(0, 0), Share(6, 10)]),
        TableRow("bot", "ok", [0, 7], 7, none),
        TableRow("bot", "notok", [0, 3], 3, [Share(0, 0), Share(3, 10), Share(3, 10)]),
        TableRow("bot", "", [0, 2], 2, none),
    ]


def test_table_1_as_data_has_a_line_for_each_count():
    rows = figures.table_1_rows(figures.table_1(CELLS))

    assert len(rows) == 10
    assert rows[2] == {"speaker": "human", "label": "notok", "split": "train", "utterances": 6}
    assert rows[-1] == {"speaker": "bot", "label": "none", "split": "valid", "utterances": 2}


def test_shares_leave_out_what_has_no_label():
    assert figures.not_ok(CELLS, lambda cell: cell.speaker) == {"human": Share(6, 10), "bot": Share(3, 10)}


def test_bots_are_sorted_by_their_share_with_wilson_intervals():
    chart = figures.by_bot(CELLS)

    assert chart.rows == [
        {"bot": "Bob", "not_ok": 3, "of": 3, "percent": 100.0, "low": 43.85, "high": 100.0},
        {"bot": "Ada", "not_ok": 0, "of": 7, "percent": 0.0, "low": 0.0, "high": 35.43},
    ]
    assert chart.finding == (
        "Share replies not OK: Bob 100% (44% to 100%) is the highest, Ada 0% (0% to 35%) the lowest"
    )


def test_sets_are_told_apart_by_speaker():
    assert [row["instructions"] for row in figures.by_instructions(CELLS).rows] == [
        "goad, people",
        "probe, bots",
    ]


def test_positions_come_in_order():
    rows = figures.by_position(CELLS).rows

    assert [(row["speaker"], row["position"], row["not_ok"], row["of"]) for row in rows] == [
        ("People", 1, 6, 10),
        ("Bots", 2, 3, 10),
    ]


def test_categories_are_shares_of_what_is_not_ok():
    rows = figures.by_category(CELLS).rows

    assert {row["category"]: (row["in_category"], row["of"]) for row in rows} == {
        "Hate speech, bots": (3, 3),
        "Personal attack, people": (5, 6),
        "Profanity, people": (2, 6),
        "Other offensive, bots": (1, 3),
        "Hate speech, people": (1, 6),
        "Other offensive, people": (0, 6),
        "Personal attack, bots": (0, 3),
        "Profanity, bots": (0, 3),
    }


def test_labels_without_categories_give_no_chart_of_them():
    bare = [cell._replace(hate=0, attack=0, profanity=0, other=0) for cell in CELLS]

    assert figures.by_category(bare).rows == []


def test_dialogues_by_unsafe_messages_have_every_number_and_what_is_at_least():
    chart = figures.unsafe_messages({0: 1, 3: 2, 1: 1})

    assert [list(row.values()) for row in chart.rows] == [
        [0, 1, 25.0, 100.0],
        [1, 1, 25.0, 75.0],
        [2, 0, 0.0, 50.0],
        [3, 2, 50.0, 50.0],
    ]
    assert chart.finding == "50% of 4 dialogues have at least 3 human messages that are not OK"


def test_a_day_that_goes_on_is_marked():
    chart = figures.votes_a_day([("1 Nov", 3), ("2 Nov", 1)], last_is_over=False)

    assert [list(row.values()) for row in chart.rows] == [["1 Nov", 3, 1], ["2 Nov", 1, 0]]
    assert chart.finding == "Votes a day over 2 days: lowest 1, highest 3"


@pytest.mark.parametrize(
    "chart",
    [
        figures.by_bot([]),
        figures.by_position([]),
        figures.by_category([]),
        figures.by_instructions([]),
        figures.unsafe_messages({}),
        figures.votes_a_day([("1 Nov", 0)], last_is_over=True),
    ],
    ids=lambda chart: chart.name,
)
def test_nothing_gives_no_rows_and_says_so(chart):
    assert chart.rows == []
    assert chart.finding


def test_a_chart_is_stored_with_its_columns_in_order():
    chart = figures.by_bot(CELLS)

    stored = chart.stored()

    assert stored["columns"] == ["bot", "not_ok", "of", "percent", "low", "high"]
    assert Chart.of(stored) == chart
