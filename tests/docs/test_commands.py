"""What the pages tell people to type and to open is there."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text() for page in PAGES}
MAKEFILE = (ROOT / "Makefile").read_text()


def test_every_make_command_is_in_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    told = {
        name
        for text in TEXTS.values()
        for name in re.findall(r"(?:^|`|[A-Z0-9_]=\S+ )make ([a-z-]+)", text, re.MULTILINE)
    }
    assert told - targets == set()
    assert {"run", "test"} <= told


def test_the_readme_tells_every_make_command():
    targets = set(re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)[0].split())
    told = set(re.findall(r"make ([a-z-]+)", TEXTS["README.md"]))
    assert targets - {"install-dev"} == told


def test_every_management_command_is_there():
    told = {name for text in TEXTS.values() for name in re.findall(r"manage\.py ([a-z_]+)", text)}
    assert told - set(get_commands()) == set()


@pytest.mark.parametrize("page", TEXTS)
def test_every_link_leads_somewhere(page):
    folder = (ROOT / page).parent
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", TEXTS[page]) if "://" not in link]
    assert [link for link in links if not (folder / link).exists()] == []


def test_every_file_named_in_the_table_of_papers_is_there():
    named = re.findall(r"`([a-z]+/[\w/]+\.\w+)`", TEXTS["docs/papers.md"])
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert len(named) > 10


def test_ci_runs_the_readmes_test_command_on_both_databases():
    script = (ROOT / ".ci" / "run").read_text()
    assert re.findall(r"make (test|check)$", script, re.MULTILINE) == ["test", "test", "check"]
    assert script.count("DATABASE_URL=postgres://") == 1


def test_make_check_runs_every_checker():
    recipe = MAKEFILE.partition("\ncheck:")[2].partition("\n\n")[0]
    assert re.findall(r"\$\(BIN\)/(\S+(?: manage\.py \w+)?)", recipe) == [
        "ruff",
        "ruff",
        "mypy",
        "lint-imports",
        "python manage.py check",
        "python manage.py makemigrations",
    ]
