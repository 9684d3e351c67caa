from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.console import measures
from annotations.models import AuditEntry, Item, Merging, Plan, Standing, Vote
from annotations.verification import batches, quality
from tests.factories import (
    StudyFactory,
    make_finished,
    make_gold,
    make_items,
    make_labelled,
    make_merged,
    make_plan,
    make_researcher,
    make_verifier,
    make_vote,
    make_votes,
)

pytestmark = pytest.mark.django_db
BASE = "/console/studies/open/"


@pytest.fixture
def study():
    return StudyFactory(slug="open")


@pytest.fixture
def page(client, study):
    client.force_login(make_researcher(study))
    return client


def told(answer):
    return [str(message) for message in answer.context["messages"]]


def actions(study):
    return list(study.audit.order_by("pk").values_list("action", flat=True))


# -- progress ----------------------------------------------------------------------------------------------------


def test_progress_counts_votes_and_tells_the_time_left(study):
    make_items(study, 4)
    make_plan(study, batch_size=2)
    batch = batches.take(verifier=make_verifier(study), slug="open")
    make_vote(batch)
    make_vote(batch)
    Vote.objects.filter(pk=Vote.objects.first().pk).update(at=timezone.now() - timedelta(hours=2))

    found = measures.progress(study)

    assert (found.items, found.finished, found.waiting, found.votes, found.missing) == (4, 0, 4, 2, 10)
    assert (found.last_hour, found.last_day, found.hours_left, found.time_left) == (1, 2, 120.0, "5 days")
    assert (len(found.days), sum(count for _, count in found.days)) == (14, 2)


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (0.4, "under 2 hours"),
        (5, "5 hours"),
        (47.9, "48 hours"),
        (60, "2 days"),
        (24 * 30, "4 weeks"),
        (0, "done"),
    ],
)
def test_time_left_in_words(hours, words):
    found = measures.Progress(1, 1, 10, 0, 0, int(hours * 10), 0, 240, [])

    assert found.time_left == words


def test_without_votes_there_is_no_speed(study):
    make_items(study)

    assert (measures.progress(study).hours_left, measures.progress(study).time_left) == (None, "–")


def test_an_empty_study_has_a_page(page):
    body = page.get(BASE + "verification").content.decode()

    assert body.count("no utterance is open yet") == 1
    assert body.count("No labels yet.") == 1


@pytest.mark.parametrize("count", [1, 3])
def test_progress_asks_as_often_for_three_chats_as_for_one(page, study, django_assert_num_queries, count):
    for _ in range(count):
        make_votes(study, [["ok"] * 3, ["hate"] * 3])
        make_labelled(study=study)
    page.get(BASE + "verification")

    with django_assert_num_queries(16):
        page.get(BASE + "verification")


# -- merging -----------------------------------------------------------------------------------------------------


def test_merging_anew_is_asked_for_followed_and_stopped(page, study):
    make_votes(study, [["ok"] * 3, ["hate"] * 3])

    asked = page.post(BASE + "verification/remerge", {"rule": "any"}, follow=True)
    job = Merging.objects.get()
    running = page.get(BASE + "verification/mergings").content.decode()
    stopped = page.post(f"{BASE}verification/remerge/{job.pk}/stop", follow=True)

    assert told(asked) == [
        "Merging anew by this rule: Not OK where anybody says so. How far it is stands below."
    ]
    assert (running.count('hx-trigger="every 2s"'), running.count("waiting")) == (1, 1)
    assert running.count("<td>Not OK where anybody says so</td>") == 1
    assert told(stopped) == ["Stopped. Labels made so far stay."]
    job.refresh_from_db()
    assert (job.rule, job.state, job.asked_by) == (
        "any",
        "cancelled",
        study.memberships.get(role="researcher").user,
    )
    assert page.get(BASE + "verification/mergings").content.decode().count("every 2s") == 0


def test_a_rule_that_is_none_is_refused(page, study):
    answer = page.post(BASE + "verification/remerge", {"rule": "imported"}, follow=True)

    assert told(answer)[0].startswith("There is no rule 'imported' to merge by.")
    assert Merging.objects.count() == 0


def test_a_merging_of_another_study_is_not_stopped(page):
    job = Merging.objects.create(study=StudyFactory(), rule="any")

    page.post(f"{BASE}verification/remerge/{job.pk}/stop")

    job.refresh_from_db()
    assert job.state == "waiting"


