"""A train delay assistant: how late a train is at a station, or over its whole journey, on some day.

Source: H. Mishra, R. Gaurav, B. Srivastava, "A Train Status Assistant for Indian Railways", arXiv 1809.08509.

It has what makes such an assistant good or bad to trust: two delay models (mean by month, mean by weekday),
two tables to learn from for the same trains, and two styles of answer. The slots are train (number or name),
station (code, name or what people call it) and date-time; each is kept until another is said, and a missing
one is asked for. Trains, stations and delays are made up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache, reduce
from typing import Any

from bots.engines import trains_when
from bots.engines.common import MAX_REPLY, Found, Lexicon, listing, refuse_unknown, rows, words
from bots.engines.trains_when import When
from bots.errors import ConfigError

CHOICES = {"model": ("month", "weekday"), "table": ("old", "new"), "style": ("plain", "code")}
"""The settings that are one of a few words; the first is the default."""
TODAY = "2026-03-02"
"""The day that "tomorrow" is counted from when the setting `today` is not given: our choice, a Monday."""

_INTENTS = {
    "journey": "whole journey|entire journey|full journey|whole trip|whole route|entire route|full route|"
    "whole way|entire way|all stations|every station|each station|all stops|every stop|each stop|total delay|"
    "end to end",
    "station": "one station|this station|that station",
    "trains": "which trains|what trains|which train|list trains|list of trains|all trains|trains do you know",
    "stations": "which stations|what stations|which station|list stations|list of stations|"
    "stations do you know|which stops|what stops|where does|where do",
    "help": "help|what can you do|what can i ask|how does this work|what do you do|who are you",
    "greet": "hello|hi|hey|good morning|good afternoon|good evening|good day",
    "thanks": "thanks|thank you|bye|goodbye|cheers",
    "restart": "start again|start over|restart|reset|begin again|new question",
}
_NO_STATION = frozenset(
    ["all", "a", "an", "my", "what", "which", "night", "least", "home", "once", "that", "noon", "midnight"]
)

_PLAIN = {
    "greet": "Hello. I can tell you how late a train usually is. Which train do you want to know about?",
    "thanks": "You are welcome. Have a good journey.",
    "restart": "All right, from the start. Which train do you want to know about?",
    "help": "Ask me how late a train is at a station, or over the whole journey, and say when you travel: "
    "for example, how late is the {train} at {station} in June? I know these trains: {trains}.",
    "trains": "I know these trains: {trains}.",
    "trains_at": "These trains stop at {station}: {trains}.",
    "stations": "I know these stations: {stations}.",
    "stops": "The {train} ({number}) stops at {stations}.",
    "ask_train": "Which train do you mean? You can say its number or its name.",
    "ask_station": "At which station? You can also ask for the whole journey of the {train}.",
    "ask_when": "When do you travel? You can say a date, tomorrow, a month, a season or any time.",
    "lost": "Sorry, I did not understand that. {ask}",
    "again": "Ask me how late a train is, where and when.",
    "no_train": "I have no train {unknown}. I know these trains: {trains}.",
    "no_station": "I have no station {unknown}. I know these stations: {stations}.",
    "no_stop": "The {train} ({number}) does not stop at {station}. It stops at {stations}.",
    "delay": "The {train} ({number}) is on average {late} at {station} {when}.",
    "due": "If it is due at {time}, expect it at about {eta}.",
    "journey": "On average {when}, the {train} ({number}) is {each}.",
}
_CODE = {
    "greet": "READY. TRAIN?",
    "thanks": "OK.",
    "restart": "CLEARED. TRAIN?",
    "help": "TRAIN STATION|ALL WHEN. TRAINS {trains}",
    "trains": "TRAINS {trains}",
    "trains_at": "TRAINS {station} {trains}",
    "stations": "STATIONS {stations}",
    "stops": "STOPS {number} {stations}",
    "ask_train": "TRAIN?",
    "ask_station": "{number} STATION?",
    "ask_when": "{number} WHEN?",
    "lost": "ERR. {ask}",
    "again": "TRAIN STATION WHEN?",
    "no_train": "ERR NO TRAIN {unknown}. TRAINS {trains}",
    "no_station": "ERR NO STATION {unknown}. STATIONS {stations}",
    "no_stop": "ERR {number} NOT AT {station}. STOPS {stations}",
    "delay": "{number} {station} {when} {late}",
    "due": "ETA {eta}",
    "journey": "{number} {when} {each}",
}


@dataclass(frozen=True)
class Train:
    number: str
    name: str
    stops: tuple[str, ...]


@dataclass(frozen=True)
class Network:
    """The tables: trains by number, names of stations by code, delays by (table, train, station, model)."""

    trains: dict[str, Train]
    stations: dict[str, str]
    delays: dict[tuple[str, str, str, str], tuple[float, ...]]
    lexicon: Lexicon


@dataclass(frozen=True)
class Slots:
    """What the chat has said so far. `intent` is 'station', 'journey' or not known yet."""

    intent: str = ""
    train: str = ""
    station: str = ""
    when: When | None = None
    time: str = ""


@dataclass
class Heard:
    """What one message said besides the slots."""

    acts: set[str] = field(default_factory=set)
    unknown_train: str = ""
    unknown_station: str = ""
    filled: bool = False
    has_station: bool = False


def check(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with defaults filled in. Raises ConfigError with what to enter instead.

    `model`: 'month' | 'weekday'; `table`: 'old' | 'new'; `style`: 'plain' | 'code'; `today`: 'YYYY-MM-DD',
    the day that "tomorrow" is counted from.
    """
    refuse_unknown(config, (*CHOICES, "today"))
    settings = {key: config.get(key, choices[0]) for key, choices in CHOICES.items()}
    for key, choices in CHOICES.items():
        if settings[key] not in choices:
            raise ConfigError(f"{key!r} is {settings[key]!r}. Enter {' or '.join(map(repr, choices))}.")
    settings["today"] = config.get("today", TODAY)
    _day(settings["today"])
    return settings


