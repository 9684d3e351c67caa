"""Verifiers on a study of 236,622 open items: pulling a batch, 200 racing for theirs, votes a second of 20."""

import argparse
import multiprocessing
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import database
from paper import CHATS, VERIFIERS, fill

SLUG = "open"


def percentile(values, share):
    ordered = sorted(values)
    return 1000 * ordered[min(len(ordered) - 1, int(share / 100 * len(ordered)))]


def hire(count):
    """That many verifiers of the study, those of the generator first."""
    from annotations.models import Consent, Membership, Study, User
    from annotations.studies.services import current_consent

    study = Study.objects.get(slug=SLUG)
    more = User.objects.bulk_create(
        User(username=f"{SLUG}-more-{n}", is_verifier=True) for n in range(count - VERIFIERS)
    )
    Membership.objects.bulk_create(Membership(study=study, user=user, role="verifier") for user in more)
    Consent.objects.bulk_create(Consent(user=user, text=current_consent(study)) for user in more)
    return list(User.objects.filter(memberships__study=study, memberships__role="verifier")[:count])


def pull(verifiers):
    """Seconds each takes to be given a batch, one after the other; all is given back."""
    from annotations.verification import batches

    seconds = []
    for verifier in verifiers:
        began = time.perf_counter()
        batch = batches.take(verifier=verifier, slug=SLUG)
        seconds.append(time.perf_counter() - began)
        batches.give_back(verifier_id=verifier.pk, batch_id=batch.pk)
    return seconds


def seasoned(verifier, count=20_000):
    """Has the verifier judge that many items, as rows."""
    from annotations.models import Assignment, Batch, Item

    Assignment.objects.filter(verifier=verifier).delete()
    keys = list(Item.objects.order_by("draw").values_list("pk", flat=True)[:count])
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    batch = Batch.objects.create(
        study_id=Item.objects.get(pk=keys[0]).study_id,
        verifier=verifier,
        leased_until=now,
        closed_at=now,
        end_reason="done",
    )
    rows = (
        Assignment(batch=batch, item_id=key, verifier=verifier, position=n, state="voted")
        for n, key in enumerate(keys)
    )
    Assignment.objects.bulk_create(rows, batch_size=4000)


def race(verifiers):
    """Seconds each waits for a batch where all ask at the same moment, and until the last has one."""
    from django.db import connection

    from annotations.verification import batches

    gate = threading.Barrier(len(verifiers) + 1)

    def run(verifier):
        gate.wait()
        began = time.perf_counter()
        try:
            batches.take(verifier=verifier, slug=SLUG)
        finally:
            connection.close()
        return time.perf_counter() - began

    with ThreadPoolExecutor(len(verifiers)) as pool:
        answers = [pool.submit(run, verifier) for verifier in verifiers]
        gate.wait()
        began = time.perf_counter()
        return [answer.result() for answer in answers], time.perf_counter() - began


def judge(keys, seconds, results):
    """A process of verifiers, each in a thread, who take, see and vote without a pause. Adds votes and latencies."""
    import django

    os.environ["DATABASE_URL"] = database.URL
    django.setup()
    from django.db import connection

    from annotations.models import User
    from annotations.verification import batches

    until = time.perf_counter() + seconds

    def run(verifier):
        took = []
        number = 0
        while time.perf_counter() < until:
            batch = batches.take(verifier=verifier, slug=SLUG)
            for row in batch.assignments.filter(state="held"):
                number += 1
                ok = number % 3 > 0
                batches.show(verifier_id=verifier.pk, assignment_id=row.pk)
                began = time.perf_counter()
                batches.vote(
                    verifier_id=verifier.pk,
                    assignment_id=row.pk,
                    ok=ok,
                    categories=() if ok else ("attack",),
                )
                took.append(time.perf_counter() - began)
        connection.close()
        return took

    people = list(User.objects.filter(pk__in=keys))
    with ThreadPoolExecutor(len(people)) as pool:
        results.put([value for took in pool.map(run, people) for value in took])


def votes_a_second(verifiers, seconds, processes):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    keys = [verifier.pk for verifier in verifiers]
    running = [
        context.Process(target=judge, args=(keys[n::processes], seconds, results)) for n in range(processes)
    ]
    for process in running:
        process.start()
    took = [value for _ in running for value in results.get()]
    for process in running:
        process.join()
    return len(took) / seconds, took


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=3 * CHATS)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    database.make()
    fill(slug=SLUG, chats=options.chats, votes=0)
    from annotations.models import Item, Plan

    Plan.objects.update(soft_limit=0)
    verifiers = hire(220)
    print(f"verifying: {Item.objects.count():,} open items in one study")
    seconds = pull(verifiers[:60])
    print(
        f"{'a batch':>24}: p50 {percentile(seconds, 50):5.1f} ms  p95 {percentile(seconds, 95):5.1f} ms (aim 20)"
    )
    seasoned(verifiers[0])
    seconds = pull(verifiers[:1] * 30)
    print(
        f"{'after 20,000 items':>24}: p50 {percentile(seconds, 50):5.1f} ms  p95 {percentile(seconds, 95):5.1f} ms"
    )
    seconds, whole = race(verifiers[20:])
    print(
        f"{'200 racing':>24}: {len(seconds) / whole:5.0f} batches/s  p50 {percentile(seconds, 50):5.0f} ms"
        f"  p95 {percentile(seconds, 95):5.0f} ms  all within {whole:.1f} s"
    )
    rate, took = votes_a_second(verifiers[:20], options.seconds, options.processes)
    print(
        f"{'20 verifiers':>24}: {rate:5.0f} votes/s (aim 300)  p50 {percentile(took, 50):5.1f} ms"
        f"  p95 {percentile(took, 95):5.1f} ms"
    )


if __name__ == "__main__":
    main()
