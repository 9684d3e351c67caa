import csv
from collections import Counter
from pathlib import Path

import pytest

from bots.engines import hospitals
from bots.errors import ConfigError
from bots.models import Bot
from bots.replies import reply

DATA = Path(hospitals.__file__).parent / "data"
GREETING = "Hello, and a very good day to you! Which service do you need, and where?"
CONVERSATION = [
    "Hello",
    "I need a heart doctor",
    "in Redwater",
    "how many are there?",
    "and in Fenbridge?",
    "more",
    "thanks",
]
HOSTILE = {
    "brackets": "(" * 2000,
    "short words": "a " * 1000,
    "one word": "a" * 2000,
    "prepositions": "in " * 666,
    "places": "in fenbridge " * 150,
    "an unknown place": "in " + "x" * 1997,
    "services": "heart " * 333,
    "right-to-left marks": "\u200f" * 2000,
    "scripts of the world": "Ж中🙂ह" * 500,
    "a lone surrogate": "in \ud800 " * 400,
    "fields": "{name} in {0} %s " * 110,
    "nothing": "",
}


def said(*messages: str) -> str:
    return replies(*messages)[-1]


def replies(*messages: str) -> list[str]:
    history: list[str] = []
    for message in messages:
        history.append(message)
        history.append(hospitals.reply({}, history, ()))
    return history[1::2]


