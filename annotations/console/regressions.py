"""The regression of the paper's Table 3 on a study's own data."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from django.db.models import F

from annotations.chats.models import Dialogue, Utterance
from annotations.console import charts, measures
from annotations.console.models import Figure
from annotations.domain import regression
from annotations.domain.figures import Chart
from annotations.domain.turns import BINS
from annotations.studies.models import Study
from annotations.verification.services import plan_of

OUTCOMES = {
    "worker": "Bot not OK, by its worker",
    "verified": "Bot not OK, by verification",
    "human": "Person not OK, by verification",
}
BEFORE, TOTAL, POSITION = "chats done before", "chats done in all", "position in the chat"


def ask(*, study: Study, rule: str) -> list[Figure]:
    """The three regressions under `rule`, in the order of OUTCOMES; those of older data are asked for anew."""
    key = charts.key_of("regression", plan_of(study).unsafe_from, measures.stamp(study, rule))
    wanted = {f"regression-{outcome}:{rule}": (key, {"title": title}) for outcome, title in OUTCOMES.items()}
    return charts.ask(study=study, wanted=wanted)


def regress(*, figure_id: int) -> None:
    """Works out one regression and draws it. Safe to run twice."""
    figure = charts.begin(figure_id)
    if figure is not None:
        with charts.noted(figure):
            _regress(figure)


def _regress(figure: Figure) -> None:
    outcome, _, rule = figure.name.removeprefix("regression-").partition(":")
    result: dict[str, Any] = {"title": OUTCOMES[outcome]}
    try:
        columns, against = columns_of(figure.study, outcome, rule)
        found = regression.fit(**columns)
    except regression.CannotFit as refusal:
        charts.finish(figure, result=result | {"refused": str(refusal)})
        return
    chart = forest(outcome, found, against)
    result |= {"chart": chart.stored(), "fit": shown(found)}
    charts.finish(figure, result=result, problem=charts.write(figure, chart))


def columns_of(study: Study, outcome: str, rule: str) -> tuple[dict[str, Any], list[str]]:
    """What `regression.fit` takes (outcome, predictors by name, workers), and what sets and bots are compared with."""
    chats = {chat.pk: chat for chat in _chats(study)}
    in_all = Counter(chat.worker_id for chat in chats.values())
    rows = [row for row in _outcomes(study, outcome, rule) if row[0] in chats]
    of = [chats[row[0]] for row in rows]
    sets, first_set = _dummies("instructions", [chat.set_slug or "none" for chat in of])
    bots, first_bot = _dummies("bot", [chat.bot_name for chat in of])
    predictors = {
        BEFORE: [chat.chats_before for chat in of],
        TOTAL: [in_all[chat.worker_id] for chat in of],
        POSITION: [number for _, number, _ in rows],
        **sets,
        **bots,
    }
    columns = {
        "outcome": [bad for _, _, bad in rows],
        "predictors": predictors,
        "clusters": [chat.worker_id for chat in of],
    }
    return columns, [first for first, others in ((first_set, sets), (first_bot, bots)) if others]


def _chats(study: Study) -> Any:
    """The chats that count. Of imported ones nobody knows the worker, the bot or how many came before."""
    counted = Dialogue.objects.filter(study=study, state__in=["complete", "partial"], imported=False)
    names = {"set_slug": F("instruction_set__slug"), "bot_name": F("bot__name")}
    return counted.annotate(**names).only("worker_id", "chats_before")


def _outcomes(study: Study, outcome: str, rule: str) -> list[tuple[int, int, bool]]:
    """Of each labelled utterance: its chat, its place in it, and whether it is not OK."""
    if outcome == "worker":
        bad = BINS[BINS.index(plan_of(study).unsafe_from) :]
        replies = Utterance.objects.filter(dialogue__study=study, label__isnull=False).order_by()
        return [
            (chat, number, found in bad)
            for chat, number, found in replies.values_list("dialogue_id", "number", "label__bin").iterator(
                5000
            )
        ]
    speaker = "human" if outcome == "human" else "bot"
    merged = study.merged.filter(rule=rule, utterance__speaker=speaker).exclude(label="").order_by()
    fields = ("utterance__dialogue_id", "utterance__number", "label")
    return [
        (chat, number, label == "notok") for chat, number, label in merged.values_list(*fields).iterator(5000)
    ]


def _dummies(what: str, values: list[str]) -> tuple[dict[str, list[float]], str]:
    """A column of 0 and 1 for each value but the most frequent one, and that one, which the others stand against."""
    ordered = [value for value, _ in Counter(values).most_common()]
    columns = {f"{what}: {value}": [float(found == value) for found in values] for value in ordered[1:]}
    return columns, f"{what} {ordered[0]}" if ordered else ""


def shown(found: regression.Fit) -> dict[str, Any]:
    """The fit as it is kept for the page."""
    terms = [asdict(term) | {"stars": term.stars} for term in found.terms]
    return asdict(found) | {"terms": terms}


def forest(outcome: str, found: regression.Fit, against: list[str]) -> Chart:
    """The coefficients with their intervals, the constant left out."""
    terms = [term for term in found.terms if term.name != "constant"]
    rows: list[dict[str, str | int | float]] = [
        {
            "predictor": term.name,
            "coefficient": round(term.coefficient, 4),
            "error": round(term.error, 4),
            "low": round(term.low, 4),
            "high": round(term.high, 4),
            "p": round(term.p, 6),
            "stars": term.stars,
        }
        for term in terms
    ]
    clear = [f"{term.name} {term.coefficient:+.2f}{term.stars}" for term in terms if term.stars]
    return Chart(
        f"regression-{outcome}",
        OUTCOMES[outcome],
        f"{found.rows:,} utterances of {found.clusters:,} workers"
        + (f"; compared with {' and '.join(against)}" if against else ""),
        "forest",
        rows,
        "Coefficients that differ from 0: " + (", ".join(clear) or "none"),
        "log odds, 95% interval",
    )
