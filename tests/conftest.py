"""The embedded Redis for the whole run, unless REDIS_URL names one."""

import os
import shutil

import pytest

from badcollect import redis
from tests.settings import FOLDER

_server = pytest.StashKey()


def pytest_configure(config):
    alone = not hasattr(config, "workerinput")
    if alone and os.environ["REDIS_URL"].startswith("unix:") and not redis.answers(os.environ["REDIS_URL"]):
        config.stash[_server] = redis.start(FOLDER / "redis.sock")


def pytest_unconfigure(config):
    if process := config.stash.get(_server, None):
        process.terminate()
        process.wait()
    if not hasattr(config, "workerinput"):
        shutil.rmtree(FOLDER.parent, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _quick_flush():
    """Empties tables by DELETE: on PostgreSQL a TRUNCATE of thirty tables that hold three rows takes a second.

    And drops the database although the chat threads keep their connections to it.
    """
    from django.db import connection

    def sql_flush(_style, tables, **_options):
        return [f"DELETE FROM {connection.ops.quote_name(table)};" for table in tables]

    def destroy(name, _verbosity):
        connection.close_pool()
        with connection.creation._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE {connection.ops.quote_name(name)} WITH (FORCE)")

    if connection.vendor == "postgresql":
        connection.ops.sql_flush = sql_flush
        connection.creation._destroy_test_db = destroy


@pytest.fixture
def stack(transactional_db, request):
    """Real processes on the test database; those of faults on PostgreSQL, which is what people run it on.

    `@pytest.mark.parametrize("stack", [{"NAME": value}], indirect=True)` gives them other settings.
    """
    from django.db import connection

    from tests.stack import Stack, database_url

    if connection.vendor != "postgresql" and request.node.get_closest_marker("faults"):
        pytest.skip("needs PostgreSQL: set DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres")
    with Stack(database_url(), **getattr(request, "param", {})) as running:
        yield running
