import csv
from datetime import date
from pathlib import Path

import pytest

from bots.engines import trains, trains_when
from bots.errors import ConfigError, EngineError
from bots.models import Bot
from bots.replies import reply

DATA = Path(trains.__file__).parent / "data"
CONVERSATION = [
    "Hello",
    "How late is the Harbour Mail?",
    "at Fenbridge",
    "in June",
    "and tomorrow at 14:30?",
    "and over the whole journey?",
    "thanks",
]
MONDAY = date(2026, 3, 2)
CODE = {"style": "code"}
HOSTILE = {
    "brackets": "(" * 2000,
    "short words": "a " * 1000,
    "one word": "a" * 2000,
    "numbers": "1" * 2000,
    "dots": "1." * 1000,
    "dates": "12 march " * 222,
    "days": "2026-03-12 " * 181,
    "times": "14:30 " * 333,
    "trains": "12107 " * 333,
    "unknown trains": "99999 " * 333,
    "prepositions": "at " * 666,
    "unknown stations": "at x" + "y" * 1996,
    "right-to-left marks": "\u200f" * 2000,
    "scripts of the world": "Ж中🙂ह" * 500,
    "digits of the world": "١٢٣٤٥ at ١٢:٣٠ on ١٢ march " * 70,
    "a lone surrogate": "at \ud800 " * 400,
    "fields": "{train} {0} %s at {unknown} " * 70,
    "nothing": "",
}


def said(*messages: str, **config: str) -> str:
    return replies(*messages, **config)[-1]


def replies(*messages: str, **config: str) -> list[str]:
    history: list[str] = []
    for message in messages:
        history.append(message)
        history.append(trains.reply(config, history, ()))
    return history[1::2]


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_a_conversation_of_seven_turns() -> None:
    assert replies(*CONVERSATION) == [
        "Hello. I can tell you how late a train usually is. Which train do you want to know about?",
        "At which station? You can also ask for the whole journey of the Harbour Mail.",
        "When do you travel? You can say a date, tomorrow, a month, a season or any time.",
        "The Harbour Mail (12107) is on average 5 minutes late at Fenbridge Central in June.",
        (
            "The Harbour Mail (12107) is on average 6 minutes late at Fenbridge Central on Tuesday 3 March 2026. "
            "If it is due at 14:30, expect it at about 14:36."
        ),
        (
            "On average on Tuesday 3 March 2026, the Harbour Mail (12107) is 1 minute late at Northgate Terminus, "
            "3 minutes late at Arden Cross, 6 minutes late at Fenbridge Central, 12 minutes late at Dunmere Junction, "
            "13 minutes late at Lambury and 18 minutes late at Bramley Harbour."
        ),
        "You are welcome. Have a good journey.",
    ]


def test_the_same_conversation_in_code() -> None:
    assert replies(*CONVERSATION, style="code") == [
        "READY. TRAIN?",
        "12107 STATION?",
        "12107 WHEN?",
        "12107 FNB JUN +5.4",
        "12107 FNB 2026-03-03 +6.1 ETA 14:36",
        "12107 2026-03-03 NGT +0.6 ARX +2.6 FNB +6.1 DNJ +11.6 LMB +13.2 BRH +18.5",
        "OK.",
    ]


def test_through_the_door_of_the_bots() -> None:
    bot = Bot(engine="trains", slug="x", config={"style": "code", "table": "old"})

    answer = reply(bot, ["12107 at FNB in June"])

    assert (answer.text, answer.engine) == ("12107 FNB JUN +5.4", "trains")


def test_wrong_settings_come_out_of_the_door_as_a_failure() -> None:
    bot = Bot(engine="trains", slug="x", config={"style": "shouting"})

    with pytest.raises(EngineError) as error:
        reply(bot, ["Hello"])

    assert str(error.value) == "'style' is 'shouting'. Enter 'plain' or 'code'."
    assert not error.value.retry


def test_without_a_history_it_greets() -> None:
    assert trains.reply({}, [], ()) == said("Hello")


