import pytest
from django.core.management import call_command

from annotations.models import Item, Membership, Study, StudyBot, User
from annotations.studies import services
from annotations.verification.services import open_finished
from badcollect import seed
from bots.models import Bot

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.VAR_DIR = tmp_path


def counts():
    return [model.objects.count() for model in (User, Study, StudyBot, Bot, Membership)]


def test_twice_is_once():
    first = seed.seed()
    after_first = counts()
    second = seed.seed()
    assert counts() == after_first == [4, 1, 1, 3, 3]
    assert first == second


def test_there_is_something_to_verify_and_it_is_made_once():
    seed.seed()
    opened = open_finished()
    seed.seed()

    assert (opened, open_finished(), Item.objects.count()) == (2, 0, 12)


def test_everybody_has_the_password_in_var(tmp_path):
    seed.seed()
    password = (tmp_path / "demo_password").read_text()
    users = User.objects.in_bulk([name for name, _ in seed.PEOPLE], field_name="username")
    assert {name: user.check_password(password) for name, user in users.items()} == {
        "worker": True,
        "verifier": True,
        "researcher": True,
        "admin": True,
    }
    assert seed.password_holds() is True


def test_a_worker_can_chat_as_soon_as_the_text_is_agreed_to():
    study = seed.seed()
    worker = User.objects.get(username="worker")
    services.consent(user=worker, text=services.current_consent(study))
    assert services.check_may_chat(study=study, user=worker) == study


def test_what_a_person_changed_stays_so():
    study = seed.seed()
    study.name = "Mine"
    study.state = Study.State.PAUSED
    study.save()
    worker = User.objects.get(username="worker")
    worker.set_password("another word 3")
    worker.save()

    seed.seed()

    study.refresh_from_db()
    assert (study.name, study.state) == ("Mine", "paused")
    assert seed.password_holds() is False


def test_the_command_tells_the_accounts(capsys):
    call_command("seed_demo")
    assert capsys.readouterr().out == (
        f"Study 'demo' is ready. Accounts: worker, verifier, researcher, admin. Password: {seed.password()}\n"
    )