def _day(value: Any) -> date:
    try:
        day = date.fromisoformat(value)
    except (TypeError, ValueError):
        day = date.min
    if not 1900 <= day.year <= 2100:
        raise ConfigError(f"'today' is {value!r}. Enter a day as 'YYYY-MM-DD', for example {TODAY!r}.")
    return day


def reply(config: Mapping[str, Any], history: Sequence[str], persona: Sequence[str]) -> str:  # noqa: ARG001
    """The answer to the last of `history`, whose even indices are the person's; 1 to 2,000 characters.

    The slots are worked out from the person's messages, from the first on. Without a history it greets.
    Raises ConfigError for settings that `check` refuses. Source: arXiv 1809.08509 for intents, slots, models
    and tables; the wording, and asking for one slot at a time, are our choice.
    """
    settings = check(config)
    today = _day(settings["today"])
    slots, heard = Slots(), Heard(acts={"greet"})
    for message in history[::2]:
        slots, heard = hear(slots, message, today)
    return Speaker(settings).answer(slots, heard)[:MAX_REPLY]


def hear(slots: Slots, message: str, today: date) -> tuple[Slots, Heard]:
    """The slots after `message`, and what else it said."""
    known = network()
    day, rest = trains_when.find_date(" ".join(message.split()), today)
    said = [word for word in words(rest) if word != "the"]
    found = known.lexicon.find(said)
    heard = Heard(
        acts={each.value for each in found if each.kind == "act"},
        unknown_train=next((word for word in said if _is_number(word) and word not in known.trains), ""),
        unknown_station=_unknown_station(said, found),
        has_station=any(each.kind == "station" for each in found),
    )
    if "restart" in heard.acts:
        return Slots(), heard
    changes: dict[str, Any] = {each.kind: each.value for each in found if each.kind in {"train", "station"}}
    if changes:
        # a time that was said for one place is not the time of another
        changes["time"] = ""
    if "journey" in heard.acts:
        changes["intent"] = "journey"
    elif heard.has_station or "station" in heard.acts:
        changes["intent"] = "station"
    time = trains_when.find_time(rest, said)
    when = day or _coarse(found, today)
    if time:
        changes["time"] = time
        when = when or slots.when or trains_when.exact(today)
    if when:
        changes["when"] = when
    heard.filled = bool(changes)
    return replace(slots, **changes), heard


def _coarse(found: Sequence[Found], today: date) -> When | None:
    coarse = [trains_when.coarse(each.value, today) for each in found if each.kind == "when"]
    return reduce(trains_when.both, coarse) if coarse else None


def _is_number(word: str) -> bool:
    return len(word) == 5 and word.isdigit()


def _unknown_station(said: Sequence[str], found: Sequence[Found]) -> str:
    """The word behind "at" when it is none that is known, as in 'at Paris'."""
    covered = {n for each in found for n in range(each.start, each.end)}
    for n, word in enumerate(said[1:], start=1):
        if said[n - 1] == "at" and n not in covered and word.isalpha() and word not in _NO_STATION:
            return word.title()
    return ""