@pytest.mark.parametrize(
    ("model", "table", "late"),
    [
        ("month", "old", "+5.4"),
        ("weekday", "old", "+7.1"),
        ("month", "new", "+6.8"),
        ("weekday", "new", "+5.9"),
    ],
)
def test_models_and_tables_differ(model: str, table: str, late: str) -> None:
    assert (
        said("12107 at FNB on mondays in june", model=model, table=table, style="code")
        == f"12107 FNB MON/JUN {late}"
    )


def test_the_month_model_takes_the_mean_of_the_months_that_are_meant() -> None:
    (row,) = [
        r for r in rows("delays.csv") if (r["table"], r["train"], r["station"]) == ("old", "12107", "FNB")
    ]
    mean = (float(row["dec"]) + float(row["jan"]) + float(row["feb"])) / 3

    assert said("12107 at FNB in winter", **CODE) == f"12107 FNB WINTER {mean:+.1f}"


def test_the_weekday_model_takes_the_mean_of_the_weekdays_that_are_meant() -> None:
    (row,) = [
        r for r in rows("delays.csv") if (r["table"], r["train"], r["station"]) == ("new", "12107", "FNB")
    ]
    mean = (float(row["sat"]) + float(row["sun"])) / 2

    found = said("12107 at FNB at the weekend", style="code", model="weekday", table="new")

    assert found == f"12107 FNB SAT-SUN {mean:+.1f}"


@pytest.mark.parametrize("name", ["12107", "Harbour Mail", "harbour mail", "the mail", "THE MAIL"])
def test_a_train_by_number_or_name(name: str) -> None:
    assert said(f"How late is {name} at FNB in June", **CODE) == "12107 FNB JUN +5.4"


@pytest.mark.parametrize("name", ["FNB", "fnb", "Fenbridge Central", "fenbridge"])
def test_a_station_by_code_name_or_what_people_call_it(name: str) -> None:
    assert said(f"How late is 12107 at {name} in June", **CODE) == "12107 FNB JUN +5.4"


def test_the_name_of_a_train_hides_the_station_in_it() -> None:
    assert said("Redwater Express at Greatham in june", **CODE).split()[:2] == ["12318", "GRH"]
    assert said("Harbour Mail at the harbour in june", **CODE).split()[:2] == ["12107", "BRH"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("on 12 March", "2026-03-12"),
        ("on 12th of March 2027", "2027-03-12"),
        ("on March 12th, 2027", "2027-03-12"),
        ("on 2026-03-12", "2026-03-12"),
        ("on 12/3/2026", "2026-03-12"),
        ("on 12.03.2026", "2026-03-12"),
        ("on 1 March", "2027-03-01"),
        ("on 29 February", "2028-02-29"),
        ("today", "2026-03-02"),
        ("tomorrow", "2026-03-03"),
        ("the day after tomorrow", "2026-03-04"),
        ("yesterday", "2026-03-01"),
        ("on Friday", "2026-03-06"),
        ("on Monday", "2026-03-09"),
        ("on mondays", "MON"),
        ("every Sunday", "SUN"),
        ("at the weekend", "SAT-SUN"),
        ("in june", "JUN"),
        ("in Sep", "SEP"),
        ("in may", "MAY"),
        ("this month", "MAR"),
        ("next month", "APR"),
        ("in winter", "WINTER"),
        ("in the fall", "AUTUMN"),
        ("on fridays in june", "FRI/JUN"),
        ("in june on fridays", "JUN/FRI"),
        ("in june, no, in july", "JUL"),
        ("on mondays, no, on tuesdays", "TUE"),
        ("any time", "ANY"),
        ("on 31 June", "JUN"),
    ],
)
def test_dates_exact_and_coarse(words: str, code: str) -> None:
    assert said(f"12107 at FNB {words}", **CODE).split()[2] == code


