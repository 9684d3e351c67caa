"""Every page of the console on a study of the paper's size: time on the server, and of it in the database. Aim: 300 ms."""

import argparse
import sys
import time
from statistics import median

import database
from paper import fill

AIM = 300


def pages(study):
    """The addresses of every page of the study, and of one chat."""
    base = f"/console/studies/{study.slug}/"
    chat = study.dialogues.order_by("pk")[study.dialogues.count() // 2].pk
    parts = (
        "|figures|statistics|statistics/table-1.csv|statistics?rule=any|regression|verification|verification/plan|gold|"
        "verifiers|exposure|audit|chats|chats?signal=any|search?q=people|search?q=money&label=notok|search?q=zzz|people|"
        "data|edit"
    )
    return ["/console/", *(base + part for part in parts.split("|")), f"/console/chats/{chat}"]


def measure(client, address, times):
    """Milliseconds of the page, of them in the database, and how many queries; the middle of `times`."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    spent = []
    for _ in range(times + 1):  # the first fills caches and draws charts
        with CaptureQueriesContext(connection) as asked:
            began = time.perf_counter()
            answer = client.get(address)
            b"".join(answer.streaming_content) if answer.streaming else answer.content
            took = time.perf_counter() - began
        assert answer.status_code == 200, (address, answer.status_code)
        spent.append((1000 * took, 1000 * sum(float(query["time"]) for query in asked), len(asked)))
    return median(row[0] for row in spent[1:]), median(row[1] for row in spent[1:]), spent[-1][2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--chats", type=int, default=5784)
    options = parser.parse_args()
    database.make()
    from django.db import connection
    from django.test import Client

    from annotations.models import User
    from annotations.verification import remerging
    from badcollect.celery import app

    app.conf.task_always_eager = True  # charts are drawn in the first, unmeasured request of their page
    study = fill(chats=options.chats).study
    remerging.run(study=study, rule="any")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as autovacuum does within a minute
    researcher = User.objects.create_superuser("researcher")
    client = Client(HTTP_HOST="localhost")
    client.force_login(researcher, backend="django.contrib.auth.backends.ModelBackend")
    print(f"pages: {options.chats:,} chats, the middle of {options.times}; aim {AIM} ms")
    worst = 0.0
    for address in pages(study):
        took, queried, count = measure(client, address, options.times)
        worst = max(worst, took)
        late = "" if took <= AIM else "  over the aim"
        print(f"{took:8.0f} ms  {queried:6.0f} ms in {count:3d} queries  {address}{late}")
    print(f"{worst:8.0f} ms  the slowest")
    sys.exit(worst > AIM)


if __name__ == "__main__":
    main()
