"""Chats of a study: the list and one of them."""

from collections.abc import Iterable
from typing import Any

from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotations.chats.models import Dialogue
from annotations.console import forms, measures, queries
from annotations.console.access import page_of, person, researchers_only
from annotations.console.verification_forms import SearchForm
from annotations.domain.figures import CATEGORIES
from annotations.domain.messages import signals
from annotations.studies.models import Study
from annotations.studies.services import study_for_researcher
from annotations.verification.models import Merged, Vote
from annotations.verification.services import plan_of


@require_GET
@researchers_only
def study_chats(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_for_researcher(user=person(request), slug=slug)
    form, chats, signal = _filtered(request, study)
    if signal:
        page = page_of(request, queries.with_signal(chats, signal))
        chats = chats.filter(pk__in=page.object_list)
    else:
        page = page_of(request, chats.values_list("pk", flat=True))
        chats = chats.filter(pk__in=list(page.object_list))
    rows = list(chats.select_related("worker", "bot", "instruction_set"))
    shown = queries.signals_of(row.pk for row in rows)
    values = {
        "tab": "chats",
        "study": study,
        "form": form,
        "page": page,
        "rows": [(row, _signal_words(shown.get(row.pk, {}))) for row in rows],
        "filtered": any(form.data.get(name) for name in form.fields),
        "query": _query(request),
    }
    return render(request, "console/chats.html", values, status=200 if form.is_valid() else 422)


def _filtered(request: HttpRequest, study: Study) -> tuple[forms.ChatFilter, Any, str]:
    form = forms.ChatFilter(request.GET, study=study)
    wanted = form.cleaned_data if form.is_valid() else {}
    return form, queries.chats_of(study, wanted), wanted.get("signal", "")


def _query(request: HttpRequest) -> str:
    """The filters as they stand in the address, for links that keep them."""
    kept = request.GET.copy()
    kept.pop("page", None)
    return kept.urlencode()


def _signal_words(counts: dict[str, int]) -> list[str]:
    return [f"{forms.SIGNALS[name].lower()}: {counts[name]}" for name in forms.SIGNALS if name in counts]


@require_GET
@researchers_only
def chat_view(request: HttpRequest, dialogue_id: int) -> HttpResponse:
    dialogue = queries.chat_for_researcher(user=person(request), dialogue_id=dialogue_id)
    _, chats, signal = _filtered(request, dialogue.study)
    newer, older = queries.neighbours(chats, dialogue, signal)
    values = {
        "tab": "chats",
        "study": dialogue.study,
        "chat": dialogue,
        "rows": _rows(dialogue),
        "failures": dialogue.failures.all(),
        "newer": newer,
        "older": older,
        "query": _query(request),
    }
    return render(request, "console/chat.html", values)


BIN_CLASS = {"0": "b0", "<10": "b1", "<50": "b2", ">=50": "b3"}


def _rows(dialogue: Dialogue) -> list[dict[str, Any]]:
    """Each utterance with its label, its votes, its merged labels and, where a person wrote it, its signals."""
    said = list(dialogue.utterances.select_related("label").prefetch_related("merged").order_by("number"))
    people = [row for row in said if row.speaker == "human"]
    shown = dict(zip((row.number for row in people), signals([row.text for row in people]), strict=True))
    votes = _votes(dialogue)
    first = plan_of(dialogue.study).rule
    rules = sorted(measures.RULES, key=lambda rule: rule != first)
    rows = []
    for row in said:
        label = getattr(row, "label", None)
        by_rule = {merged.rule: merged for merged in row.merged.all()}
        rows.append(
            {
                "said": row,
                "label": label,
                "tens": BIN_CLASS[label.bin] if label else "",
                "signals": [
                    words for name, words in forms.SIGNALS.items() if name in shown.get(row.number, ())
                ],
                "votes": [(vote, _categories(vote)) for vote in votes.get(row.pk, ())],
                "merged": [
                    (measures.RULES[rule], by_rule[rule], _categories(by_rule[rule]))
                    for rule in rules
                    if rule in by_rule
                ],
            }
        )
    return rows


def _votes(dialogue: Dialogue) -> dict[int | None, list[Vote]]:
    """The votes of each utterance, those set aside included, in the order they came."""
    found: dict[int | None, list[Vote]] = {}
    cast = Vote.objects.filter(item__utterance__dialogue=dialogue, item__kind="utterance").order_by("pk")
    for vote in cast.select_related("verifier", "item"):
        found.setdefault(vote.item.utterance_id, []).append(vote)
    return found


def _categories(judged: Vote | Merged) -> list[str]:
    return [words for name, words in CATEGORIES.items() if getattr(judged, name)]


@require_GET
@researchers_only
def study_search(request: HttpRequest, slug: str) -> HttpResponse:
    """Messages of a study that hold some words."""
    study = study_for_researcher(user=person(request), slug=slug)
    rule = measures.chosen_rule(plan_of(study), measures.rules_of(study), "")
    form = SearchForm(request.GET)
    wanted = form.cleaned_data if form.is_valid() else {}
    asked = any(wanted.values())
    page = page_of(request, queries.messages_with(study, rule, wanted) if asked else [])
    found = {merged.utterance_id: merged for merged in _merged(page, rule)}
    values = {
        "tab": "chats",
        "study": study,
        "form": form,
        "asked": asked,
        "page": page,
        "rows": [(row, found.get(row.pk)) for row in page.object_list],
        "rule_words": measures.RULES[rule],
        "query": _query(request),
    }
    return render(request, "console/search.html", values, status=200 if form.is_valid() else 422)


def _merged(page: Page[Any], rule: str) -> Iterable[Merged]:
    return Merged.objects.filter(utterance__in=list(page.object_list), rule=rule)
