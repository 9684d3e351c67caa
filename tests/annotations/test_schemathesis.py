"""Whatever is sent to the REST routes, none of them breaks: made up from the OpenAPI page, in this process."""

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, given, settings

from annotations.exports import services
from tests.factories import (
    StudyFactory,
    make_items,
    make_labelled,
    make_researcher,
    make_token,
    make_verifier,
    make_worker,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db,
    pytest.mark.filterwarnings("default"),
    pytest.mark.timeout(600),
]


@pytest.fixture
def _kept_connection():
    """The requests run in the test's own transaction: nothing closes its connection, as with Django's client."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def study(tmp_path, settings):
    settings.VAR_DIR = tmp_path
    settings.ALLOWED_HOSTS = ["*"]
    study = StudyFactory(slug="known")
    make_items(study, 2)
    make_labelled(study=study)
    services.run(services.ask(study=study, actor=None, format_="csv").pk)
    return study


OURS = settings(
    max_examples=20,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.usefixtures("_kept_connection")
@pytest.mark.parametrize("who", [make_researcher, make_worker, make_verifier])
def test_no_route_breaks(study, who):
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", get_wsgi_application())
    headers = {"Authorization": f"Bearer {make_token(who(study))}"}
    broken = []

    def ask(case):
        if "slug" in case.path_parameters:
            case.path_parameters["slug"] = "known"
        response = case.call(headers=headers)
        if response.status_code >= 500:
            broken.append((case.method, case.formatted_path, case.query, case.body))

    operations = [found.ok() for found in schema.get_all_operations()]
    for operation in operations:
        OURS(given(case=operation.as_strategy())(ask))()

    assert len(operations) > 8
    assert broken == []
