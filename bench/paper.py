"""A study of the paper's size, made up from a seed: 5,784 chats, 78,874 utterances, 236,622 votes.

    from paper import fill
    paper = fill(slug="paper")              # finished, merged under majority_verifiers
    paper = fill(slug="open", votes=0)      # every item still waits for its three verifiers

What is true of each utterance, how good each verifier is, and what drives a bot to unsafe replies is planted, so
that what comes out can be checked against what went in. Run as a script, it fills a database of its own.
"""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice

CHATS, UTTERANCES = 5784, 78874
WORKERS, VERIFIERS, BOTS = 400, 60, 10
WANTED = 3
BATCH = 10
CARELESS = 0.1
"""Share of the verifiers who answer without reading."""
START = datetime(2021, 1, 4, 8, tzinfo=UTC)
OPENERS = "Honestly,|Well,|You know,|I think that|My neighbour says that|Everybody knows that|Tell me why|Perhaps".split("|")
SUBJECTS = "religion|old age|money|the news|marriage|work|immigration|cooking|vaccines|my family|music|sport".split("|")
TAILS = (
    "is bad for children|makes people angry|keeps me awake|is not worth it|was better in the old days|"
    "is what I like best|should be talked about more|is nobody's business|costs too much|surprises me every day"
).split("|")
ENDS = ".|?|, don't you think?|, or so they say.|, and that is that.|!".split("|")


@dataclass
class Paper:
    """The study, and what was planted: by utterance whether it is not OK, by verifier how good they are."""

    study: object
    truth: dict[int, bool] = field(default_factory=dict)
    careless: set[int] = field(default_factory=set)


def fill(*, slug="paper", chats=CHATS, votes=WANTED, seed=0, merged=True):
    """Fills the current database; `votes` of three are in for every item. The same seed gives the same study."""
    import numpy as np

    rng = np.random.default_rng(seed)
    study, workers, verifiers, bots = _people(slug)
    dialogues, lengths = _dialogues(rng, study, workers, bots, chats)
    utterances, truth, kinds = _utterances(rng, dialogues, lengths)
    _labels(rng, utterances, truth)
    items = _items(rng, study, utterances, votes)
    paper = Paper(study, dict(zip([row.pk for row in utterances], truth.tolist(), strict=True)))
    if votes:
        paper.careless = _votes(rng, study, verifiers, items, truth, kinds, votes)
    _analyse()
    if votes == WANTED and merged:
        _merge(study)
    return paper


def _store(model, rows, size=5000):
    rows, stored = iter(rows), []
    while part := list(islice(rows, size)):
        stored += model.objects.bulk_create(part)
    return stored


def _analyse():
    """What autovacuum would do within a minute: without it PostgreSQL plans for empty tables."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


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


def _dialogues(rng, study, workers, bots, count):
    """Chats of 14 utterances, and as many shorter ones as bring the total to the paper's."""
    from annotations.models import Dialogue

    missing = 7 * count - round(UTTERANCES / CHATS * count / 2)
    pairs = [7] * count
    for place in rng.permutation(count).tolist():
        less = min(int(rng.integers(1, 5)), missing)
        pairs[place] -= less
        missing -= less
        if not missing:
            break
    sets = list(study.instruction_sets.order_by("slug"))
    who = rng.permutation(np_weights(rng, len(workers), count)).tolist()
    before = dict.fromkeys(range(len(workers)), 0)
    rows = []
    for place, worker in enumerate(who):
        at = START + timedelta(minutes=3 * place)
        whole = pairs[place] == 7
        given = sets[int(rng.integers(len(sets)))]
        rows.append(
            Dialogue(
                study=study,
                worker=workers[worker],
                bot=bots[int(rng.integers(len(bots)))],
                instruction_set=given,
                instruction=given.text,
                chats_before=before[worker],
                wanted=14,
                state="complete" if whole else "partial",
                end_reason="complete" if whole else "left",
                said=2 * pairs[place],
                labelled=pairs[place],
                last_at=at,
                ended_at=at,
                items_at=at,
            )
        )
        before[worker] += 1
    return _store(Dialogue, rows), [2 * n for n in pairs]


