"""A model's card: what it was trained on, how, and how good it is. As JSON for programs, as text for people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bots.safety import encoder, evaluate, metrics, sources, tfidf
from bots.safety.models import NONE, Model
from bots.safety.turns import NOTOK, Example

if TYPE_CHECKING:
    from bots.safety.training import Settings


def written(settings: "Settings", model: Model, data: Mapping[str, Sequence[Example]]) -> dict[str, Any]:
    """The card of a model that has just been trained. The same run gives the same card: no dates, no paths."""
    is_tfidf = settings.base == tfidf.NAME
    plan = {"max_tokens": settings.max_tokens, **asdict(settings.plan)}
    about: dict[str, Any] = {
        "name": settings.out.name,
        "kind": tfidf.NAME if is_tfidf else encoder.NAME,
        "base": Path(settings.base).name,
        "labels": list(model.labels),
        "context": settings.context,
        "thresholds": model.thresholds,
        "settings": {"weights": dict(settings.shares), "rule": settings.rule, **({} if is_tfidf else plan)},
        "data": {
            name: sources.described(getattr(settings, name), examples) for name, examples in data.items()
        },
        "metrics": {name: _measured(model, data[name]) for name in ("valid", "test") if name in data},
    }
    if list(model.thresholds) == [NOTOK]:
        rows = evaluate.judged(model, data["valid"])
        unsafe = [row.example.label == NOTOK for row in rows]
        about["curve"] = metrics.thinned(metrics.curve(unsafe, [row.score for row in rows]))
    return about


def _measured(model: Model, examples: Sequence[Example]) -> dict[str, Any]:
    """The figures, and F1 when the same model is shown nothing but the utterance."""
    flagging = evaluate.flagging(model)
    rows = evaluate.judged(model, examples)
    found = _rounded(metrics.report(rows, flagging))
    bare = evaluate.judged(model, [replace(example, context=()) for example in examples])
    found["f1_without_context"] = round(metrics.figures(metrics.pairs(bare), flagging)["f1"], 4)
    return dict(found)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def as_text(card: Mapping[str, Any]) -> str:
    """The card as a page of Markdown."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: Mapping[str, Any]) -> Iterator[str]:
    several = "notok" not in card["labels"]
    yield f"# {card['name']}"
    yield f"A classifier of dialogue utterances: {', '.join(card['labels'])}."
    made = "word and character n-grams, logistic regression" if card["kind"] == tfidf.NAME else card["base"]
    yield f"Made of: {made}. It reads the last {card['context']} utterances, the judged one among them."
    thresholds = ", ".join(f"{label} from {value:g}" for label, value in card["thresholds"].items())
    yield f"It flags {thresholds}. It errs: the figures below say how often."
    yield "## Data"
    for part, about in card["data"].items():
        for file in about["files"]:
            yield f"- {part}: `{file['file']}` ({file['part']}), sha256 `{file['sha256']}`"
        for source, rows in about["rows"].items():
            counts = ", ".join(f"{number} {label}" for label, number in rows.items())
            yield f"  - {source}: {counts}; {about['dialogues']} dialogues in this part"
    for part, found in card["metrics"].items():
        yield f"## On the {part} rows"
        yield "| | F1 | 95 % interval | precision | recall | accuracy | rows |"
        yield "|---|---|---|---|---|---|---|"
        low, high = found["intervals"]["f1"]
        whole = "mean of the topics" if several else "not OK"
        yield _row(whole, found, f"{low:.3f} to {high:.3f}")
        groups = {**found["by_source"], **found["by_speaker"]} if not several else found["by_source"]
        for name, one in groups.items():
            yield _row(name, one, "")
        if several:
            for name, one in found["classes"].items():
                if name != NONE:
                    cells = " | ".join(f"{one[key]:.3f}" for key in ("precision", "recall"))
                    yield f"| {name} | {one['f1']:.3f} | | {cells} | | {one['rows']} |"
        yield f"\nThe same model, shown the utterance alone: F1 {found['f1_without_context']:.3f}."


def _row(name: str, one: Mapping[str, float], interval: str) -> str:
    cells = (f"{one[key]:.3f}" for key in ("precision", "recall", "accuracy"))
    return f"| {name} | {one['f1']:.3f} | {interval} | {' | '.join(cells)} | {one['rows']} |"
