"""compose.yaml starts what `manage.py up` starts, and every variable in it is documented."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from badcollect import processes

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "compose.yaml").read_text()
SERVICES = yaml.safe_load(TEXT)["services"]
OURS = ("setup", "web", "bots", "jobs", "long", "beat")


def test_it_has_every_process():
    assert list(SERVICES) == ["postgres", "redis", *OURS]


def test_its_commands_are_those_of_up(settings):
    settings.CELERY_BEAT_SCHEDULE_FILENAME = "/var/lib/badcollect/beat"
    settings.LOG_LEVEL = "INFO"
    expected = {
        "web": processes.web_command("0.0.0.0", 8000, processes=4),  # noqa: S104
        "bots": processes.worker_command("bots", "bots@%h"),
        "jobs": processes.worker_command("jobs", "jobs@%h"),
        "long": processes.worker_command("long", "long@%h"),
        "beat": processes.beat_command(),
    }
    assert {name: SERVICES[name]["command"] for name in expected} == {
        name: ["python", *command[1:]] for name, command in expected.items()
    }


@pytest.mark.parametrize("name", OURS)
def test_every_command_starts_a_module_or_file_that_is_there(name):
    command = SERVICES[name]["command"]
    if command[1] == "-m":
        assert find_spec(command[2]) is not None
    else:
        assert (ROOT / command[1]).is_file()


def test_every_variable_is_documented():
    documented = set(
        re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE)
    )
    named = {name for service in SERVICES.values() for name in service.get("environment", {})}
    taken = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", TEXT))
    assert (named | taken) - documented == set()


def test_every_service_that_stays_is_watched():
    unwatched = [name for name, service in SERVICES.items() if "healthcheck" not in service]
    assert unwatched == ["setup", "beat"]


def test_only_one_beat_and_nothing_open_to_the_world():
    assert "deploy" not in SERVICES["beat"]
    assert {name: service["ports"] for name, service in SERVICES.items() if "ports" in service} == {
        "web": ["127.0.0.1:8000:8000"]
    }


def test_the_image_has_every_folder_the_code_needs():
    copied = set(re.findall(r"^COPY (\w+) \1$", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    assert copied == {"badcollect", "annotations", "bots", "templates", "static"}
