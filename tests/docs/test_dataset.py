"""docs/dataset.md names the columns, formats and settings that the code has."""

import re
from pathlib import Path

import pytest
from django.core.management import load_command_class

from annotations.domain.parlai import FIELDS
from annotations.domain.rows import COLUMNS, FLAT, JSONL, MERGED, SPLITS, VOTE
from annotations.exports.models import Export
from annotations.exports.writing import file_name

TEXT = (Path(__file__).resolve().parent.parent.parent / "docs" / "dataset.md").read_text()


def part(head):
    """The text under a heading, up to the next."""
    return re.split(r"\n#+ ", TEXT.partition(f"# {head}\n")[2])[0]


def rows(head):
    return [
        tuple(cell.strip() for cell in line.strip("|").split(" | "))
        for line in part(head).splitlines()
        if line.startswith("| `")
    ]


def test_the_columns_are_those_of_the_code_in_order():
    formats = (("JSON lines", JSONL), ("CSV, Parquet, `hf`", FLAT))
    wanted = [
        (
            f"`{name}`",
            column.kind,
            ", ".join(words for words, names in formats if name in names),
            column.meaning,
        )
        for name, column in COLUMNS.items()
    ]

    assert rows("Columns") == wanted


@pytest.mark.parametrize(("head", "fields"), [("A vote", VOTE), ("A merged label", MERGED)])
def test_the_objects_of_json_lines_are_those_of_the_code(head, fields):
    assert rows(head) == [(f"`{name}`", meaning) for name, meaning in fields.items()]


def test_the_formats_and_their_files_are_those_of_the_code():
    told = {name.strip("`"): files for name, files, _ in rows("Getting one")}

    assert list(told) == Export.Format.values
    for format_, files in told.items():
        if format_ != "hf":
            assert files == ", ".join(f"`{file_name(format_, split)}`" for split in SPLITS)
    assert told["hf"].startswith("`data/*.parquet`")
    assert file_name("hf", "test") == "data/test.parquet"


def test_the_example_line_has_the_formats_fields():
    (line,) = [line for line in part("The text format").splitlines() if line.startswith("text:")]

    assert [field.partition(":")[0] for field in line.split("\t")] == list(FIELDS)


@pytest.mark.parametrize("command", ["export_dataset", "import_bad"])
def test_the_commands_have_the_options_told(command):
    (line,) = [line for line in TEXT.splitlines() if line.startswith(f"manage.py {command} ")]
    parser = load_command_class("badcollect", command).create_parser("manage.py", command)
    has = {option for action in parser._actions for option in action.option_strings}

    usual = load_command_class("badcollect", "seed_demo").create_parser("manage.py", "seed_demo")
    shared = {option for action in usual._actions for option in action.option_strings}
    assert set(re.findall(r"--[a-z]+", line)) == has - shared
