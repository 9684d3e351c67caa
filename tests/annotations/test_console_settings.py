import pytest

from annotations.models import InstructionSet, Study, StudyBot
from tests.factories import BotFactory, StudyFactory, make_dialogue, make_researcher

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return StudyFactory(name="Open questions", slug="open")


@pytest.fixture
def page(client, study):
    client.force_login(make_researcher(study))
    return client


def settings_of(study, **changes):
    """The settings page as a browser would send it back, with `changes`."""
    consent = study.consent_texts.first()
    values = {
        name: getattr(study, name)
        for name in (
            "name",
            "slug",
            "round",
            "utterances",
            "min_utterances",
            "idle_minutes",
            "chats_per_worker",
        )
    }
    values |= {"completion_code": "", "personas": "", "support": "Helpline | https://example.org/"}
    values |= {
        f"consent-{name}": getattr(consent, name) for name in ("warning", "task", "data_use", "stopping")
    }
    bots, sets = list(study.study_bots.order_by("bot__name")), list(study.instruction_sets.all())
    for prefix, rows in (("study_bots", bots), ("instruction_sets", sets)):
        values |= {f"{prefix}-TOTAL_FORMS": len(rows) + 1, f"{prefix}-INITIAL_FORMS": len(rows)}
        for number, row in enumerate(rows):
            values[f"{prefix}-{number}-id"] = row.pk
    for number, row in enumerate(bots):
        values[f"study_bots-{number}-chats_wanted"] = row.chats_wanted
    for number, row in enumerate(sets):
        values |= {
            f"instruction_sets-{number}-{name}": getattr(row, name) for name in ("slug", "text", "weight")
        }
    values |= {f"study_bots-{len(bots)}-chats_wanted": 50, f"instruction_sets-{len(sets)}-weight": 1}
    return {key: value for key, value in (values | changes).items() if value is not None}


def problems(answer):
    """What each form of the settings page says is wrong, by field."""
    found = {}
    for part in ("form", "words"):
        found |= {name: list(errors) for name, errors in answer.context[part].errors.items()}
    for part in ("bots", "sets"):
        rows = answer.context[part]
        found |= {
            f"{part}-{n}-{name}": list(e) for n, form in enumerate(rows) for name, e in form.errors.items()
        }
        if rows.non_form_errors():
            found[part] = list(rows.non_form_errors())
    return found


# -- settings --------------------------------------------------------------------------------------------------


def test_settings_are_saved(page, study):
    text = "none\n\nI work nights.\r\nI have two dogs.\n\n\nGardening"
    links = "Call | tel:+31201234567\n\nWrite | mailto:help@example.org"

    answer = page.post(
        "/console/studies/open/edit",
        settings_of(
            study, name="Renamed", slug="new", utterances="20", open_signup="on", personas=text, support=links
        ),
    )

    study.refresh_from_db()
    assert answer["Location"] == "/console/studies/new/edit"
    assert (study.name, study.utterances, study.open_signup) == ("Renamed", 20, True)
    assert study.personas == [[], ["I work nights.", "I have two dogs."], ["Gardening"]]
    assert study.support == [["Call", "tel:+31201234567"], ["Write", "mailto:help@example.org"]]


def test_settings_come_back_as_they_were_typed(page, study):
    study.personas = [[], ["I work nights.", "I have two dogs."]]
    study.save()

    form = page.get("/console/studies/open/edit").context["form"]

    assert form["personas"].value() == "none\n\nI work nights.\nI have two dogs."
    assert form["support"].value() == "Find a helpline in your country | https://findahelpline.com/"


