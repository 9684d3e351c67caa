import stat

import pytest
from django.core.exceptions import ImproperlyConfigured

from badcollect import env


def refusal(function, *args, **kwargs):
    with pytest.raises(ImproperlyConfigured) as caught:
        function(*args, **kwargs)
    return str(caught.value)


def test_a_text_that_is_not_set_or_empty_is_the_default(monkeypatch):
    monkeypatch.delenv("X", raising=False)
    assert env.text("X", "default") == "default"
    monkeypatch.setenv("X", "")
    assert env.text("X", "default") == "default"
    monkeypatch.setenv("X", "given")
    assert env.text("X", "default") == "given"


@pytest.mark.parametrize(("raw", "read"), [("1", True), ("0", False), ("", True)])
def test_a_flag_is_1_or_0(monkeypatch, raw, read):
    monkeypatch.setenv("X", raw)
    assert env.flag("X", default=True) is read


@pytest.mark.parametrize("raw", ["yes", "true", "2", " 1"])
def test_any_other_flag_is_refused_with_what_to_write(monkeypatch, raw):
    monkeypatch.setenv("X", raw)
    assert refusal(env.flag, "X") == f"X={raw!r} is neither 0 nor 1. Set it to 1 for yes, 0 for no."


@pytest.mark.parametrize(("raw", "read"), [("1", 1), ("65535", 65535), ("", 8000), ("007", 7)])
def test_a_number_lies_between_its_bounds(monkeypatch, raw, read):
    monkeypatch.setenv("X", raw)
    assert env.number("X", 8000, high=65535) == read


@pytest.mark.parametrize("raw", ["0", "65536", "-1", "1.5", "x", "²", "٣"])
def test_any_other_number_is_refused_with_the_bounds(monkeypatch, raw):
    monkeypatch.setenv("X", raw)
    assert refusal(env.number, "X", 8000, high=65535) == f"X={raw!r} is not a whole number from 1 to 65535."


def test_names_are_parted_by_commas(monkeypatch):
    monkeypatch.setenv("X", "a, b,,c ")
    assert env.names("X") == ["a", "b", "c"]
    monkeypatch.setenv("X", "")
    assert env.names("X", "d,e") == ["d", "e"]


def test_one_of_several_words(monkeypatch):
    monkeypatch.setenv("X", "INFO")
    assert env.one_of("X", "DEBUG", ("DEBUG", "INFO")) == "INFO"
    monkeypatch.setenv("X", "loud")
    assert refusal(env.one_of, "X", "DEBUG", ("DEBUG", "INFO")) == "X='loud' is none of DEBUG, INFO."


def test_a_secret_is_made_once_and_readable_by_its_owner_only(monkeypatch, tmp_path):
    monkeypatch.delenv("X", raising=False)
    file = tmp_path / "new" / "secret"

    first, second = env.secret("X", file), env.secret("X", file)

    assert first == second == file.read_text()
    assert len(first) >= 50
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_secret_that_is_set_makes_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("X", "given")
    assert env.secret("X", tmp_path / "secret") == "given"
    assert list(tmp_path.iterdir()) == []


def test_an_empty_secret_file_is_refused(monkeypatch, tmp_path):
    monkeypatch.delenv("X", raising=False)
    file = tmp_path / "secret"
    file.touch()
    assert refusal(env.secret, "X", file) == f"{file} is empty. Delete it, and it is made anew; or set X."


def test_a_folder_that_cannot_be_used_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("X", raising=False)
    (tmp_path / "var").touch()
    file = tmp_path / "var" / "secret"
    assert refusal(env.secret, "X", file) == (
        f"{file} cannot be used (File exists). Make {file.parent} writable, or set VAR_DIR to a folder that is."
    )