@pytest.mark.parametrize(
    ("words", "time"),
    [
        ("at 14:30", "14:30"),
        ("at 14.30", "14:30"),
        ("at 2:30 pm", "14:30"),
        ("at 2pm", "14:00"),
        ("at 12 am", "00:00"),
        ("at noon", "12:00"),
        ("at midnight", "00:00"),
        ("at 25:30", ""),
        ("at 14:75", ""),
    ],
)
def test_times_of_day(words: str, time: str) -> None:
    assert trains_when.find_time(words, words.split()) == time


@pytest.mark.parametrize(
    ("day", "words"),
    [
        (date(2026, 3, 12), "on 12 march at 14:30"),
        (None, "on 31 june"),
        (None, "on 2026-13-01"),
        (None, "12107"),
        (None, "june 14:30"),
        (None, "june 2pm"),
    ],
)
def test_a_date_is_found_and_cut_out(day: date | None, words: str) -> None:
    when, rest = trains_when.find_date(words, MONDAY)

    assert (when and when.code, rest) == (day and day.isoformat(), "on   at 14:30" if day else words)


def test_a_time_past_midnight() -> None:
    assert [trains_when.later("23:55", 12.4), trains_when.later("00:00", -2.0)] == ["00:07", "23:58"]


def test_a_time_alone_means_today() -> None:
    assert said("12107 at FNB at 14:30", **CODE) == "12107 FNB 2026-03-02 +6.1 ETA 14:36"


def test_tomorrow_counts_from_the_setting_today() -> None:
    assert said("12107 at FNB tomorrow", style="code", today="2027-12-31").split()[2] == "2028-01-01"


def test_slots_are_kept_until_another_is_said() -> None:
    found = replies("12107 at FNB in June", "at Lambury", "in July", "and the express", "at FNB", **CODE)

    assert [text.split()[:3] for text in found] == [
        ["12107", "FNB", "JUN"],
        ["12107", "LMB", "JUN"],
        ["12107", "LMB", "JUL"],
        ["ERR", "12318", "NOT"],
        ["12318", "FNB", "JUL"],
    ]


def test_a_time_is_forgotten_with_its_station() -> None:
    found = replies("12107 at FNB at 14:30", "and on Friday?", "at Lambury", **CODE)

    assert found == [
        "12107 FNB 2026-03-02 +6.1 ETA 14:36",
        "12107 FNB 2026-03-06 +6.1 ETA 14:36",
        "12107 LMB 2026-03-06 +13.2",
    ]


def test_a_station_ends_the_whole_journey() -> None:
    found = replies("12107 whole journey in june", "at FNB", **CODE)

    assert found == ["12107 JUN NGT +0.4 ARX +1.8 FNB +5.4 DNJ +8.3 LMB +9.8 BRH +11.7", "12107 FNB JUN +5.4"]


def test_start_again_empties_the_slots() -> None:
    assert replies("12107 at FNB in June", "start again", "in June", **CODE)[1:] == [
        "CLEARED. TRAIN?",
        "TRAIN?",
    ]


def test_missing_slots_are_asked_for_in_turn() -> None:
    assert replies("in June", "12107", "FNB", **CODE) == ["TRAIN?", "12107 STATION?", "12107 FNB JUN +5.4"]


def test_what_was_not_understood_is_said_and_the_slot_asked_for_again() -> None:
    assert (
        said("bananas")
        == "Sorry, I did not understand that. Which train do you mean? You can say its number or its name."
    )
    assert (
        said("12107 at FNB in June", "bananas")
        == "Sorry, I did not understand that. Ask me how late a train is, where and when."
    )


def test_which_trains_which_stations_and_help() -> None:
    assert replies(
        "which trains", "which trains stop at LMB", "where does the mail stop?", "help", **CODE
    ) == [
        "TRAINS 12107 12244 12318 13052 13415 14006 14221 15330 16078 17512",
        "TRAINS LMB 12107 14006 17512",
        "STOPS 12107 NGT ARX FNB DNJ LMB BRH",
        "TRAIN STATION|ALL WHEN. TRAINS 12107 12244 12318 13052 13415 14006 14221 15330 16078 17512",
    ]