def test_imported_chats_are_sent_to_verification_once(page, study):
    make_finished(study=study, imported=True)
    offered = page.get(BASE + "verification").content.decode()

    answer = page.post(BASE + "verification/imported", follow=True)
    page.post(BASE + "verification/imported")

    assert offered.count("Send 1 chat to verification") == 1
    assert told(answer) == ["1 imported chats are being opened for verification."]
    assert answer.content.decode().count("to verification</button>") == 0
    assert (Plan.objects.get().verify_imported, actions(study)) == (True, ["imported_sent_to_verification"])


# -- the plan ----------------------------------------------------------------------------------------------------

PLAN = {
    "open": "on",
    "votes_wanted": "3",
    "batch_size": "10",
    "lease_minutes": "20",
    "rule": "majority_verifiers",
    "unsafe_from": "<10",
    "tie": "notok",
    "pass_mark": "75",
    "gold_share": "0",
    "floor": "60",
    "floor_after": "5",
    "soft_limit": "15",
    "break_minutes": "10",
}


def test_the_page_shows_what_is_stored_and_saving_it_changes_nothing(page, study):
    shown = page.get(BASE + "verification/plan").context["form"]

    answer = page.post(BASE + "verification/plan", PLAN, follow=True)

    assert {
        name: str(shown[name].value()) for name in ("pass_mark", "gold_share", "floor", "votes_wanted")
    } == {
        "pass_mark": "75",
        "gold_share": "0",
        "floor": "60",
        "votes_wanted": "3",
    }
    assert (told(answer), actions(study)) == (["Nothing was changed."], [])


def test_what_changes_is_stored_and_on_the_audit_trail(page, study):
    values = {**PLAN, "votes_wanted": "5", "gold_share": "12.5", "tie": "", "test": "on"}
    del values["open"]

    answer = page.post(BASE + "verification/plan", values, follow=True)

    plan = Plan.objects.get()
    assert (plan.open, plan.votes_wanted, plan.gold_share, plan.tie, plan.test) == (False, 5, 0.125, "", True)
    assert told(answer) == [
        "Saved. Labels there are keep how they were made: merge anew to bring them up to date."
    ]
    assert study.audit.get().detail == {
        "changed": {
            "open": [True, False],
            "votes_wanted": [3, 5],
            "tie": ["notok", ""],
            "test": [False, True],
            "gold_share": [0.0, 0.125],
        }
    }
    assert page.get(BASE + "audit").content.decode().count("votes_wanted: 3 → 5") == 1


def test_what_cannot_be_is_told_at_its_field_and_nothing_is_stored(page, study):
    wrong = {
        **PLAN,
        "votes_wanted": "10",
        "batch_size": "x",
        "gold_share": "51",
        "pass_mark": "-1",
        "rule": "coin",
        "lease_minutes": "",
        "soft_limit": "-1",
    }

    answer = page.post(BASE + "verification/plan", wrong)

    assert answer.status_code == 422
    assert dict(answer.context["form"].errors) == {
        "votes_wanted": ["Enter a whole number from 1 to 9."],
        "batch_size": ["Enter a whole number from 1 to 50."],
        "gold_share": ["Enter a number from 0 to 50."],
        "pass_mark": ["Enter a number from 0 to 100."],
        "rule": ["Choose one of the list."],
        "lease_minutes": ["Enter a whole number from 1 to 1,440."],
        "soft_limit": ["Enter a whole number from 0 to 10,000."],
    }
    assert (Plan.objects.get().votes_wanted, actions(study)) == (3, [])


# -- known answers -----------------------------------------------------------------------------------------------


def test_a_known_answer_is_made_of_a_message_with_what_came_before(page, study):
    chat = make_finished(["Hello you there", "Go away, fool."], study=study)
    reply = chat.utterances.get(number=2)
    url = f"{BASE}gold/from/{reply.pk}"

    shown = page.get(url).content.decode()
    answer = page.post(
        url, {"kind": "test", "answer": "notok", "categories": ["attack"], "why": "It insults."}, follow=True
    )

    assert (shown.count("1 message before it"), shown.count("Hello you there")) == (1, 1)
    assert told(answer) == ["Added to the known answers."]
    item = Item.objects.get()
    assert (item.kind, item.text, item.speaker, item.ok, item.attack, item.why) == (
        "test",
        "Go away, fool.",
        "bot",
        False,
        True,
        "It insults.",
    )
    assert item.context == [{"speaker": "human", "text": "Hello you there"}]


