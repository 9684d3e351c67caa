import os
import socket

import pytest
from django.db import connections

from badcollect import preflight, redis
from badcollect.preflight import Problem


def problem(check, *args):
    with pytest.raises(Problem) as caught:
        check(*args)
    return str(caught.value)


def test_a_package_that_is_not_installed_is_named(tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text(
        "# comment\n-c constraints.txt\nDjango==5.2\nno-such-thing[extra]==1.0\nuvicorn[standard]>=0.1\n"
    )
    assert (
        problem(preflight.check_dependencies, file)
        == "Not installed here: no-such-thing. Run `make install`."
    )


def test_one_installation_a_folder(tmp_path):
    with preflight.lock(tmp_path, "http://127.0.0.1:8000"):
        assert problem(preflight.lock, tmp_path, "http://127.0.0.1:8001") == (
            f"badcollect already runs from {tmp_path} (process {os.getpid()}, http://127.0.0.1:8000). "
            "Stop that one first, or set VAR_DIR to another folder."
        )
    preflight.lock(tmp_path, "http://127.0.0.1:8001").close()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "var").touch()
    assert problem(preflight.lock, tmp_path / "var", "") == (
        f"{tmp_path}/var cannot be written (File exists). Set VAR_DIR to a folder that can."
    )


def test_a_port_in_use_is_told_with_the_next_one():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert problem(preflight.check_port, "127.0.0.1", port) == (
            f"Port {port} is in use. Stop what uses it, or take another one: PORT={port + 1} make run"
        )
    preflight.check_port("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("192.0.2.7", "HOST=192.0.2.7 is no address of this machine."),
        ("no.such.invalid", "HOST=no.such.invalid cannot be looked up."),
    ],
)
def test_a_host_that_is_not_ours_is_told(host, words):
    advice = "Set HOST to 127.0.0.1, or to 0.0.0.0 for all networks."
    assert problem(preflight.check_port, host, 8000) == f"{words} {advice}"


def test_a_redis_that_does_not_answer_is_told_without_its_password():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        assert problem(preflight.check_redis, f"redis://me:secret@127.0.0.1:{port}/0") == (
            f"No Redis answers at redis://127.0.0.1:{port}/0 (Error 111 connecting to 127.0.0.1:{port}. "
            "Connection refused.). Start it, or correct REDIS_URL; without REDIS_URL, badcollect starts one of its own."
        )


def test_a_redis_that_answers_passes():
    preflight.check_redis(os.environ["REDIS_URL"])


def test_a_socket_path_that_is_too_long_is_told(tmp_path):
    path = tmp_path / ("x" * 107) / "redis.sock"
    with pytest.raises(redis.NoRedis) as caught:
        redis.command(path)
    assert str(caught.value) == (
        f"{path} is too long a path for Redis' socket (107 bytes at most). "
        "Set VAR_DIR to a folder with a shorter path, or REDIS_URL to a Redis server."
    )


@pytest.mark.django_db
def test_a_database_that_answers_passes():
    preflight.check_database()
    preflight.migrate()


def test_a_database_that_does_not_answer_is_told_without_its_password(monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        values = {"ENGINE": "django.db.backends.postgresql", "NAME": "x", "USER": "me", "PASSWORD": "secret"}
        connections.databases["gone"] = (
            connections.databases["default"]
            | values
            | {
                "HOST": "127.0.0.1",
                "PORT": port,
                "OPTIONS": {},
            }
        )
        monkeypatch.setattr(preflight, "connection", connections["gone"])
        try:
            words = problem(preflight.check_database)
        finally:
            del connections["gone"], connections.databases["gone"]
    assert (words.startswith("The database does not answer ("), "secret" in words) == (True, False)
    assert words.endswith("). Start PostgreSQL, or correct DATABASE_URL.")


@pytest.mark.parametrize(
    ("host", "names"),
    [
        ("127.0.0.1", []),
        ("::1", []),
        ("localhost", []),
        ("192.0.2.7", ["192.0.2.7"]),
        ("2001:db8::7", ["[2001:db8::7]"]),
        ("chat.example.org", ["chat.example.org"]),
    ],
)
def test_the_names_people_may_type(host, names):
    assert preflight.names_of(host) == names


def test_all_networks_stand_for_this_machines_own_names():
    assert socket.gethostname() in preflight.names_of("0.0.0.0")  # noqa: S104
