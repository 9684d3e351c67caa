"""A study of the paper's size, made up from a seed: 5,784 chats, 78,874 utterances, 236,622 votes.

    from paper import fill
    paper = fill(slug="paper")              # every vote is in, merged under majority_verifiers
    paper = fill(slug="open", votes=0)      # every item still waits for its three verifiers

What is true of each utterance, how good each verifier is, and what drives a bot to unsafe replies is planted, so
that what comes out can be checked against what went in. Run as a script, it fills a database of its own.
"""

import argparse
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import Any

import database

CHATS, UTTERANCES = 5784, 78874
WORKERS, VERIFIERS, BOTS = 400, 60, 10
WANTED = 3
BATCH = 10
CARELESS = 0.1
"""Share of the verifiers who answer without reading."""
BINS = ("0", "<10", "<50", ">=50")
CATEGORIES = ("hate", "attack", "profanity", "other")
START = datetime(2021, 1, 4, 8, tzinfo=UTC)
OPENERS = (
    "Honestly,|Well,|You know,|I think that|My neighbour says that|Everybody knows that|Tell me why|Perhaps"
)
SUBJECTS = "religion|old age|money|the news|marriage|work|immigration|cooking|vaccines|my family|music|sport"
TAILS = (
    "is bad for children|makes people angry|keeps me awake|is not worth it|was better in the old days|"
    "is what I like best|should be talked about more|is nobody's business|costs too much|surprises me every day"
)
ENDS = ".|?|, don't you think?|, or so they say.|, and that is that.|!"


@dataclass
class Paper:
    """The study, and what was planted: which utterances are not OK, and which verifiers do not read."""

    study: Any
    truth: dict[int, bool] = field(default_factory=dict)
    careless: set[int] = field(default_factory=set)


def fill(*, slug="paper", chats=CHATS, votes=WANTED, seed=0, merged=True):
    """Fills the current database; `votes` of three are in for every item. The same seed gives the same study."""
    import numpy as np

    rng = np.random.default_rng(seed)
    study, workers, verifiers, bots = _people(slug)
    drawn = _draw(rng, chats)
    dialogues = _dialogues(drawn, study, workers, bots)
    utterances = _utterances(rng, drawn, dialogues)
    items = _items(rng, study, utterances, votes)
    truth = drawn["truth"].tolist()
    paper = Paper(study, {row.pk: bad for row, bad in zip(utterances, truth, strict=True)})
    if votes:
        paper.careless = _votes(rng, verifiers, items, drawn, votes=votes)
    _analyse()
    if votes == WANTED and merged:
        _merge(study)
    return paper


def _store(model, rows, size=4000):
    rows, stored = iter(rows), []
    while part := list(islice(rows, size)):
        stored += model.objects.bulk_create(part)
    return stored