@pytest.mark.parametrize(
    ("values", "errors"),
    [
        ({"answer": "notok"}, {"categories": ["Choose at least one, or say that it is OK."]}),
        (
            {"answer": "ok", "categories": ["hate"]},
            {"categories": ["Choose none of these for a message that is OK."]},
        ),
        (
            {"answer": "ok", "kind": "test"},
            {"why": ["Write why this is the right answer. The verifier is shown it."]},
        ),
        ({"answer": "maybe", "categories": ["hate"], "kind": "x"}, None),
    ],
)
def test_an_answer_that_cannot_be_is_told(page, study, values, errors):
    utterance = make_finished(study=study).utterances.first()

    answer = page.post(f"{BASE}gold/from/{utterance.pk}", {"kind": "gold", **values})

    assert (answer.status_code, Item.objects.count()) == (422, 0)
    found = dict(answer.context["form"].errors)
    assert found == errors or (errors is None and set(found) >= {"answer", "kind"})


def test_a_message_of_another_study_makes_no_known_answer(page):
    utterance = make_finished(study=StudyFactory()).utterances.first()

    assert page.get(f"{BASE}gold/from/{utterance.pk}").status_code == 404


def test_the_list_tells_how_a_gold_item_was_answered_and_retires_it(page, study):
    item = make_gold(study, ok=False, text="You <b>fool</b>")
    for ok in (True, False, False):
        Vote.objects.create(item=item, verifier=make_verifier(study), ok=ok, attack=not ok, at=timezone.now())

    body = page.get(BASE + "gold").content.decode()
    answer = page.post(f"{BASE}gold/{item.pk}/retire", follow=True)

    assert (body.count("You &lt;b&gt;fool&lt;/b&gt;"), body.count("2 of 3 answered so")) == (2, 1)
    assert told(answer) == ["Taken out of use. Answers to it no longer count."]
    item.refresh_from_db()
    assert (item.retired_at is None, actions(study)) == (False, ["gold_added", "gold_retired"])


def test_an_item_of_another_study_is_not_retired(page):
    item = make_gold(StudyFactory())

    assert page.post(f"{BASE}gold/{item.pk}/retire").status_code == 404


def upload(page, text, kind="gold"):
    content = text if isinstance(text, bytes) else text.encode()
    file = SimpleUploadedFile("gold.csv", content, content_type="text/csv")
    return page.post(BASE + "gold", {"kind": kind, "file": file}, follow=True)


def test_a_file_of_known_answers_is_added_once(page, study):
    text = (
        "\ufefftext,speaker,context,ok,categories,why\n"
        '"You, fool",bot,"human: Hi\nbot: Hello",no,"attack, profanity",It insults.\n'
        "Nice day,human,,yes,,\n"
    )

    first, again = upload(page, text), upload(page, text)

    assert (told(first), told(again)) == (["2 added."], ["Every line is in use already."])
    fool, nice = Item.objects.order_by("pk")
    assert (fool.text, fool.speaker, fool.ok, fool.attack, fool.profanity, fool.hate) == (
        "You, fool",
        "bot",
        False,
        True,
        True,
        False,
    )
    assert fool.context == [{"speaker": "human", "text": "Hi"}, {"speaker": "bot", "text": "Hello"}]
    assert (nice.text, nice.ok, nice.context) == ("Nice day", True, [])


