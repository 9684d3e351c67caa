"""Broken off at any moment, a run goes on to the same bytes: in one process, and after kill -9."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from bots.safety import resumable
from bots.safety.errors import DataError
from tests.bots.safety_data import write_bad, write_jsonl

ROWS = [str(number) for number in range(5_000)]


def quiet(_line):
    pass


def write(rows, out, *, about=None, dies_at=None):
    def work(chunk):
        if dies_at in chunk:
            raise KeyboardInterrupt
        return [f"<{row}>" for row in chunk]

    return resumable.write(rows, out, work, about=about or {"a": 1}, progress=quiet)


def test_a_run_that_broke_off_goes_on_to_the_same_bytes(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    write(ROWS, whole)
    with pytest.raises(KeyboardInterrupt):
        write(ROWS, broken, dies_at="4500")
    assert not broken.exists()

    with (tmp_path / "broken.partial").open("ab") as file:
        file.write(b"<half a li")
    done = write(ROWS, broken)

    assert done == 5_000
    assert broken.read_bytes() == whole.read_bytes()
    assert not (tmp_path / "broken.partial").exists()


def test_what_is_done_is_not_done_again(tmp_path):
    write(ROWS, tmp_path / "out")

    assert write(ROWS, tmp_path / "out", dies_at="0") == 5_000


def test_killed_between_the_name_and_the_note_it_is_done(tmp_path):
    write(ROWS, tmp_path / "out")
    note = tmp_path / "out.about.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), "done": False}))

    assert write(ROWS, tmp_path / "out", dies_at="0") == 5_000


@pytest.mark.parametrize("lost", ["out", "out.partial"])
def test_what_was_lost_is_made_again(tmp_path, lost):
    if lost == "out":
        write(ROWS, tmp_path / "out")
    else:
        with pytest.raises(KeyboardInterrupt):
            write(ROWS, tmp_path / "out", dies_at="4500")
    (tmp_path / lost).unlink()

    write(ROWS, tmp_path / "out")

    assert (tmp_path / "out").read_text().splitlines() == [f"<{row}>" for row in ROWS]


def test_another_run_and_a_file_of_somebody_elses_are_left_alone(tmp_path):
    write(ROWS, tmp_path / "out")
    (tmp_path / "mine").write_text("mine")

    with pytest.raises(ValueError, match="is of a run with other input or settings"):
        write(ROWS, tmp_path / "out", about={"a": 2})
    with pytest.raises(ValueError, match="is there already"):
        write(ROWS, tmp_path / "mine")

    assert (tmp_path / "mine").read_text() == "mine"


def test_an_error_in_the_input_leaves_no_finished_file(tmp_path):
    def rows():
        yield from ROWS[:3_000]
        raise DataError(tmp_path, 3_001, "Broken.")

    with pytest.raises(DataError):
        write(rows(), tmp_path / "out")

    assert not (tmp_path / "out").exists()


def command(*words):
    return [sys.executable, "manage.py", *map(str, words)]


def killed_after(words, seen, limit=100):
    """Starts a command and kills it with SIGKILL as soon as `seen()`; True if it was still at work then."""
    process = subprocess.Popen(
        command(*words), env=environment(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    end = time.monotonic() + limit
    while process.poll() is None and not seen() and time.monotonic() < end:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def environment():
    return {**os.environ, "OMP_NUM_THREADS": "1", "DJANGO_SETTINGS_MODULE": "tests.settings"}


def finish(words):
    subprocess.run(command(*words), env=environment(), check=True, capture_output=True, timeout=110)


@pytest.mark.slow
def test_scoring_killed_in_the_middle_ends_with_the_same_file(tmp_path):
    rows = write_jsonl(
        tmp_path / "rows.jsonl", [{"text": f"{n} is a nice number, is it not?"} for n in range(12_000)]
    )
    whole, broken = tmp_path / "whole.jsonl", tmp_path / "broken.jsonl"
    words = ("score_safety", "--in", rows, "--out")
    note = tmp_path / "broken.jsonl.about.json"

    assert killed_after((*words, broken), note.exists)
    assert 0 < json.loads(note.read_text())["rows"] < 12_000
    finish((*words, broken))
    finish((*words, whole))

    assert broken.read_bytes() == whole.read_bytes()


@pytest.mark.slow
def test_training_killed_in_the_middle_ends_with_the_same_model(tmp_path):
    from tests.bots.safety_data import make_encoder

    base, data = make_encoder(tmp_path / "base"), write_bad(tmp_path / "valid.txt", 60)

    def words(out):
        return (
            "train_safety", "--base", base, "--train", f"{data}#train", "--valid", f"{data}#valid", "--out", out,
            "--epochs", 4, "--patience", 4, "--batch", 8, "--every", 3, "--rate", 1e-3,
        )  # fmt: skip

    whole, broken = tmp_path / "a" / "model", tmp_path / "b" / "model"
    assert killed_after(words(broken), (broken / "checkpoints" / "best.safetensors").exists)
    assert not (broken / "card.json").exists()
    finish(words(broken))
    finish(words(whole))

    names = sorted(path.name for path in whole.iterdir())
    assert sorted(path.name for path in broken.iterdir()) == names
    for name in names:
        assert (broken / name).read_bytes() == (whole / name).read_bytes(), name
