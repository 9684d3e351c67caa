"""When somebody travels: dates and times of day, exact ('12 March', '2026-03-12', 'at 14:30') or coarse
('tomorrow', 'in winter', 'on mondays'), read from a message.

"Tomorrow" needs a day to count from. It is given, never the clock's: the same history must give the same
reply whenever it is read again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SEASONS = {"winter": (12, 1, 2), "spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11)}
"""Meteorological seasons of the northern half of the earth."""
_ALL_MONTHS, _ALL_WEEKDAYS = tuple(range(1, 13)), tuple(range(7))

_NAME = rf"(?P<month>{'|'.join(rf'{month[:3]}(?:{month[3:]})?' for month in MONTHS)}|sept)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,? (?P<year>\d{4})(?!\d))?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)",
        r"(?<!\d)(?P<day>\d{1,2})[/.](?P<month>\d{1,2})[/.](?P<year>\d{4})(?!\d)",
        rf"(?<!\d){_DAY} (?:of )?{_NAME}\b{_YEAR}",
        rf"\b{_NAME} {_DAY}(?![\d:]|[ap]m| [ap]m){_YEAR}",
    )
)
_DIGIT = re.compile(r"\d")
_CLOCK = re.compile(r"(?<![\d.:])([01]?\d|2[0-3])[:.]([0-5]\d)(?![.:]?\d)(?: ?([ap])\.?m\b)?", re.IGNORECASE)
_HOUR = re.compile(r"(?<!\d)(1[0-2]|0?[1-9]) ?([ap])\.?m\b", re.IGNORECASE)


@dataclass(frozen=True)
class When:
    """Months (1 to 12) and weekdays (0 is Monday) that are meant, in words and as a code."""

    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    words: str
    code: str


def phrases() -> Iterator[tuple[str, str, str]]:
    """What is said for a coarse time, for the lexicon: (phrase, "when", how `coarse` knows it)."""
    for n, month in enumerate(MONTHS, start=1):
        for name in (month, month[:3]):
            # "may" and "mar" are words of their own, so that they need one before them
            before = ("in ", "during ", "every ", "for ") if name in {"May", "Mar"} else ("",)
            yield from ((f"{word}{name}", "when", f"month {n}") for word in before)
    for n, day in enumerate(WEEKDAYS):
        yield day, "when", f"next {n}"
        yield from ((f"{word}{day}", "when", f"weekday {n}") for word in ("every ", "on a "))
        yield f"{day}s", "when", f"weekday {n}"
    for season in SEASONS:
        yield season, "when", f"season {season}"
    for phrase in ("in fall", "during fall"):
        yield phrase, "when", "season autumn"
    for phrase, days in (("yesterday", -1), ("today", 0), ("tonight", 0), ("now", 0), ("tomorrow", 1)):
        yield phrase, "when", f"day {days}"
    yield "day after tomorrow", "when", "day 2"
    for phrase, months in (("this month", 0), ("next month", 1)):
        yield phrase, "when", f"months {months}"
    for phrase in ("weekend", "weekends"):
        yield phrase, "when", "weekend 0"
    for phrase in (
        "any time",
        "anytime",
        "any day",
        "in general",
        "generally",
        "on average",
        "usually",
        "always",
    ):
        yield phrase, "when", "any 0"


def coarse(value: str, today: date) -> When:
    """The time that a phrase stands for, by the third item of `phrases`."""
    kind, _, rest = value.partition(" ")
    if kind == "season":
        return When(SEASONS[rest], _ALL_WEEKDAYS, f"in {rest}", rest.upper())
    n = int(rest)
    if kind in {"next", "day"}:
        return exact(today + timedelta((n - today.weekday() - 1) % 7 + 1 if kind == "next" else n))
    if kind == "months":
        return _month((today.month - 1 + n) % 12 + 1)
    if kind == "month":
        return _month(n)
    return {
        "weekday": When(_ALL_MONTHS, (n,), f"on {WEEKDAYS[n]}s", WEEKDAYS[n][:3].upper()),
        "weekend": When(_ALL_MONTHS, (5, 6), "at the weekend", "SAT-SUN"),
        "any": When(_ALL_MONTHS, _ALL_WEEKDAYS, "at any time", "ANY"),
    }[kind]


def _month(n: int) -> When:
    return When((n,), _ALL_WEEKDAYS, f"in {MONTHS[n - 1]}", MONTHS[n - 1][:3].upper())


def exact(day: date) -> When:
    """One day, as in 'on Thursday 12 March 2026'."""
    words = f"on {WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]} {day.year}"
    return When((day.month,), (day.weekday(),), words, day.isoformat())


def both(first: When, second: When) -> When:
    """Two coarse times of one message as one ('on mondays in june'); of two of one sort, the later said."""
    if len(first.months) < len(_ALL_MONTHS) and len(second.months) < len(_ALL_MONTHS):
        return second
    if len(first.weekdays) < len(_ALL_WEEKDAYS) and len(second.weekdays) < len(_ALL_WEEKDAYS):
        return second
    months = min(first.months, second.months, key=len)
    weekdays = min(first.weekdays, second.weekdays, key=len)
    return When(months, weekdays, f"{first.words} {second.words}", f"{first.code}/{second.code}")


def find_date(text: str, today: date) -> tuple[When | None, str]:
    """The exact date in `text`, and the text without it. A day that no month has, as 31 June, is not one.

    A date without a year is the next such day, counted from `today`.
    """
    for pattern in _DATES if _DIGIT.search(text) else ():
        match = pattern.search(text)
        day = _day_of(match, today) if match else None
        if match and day:
            return exact(day), f"{text[: match.start()]} {text[match.end() :]}"
    return None, text


def _day_of(match: re.Match[str], today: date) -> date | None:
    name, day = match["month"], int(match["day"])
    month = int(name) if name.isdigit() else _month_number(name)
    if match["year"]:
        return _real(int(match["year"]), month, day)
    # 29 February comes every fourth year, and skips one in 1900 or 2100
    years = (_real(today.year + n, month, day) for n in range(9))
    return next((found for found in years if found and found >= today), None)


def _month_number(name: str) -> int:
    return [month[:3].lower() for month in MONTHS].index(name[:3].casefold()) + 1


def _real(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def find_time(text: str, tokens: Sequence[str]) -> str:
    """The time of day in `text` as '14:30', or ''."""
    if _DIGIT.search(text):
        if match := _CLOCK.search(text):
            return f"{_hour(int(match[1]), match[3]):02d}:{int(match[2]):02d}"
        if match := _HOUR.search(text):
            return f"{_hour(int(match[1]), match[2]):02d}:00"
    if "noon" in tokens:
        return "12:00"
    return "00:00" if "midnight" in tokens else ""


def _hour(hour: int, half: str | None) -> int:
    if not half or hour > 12:
        return hour
    return hour % 12 + (12 if half.lower() == "p" else 0)


def later(time: str, minutes: float) -> str:
    """'14:30' and 12.4 give '14:42'."""
    hour, _, minute = time.partition(":")
    total = (int(hour) * 60 + int(minute) + round(minutes)) % (24 * 60)
    return f"{total // 60:02d}:{total % 60:02d}"