def test_a_file_with_a_wrong_line_adds_nothing_and_names_every_one(page):
    text = (
        "text,speaker,ok,categories,context\n"
        "Fine,human,yes,,\n"
        "Bad,human,no,,\n"
        "Bad,alien,yes,,\n"
        "Bad,bot,perhaps,,\n"
        "Bad,bot,yes,,she: hi\n"
        "Bad,bot,no,rude,\n"
    )

    answer = upload(page, text)
    upload_again = upload(page, text.replace("Bad,bot,perhaps,,\n", "").replace("Bad,bot,yes,,she: hi\n", ""))

    assert (answer.status_code, Item.objects.count(), AuditEntry.objects.count()) == (422, 0, 0)
    assert answer.context["problems"] == [
        "Line 5: ok is “perhaps”. Write yes or no.",
        "Line 6: the context line “she: hi” does not begin with human: or bot:.",
    ]
    wrong = "Say that it is OK, or what is wrong with it: one or more of hate, attack, profanity, other."
    assert upload_again.context["problems"] == [
        f"Line 3: {wrong}",
        "Line 4: The speaker of each message is human or bot.",
        f"Line 5: {wrong}",
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("text,speaker\nHi,human\n", "There is no column “ok”."),
        ("text,speaker,ok,colour\n", "The column “colour” is not known. There are: "),
        ("text,speaker,ok\n", "The file has no lines under its heading."),
        ("text,speaker,ok\nHi,human\n", "Line 2: it has not as many cells as the heading."),
        ("text,speaker,ok\nHi,human,yes,more\n", "Line 2: it has not as many cells as the heading."),
        ('text,speaker,ok\n"Hi" there,human,yes\n', "This is no CSV file: "),
        ("text,speaker,ok\n" + "Hi,human,yes\n" * 2001, "The file has 2,001 lines. "),
    ],
)
def test_a_file_of_another_shape_is_told(page, content, problem):
    answer = upload(page, content)

    assert [found.startswith(problem) for found in answer.context["problems"]] == [True]
    assert Item.objects.count() == 0


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "The file is empty."),
        (b"text,speaker,ok\n\xff\xfe", "The file is not UTF-8. Save it as “CSV UTF-8”."),
        (b"x" * 1_000_001, "The file is over 1 MB. Part it into smaller ones."),
    ],
)
def test_a_file_that_cannot_be_read_is_told(page, content, problem):
    assert upload(page, content).context["form"].errors["file"] == [problem]


# -- verifiers ---------------------------------------------------------------------------------------------------


def test_verifiers_are_listed_with_their_figures_and_flags(page, study):
    make_plan(study, floor_after=1)
    make_votes(study, [["ok", "ok", "hate"]] * 20 + [["hate", "ok", "hate"]] * 20)
    for name in ("open-verifier-1", "open-verifier-2"):
        study.memberships.create(
            user=Vote.objects.filter(verifier__username=name)[0].verifier, role="verifier"
        )
    Vote.objects.filter(verifier__username="open-verifier-2").update(seconds=0.7)
    gold = make_gold(study, ok=False)
    first = Vote.objects.filter(verifier__username="open-verifier-1")[0].verifier
    Vote.objects.create(item=gold, verifier=first, ok=True, at=timezone.now())

    rows = page.get(BASE + "verifiers").context["page"].object_list

    assert [(verifier.row.user.username, verifier.row.votes, verifier.flags) for verifier in rows] == [
        ("open-verifier-1", 40, ["gold items under the floor"]),
        ("open-verifier-2", 40, ["half the votes in under 2 s", "always the same answer"]),
    ]


def test_who_agrees_less_than_the_others_is_flagged(page, study):
    items = make_votes(study, [["ok", "ok", "hate"]] * 30)
    for place in (1, 2, 3):
        user = Vote.objects.filter(verifier__username=f"open-verifier-{place}")[0].verifier
        study.memberships.create(user=user, role="verifier")
    make_merged(study.dialogues.get(), ["ok"] * len(items))

    rows = page.get(BASE + "verifiers").context["page"].object_list

    assert [(verifier.agreement.percent, verifier.flags) for verifier in rows] == [
        (100.0, ["always the same answer"]),
        (100.0, ["always the same answer"]),
        (0.0, ["always the same answer", "agrees less than the others"]),
    ]


def test_a_verifier_is_paused_with_a_reason_and_lifted(page, study):
    make_items(study)
    verifier = make_verifier(study, username="vera")
    batch = batches.take(verifier=verifier, slug="open")
    url = f"{BASE}verifiers/{verifier.pk}/"

    empty = page.post(url + "pause", {"reason": " "})
    paused = page.post(url + "pause", {"reason": "Too <quick>."}, follow=True)
    shown = paused.content.decode()
    standing = Standing.objects.get()
    batch.refresh_from_db()
    lifted = page.post(url + "lift", follow=True)

    assert (empty.status_code, dict(empty.context["form"].errors)) == (422, {"reason": ["Fill this in."]})
    assert told(paused) == ["vera is paused. What they held is given to others."]
    assert (standing.paused_reason, batch.end_reason, shown.count("Too &lt;quick&gt;.")) == (
        "Too <quick>.",
        "paused",
        1,
    )
    assert told(lifted) == ["vera can go on. Earlier gold items no longer count."]
    assert actions(study) == ["verifier_paused", "verifier_let_in_again"]