class Speaker:
    """Puts answers into words, by the settings."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.model: str = settings["model"]
        self.table: str = settings["table"]
        self.plain = settings["style"] == "plain"
        self.texts = _PLAIN if self.plain else _CODE
        self.known = network()

    def answer(self, slots: Slots, heard: Heard) -> str:
        """What to say next: an unknown name first, then lists, then the delay or the missing slot."""
        if heard.unknown_train:
            return self.say("no_train", slots, unknown=heard.unknown_train)
        if heard.unknown_station and not heard.has_station:
            return self.say("no_station", slots, unknown=heard.unknown_station)
        for act in ("restart", "trains", "stations", "help"):
            if act in heard.acts:
                return self._list(act, slots, heard)
        if not heard.filled and heard.acts & {"greet", "thanks"}:
            return self.say("greet" if "greet" in heard.acts else "thanks", slots)
        asked = self._missing(slots)
        if not heard.filled and not heard.acts:
            return self.say("lost", slots, ask=self.say(asked or "again", slots))
        return self.say(asked, slots) if asked else self._delay(slots)

    def say(self, text: str, slots: Slots, **more: str) -> str:
        """One of the texts, filled in from the slots and `more`."""
        train = self.known.trains.get(slots.train)
        example = train or next(iter(self.known.trains.values()))
        values = {
            "train": example.name,
            "number": example.number,
            "station": self.station(slots.station or example.stops[1]),
            "trains": self.trains(self.known.trains.values()),
            "stations": self.stations(train.stops if train and text != "no_station" else self.known.stations),
        }
        return self.texts[text].format(**{**values, **more})

    def station(self, code: str) -> str:
        return self.known.stations[code] if self.plain else code

    def stations(self, codes: Any) -> str:
        return listing([self.known.stations[code] for code in codes]) if self.plain else " ".join(codes)

    def trains(self, trains: Any) -> str:
        if self.plain:
            return listing([f"{train.name} ({train.number})" for train in trains])
        return " ".join(train.number for train in trains)

    def _list(self, act: str, slots: Slots, heard: Heard) -> str:
        if act == "trains" and heard.has_station:
            stopping = [train for train in self.known.trains.values() if slots.station in train.stops]
            return self.say("trains_at", slots, trains=self.trains(stopping))
        return self.say("stops" if act == "stations" and slots.train else act, slots)

    def _missing(self, slots: Slots) -> str:
        """The text that asks for the first slot that is missing, or that says why there is no answer."""
        if not slots.train:
            return "ask_train"
        if slots.intent != "journey":
            if not slots.station:
                return "ask_station"
            if slots.station not in self.known.trains[slots.train].stops:
                return "no_stop"
        return "" if slots.when else "ask_when"

    def _delay(self, slots: Slots) -> str:
        if slots.intent == "journey":
            return self._journey(slots)
        late = self.mean(slots, slots.station)
        text = self.say("delay", slots, when=self._when(slots), late=self._late(late))
        if slots.time:
            eta = trains_when.later(slots.time, late)
            text = f"{text} {self.say('due', slots, time=slots.time, eta=eta)}"
        return text

    def _journey(self, slots: Slots) -> str:
        stops = self.known.trains[slots.train].stops
        if self.plain:
            each = listing(
                [f"{self._late(self.mean(slots, code))} at {self.station(code)}" for code in stops]
            )
        else:
            each = " ".join(f"{code} {self._late(self.mean(slots, code))}" for code in stops)
        return self.say("journey", slots, when=self._when(slots), each=each)

    def mean(self, slots: Slots, code: str) -> float:
        """Minutes late: the mean over the months, or else the weekdays, that are meant."""
        delays = self.known.delays[self.table, slots.train, code, self.model]
        when = slots.when or trains_when.coarse("any 0", date.min)
        wanted = [month - 1 for month in when.months] if self.model == "month" else when.weekdays
        return sum(delays[n] for n in wanted) / len(wanted)

    def _when(self, slots: Slots) -> str:
        when = slots.when or trains_when.coarse("any 0", date.min)
        return when.words if self.plain else when.code

    def _late(self, minutes: float) -> str:
        if not self.plain:
            return f"{minutes:+.1f}"
        whole = abs(round(minutes))
        if not whole:
            return "on time"
        return f"{whole} {'minute' if whole == 1 else 'minutes'} {'late' if minutes > 0 else 'early'}"


@lru_cache(maxsize=1)
def network() -> Network:
    """The tables of `data/`, ready to use."""
    stations = {row["code"]: row["name"] for row in rows("stations.csv")}
    trains = {
        row["number"]: Train(row["number"], row["name"], tuple(row["stops"].split("|")))
        for row in rows("trains.csv")
    }
    delays = {}
    for row in rows("delays.csv"):
        values = [float(value) for value in list(row.values())[3:]]
        delays[row["table"], row["train"], row["station"], "month"] = tuple(values[:12])
        delays[row["table"], row["train"], row["station"], "weekday"] = tuple(values[12:])
    return Network(trains, stations, delays, Lexicon(_phrases()))


def _phrases() -> list[tuple[str, str, str]]:
    found = [(phrase, "act", act) for act, listed in _INTENTS.items() for phrase in listed.split("|")]
    found += trains_when.phrases()
    for kind, table, key in (("train", "trains.csv", "number"), ("station", "stations.csv", "code")):
        for row in rows(table):
            names = [row[key], row["name"], *row["also"].split("|")]
            found += [(name, kind, row[key]) for name in names if name]
    return found