def test_saving_unchanged_changes_nothing(page, study):
    before = Study.objects.values().get()
    support = "Find a helpline in your country | https://findahelpline.com/"

    page.post("/console/studies/open/edit", settings_of(study, support=support))

    assert Study.objects.values().get() == before
    assert (study.consent_texts.count(), study.instruction_sets.count(), study.study_bots.count()) == (
        1,
        2,
        1,
    )


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("name", "", "Fill this in."),
        ("slug", "two words", "Enter letters, digits and hyphens only."),
        ("slug", "taken", "There is a study with this short name already. Enter another."),
        ("round", "0", "Enter a whole number from 1 to 1,000."),
        ("utterances", "13", "Enter an even number from 2 to 40."),
        ("utterances", "42", "Enter an even number from 2 to 40."),
        ("utterances", "ten", "Enter an even number from 2 to 40."),
        ("utterances", "", "Enter an even number from 2 to 40."),
        ("min_utterances", "16", "Enter a whole number from 1 to 14, the utterances a chat."),
        ("min_utterances", "0", "Enter a whole number from 1 to 40."),
        ("idle_minutes", "0", "Enter a whole number from 1 to 10,080."),
        ("chats_per_worker", "-1", "Enter a whole number from 1 to 1,000,000."),
        ("chats_per_worker", "9" * 30, "Enter a whole number from 1 to 1,000,000."),
        ("completion_code", "x" * 65, "Shorten this to 64 characters."),
        ("personas", "a\nb\nc\nd", "Persona 1 has 4 lines. Shorten it to 3, or part it by a blank line."),
        ("personas", "x" * 301, "Persona 1 has a line of over 300 characters. Shorten it."),
        ("support", "just words", "Line 1 is not of the form: words | address."),
        (
            "support",
            "Help | https://a.org\nRun | javascript:alert(1)",
            "The address in line 2 cannot be used. It begins with https://, tel: or mailto:.",
        ),
        (
            "support",
            "Help | https://[",
            "The address in line 1 cannot be used. It begins with https://, tel: or mailto:.",
        ),
        ("consent-warning", " \n ", "Fill this in."),
        ("consent-task", "x" * 2001, "Shorten this to 2000 characters."),
        ("name", "a\x00b", "This holds a character that cannot be stored."),
    ],
)
def test_a_wrong_setting_is_told_at_its_field_and_nothing_is_saved(page, study, field, value, problem):
    StudyFactory(slug="taken")

    answer = page.post("/console/studies/open/edit", settings_of(study, **{"round": "7", field: value}))

    assert (answer.status_code, problems(answer)) == (422, {field.removeprefix("consent-"): [problem]})
    form = answer.context["words" if field.startswith("consent-") else "form"]
    assert form[field.removeprefix("consent-")].value() == value
    study.refresh_from_db()
    assert study.round == 1


def test_a_wrong_setting_has_the_focus_and_says_what_it_is(page, study):
    body = page.post("/console/studies/open/edit", settings_of(study, utterances="13")).content.decode()

    assert body.count('aria-invalid="true"') == 1
    assert body.count('aria-describedby="id_utterances_helptext id_utterances_error"') == 1
    assert body.count('id="id_utterances_error"') == 1


def test_saving_does_not_undo_a_state_changed_meanwhile(page, study):
    values = settings_of(study)
    Study.objects.update(state="paused")

    page.post("/console/studies/open/edit", values)

    study.refresh_from_db()
    assert study.state == "paused"


def test_open_chats_keep_their_length(page, study):
    chat = make_dialogue(study=study)

    page.post("/console/studies/open/edit", settings_of(study, utterances="20"))

    chat.refresh_from_db()
    assert (chat.wanted, chat.instruction) == (14, "Ask open questions.")


# -- its bots --------------------------------------------------------------------------------------------------


def test_a_bot_is_added_and_its_number_changed(page, study):
    other = BotFactory(name="Other")
    values = {
        "study_bots-0-chats_wanted": "7",
        "study_bots-1-bot": other.pk,
        "study_bots-1-chats_wanted": "9",
    }

    page.post("/console/studies/open/edit", settings_of(study, **values))

    assert sorted(study.study_bots.values_list("chats_wanted", flat=True)) == [7, 9]


def test_a_bot_without_chats_is_removed(page, study):
    page.post("/console/studies/open/edit", settings_of(study, **{"study_bots-0-DELETE": "on"}))

    assert study.study_bots.count() == 0


