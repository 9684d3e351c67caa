"""What stands beside the Parquet files in a folder for `datasets`: the card, and Croissant metadata."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotations.domain.rows import COLUMNS, FLAT
from annotations.exports.models import Export
from annotations.studies.models import ConsentText, Study
from annotations.verification.models import Plan
from bots.text import one_line

HUB_SPLIT = {"train": "train", "valid": "validation", "test": "test"}
"""Our splits in the words of the Hugging Face hub."""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_CROISSANT_TYPE = {"text": "sc:Text", "texts": "sc:Text", "whole": "sc:Integer", "real": "sc:Float"}


def card(export: Export, manifest: Mapping[str, Any]) -> str:
    """The README.md: a YAML head that `datasets` reads, then what people ask of a dataset."""
    study, rows = export.study, sum(file["rows"] for file in manifest["files"])
    size = next((word for most, word in _SIZES if rows < most), "n>1M")
    files = [file for file in manifest["files"] if file["rows"]]
    # JSON strings are YAML strings, as long as no control characters are in them.
    head = [
        f"pretty_name: {json.dumps(one_line(study.name), ensure_ascii=False)}",
        "task_categories: [text-classification]",
        "tags: [dialogue, safety, adversarial]",
        f"size_categories: [{size}]",
        "configs:",
        "- config_name: default",
        "  data_files:",
        *(f"  - {{split: {HUB_SPLIT[file['split']]}, path: {file['name']}}}" for file in files),
    ]
    return "\n".join(["---", *head, "---", "", *_body(export, manifest, rows), ""])


def _body(export: Export, manifest: Mapping[str, Any], rows: int) -> list[str]:
    study = export.study
    plan = Plan.objects.filter(study=study).first()
    consent = ConsentText.objects.filter(study=study).order_by("-version").first()
    warning = consent.warning if consent else "The texts hold offensive language."
    versions = ", ".join(f"`{one}`" for one in manifest["rule_versions"]) or "none"
    what = (
        f"{rows:,} utterances of {sum(manifest['chats'].values()):,} chats in which people talked with chatbots and "
        'tried to draw unsafe replies from them, after Xu et al., "Bot-Adversarial Dialogue for Safe Conversational '
        'Agents" (NAACL 2021). A row is an utterance with those before it and its label.'
    )
    asked = (
        f"Each utterance was to be judged by {plan.votes_wanted} people besides its chat's worker. "
        if plan
        else ""
    )
    merged = f"The label is merged by the rule `{export.rule}` (version {versions})."
    names = (
        "Workers, verifiers, bots and chats stand under pseudonyms. Exports with other settings have others."
    )
    masked = " E-mail addresses and long numbers in texts are masked." if export.mask else ""
    limits = (
        "Chats were written to provoke: rates in it are not those of everyday talk. Labels are those of the people "
        "asked, who need not agree with others."
    )
    parts = [
        (f"# {_plain(study.name)}, round {study.round}", [f"**Content warning.** {_plain(warning)}"]),
        ("## What it is", [what]),
        ("## How it was labelled", [asked + merged]),
        ("## Splits", [_splits(export), "", *_table(manifest["counts"])]),
        ("## People", [names + masked, *(_agreed(consent) if _is_ours(study) else [])]),
        ("## Columns", _columns()),
        ("## Limits", [limits]),
    ]
    return [line for head, lines in parts for line in (head, *lines, "")][:-1]


def _splits(export: Export) -> str:
    return (
        f"By whole chats, `{export.splits}` with seed {export.seed}; test balanced over the bots. Chats that were "
        "imported into a split, or published in one, stay in it."
    )


def _is_ours(study: Study) -> bool:
    """Whether anybody chatted here: nobody who wrote an imported chat agreed to our text."""
    return study.dialogues.filter(imported=False).exists()


def _agreed(consent: ConsentText | None) -> list[str]:
    return ["What they agreed to:", "", f"> {_plain(consent.data_use)}"] if consent else []


def _columns() -> list[str]:
    return ["| name | meaning |", "|---|---|", *(f"| `{name}` | {COLUMNS[name].meaning} |" for name in FLAT)]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _table(counts: Mapping[str, Mapping[str, Mapping[str, int]]]) -> Sequence[str]:
    lines = ["| split | human, OK | human, not OK | bot, OK | bot, not OK |", "|---|---|---|---|---|"]
    for split, speakers in counts.items():
        cells = [f"{speakers[who][label]:,}" for who in ("human", "bot") for label in ("ok", "notok")]
        lines.append(f"| {HUB_SPLIT[split]} | {' | '.join(cells)} |")
    return lines


def croissant(export: Export, manifest: Mapping[str, Any]) -> str:
    """The croissant.json: Croissant 1.0 (mlcommons.org/croissant/1.0), a record set for each split."""
    found = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": export.study.slug,
        "description": f"{_plain(export.study.name)}: chats with chatbots, every utterance labelled OK or not OK.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "version": manifest["code_version"],
        "distribution": [_file(file) for file in manifest["files"]],
        "recordSet": [_records(file) for file in manifest["files"]],
    }
    return json.dumps(found, ensure_ascii=False, indent=2) + "\n"


_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "column": "cr:column",
    "conformsTo": "http://purl.org/dc/terms/conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "recordSet": "cr:recordSet",
    "repeated": "cr:repeated",
    "source": "cr:source",
}


def _file(file: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": f"{file['split']}-file",
        "name": file["name"],
        "contentUrl": file["name"],
        "encodingFormat": "application/x-parquet",
        "contentSize": f"{file['bytes']} B",
        "sha256": file["sha256"],
    }


def _records(file: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": file["split"],
        "name": file["split"],
        "field": [_field(file["split"], name) for name in FLAT],
    }


def _field(split: str, name: str) -> dict[str, Any]:
    kind = COLUMNS[name].kind
    return {
        "@type": "cr:Field",
        "@id": f"{split}/{name}",
        "name": name,
        "description": COLUMNS[name].meaning,
        "dataType": _CROISSANT_TYPE.get(kind, "sc:Boolean"),
        **({"repeated": True} if kind == "texts" else {}),
        "source": {"fileObject": {"@id": f"{split}-file"}, "extract": {"column": name}},
    }
