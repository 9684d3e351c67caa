import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from badcollect.settings import database, redis_url

ROOT = Path(__file__).resolve().parent.parent.parent
UNREADABLE_REDIS = (
    "REDIS_URL cannot be read. Write redis://user:password@host:6379/0 or unix:///path/to/socket."
)
UNREADABLE_DATABASE = (
    "DATABASE_URL cannot be read. Write postgres://user:password@host:5432/name or sqlite:////path/to/file."
)


@pytest.mark.parametrize(
    ("base", "channels", "celery"),
    [
        ("unix:///a/b.sock", "unix:///a/b.sock?db=1", "redis+socket:///a/b.sock?virtual_host=1"),
        ("redis://h", "redis://h/1", "redis://h/1"),
        ("redis://u:p@h:6379/", "redis://u:p@h:6379/1", "redis://u:p@h:6379/1"),
        ("redis://h:6379/4", "redis://h:6379/5", "redis://h:6379/5"),
        (
            "rediss://h/0?ssl_cert_reqs=none",
            "rediss://h/1?ssl_cert_reqs=none",
            "rediss://h/1?ssl_cert_reqs=none",
        ),
    ],
)
def test_redis_addresses_are_spelt_as_channels_and_celery_read_them(base, channels, celery):
    assert redis_url(base, 1) == channels
    assert redis_url(base, 1, celery=True) == celery


@pytest.mark.parametrize(
    "base",
    [
        "localhost:6379",
        "http://h",
        "redis://",
        "redis:///0",
        "redis://h:x",
        "redis://h/x",
        "unix://",
        "unix:///a?db=1",
    ],
)
def test_an_address_that_is_none_is_refused(base):
    with pytest.raises(ImproperlyConfigured) as caught:
        redis_url(base, 0)
    assert str(caught.value) == UNREADABLE_REDIS


def test_sqlite_waits_for_its_turn_and_keeps_a_write_ahead_log(tmp_path):
    config = database(f"sqlite:///{tmp_path}/deep/new.sqlite3")
    assert config["OPTIONS"] == {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    assert (tmp_path / "deep").is_dir()


@pytest.mark.django_db
def test_the_running_sqlite_has_these_settings():
    if connection.vendor != "sqlite":
        pytest.skip("about SQLite")
    with connection.cursor() as cursor:
        found = [
            cursor.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "busy_timeout")
        ]
    assert found == ["wal", 1, 20_000]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nonsense", UNREADABLE_DATABASE),
        ("postgres://me@host:port/name", UNREADABLE_DATABASE),
        (
            "mysql://me@host/name",
            "DATABASE_URL names a database badcollect does not run on. Use PostgreSQL or SQLite.",
        ),
        (
            "sqlite:////dev/null/x/y.sqlite3",
            "/dev/null/x/y.sqlite3 cannot be used (Not a directory). Correct DATABASE_URL.",
        ),
    ],
)
def test_a_database_that_is_none_is_refused(url, words):
    with pytest.raises(ImproperlyConfigured) as caught:
        database(url)
    assert str(caught.value) == words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("TIME_ZONE", "Mars", "TIME_ZONE='Mars' is unknown. Write UTC, or a name like Europe/Paris."),
        ("LOG_LEVEL", "loud", "LOG_LEVEL='loud' is none of DEBUG, INFO, WARNING, ERROR."),
        ("DEBUG", "yes", "DEBUG='yes' is neither 0 nor 1. Set it to 1 for yes, 0 for no."),
        ("REDIS_URL", "localhost", UNREADABLE_REDIS),
        ("DATABASE_URL", "nonsense", UNREADABLE_DATABASE),
    ],
)
def test_a_setting_that_cannot_be_used_ends_any_command_with_one_line(tmp_path, name, value, words):
    environ = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "badcollect.settings",
        "VAR_DIR": str(tmp_path),
        name: value,
    }

    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (1, "", words + "\n")