def test_which_stations_without_a_train() -> None:
    assert said("which stations", **CODE) == (
        "STATIONS ARX BRH CLD DNJ EKS FNB GRH HLW INP KSP LMB MTY MRV NGT OKV PSQ RDW SLJ THW WSM"
    )


def test_unknown_names_are_told() -> None:
    assert (
        said("99999 at FNB", **CODE)
        == "ERR NO TRAIN 99999. TRAINS 12107 12244 12318 13052 13415 14006 14221 15330 16078 17512"
    )
    assert said("12107 at Paris", **CODE).split(".")[0] == "ERR NO STATION Paris"


def test_a_station_where_the_train_does_not_stop() -> None:
    assert said("The flyer at FNB in June") == (
        "The Vale Flyer (13052) does not stop at Fenbridge Central. It stops at Oakholt Vale, Merrivale, Arden Cross and Northgate Terminus."
    )


def test_early_and_on_time() -> None:
    speaker = trains.Speaker(trains.check({}))

    assert [speaker._late(minutes) for minutes in (-1.6, -0.6, 0.4, 0.6)] == [
        "2 minutes early",
        "1 minute early",
        "on time",
        "1 minute late",
    ]


def test_the_tables_fit_each_other() -> None:
    stations = {row["code"] for row in rows("stations.csv")}
    stops = {(row["number"], code) for row in rows("trains.csv") for code in row["stops"].split("|")}

    found = [(row["table"], row["train"], row["station"]) for row in rows("delays.csv")]

    assert (len(stations), len(rows("trains.csv")), {code for _, code in stops}) == (20, 10, stations)
    assert sorted(found) == sorted((table, *stop) for table in ("new", "old") for stop in stops)


@pytest.mark.parametrize("style", ["plain", "code"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_messages_get_a_reply(name: str, style: str) -> None:
    message = HOSTILE[name][:2000]

    found = [len(text) for text in replies(message, "12107 at FNB in June", message, style=style)]

    assert [1 <= length <= 2000 for length in found] == [True] * 3


def test_fifty_chats_at_once_do_not_touch_each_other() -> None:
    numbers = [row["number"] for row in rows("trains.csv")]
    chats = [
        [f"the {numbers[n % 10]}", *CONVERSATION[2 + n % 3 :], "at Westmoor", "in May"] for n in range(50)
    ]
    alone = [replies(*messages) for messages in chats]

    histories: list[list[str]] = [[] for _ in chats]
    for turn in range(max(map(len, chats))):
        for history, messages in zip(histories, chats, strict=True):
            if turn < len(messages):
                history.append(messages[turn])
                history.append(trains.reply({}, history, ()))

    assert [history[1::2] for history in histories] == alone


def test_defaults_are_filled_in() -> None:
    assert trains.check({"table": "new"}) == {
        "model": "month",
        "table": "new",
        "style": "plain",
        "today": "2026-03-02",
    }


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"modle": "month"}, "There is no setting 'modle'. Known: model, table, style, today."),
        ({"model": "year"}, "'model' is 'year'. Enter 'month' or 'weekday'."),
        ({"table": 1}, "'table' is 1. Enter 'old' or 'new'."),
        ({"style": ["plain"]}, "'style' is ['plain']. Enter 'plain' or 'code'."),
        ({"today": "today"}, "'today' is 'today'. Enter a day as 'YYYY-MM-DD', for example '2026-03-02'."),
        ({"today": 20260302}, "'today' is 20260302. Enter a day as 'YYYY-MM-DD', for example '2026-03-02'."),
        (
            {"today": "9999-12-31"},
            "'today' is '9999-12-31'. Enter a day as 'YYYY-MM-DD', for example '2026-03-02'.",
        ),
    ],
)
def test_wrong_settings_are_refused(config: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        trains.check(config)

    assert str(error.value) == message