def rows() -> list[dict[str, str]]:
    with (DATA / "hospitals.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def count(service: str = "", place: str = "") -> int:
    return sum(
        service in ["", *row["services"].split("|")] and place in {"", row["town"], row["county"]}
        for row in rows()
    )


def test_a_conversation_of_seven_turns() -> None:
    assert replies(*CONVERSATION) == [
        GREETING,
        (
            "Hospitals for cardiology: Alderwood Clinic, Westmoor; Alderwood Community Hospital, Northgate; "
            "Alderwood Day Hospital, Lambury; Alderwood Infirmary, Stavelock; Alderwood Medical Centre, Bramley. "
            "Say 'more' for 117 more."
        ),
        (
            "Hospitals for cardiology in Redwater: Silverbirch Infirmary, Redwater; "
            "Station Road General Hospital, Redwater; Three Bridges Infirmary, Redwater."
        ),
        "3",
        (
            "Hospitals for cardiology in Fenbridge: Bellflower Medical Centre, Fenbridge; "
            "Glenfield Teaching Hospital, Fenbridge; Kingfisher Infirmary, Fenbridge; "
            "Meadowbank Health Centre, Fenbridge; Riverside Health Centre, Fenbridge. Say 'more' for 1 more."
        ),
        "Hospitals for cardiology in Fenbridge: Riverside Medical Centre, Fenbridge.",
        "You are welcome. Take care.",
    ]


def test_through_the_door_of_the_bots() -> None:
    bot = Bot(engine="hospitals", slug="x", config={})

    answer = reply(bot, ["How many hospitals are there?"])

    assert (answer.text, answer.engine) == ("300", "hospitals")


def test_without_a_history_it_greets() -> None:
    assert hospitals.reply({}, [], ()) == GREETING


@pytest.mark.parametrize(
    ("question", "service", "place"),
    [
        ("How many hospitals are there?", "", ""),
        ("How many have maternity?", "maternity", ""),
        ("how many hospitals in Redwater", "", "Redwater"),
        ("number of dentists? I mean dental in vale county", "dental care", "Vale County"),
        ("How many A&E in Low Averham?", "emergency", "Low Averham"),
        ("how many kidney care in low averham", "kidney care", "Low Averham"),
        ("How many in Paris?", "", "Paris"),
    ],
)
def test_how_many_is_answered_by_the_number_alone(question: str, service: str, place: str) -> None:
    assert said(question) == str(count(service, place))


@pytest.mark.parametrize(("name", "phrases"), hospitals.SERVICES.items())
def test_every_service_by_every_name(name: str, phrases: str) -> None:
    wanted = str(count(name))

    assert {said(f"How many for {phrase.upper()}?") for phrase in [name, *phrases.split("|")]} == {wanted}


def test_every_town_and_county_is_a_place() -> None:
    places = {place for row in rows() for place in (row["town"], row["county"])}

    assert {place: said(f"how many in {place.lower()}?") for place in places} == {
        place: str(count(place=place)) for place in places
    }


def test_a_list_has_five_names_at_most_and_more_gives_the_rest() -> None:
    total = count("cardiology", "Northshire")
    pages = replies("cardiology in Northshire", *["more"] * (total // 5))

    names = [
        name for page in pages for name in page.partition(": ")[2].split(". ")[0].rstrip(".").split("; ")
    ]

    assert Counter(names) == Counter(
        f"{row['name']}, {row['town']}"
        for row in rows()
        if "cardiology" in row["services"].split("|") and row["county"] == "Northshire"
    )
    assert {page.count("; ") for page in pages[:-1]} == {4}


def test_after_the_last_page_there_are_no_more() -> None:
    assert said("cardiology in Redwater", "more") == "There are no more hospitals for cardiology in Redwater."


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("Kidney care in Low Averham", "No results found for kidney care in Low Averham."),
        ("hospitals in Paris", "No results found in Paris."),
        ("Skin doctor near Paris", "No results found for dermatology in Paris."),
        ("bananas", "No results found. Name a service that you need, a town or county, or both."),
        (
            "I have a pain in my arm",
            "No results found. Name a service that you need, a town or county, or both.",
        ),
    ],
)
def test_no_results(message: str, answer: str) -> None:
    assert said(message) == answer


def test_slots_are_kept_until_another_is_said() -> None:
    found = replies(
        "maternity in Redwater",
        "how many",
        "eyes",
        "how many",
        "in Moorland",
        "how many",
        "anywhere",
        "how many",
    )

    assert found[1::2] == [
        str(count("maternity", "Redwater")),
        str(count("eye care", "Redwater")),
        str(count("eye care", "Moorland")),
        str(count("eye care")),
    ]


def test_any_service_and_start_again_empty_the_slots() -> None:
    assert said("maternity in Redwater", "how many for any service") == str(count(place="Redwater"))
    assert said("maternity in Redwater", "start again", "how many") == "300"


def test_lists_of_towns_and_services() -> None:
    assert said("which services do you know?") == (
        "I know these services: emergency, maternity, cardiology, paediatrics, oncology, orthopaedics, mental health, "
        "eye care, dental care, dermatology, neurology, physiotherapy, kidney care, surgery and radiology."
    )
    assert said("which towns?") == (
        "I know hospitals in Arden, Brackenford, Bramley, Caldwick, Dunmere, Elkstow, Fenbridge, Greymire, Hallowick, "
        "Ingleport, Kestrel Heath, Lambury, Low Averham, Marston, Merrivale, Northgate, Oakholt, Penstow, Redwater, "
        "Seaholme, Stavelock, Tarnside, Thornwick, Ullsby and Westmoor."
    )


def test_help() -> None:
    assert said("help") == (
        "Name a service and a place, as in: maternity in Redwater. You can also ask how many there are."
    )


def test_the_table_is_whole() -> None:
    services = {service for row in rows() for service in row["services"].split("|")}

    assert (len(rows()), len({row["name"] for row in rows()}), len({row["town"] for row in rows()})) == (
        300,
        300,
        25,
    )
    assert services == set(hospitals.SERVICES)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_messages_get_a_reply(name: str) -> None:
    message = HOSTILE[name][:2000]

    found = [len(text) for text in replies(message, "maternity in Redwater", message)]

    assert [1 <= length <= 2000 for length in found] == [True] * 3


def test_fifty_chats_at_once_do_not_touch_each_other() -> None:
    services = list(hospitals.SERVICES)
    chats = [[services[n % 15], *CONVERSATION[1 + n % 4 :], "more", "how many"] for n in range(50)]
    alone = [replies(*messages) for messages in chats]

    histories: list[list[str]] = [[] for _ in chats]
    for turn in range(max(map(len, chats))):
        for history, messages in zip(histories, chats, strict=True):
            if turn < len(messages):
                history.append(messages[turn])
                history.append(hospitals.reply({}, history, ()))

    assert [history[1::2] for history in histories] == alone


def test_no_settings_are_needed() -> None:
    assert hospitals.check({}) == {}


def test_a_setting_is_refused() -> None:
    with pytest.raises(ConfigError) as error:
        hospitals.check({"limit": 5, "town": "x"})

    assert str(error.value) == "There is no setting 'limit', 'town'. This engine has none: enter {}."
