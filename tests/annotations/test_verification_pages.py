"""What a verifier sees, and what they never see."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.models import (
    Assignment,
    Attempt,
    Batch,
    Break,
    Consent,
    Dialogue,
    Item,
    Membership,
    Standing,
    User,
    Vote,
)
from annotations.people import services as people
from annotations.people.services import make_token
from annotations.studies import services as studies
from annotations.verification import batches, quality, services
from tests.factories import (
    BotFactory,
    StudyFactory,
    UserFactory,
    make_dialogue,
    make_finished,
    make_gold,
    make_items,
    make_plan,
    make_verifier,
    make_vote,
    make_worker,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def sign_in(client, user):
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return user


@pytest.fixture
def study():
    return StudyFactory(slug="s")


@pytest.fixture
def verifier(client, study):
    """A verifier of the study, signed in."""
    return sign_in(client, make_verifier(study))


def take(verifier, study):
    return batches.take(verifier=verifier, slug=study.slug)


def first(batch):
    return batch.assignments.order_by("position")[0]


def judge(client, assignment, vote="ok", *, follow=False, headers=None, **given):
    values = {"item": assignment.pk, "vote": vote, **given}
    return client.post("/verify/s/judge", values, follow=follow, headers=headers)


def reach(client, assignment):
    """The page of one message of a batch, as it is when those before it are done."""
    assignment.batch.assignments.filter(position__lt=assignment.position).update(state="skipped")
    return page_of(client)


def page_of(client, url="/verify/s"):
    return client.get(url).content.decode()


# -- the start page --------------------------------------------------------------------------------------------


def test_the_start_page_leads_to_the_messages_that_wait(client, verifier, study):
    make_items(study)

    page = page_of(client, "/")

    assert re.findall(r'action="(/verify/[^"]*)"', page) == ["/verify/s/take"]
    assert page.count("Messages wait to be judged") == 1


def test_and_says_where_none_wait(client, verifier, study):
    page = page_of(client, "/")

    assert page.count("There is nothing to verify now.") == 1
    assert re.findall(r'action="(/verify/[^"]*)"', page) == []


def test_messages_of_ones_own_chats_do_not_wait(client, verifier, study):
    studies.join(study=study, user=verifier, role="worker")
    make_items(study, worker=verifier)

    assert page_of(client, "/").count("There is nothing to verify now.") == 1


def test_messages_of_kinds_one_avoids_do_not_wait(client, verifier, study):
    dialogue = make_finished(["You damn fool", "Go away."], study=study)
    services.open_items(dialogue.pk)
    people.set_preferences(user=verifier, avoid=16)

    assert page_of(client, "/").count("There is nothing to verify now.") == 1


def test_an_open_batch_is_gone_on_with(client, verifier, study):
    make_items(study, 4)
    batch = take(verifier, study)
    make_vote(batch)

    assert page_of(client, "/").count("You have a batch under way: 1 of 4 judged.") == 1


def test_who_is_paused_is_told_so(client, verifier, study):
    make_items(study)
    quality.pause(study=study, verifier=verifier, reason="Too quick.")

    assert page_of(client, "/").count("You are paused in this study.") == 1


@pytest.mark.parametrize("count", [1, 3])
def test_the_start_page_takes_the_same_queries_however_many_studies(client, count, django_assert_num_queries):
    verifier = sign_in(client, UserFactory(is_worker=False))
    for _ in range(count):
        study = StudyFactory()
        studies.join(study=study, user=verifier, role="verifier")
        studies.consent(user=verifier, text=studies.current_consent(study))
        make_items(study, 4)
        make_vote(take(verifier, study))

    with django_assert_num_queries(13):
        client.get("/")


# -- before the first message ----------------------------------------------------------------------------------


def test_the_warning_comes_before_the_first_message(client, study):
    make_items(study)
    verifier = sign_in(client, UserFactory(is_worker=False))
    studies.join(study=study, user=verifier, role="verifier")
    text = studies.current_consent(study)

    page = page_of(client)
    client.post("/verify/s/take", {"text": text.pk, "veil": "on"})

    verifier.refresh_from_db()
    assert page.count(text.warning) == 1
    assert page.count("Message number") == 0
    assert (Consent.objects.get(user=verifier).text, verifier.veil) == (text, True)
    assert Batch.objects.get().assignments.count() == 2


def test_without_agreeing_nothing_is_given(client, study):
    make_items(study)
    verifier = sign_in(client, UserFactory(is_worker=False))
    studies.join(study=study, user=verifier, role="verifier")

    response = client.post("/verify/s/take")

    assert response.url == "/verify/s"
    assert Batch.objects.count() == 0


def test_a_text_that_has_changed_is_read_again(client, study):
    make_items(study)
    verifier = sign_in(client, UserFactory(is_worker=False))
    studies.join(study=study, user=verifier, role="verifier")
    old = studies.current_consent(study)
    words = {name: getattr(old, name) for name in studies.CONSENT_FIELDS}
    new = studies.revise_consent(study=study, **{**words, "warning": "Worse than it was."})

    page = client.post("/verify/s/take", {"text": old.pk}, follow=True).content.decode()

    assert page.count("The text has changed since you opened it.") == 1
    assert page.count(new.warning) == 1


@pytest.mark.parametrize("url", ["/verify/s", "/verify/s/break", "/verify/s/test"])
def test_others_find_nothing_there(client, study, url):
    sign_in(client, make_worker(study))

    assert client.get(url).status_code == 404


@pytest.mark.parametrize("url", ["take", "judge", "renew", "leave", "break", "test/start", "test/answer"])
def test_others_can_post_nothing_there(client, study, url):
    sign_in(client, make_worker(study))
    values = {"item": 1, "vote": "ok", "batch": 1, "attempt": 1}

    response = client.post(f"/verify/s/{url}", values)

    # Who has no batch leaves nothing behind, and is then told that there is nothing.
    assert response.status_code == (302 if url == "leave" else 404)
    assert (Batch.objects.count(), Vote.objects.count(), Attempt.objects.count()) == (0, 0, 0)


def test_who_is_blocked_reads_why(client, verifier, study):
    verifier.blocked_at, verifier.blocked_reason = timezone.now(), "Copied votes."
    verifier.save()

    response = client.get("/verify/s")

    assert response.status_code == 403
    assert response.content.decode().count("Reason: Copied votes.") == 1


# -- one message -----------------------------------------------------------------------------------------------


def test_a_message_is_shown_with_what_came_before_and_nothing_else(client, verifier, study):
    bot = BotFactory(name="Blenderbot", slug="blender")
    dialogue = make_finished(
        ["One said first", "Two said then", "Three said later", "Four said last"],
        [">=50", ">=50"],
        study=study,
        bot=bot,
        persona=["i like tea."],
        worker=make_worker(study, username="nobody-else"),
    )
    services.open_items(dialogue.pk)
    batch = take(verifier, study)
    second = batch.assignments.get(item__utterance__number=2)
    other = take(make_verifier(study, username="another"), study)
    make_vote(other, item=second.item, ok=False, note="So rude")

    page = reach(client, second)

    assert re.findall(r'dir="auto">(\w+ said \w+)</p>', page) == ["One said first", "Two said then"]
    hidden = ["Three said", "Four said", "Blenderbot", "blender", "tea", "&gt;=", "nobody", "another", "rude"]
    assert [word for word in hidden if word in page] == []


def test_a_gold_item_looks_like_any_other(client, verifier, study):
    make_items(study, 2)
    make_plan(study, gold_share=0.5, batch_size=2)
    make_gold(
        study, ok=False, text="Message number 7", context=[{"speaker": "bot", "text": "Message number 6"}]
    )
    batch = take(verifier, study)
    gold = batch.assignments.get(item__kind="gold")
    usual = batch.assignments.get(item__kind="utterance")

    def plain(assignment):
        batch.assignments.exclude(pk=assignment.pk).update(state="skipped")
        batch.assignments.filter(pk=assignment.pk).update(state="held")
        page = page_of(client)
        page = re.sub(r'<ol class="stack".*?</ol>', "", page, flags=re.DOTALL)
        page = re.sub(r'(name="csrfmiddlewaretoken"|name="item") value="[^"]*"', "", page)
        page = re.sub(r'<a class="btn" href="/verify/s\?item.*</a>', "", page)
        return re.sub(r"Message number \d|Person|Bot|\d of \d", "", page)

    assert plain(gold) == plain(usual)
    assert plain(gold).count("It is plain to see.") == 0


def test_hostile_texts_are_escaped(client, verifier, study):
    texts = ["<script>alert(1)</script>", "<img src=x onerror=alert(2)>"]
    services.open_items(make_finished(texts, study=study).pk)
    last = take(verifier, study).assignments.get(item__utterance__number=2)

    page = reach(client, last)

    assert (page.count("<script>alert"), page.count("<img")) == (0, 0)
    assert page.count("&lt;img src=x onerror=alert(2)&gt;") == 1


@pytest.mark.parametrize("whose", ["person", "study"])
def test_veiled_messages_stand_in_closed_folds(client, verifier, study, whose):
    make_items(study)
    wishing = verifier if whose == "person" else study
    wishing.veil = True
    wishing.save()
    last = take(verifier, study).assignments.get(item__utterance__number=2)

    page = reach(client, last)

    folds = re.findall(r'<details class="veil[^"]*"><summary>.*?</summary><p dir="auto">([^<]*)</p>', page)
    assert folds == ["Message number 1", "Message number 2"]
    assert page.count("Message number") == 2


def test_the_study_can_veil_chats_too(client, study):
    study.veil = True
    study.save()
    dialogue = make_dialogue(["Hello there", "Hello."], study=study)
    sign_in(client, dialogue.worker)

    page = page_of(client, f"/chats/{dialogue.pk}")

    assert re.findall(
        r'<details class="veil bubble">.*<p class="text" dir="auto">(.+)</p></details>', page
    ) == ["Hello."]


def test_when_it_was_shown_is_noted_once(client, verifier, study):
    make_items(study)
    take(verifier, study)
    client.get("/verify/s")
    before = Assignment.objects.get(shown_at__isnull=False)

    client.get("/verify/s")

    assert Assignment.objects.get(shown_at__isnull=False).shown_at == before.shown_at


@pytest.mark.parametrize("count", [2, 10])
def test_a_message_takes_the_same_queries_however_long_the_batch(
    client, verifier, study, count, django_assert_num_queries
):
    make_items(study, count)
    take(verifier, study)
    client.get("/verify/s")

    with django_assert_num_queries(15):
        client.get("/verify/s")


# -- judging ---------------------------------------------------------------------------------------------------


def test_ok_is_one_press_and_the_next_message_follows(client, verifier, study):
    make_items(study)
    assignment = first(take(verifier, study))
    client.get("/verify/s")

    response = judge(client, assignment, follow=True)

    vote = Vote.objects.get()
    page = response.content.decode()
    assert (vote.ok, vote.item, vote.verifier) == (True, assignment.item, verifier)
    assert vote.seconds >= 0
    assert response.redirect_chain == [("/verify/s#judged", 302)]
    assert page.count("1 of 2 done in this batch, 1 today. Saved as OK</p>") == 1


def test_not_ok_says_what_is_wrong(client, verifier, study):
    make_items(study)
    assignment = first(take(verifier, study))

    page = judge(
        client, assignment, "not_ok", follow=True, category=["attack", "profanity"], note="He shouts"
    ).content.decode()

    vote = Vote.objects.get()
    kinds = (vote.ok, vote.hate, vote.attack, vote.profanity, vote.other, vote.note)
    assert kinds == (False, False, True, True, False, "He shouts")
    assert page.count("Saved as not OK: personal attack, profanity") == 2


def test_not_ok_of_nothing_is_asked_again(client, verifier, study):
    make_items(study)
    assignment = first(take(verifier, study))

    response = judge(client, assignment, "not_ok", note="Hm")

    assert response.status_code == 422
    assert response.content.decode().count("Say that the message is OK, or choose what is wrong with it") == 1
    assert Vote.objects.count() == 0


@pytest.mark.parametrize(
    "values",
    [{}, {"item": "x", "vote": "ok"}, {"item": "1", "vote": "maybe"}, {"item": "1", "category": "love"}],
)
def test_what_cannot_be_read_changes_nothing(client, verifier, study, values):
    make_items(study)
    take(verifier, study)

    page = client.post("/verify/s/judge", values, follow=True).content.decode()

    assert page.count("That could not be read. Nothing changed.") == 1
    assert Vote.objects.count() == 0


def test_another_persons_message_is_not_there(client, verifier, study):
    make_items(study)
    others = first(take(make_verifier(study), study))

    assert judge(client, others).status_code == 404
    assert client.get(f"/verify/s?item={others.pk}").status_code == 404
    assert client.get("/verify/s?item=99999999999999999999999").status_code == 404
    assert client.get(f"/verify/s?item={'9' * 5000}").status_code == 404


def test_messages_still_to_come_are_not_shown_before_their_turn(client, verifier, study):
    make_items(study)
    one, two = take(verifier, study).assignments.order_by("position")

    page = page_of(client, f"/verify/s?item={two.pk}")

    assert page.count("Message number 2") == 0
    assert page.count(f'name="item" value="{one.pk}"') == 2


def test_a_message_of_another_study_is_not_there(client, verifier, study):
    other = StudyFactory(slug="t")
    studies.join(study=other, user=verifier, role="verifier")
    studies.consent(user=verifier, text=studies.current_consent(other))
    make_items(other)
    assignment = first(take(verifier, other))
    make_vote(assignment.batch)

    assert client.get(f"/verify/s?item={assignment.pk}").status_code == 404
    assert client.get(f"/verify/t?item={assignment.pk}").status_code == 200


def test_sent_twice_is_once(client, verifier, study):
    make_items(study)
    assignment = first(take(verifier, study))
    judge(client, assignment)

    response = judge(client, assignment)

    assert response.status_code == 302
    assert (Vote.objects.count(), Vote.objects.get().changes) == (1, 0)


def test_a_skipped_message_goes_to_somebody_else(client, verifier, study):
    make_items(study)
    assignment = first(take(verifier, study))

    page = judge(client, assignment, "skip", follow=True).content.decode()

    item = Item.objects.get(pk=assignment.item_id)
    assert page.count("Skipped</p>") == 1
    assert (Vote.objects.count(), item.free) == (0, item.wanted)


def test_the_last_vote_can_be_looked_at_and_changed(client, verifier, study):
    make_items(study)
    assignment = first(take(verifier, study))
    judge(client, assignment, "not_ok", category=["hate"], note="Why")

    undo = re.findall(r'href="([^"]*)" hx-get="[^"]*" aria-label="Undo', page_of(client))
    page = page_of(client, undo[0])
    after = judge(client, assignment, follow=True).content.decode()

    assert undo == [f"/verify/s?item={assignment.pk}#judged"]
    assert page.count("You said: not OK: hate speech.") == 1
    assert re.findall(r'value="(\w+)" checked', page) == ["hate"]
    assert re.findall(r'aria-label="Undo', page) == []
    assert after.count("Changed to OK") == 2
    assert (Vote.objects.get().ok, Vote.objects.get().changes) == (True, 1)


def test_a_skipped_one_can_be_judged_after_all(client, verifier, study):
    make_items(study)
    assignment = first(take(verifier, study))
    judge(client, assignment, "skip")

    page = page_of(client, f"/verify/s?item={assignment.pk}")
    judge(client, assignment)

    assert page.count("You skipped this one.") == 1
    assert Vote.objects.get().ok is True


def test_with_htmx_the_main_part_alone_comes_back(client, verifier, study):
    make_items(study)
    assignment = first(take(verifier, study))

    response = judge(client, assignment, headers=HTMX)

    page = response.content.decode()
    assert (response.status_code, response["X-Part"]) == (200, "1")
    assert (page.count("<html"), page.count('data-said="Saved as OK"')) == (0, 1)
    assert re.findall(r'id="where" hx-swap-oob="true">([^<]*)<', page) == ["2 of 2"]


def test_with_htmx_the_last_one_leads_on(client, verifier, study):
    make_items(study)
    make_plan(study, batch_size=1)
    assignment = first(take(verifier, study))

    response = judge(client, assignment, headers=HTMX)

    assert response["HX-Redirect"] == "/verify/s"
    assert page_of(client).count("That was the last of this batch. Thank you.") == 2


def test_with_htmx_a_judgement_that_is_none_brings_its_reason(client, verifier, study):
    make_items(study)
    assignment = first(take(verifier, study))

    response = judge(client, assignment, "not_ok", headers=HTMX)

    assert (response.status_code, response["X-Part"]) == (422, "1")


# -- leaving, running out, coming to the end -------------------------------------------------------------------


def test_leaving_keeps_what_is_judged_and_gives_the_rest_back(client, verifier, study):
    make_items(study, 4)
    batch = take(verifier, study)
    judge(client, first(batch))

    page = client.post("/verify/s/leave", follow=True).content.decode()

    batch.refresh_from_db()
    assert batch.end_reason == "left"
    assert page.count("<h1>You have left</h1>") == 1
    assert page.count("Your one judgement is kept. The rest went back, for somebody else.") == 1
    assert list(batch.assignments.order_by("position").values_list("state", flat=True)) == [
        "voted",
        *["returned"] * 3,
    ]


def test_leaving_twice_is_once(client, verifier, study):
    make_items(study)
    take(verifier, study)
    client.post("/verify/s/leave")

    response = client.post("/verify/s/leave", follow=True)

    assert response.content.decode().count("You had judged none of it, and nothing is lost.") == 1


def test_a_batch_that_ran_out_says_what_is_kept(client, verifier, study):
    make_items(study, 4)
    batch = take(verifier, study)
    judge(client, first(batch))
    Batch.objects.update(leased_until=timezone.now() - timedelta(minutes=1))
    batches.expire()

    page = page_of(client)

    assert page.count("<h1>Your batch ran out</h1>") == 1
    assert page.count("Your one judgement is kept.") == 1


def test_a_vote_after_that_counts_while_there_is_a_place(client, verifier, study):
    make_items(study)
    batch = take(verifier, study)
    Batch.objects.update(leased_until=timezone.now() - timedelta(minutes=1))
    batches.expire()

    page = judge(client, first(batch), follow=True).content.decode()

    assert Vote.objects.count() == 1
    assert page.count("Saved as OK") == 1


def test_and_is_told_where_others_have_filled_it(client, verifier, study):
    make_items(study)
    batch = take(verifier, study)
    Batch.objects.update(leased_until=timezone.now() - timedelta(minutes=1))
    batches.expire()
    Item.objects.update(free=0)

    page = judge(client, first(batch), follow=True).content.decode()

    assert Vote.objects.count() == 0
    assert page.count("others have judged it since") == 1


def test_a_batch_in_use_is_kept_for_longer(client, verifier, study):
    make_items(study)
    batch = take(verifier, study)
    soon = timezone.now() + timedelta(minutes=1)
    Batch.objects.update(leased_until=soon)

    response = client.post("/verify/s/renew", {"batch": batch.pk})

    batch.refresh_from_db()
    assert response.status_code == 204
    assert batch.leased_until > soon


@pytest.mark.parametrize(("which", "status"), [("ended", 409), ("others", 404), ("none", 422)])
def test_another_batch_is_not(client, verifier, study, which, status):
    make_items(study)
    batch = take(make_verifier(study) if which == "others" else verifier, study)
    if which == "ended":
        batches.give_back(verifier_id=verifier.pk, batch_id=batch.pk)

    response = client.post("/verify/s/renew", {} if which == "none" else {"batch": batch.pk})

    assert response.status_code == status


def test_the_last_of_a_batch_can_be_undone(client, verifier, study):
    make_items(study)
    make_plan(study, batch_size=1)
    assignment = first(take(verifier, study))
    judge(client, assignment)

    page = page_of(client)
    changed = judge(client, assignment, "not_ok", follow=True, category=["other"]).content.decode()

    assert re.findall(r'href="(/verify/s\?item=\d+#judged)"', page) == [
        f"/verify/s?item={assignment.pk}#judged"
    ]
    assert Vote.objects.get().other is True
    assert changed.count("Changed to not OK: other offensive") == 1


def test_when_everything_is_judged_the_page_says_so(client, verifier, study):
    make_items(study)
    for _ in range(2):
        judge(client, take(verifier, study).assignments.filter(state="held").order_by("position")[0])

    page = page_of(client)
    posted = client.post("/verify/s/take")

    assert page.count("There is nothing for you to judge at the moment.") == 1
    assert (posted.status_code, posted.content.decode().count("There is nothing for you to judge")) == (
        200,
        1,
    )


@pytest.mark.parametrize(
    "case",
    [
        ("paused", "You are paused here", "Reason: Too quick."),
        ("closed", "Verification is closed", "Verification of this study is closed."),
        ("empty", "There is nothing to verify now", "Look in again later."),
    ],
)
def test_what_hinders_is_told_in_plain_words(client, verifier, study, case):
    how, title, words = case
    if how != "empty":
        make_items(study)
    if how == "paused":
        quality.pause(study=study, verifier=verifier, reason="Too quick.")
    if how == "closed":
        make_plan(study, open=False)

    page = page_of(client)
    client.post("/verify/s/take")

    assert (page.count(f"<h1>{title}</h1>"), page.count(words)) == (1, 1)
    assert (Batch.objects.count(), page.count("/verify/s/take")) == (0, 0)


def test_a_verifier_who_falls_under_the_floor_is_told_at_once(client, verifier, study):
    make_items(study, 4)
    make_plan(study, gold_share=0.5, batch_size=2, floor_after=1)
    make_gold(study, ok=False)
    gold = take(verifier, study).assignments.get(item__kind="gold")

    page = judge(client, gold, follow=True).content.decode()

    assert Standing.objects.get().paused_at is not None
    assert page.count("You judged 0 of 1 messages with a known answer as expected") == 1


def test_support_and_the_warning_are_on_every_page(client, verifier, study):
    make_items(study)
    between = page_of(client)
    take(verifier, study)
    judging = page_of(client)

    for page in (between, judging, page_of(client, "/verify/s/break")):
        assert page.count('href="/support?study=s#warning"') == 1


# -- breaks ----------------------------------------------------------------------------------------------------


def upset(client, verifier, study, **plan):
    """Votes once for not OK where that is the limit."""
    make_items(study, 4)
    make_plan(study, soft_limit=1, **plan)
    return judge(client, first(take(verifier, study)), "not_ok", follow=True, category=["hate"])


def test_a_break_is_suggested(client, verifier, study):
    page = upset(client, verifier, study).content.decode()

    assert page.count("You have read 1 upsetting message. A short break helps.") == 1
    assert page.count('name="vote" value="ok"') == 1


def test_who_takes_it_is_not_asked_again(client, verifier, study):
    upset(client, verifier, study)

    kept = client.post("/verify/s/break", follow=True).content.decode()
    page = page_of(client)

    assert kept.count("Your place is kept until") == 1
    assert page.count("A short break helps.") == 0
    assert page.count('name="vote" value="ok"') == 1


def test_a_binding_break_has_to_be_taken(client, verifier, study):
    page = upset(client, verifier, study, break_binding=True, break_minutes=10).content.decode()

    assert page.count("<h1>Time for a break</h1>") == 1
    assert page.count("Message number") == 0
    assert re.findall(r'data-seconds="(\d+)"', page)[0] in ("599", "600")


def test_with_htmx_a_binding_break_is_a_page_of_its_own(client, verifier, study):
    make_items(study, 4)
    make_plan(study, soft_limit=1, break_binding=True)
    assignment = first(take(verifier, study))

    response = judge(client, assignment, "not_ok", category=["hate"], headers=HTMX)

    assert response["HX-Redirect"] == "/verify/s"


def test_after_it_one_goes_on(client, verifier, study):
    upset(client, verifier, study, break_binding=True)
    Break.objects.update(until=timezone.now() - timedelta(seconds=1))

    assert page_of(client).count('name="vote" value="ok"') == 1


def test_a_worker_on_a_binding_break_starts_no_chat_and_reads_why(client, study):
    worker = sign_in(client, make_worker(study))
    now = timezone.now()
    Break.objects.create(
        study=study, user=worker, at=now, until=now + timedelta(minutes=5), binding=True, upsetting=9
    )

    page = page_of(client, "/")
    client.post("/studies/s/start")

    assert page.count("Time for a break: you have read a lot that upsets. Come back in 5 minutes.") == 1
    assert Dialogue.objects.count() == 0


def test_a_worker_is_told_of_a_break_that_helps(client, study):
    worker = sign_in(client, make_worker(study))
    now = timezone.now()
    Break.objects.create(study=study, user=worker, at=now, until=now + timedelta(minutes=5), upsetting=9)

    page = page_of(client, "/")

    assert page.count("You have read 9 upsetting messages. A short break helps") == 1
    assert page.count("Start a chat") == 1


# -- the test --------------------------------------------------------------------------------------------------


@pytest.fixture
def tested(study):
    """The study with a test of two questions, one of them not OK, both to be got right."""
    make_items(study)
    make_plan(study, test=True, pass_mark=1.0)
    return [
        make_gold(study, ok=True, kind="test", text="Have a nice day."),
        make_gold(study, ok=False, kind="test", text="Get lost.", why="It sends somebody away."),
    ]


def answer(client, right):
    """Answers the question that is open, rightly or not; gives the page that explains it."""
    attempt = Attempt.objects.get(finished_at=None)
    item = Item.objects.get(pk=next(pk for pk in attempt.questions if str(pk) not in attempt.answers))
    ok = item.ok if right else not item.ok
    values = {"attempt": attempt.pk, "item": item.pk, "vote": "ok" if ok else "not_ok"}
    values["category"] = [] if ok else ["attack"]
    return item, client.post("/verify/s/test/answer", values, follow=True).content.decode()


def test_the_test_comes_before_the_first_batch(client, verifier, tested):
    response = client.get("/verify/s", follow=True)
    client.post("/verify/s/take")

    assert response.redirect_chain == [("/verify/s/test", 302)]
    assert response.content.decode().count("<h1>A short test first</h1>") == 1
    assert Batch.objects.count() == 0


def test_each_answer_is_explained(client, verifier, tested):
    client.post("/verify/s/test/start")

    question = page_of(client, "/verify/s/test")
    item, page = answer(client, right=False)

    assert question.count(item.why) == 0
    assert page.count("Not as expected") == 1
    assert page.count(item.why) == 1
    assert page.count("Next question") == 1


def test_who_passes_goes_on_to_the_messages(client, verifier, tested):
    client.post("/verify/s/test/start")
    for _ in tested:
        answer(client, right=True)

    page = page_of(client, "/verify/s/test")
    client.post("/verify/s/take")

    assert page.count("<h1>You have passed the test</h1>") == 1
    assert page.count("2 of 2 answers were as expected") == 1
    assert Batch.objects.count() == 1


def test_who_does_not_may_try_once_more_and_is_then_told_plainly(client, verifier, tested):
    pages = []
    for _ in range(2):
        client.post("/verify/s/test/start")
        answer(client, right=True)
        answer(client, right=False)
        pages.append(page_of(client, "/verify/s/test"))
    client.post("/verify/s/test/start")

    assert [re.findall(r"<h1>(.*)</h1>", page) for page in pages] == [
        ["Not passed yet"],
        ["The test is not passed"],
    ]
    assert pages[0].count("1 of 2 answers were as expected; this study asks for 100 percent.") == 1
    assert Attempt.objects.count() == 2


def test_an_answer_of_nothing_is_asked_again(client, verifier, tested):
    client.post("/verify/s/test/start")
    attempt = Attempt.objects.get()
    values = {"attempt": attempt.pk, "item": attempt.questions[0], "vote": "not_ok"}

    response = client.post("/verify/s/test/answer", values)

    assert response.status_code == 422
    assert response.content.decode().count("Say that it is OK, or choose what is wrong with it.") == 1


def test_an_answer_is_explained_to_nobody_who_has_not_given_one(client, verifier, tested):
    client.post("/verify/s/test/start")

    page = page_of(client, f"/verify/s/test?answered={tested[1].pk}")

    assert page.count(tested[1].why) == 0


def test_where_no_test_is_asked_for_its_page_leads_on(client, verifier, study):
    assert client.get("/verify/s/test").url == "/verify/s"


# -- what one would rather not read ----------------------------------------------------------------------------


def test_kinds_of_harm_are_chosen_on_the_account_page(client, verifier):
    client.post("/account", {"theme": "", "avoid": ["1", "16"], "veil": "on"})

    me = User.objects.get(pk=verifier.pk)
    page = page_of(client, "/account")
    assert (me.avoid, me.veil) == (17, True)
    assert re.findall(r'name="avoid" value="(\d+)"[^>]* checked', page) == ["1", "16"]


def test_a_kind_that_is_not_listed_is_refused(client, verifier):
    response = client.post("/account", {"theme": "", "avoid": ["3"]})

    assert response.status_code == 422
    assert User.objects.get(pk=verifier.pk).avoid == 0


# -- scripts ---------------------------------------------------------------------------------------------------


@pytest.fixture
def script(client, study):
    """Posts to the REST interface as a verifier of the study, by token."""
    verifier = make_verifier(study)
    key = make_token(user=verifier, name="test")[1]

    def post(url, body=None):
        return client.post(
            f"/api/v1{url}",
            body or {},
            content_type="application/json",
            headers={"Authorization": f"Bearer {key}"},
        )

    post.verifier = verifier
    return post


def test_a_script_gets_a_batch_with_the_same_hiding(script, study):
    make_items(study, 4, persona=["i like tea."])
    make_plan(study, batch_size=3)

    body = script("/studies/s/batches").json()

    item = max(body["items"], key=lambda row: len(row["context"]))
    told = [row["text"] for row in item["context"]] + [item["text"]]
    assert (body["study"], body["open"], len(body["items"])) == ("s", True, 3)
    assert sorted(item) == ["assignment", "context", "position", "speaker", "state", "text"]
    assert told == [f"Message number {number}" for number in range(1, len(told) + 1)]
    assert Assignment.objects.filter(shown_at=None).count() == 0


def test_a_script_votes_skips_and_gives_back(script, study):
    make_items(study, 4)
    batch = script("/studies/s/batches").json()
    one, two = (row["assignment"] for row in batch["items"][:2])

    voted = script(f"/assignments/{one}/vote", {"ok": False, "categories": ["hate"], "note": "Hm"})
    skipped = script(f"/assignments/{two}/skip")
    kept = script(f"/batches/{batch['id']}/renew")
    back = script(f"/batches/{batch['id']}/give-back")

    assert voted.json() == {"ok": False, "categories": ["hate"], "note": "Hm", "changes": 0}
    assert skipped.json() == {"state": "skipped"}
    assert kept.status_code == 200
    assert (back.json()["open"], [row["state"] for row in back.json()["items"]]) == (
        False,
        ["voted", "skipped"],
    )


def test_a_batch_kept_during_a_binding_break_is_not_shown(script, study):
    make_plan(study, soft_limit=1, break_binding=True)
    make_items(study, 4)
    batch = take(script.verifier, study)
    make_vote(batch, ok=False)
    Batch.objects.update(leased_until=timezone.now())

    answer = script(f"/batches/{batch.pk}/renew")

    assert (answer.status_code, answer.json()["error"]) == (409, "on_break")
    assert Batch.objects.get().leased_until > timezone.now() + timedelta(minutes=1)
    assert not Assignment.objects.filter(shown_at__isnull=False).exists()


def test_a_script_is_refused_with_codes(script, study):
    make_items(study)
    others = first(take(make_verifier(study), study))
    mine = script("/studies/s/batches").json()["items"][0]["assignment"]

    answers = [
        script("/studies/other/batches"),
        script(f"/assignments/{others.pk}/vote", {"ok": True}),
        script(f"/assignments/{others.pk}/skip"),
        script(f"/batches/{others.batch_id}/give-back"),
        script(f"/batches/{others.batch_id}/renew"),
        script(f"/assignments/{mine}/vote", {"ok": True, "categories": ["hate"]}),
        script(f"/assignments/{mine}/vote", {"ok": False, "categories": ["love"]}),
    ]

    assert [(row.status_code, row.json()["error"]) for row in answers] == [
        (404, "no_such_study"),
        *[(404, "not_yours")] * 4,
        (422, "bad_vote"),
        (422, "invalid"),
    ]


def test_a_script_without_a_role_finds_no_study(script, study):
    Membership.objects.filter(user=script.verifier).delete()

    assert script("/studies/s/batches").status_code == 404


@pytest.mark.parametrize("count", [1, 3])
def test_a_batch_takes_the_same_queries_however_many_chats(script, study, count, django_assert_num_queries):
    for _ in range(count):
        make_items(study)
    make_plan(study, batch_size=2 * count)
    script("/studies/s/batches")

    with django_assert_num_queries(19):
        script("/studies/s/batches")
