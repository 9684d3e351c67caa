"""A hospital finder: which hospitals have a service, and where.

Source: the hospital bot among the example bots of Srivastava, Rossi, Usmani and Bernagozzi, "Personalized
Chatbot Trustworthiness Ratings", arXiv 2005.10067, which greets, counts rows and says that nothing was found.
The hospitals, towns and counties of our table are made up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from bots.engines.common import MAX_REPLY, Found, Lexicon, listing, refuse_unknown, rows, words

SHOWN = 5
"""Names in one reply."""

SERVICES = {
    "emergency": "emergency|emergencies|casualty|accident|accidents|a e|ambulance",
    "maternity": "maternity|pregnant|pregnancy|birth|midwife|midwives|obstetrics",
    "cardiology": "cardiology|cardiologist|heart|cardiac",
    "paediatrics": "paediatrics|pediatrics|paediatric|pediatric|children|child|kids",
    "oncology": "oncology|oncologist|cancer|chemotherapy",
    "orthopaedics": "orthopaedics|orthopedics|orthopaedic|bone|bones|fracture|hip|knee",
    "mental health": "mental health|psychiatry|psychiatric|psychiatrist|depression|psychologist",
    "eye care": "eye care|eye|eyes|ophthalmology|cataract",
    "dental care": "dental care|dental|dentist|tooth|teeth|toothache",
    "dermatology": "dermatology|dermatologist|skin|rash",
    "neurology": "neurology|neurologist|brain|stroke|nerves",
    "physiotherapy": "physiotherapy|physiotherapist|physio|rehabilitation",
    "kidney care": "kidney care|kidney|kidneys|dialysis|nephrology",
    "surgery": "surgery|surgeon|operation",
    "radiology": "radiology|x ray|x rays|scan|mri|ultrasound",
}
"""The services of the table, each with what people call it."""

_ACTS = {
    "count": "how many|number of|count|total",
    "more": "more|next|others|go on",
    "towns": "which towns|what towns|list of towns|list towns|which places|what places|which counties",
    "services": "which services|what services|list of services|list services|what treatments",
    "greet": "hello|hi|hey|good morning|good afternoon|good evening|good day",
    "thanks": "thanks|thank you|bye|goodbye|cheers",
    "help": "help|what can you do|what can i ask|how does this work|who are you",
    "restart": "start again|start over|restart|reset|begin again",
    "any service": "any service|all services|every service|any hospital|any hospitals|all hospitals",
    "any place": "anywhere|everywhere|any town|all towns|any place|all places",
}
_BEFORE_PLACE = frozenset(["in", "near", "around", "from"])
_NO_PLACE = frozenset(
    [
        "the",
        "a",
        "an",
        "my",
        "me",
        "here",
        "this",
        "that",
        "these",
        "it",
        "need",
        "pain",
        "general",
        "town",
        "there",
    ]
)


@dataclass(frozen=True)
class Hospital:
    name: str
    town: str
    county: str
    services: frozenset[str]


@dataclass(frozen=True)
class Search:
    """What is looked for so far, and how many of the hospitals found were listed already."""

    service: str = ""
    place: str = ""
    shown: int = 0


def check(config: Mapping[str, Any]) -> dict[str, Any]:
    """The finder has no settings: gives {} back. Raises ConfigError when there is a key."""
    refuse_unknown(config, ())
    return {}


def reply(config: Mapping[str, Any], history: Sequence[str], persona: Sequence[str]) -> str:  # noqa: ARG001
    """The answer to the last of `history`, whose even indices are the person's; 1 to 2,000 characters.

    Service and place are worked out from the person's messages, from the first on; each holds until another
    is said. Without a history it greets. "How many" is answered by the number alone, as in the source; that a
    list has five names, and "more" the next five, is our choice.
    """
    search, said = Search(), _greeting()
    for message in history[::2]:
        search, said = answer(search, message)
    return said[:MAX_REPLY]


def answer(search: Search, message: str) -> tuple[Search, str]:
    """The search after `message`, and what to say to it."""
    asked = words(message)
    found = lexicon().find(asked)
    acts = {each.value for each in found if each.kind == "act"}
    if "restart" in acts:
        return Search(), "All right, from the start. Which service do you need, and where?"
    changes = _changes(asked, found, acts)
    if changes:
        search = replace(search, **changes, shown=0)
    if "towns" in acts or "services" in acts:
        return search, _names("towns" if "towns" in acts else "services")
    if "count" in acts:
        return search, str(len(_matching(search)))
    if changes or "more" in acts:
        return _listed(search)
    return search, _chat(acts)


def _changes(asked: Sequence[str], found: Sequence[Found], acts: set[str]) -> dict[str, str]:
    """The slots that a message fills; 'any service' and 'anywhere' empty one."""
    changes = {each.kind: each.value for each in found if each.kind in {"service", "place"}}
    for slot in ("service", "place"):
        if f"any {slot}" in acts:
            changes[slot] = ""
    if "place" not in changes and (unknown := _unknown_place(asked, found)):
        changes["place"] = unknown
    return changes


def _unknown_place(asked: Sequence[str], found: Sequence[Found]) -> str:
    """The word behind "in" or "near" when it is no place of the table, as in 'in Paris'."""
    covered = {n for each in found for n in range(each.start, each.end)}
    for n, word in enumerate(asked[1:], start=1):
        if asked[n - 1] in _BEFORE_PLACE and n not in covered and word.isalpha() and word not in _NO_PLACE:
            return word.title()[:60]
    return ""


def _matching(search: Search) -> list[Hospital]:
    return [
        hospital
        for hospital in hospitals()
        if (not search.service or search.service in hospital.services)
        and search.place in {"", hospital.town, hospital.county}
    ]


def _listed(search: Search) -> tuple[Search, str]:
    """At most five of the hospitals found, and the search with these marked as shown."""
    matching = _matching(search)
    what = f" for {search.service}" if search.service else ""
    where = f" in {search.place}" if search.place else ""
    if not matching:
        return search, f"No results found{what}{where}."
    page = matching[search.shown : search.shown + SHOWN]
    if not page:
        return search, f"There are no more hospitals{what}{where}."
    names = "; ".join(f"{hospital.name}, {hospital.town}" for hospital in page)
    after = search.shown + len(page)
    rest = len(matching) - after
    hint = f" Say 'more' for {rest} more." if rest else ""
    return replace(search, shown=after), f"Hospitals{what}{where}: {names}.{hint}"


def _chat(acts: set[str]) -> str:
    if "greet" in acts:
        return _greeting()
    if "thanks" in acts:
        return "You are welcome. Take care."
    if "help" in acts:
        return (
            "Name a service and a place, as in: maternity in Redwater. You can also ask how many there are."
        )
    return "No results found. Name a service that you need, a town or county, or both."


def _greeting() -> str:
    return "Hello, and a very good day to you! Which service do you need, and where?"


def _names(what: str) -> str:
    if what == "services":
        return f"I know these services: {listing(list(SERVICES))}."
    return f"I know hospitals in {listing(sorted({hospital.town for hospital in hospitals()}))}."


@lru_cache(maxsize=1)
def hospitals() -> tuple[Hospital, ...]:
    """The table of `data/hospitals.csv`, by name."""
    return tuple(
        Hospital(row["name"], row["town"], row["county"], frozenset(row["services"].split("|")))
        for row in rows("hospitals.csv")
    )


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """What people call the services, the places and what they want to know."""
    found = [(phrase, "act", act) for act, listed in _ACTS.items() for phrase in listed.split("|")]
    found += [(phrase, "service", name) for name, listed in SERVICES.items() for phrase in listed.split("|")]
    places = {place for hospital in hospitals() for place in (hospital.town, hospital.county)}
    return Lexicon([*found, *((place, "place", place) for place in sorted(places))])