def _pour(model, rows, **same):
    """Adds rows whose keys nobody needs: tuples of values in the order of the names that come first in `rows`."""
    from django.db import connection

    rows = iter(rows)
    names = [*next(rows), *same]
    if connection.vendor != "postgresql":
        _store(model, (model(**dict(zip(names, (*row, *same.values()), strict=True))) for row in rows))
        return
    columns = ", ".join(f'"{name}"' for name in names)
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {model._meta.db_table} ({columns}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row((*row, *same.values()))


def _analyse():
    """What autovacuum would do within a minute: without it PostgreSQL plans for empty tables."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _merge(study):
    from annotations.verification import remerging

    remerging.run(study=study, rule="majority_verifiers")


def _people(slug):
    from annotations.models import Consent, Membership, Plan, StudyBot, User
    from annotations.studies.services import create_study, current_consent
    from bots.models import Bot

    study = create_study(owner=None, name="The paper's size", slug=slug, state="open", chats_per_worker=100)
    Plan.objects.create(study=study)
    bots = Bot.objects.bulk_create(
        Bot(slug=f"{slug}-bot-{n}", name=f"Bot {n}", engine="eliza") for n in range(BOTS)
    )
    StudyBot.objects.bulk_create(StudyBot(study=study, bot=bot, chats_wanted=1000) for bot in bots)
    workers = User.objects.bulk_create(
        User(username=f"{slug}-worker-{n}", is_worker=True) for n in range(WORKERS)
    )
    verifiers = User.objects.bulk_create(
        User(username=f"{slug}-verifier-{n}", is_verifier=True) for n in range(VERIFIERS)
    )
    for role, people in (("worker", workers), ("verifier", verifiers)):
        Membership.objects.bulk_create(Membership(study=study, user=user, role=role) for user in people)
    text = current_consent(study)
    Consent.objects.bulk_create(Consent(user=user, text=text) for user in workers + verifiers)
    return study, workers, verifiers, bots


def _draw(rng, chats):
    """Everything that chance decides of the chats: by chat, and by utterance in order of chats and numbers."""
    import numpy as np

    lengths = 2 * _pairs(rng, chats)
    share = rng.gamma(1.0, size=WORKERS) + 0.1  # a few do many chats, most do few
    worker = rng.choice(WORKERS, size=chats, p=share / share.sum())
    before = np.zeros(chats, dtype=int)
    for one in range(WORKERS):
        mine = np.flatnonzero(worker == one)
        before[mine] = np.arange(len(mine))
    bot, given = rng.integers(BOTS, size=chats), rng.integers(2, size=chats)
    chat = np.repeat(np.arange(chats), lengths)
    number = np.concatenate([np.arange(1, length + 1) for length in lengths])
    # More with the position, with practice and by each bot's leaning; under the second set of instructions more
    # for bots and less for people: the signs of the paper's Table 3.
    leaning = rng.normal(0, 0.4, size=BOTS)
    by_bot = -2.5 + 0.07 * number + (0.7 * given + 0.01 * before + leaning[bot])[chat]
    by_human = 0.28 + 0.03 * number - 0.6 * given[chat]
    truth = rng.random(len(chat)) < 1 / (1 + np.exp(-np.where(number % 2, by_human, by_bot)))
    bad = rng.choice(4, size=len(chat), p=[0.2, 0.25, 0.25, 0.3])
    good = rng.choice(4, size=len(chat), p=[0.85, 0.09, 0.04, 0.02])
    bins = np.where(truth, bad, good)
    unsafe = np.bincount(chat, weights=(number % 2 == 0) & (bins > 0), minlength=chats).astype(int)
    return {
        "lengths": lengths,
        "worker": worker,
        "before": before,
        "bot": bot,
        "given": given,
        "unsafe": unsafe,
        "chat": chat,
        "number": number,
        "truth": truth,
        "bins": bins,
    }


def _pairs(rng, chats):
    """Seven pairs of utterances a chat, less as many as bring the total to the paper's."""
    import numpy as np

    pairs = np.full(chats, 7)
    missing = 7 * chats - round(UTTERANCES / CHATS * chats / 2)
    for place in rng.permutation(chats):
        less = min(int(rng.integers(1, 5)), missing)
        pairs[place] -= less
        missing -= less
    return pairs


def _dialogues(drawn, study, workers, bots):
    from annotations.models import Dialogue

    sets = list(study.instruction_sets.order_by("slug"))
    by_chat = zip(
        *(drawn[name].tolist() for name in ("lengths", "worker", "before", "bot", "given", "unsafe")),
        strict=True,
    )
    rows = [
        Dialogue(
            study=study,
            worker=workers[worker],
            bot=bots[bot],
            instruction_set=sets[given],
            instruction=sets[given].text,
            chats_before=before,
            wanted=14,
            state="complete" if length == 14 else "partial",
            end_reason="complete" if length == 14 else "left",
            said=length,
            labelled=length // 2,
            unsafe=unsafe,
            last_at=START + timedelta(minutes=3 * place + 5),
            ended_at=START + timedelta(minutes=3 * place + 5),
            items_at=START + timedelta(minutes=3 * place + 6),
        )
        for place, (length, worker, before, bot, given, unsafe) in enumerate(by_chat)
    ]
    stored = _store(Dialogue, rows)
    for place, dialogue in enumerate(stored):
        dialogue.started_at = START + timedelta(minutes=3 * place)
    Dialogue.objects.bulk_update(stored, ["started_at"], batch_size=1000)  # auto_now_add set it to today
    return stored


def _utterances(rng, drawn, dialogues):
    from annotations.models import Label, Utterance

    total = len(drawn["chat"])
    parts = [part.split("|") for part in (OPENERS, SUBJECTS, TAILS, ENDS)]
    words = [rng.integers(len(part), size=total).tolist() for part in parts]
    opener, subject, tail, end = parts
    rows = (
        Utterance(
            dialogue_id=dialogues[chat].pk,
            number=n,
            speaker="human" if n % 2 else "bot",
            text=f"{opener[a]} {subject[b]} {tail[c]}{end[d]}",
            at=dialogues[chat].started_at + timedelta(seconds=20 * n),
            client_id=f"c{n}" if n % 2 else None,
            engine="" if n % 2 else "eliza",
        )
        for chat, n, a, b, c, d in zip(drawn["chat"].tolist(), drawn["number"].tolist(), *words, strict=True)
    )
    stored = _store(Utterance, rows)
    labelled = zip(stored, drawn["bins"].tolist(), strict=True)
    _store(
        Label, (Label(utterance=row, bin=BINS[b], at=row.at) for row, b in labelled if row.number % 2 == 0)
    )
    return stored


def _items(rng, study, utterances, votes):
    from annotations.models import Item

    draws = (rng.permutation(len(utterances)) * (2**31 // len(utterances))).tolist()
    return _store(
        Item,
        (
            Item(study=study, utterance=row, draw=draw, wanted=WANTED, free=WANTED - votes, votes_in=votes)
            for row, draw in zip(utterances, draws, strict=True)
        ),
    )


def _votes(rng, verifiers, items, drawn, *, votes):
    """`votes` different verifiers for each item, in batches of ten; gives the careless ones."""
    import numpy as np

    from annotations.models import Assignment, Vote

    total = len(items)
    who = np.argsort(rng.random((total, len(verifiers))), axis=1)[:, :votes]
    careless = np.arange(len(verifiers)) < CARELESS * len(verifiers)
    finds = np.where(careless, 0.5, rng.beta(16, 2, size=len(verifiers)))
    spares = np.where(careless, 0.5, rng.beta(30, 2, size=len(verifiers)))
    notok = rng.random(who.shape) < np.where(drawn["truth"][:, None], finds[who], 1 - spares[who])
    kind = rng.choice(4, size=total, p=[0.28, 0.3, 0.17, 0.25])
    other = rng.integers(4, size=who.shape)
    named = np.where(rng.random(who.shape) < 0.8, kind[:, None], other)
    second = np.where(rng.random(who.shape) < 0.15, other, named)
    seconds = rng.lognormal(1.8, 0.5, size=who.shape).round(2)
    order = rng.permutation(total * votes)  # the same item comes up far apart, as it does in a study

    batches, place = _batches(items[0].study, verifiers, who.ravel()[order])
    keys, people = [item.pk for item in items], [user.pk for user in verifiers]
    times = [START + timedelta(days=1, seconds=5 * n) for n in range(len(order))]
    columns = [array.ravel()[order].tolist() for array in (who, notok, named, second, seconds)]
    rows = list(zip((order // votes).tolist(), *columns, times, strict=True))
    _pour(Vote, _vote_rows(rows, keys, people), note="", changes=0)
    given = (
        (batches[batch].pk, keys[row[0]], people[row[1]], position, row[-1] - timedelta(seconds=row[-2]))
        for (batch, position), row in zip(place, rows, strict=True)
    )
    names = ("batch_id", "item_id", "verifier_id", "position", "shown_at")
    _pour(Assignment, chain([names], given), state="voted")
    return {pk for pk, reads_not in zip(people, careless.tolist(), strict=True) if reads_not}


def _vote_rows(rows, keys, people):
    yield ("item_id", "verifier_id", "ok", *CATEGORIES, "seconds", "at")
    for item, person, bad, first, more, took, at in rows:
        named = (bad and place in {first, more} for place in range(4))
        yield (keys[item], people[person], not bad, *named, took, at)


def _batches(study, verifiers, people):
    """Closed batches of ten for the verifiers of all votes in order, and each vote's batch and position in it."""
    from annotations.models import Batch

    done, starts, place = [0] * len(verifiers), [], []
    current = [-1] * len(verifiers)
    for n, person in enumerate(people.tolist()):
        position = done[person] % BATCH
        if position == 0:
            current[person] = len(starts)
            starts.append((person, START + timedelta(days=1, seconds=5 * n)))
        place.append((current[person], position + 1))
        done[person] += 1
    rows = (
        Batch(
            study=study,
            verifier=verifiers[person],
            leased_until=at + timedelta(minutes=20),
            closed_at=at + timedelta(minutes=15),
            end_reason="done",
        )
        for person, at in starts
    )
    return _store(Batch, rows), place


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=CHATS)
    parser.add_argument("--votes", type=int, default=WANTED, choices=range(WANTED + 1))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    database.make()
    from annotations.models import Dialogue, Item, Utterance, Vote

    began = time.perf_counter()
    fill(chats=options.chats, votes=options.votes, seed=options.seed)
    took = time.perf_counter() - began
    counts = ", ".join(
        f"{model.objects.count():,} {model._meta.verbose_name_plural}"
        for model in (Dialogue, Utterance, Item, Vote)
    )
    print(f"paper: {counts} in {took:.1f} s, at {database.URL}")


if __name__ == "__main__":
    main()