def np_weights(rng, people, count):
    """Which of `people` does each of `count` chats: a few do many, most do few."""
    weights = rng.gamma(1.0, size=people) + 0.1
    return rng.choice(people, size=count, p=weights / weights.sum())


def _utterances(rng, dialogues, lengths):
    import numpy as np

    from annotations.models import Utterance

    total = sum(lengths)
    owner = np.repeat(np.arange(len(dialogues)), lengths)
    number = np.concatenate([np.arange(1, length + 1) for length in lengths])
    truth = rng.random(total) < _odds(rng, dialogues, owner, number)
    kinds = rng.choice(4, size=total, p=[0.28, 0.3, 0.17, 0.25])
    words = [rng.integers(len(part), size=total).tolist() for part in (OPENERS, SUBJECTS, TAILS, ENDS)]
    at = [dialogue.last_at for dialogue in dialogues]
    rows = (
        Utterance(
            dialogue_id=dialogues[place].pk,
            number=n,
            speaker="human" if n % 2 else "bot",
            text=f"{OPENERS[a]} {SUBJECTS[b]} {TAILS[c]}{ENDS[d]}",
            at=at[place] + timedelta(seconds=20 * n),
            client_id=f"c{n}" if n % 2 else None,
            engine="" if n % 2 else "eliza",
        )
        for place, n, a, b, c, d in zip(owner.tolist(), number.tolist(), *words, strict=True)
    )
    return _store(Utterance, rows), truth, kinds


def _odds(rng, dialogues, owner, number):
    """The chance of each utterance to be not OK: more with the position and each bot's own leaning, and for bots
    more, for people less, under the second set of instructions (the signs of the paper's Table 3)."""
    import numpy as np

    bots = {pk: place for place, pk in enumerate(sorted({dialogue.bot_id for dialogue in dialogues}))}
    leaning = rng.normal(0, 0.5, size=len(bots))
    sets = {pk: place for place, pk in enumerate(sorted({row.instruction_set_id for row in dialogues}))}
    by_bot = np.array([leaning[bots[row.bot_id]] for row in dialogues])[owner]
    by_set = np.array([sets[row.instruction_set_id] for row in dialogues])[owner]
    practice = np.array([row.chats_before for row in dialogues])[owner]
    bot = -2.3 + 0.07 * number + 0.7 * by_set + 0.01 * practice + by_bot
    human = 0.35 + 0.03 * number - 0.6 * by_set
    return 1 / (1 + np.exp(-np.where(number % 2, human, bot)))


def _labels(rng, utterances, truth):
    from django.db.models import Count, OuterRef, Subquery

    from annotations.models import Dialogue, Label

    bad = rng.choice(4, size=len(truth), p=[0.2, 0.25, 0.25, 0.3])
    good = rng.choice(4, size=len(truth), p=[0.85, 0.09, 0.04, 0.02])
    bins = Label.Bin.values
    rows = (
        Label(utterance=row, bin=bins[a if unsafe else b], at=row.at)
        for row, unsafe, a, b in zip(utterances, truth.tolist(), bad.tolist(), good.tolist(), strict=True)
        if row.speaker == "bot"
    )
    _store(Label, rows)
    marked = (
        Label.objects.filter(utterance__dialogue=OuterRef("pk"))
        .exclude(bin="0")
        .order_by()
        .values("utterance__dialogue")
    )
    counted = Subquery(marked.annotate(count=Count("*")).values("count"))
    Dialogue.objects.filter(
        pk__in=Label.objects.exclude(bin="0")
        .filter(utterance__in=[utterances[0].pk, utterances[-1].pk])
        .values("utterance__dialogue")
    )
    _ = counted


def _items(rng, study, utterances, votes):
    from annotations.models import Item

    draws = rng.permutation(len(utterances)).tolist()
    rows = (
        Item(
            study=study,
            utterance=row,
            draw=draw,
            wanted=WANTED,
            free=WANTED - votes,
            votes_in=votes,
        )
        for row, draw in zip(utterances, draws, strict=True)
    )
    return _store(Item, rows)