def test_a_bot_with_chats_stays(page, study):
    make_dialogue(study=study)

    answer = page.post("/console/studies/open/edit", settings_of(study, **{"study_bots-0-DELETE": "on"}))

    words = f"Kept, because chats used it: {study.study_bots.get()}. Set its number to 0 instead."
    assert problems(answer) == {"bots": [words]}
    assert study.study_bots.count() == 1


def test_a_bot_of_the_study_cannot_be_added_again(page, study):
    values = {"study_bots-1-bot": study.bots.get().pk}

    answer = page.post("/console/studies/open/edit", settings_of(study, **values))

    assert problems(answer) == {"bots-1-bot": ["Choose one of the list."]}


def test_a_number_that_is_none_is_told(page, study):
    answer = page.post(
        "/console/studies/open/edit", settings_of(study, **{"study_bots-0-chats_wanted": "many"})
    )

    assert problems(answer) == {"bots-0-chats_wanted": ["Enter a whole number from 0 to 1,000,000."]}


def test_a_row_that_is_gone_meanwhile_is_told(page, study):
    values = settings_of(study)
    study.study_bots.all().delete()

    answer = page.post("/console/studies/open/edit", values)

    assert answer.status_code == 422
    assert "This one is gone meanwhile. Load the page again." in answer.content.decode()


def test_a_form_that_did_not_arrive_whole_is_told(page, study):
    answer = page.post("/console/studies/open/edit", {"name": "x"})

    assert answer.status_code == 422
    assert "This part of the form did not arrive whole. Load the page again." in answer.content.decode()


# -- its instruction sets ----------------------------------------------------------------------------------------


def test_an_instruction_set_is_added_changed_and_removed(page, study):
    values = {
        "instruction_sets-0-text": "Changed.\r\nTwice.",
        "instruction_sets-0-weight": "3",
        "instruction_sets-1-DELETE": "on",
        "instruction_sets-2-slug": "kind",
        "instruction_sets-2-text": "Be kind.",
    }

    page.post("/console/studies/open/edit", settings_of(study, **values))

    assert list(study.instruction_sets.values_list("slug", "text", "weight")) == [
        ("goad", "Changed.\nTwice.", 3),
        ("kind", "Be kind.", 1),
    ]


def test_a_drawn_instruction_set_stays(page, study):
    make_dialogue(study=study, instruction_set=InstructionSet.objects.get(slug="goad"))

    answer = page.post(
        "/console/studies/open/edit", settings_of(study, **{"instruction_sets-0-DELETE": "on"})
    )

    assert problems(answer) == {"sets": ["Kept, because chats used it: goad. Set its number to 0 instead."]}


def test_two_sets_of_one_name_are_told(page, study):
    values = {"instruction_sets-2-slug": "goad", "instruction_sets-2-text": "Again."}

    answer = page.post("/console/studies/open/edit", settings_of(study, **values))

    assert problems(answer)["sets"] == ["Two rows are alike. Choose another bot, or another short name."]


# -- its consent text --------------------------------------------------------------------------------------------


def test_changed_words_are_a_new_version_and_everybody_is_asked_again(page, study):
    answer = page.post(
        "/console/studies/open/edit",
        settings_of(study, **{"consent-task": "Chat,\r\nthen label."}),
        follow=True,
    )

    newest = study.consent_texts.first()
    assert (newest.version, newest.task) == (2, "Chat,\nthen label.")
    assert [str(message) for message in answer.context["messages"]] == [
        "Saved. The consent text is now version 2: everybody is asked again."
    ]


@pytest.mark.parametrize("count", [1, 3])
def test_the_settings_ask_as_often_for_three_bots_as_for_one(page, study, django_assert_num_queries, count):
    for _ in range(count):
        StudyBot.objects.create(study=study, bot=BotFactory())

    with django_assert_num_queries(11):
        page.get("/console/studies/open/edit")