def test_votes_are_set_aside_after_a_question_with_their_number(page, study):
    make_votes(study, [["ok", "ok", "hate"], ["hate", "ok", "ok"]])
    careless = Vote.objects.filter(verifier__username="open-verifier-1")[0].verifier
    study.memberships.create(user=careless, role="verifier")
    url = f"{BASE}verifiers/{careless.pk}/set-aside"

    question = page.get(url).content.decode()
    done = page.post(url, follow=True)
    again = page.post(url, follow=True)

    assert question.count("Set 2 votes of open-verifier-1 aside?") == 1
    assert told(done) == ["2 votes of open-verifier-1 no longer count. Their items are open again."]
    assert told(again) == ["0 votes of open-verifier-1 no longer count. Their items are open again."]
    assert Vote.objects.filter(set_aside_at__isnull=False).count() == 2
    assert list(Item.objects.values_list("free", flat=True)) == [1, 1]
    assert (actions(study), study.audit.get().detail) == (["votes_set_aside"], {"votes": 2})


def test_a_verifier_of_another_study_is_nobodys_business(page):
    stranger = make_verifier(StudyFactory())
    url = f"{BASE}verifiers/{stranger.pk}/"

    codes = [page.post(url + verb, {"reason": "x"}).status_code for verb in ("pause", "lift", "set-aside")]

    assert (codes, Standing.objects.count()) == ([404] * 3, 0)


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_asks_as_often_for_three_verifiers_as_for_one(page, study, django_assert_num_queries, count):
    make_items(study)
    for _ in range(count):
        make_vote(batches.take(verifier=make_verifier(study), slug="open"))

    with django_assert_num_queries(12):
        page.get(BASE + "verifiers")


# -- exposure and the audit trail ----------------------------------------------------------------------------------


def test_exposure_tells_what_each_person_has_read(page, study):
    chat = make_finished(["a b c", "d", "e f g", "h"], ["<10", "0"], study=study)
    make_votes(study, [["ok", "hate", "ok"], ["hate", "hate", "ok"]])

    rows = page.get(BASE + "exposure").context["page"].object_list

    found = {row.user.username: (row.upsetting, row.read) for row in rows}
    assert found[chat.worker.username] == (1, 2)
    assert {name: found[f"open-verifier-{name}"] for name in (1, 2, 3)} == {1: (1, 2), 2: (2, 2), 3: (0, 2)}


@pytest.mark.parametrize("path", ["exposure", "audit"])
def test_lists_of_people_ask_as_often_for_three_as_for_one(page, study, path):
    counts = []
    for people in (1, 2):
        for _ in range(people):
            quality.pause(study=study, verifier=make_verifier(study), reason="x", actor=None)
            make_finished(study=study)
        page.get(BASE + path)
        with CaptureQueriesContext(connection) as asked:
            page.get(BASE + path)
        counts.append(len(asked))

    assert counts == [counts[0]] * 2


def test_the_audit_trail_tells_who_did_what_to_whom(page, study):
    me = study.memberships.get(role="researcher").user
    verifier = make_verifier(study, username="vera")
    quality.pause(study=study, verifier=verifier, reason="<b>", actor=None)
    quality.lift(study=study, verifier=verifier, actor=me)
    AuditEntry.objects.create(study=StudyFactory(), action="gold_added")

    rows = page.get(BASE + "audit").context["rows"]

    assert [(words, entry.actor, entry.about, lines) for entry, words, lines in rows] == [
        ("Pause lifted", me, verifier, ["reason: <b>"]),
        ("Verifier paused", None, verifier, ["reason: <b>"]),
    ]
    assert page.get(BASE + "audit").content.decode().count("reason: &lt;b&gt;") == 2


def test_the_audit_trail_tells_of_votes_in_words(page, study):
    before, after = {"ok": False, "note": "", "hate": True}, {"ok": True, "note": "", "hate": False}
    AuditEntry.objects.create(
        study=study, action="vote_changed", detail={"item": 3, "before": before, "after": after}
    )

    ((_, words, lines),) = page.get(BASE + "audit").context["rows"]

    assert (words, lines) == (
        "Vote changed",
        ["item: 3", "before: ok no, hate yes", "after: ok yes, hate no"],
    )
