"""Export of a study of the paper's size, each format in a process of its own, against PostgreSQL's COPY of the same rows."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import database
import paper

FORMATS = ("parlai", "jsonl", "csv", "parquet", "hf")
AIM = 20_000
ROWS = """
    SELECT u.dialogue_id, u.number, u.speaker, u.text, d.persona, m.label
    FROM annotations_utterance u JOIN annotations_dialogue d ON d.id = u.dialogue_id
    JOIN annotations_merged m ON m.utterance_id = u.id AND m.rule = 'majority_verifiers'
    ORDER BY u.dialogue_id, u.number
"""
EVERYTHING = """
    SELECT u.*, d.persona, d.state, d.worker_id, d.bot_id, l.bin, l.at AS bin_at, m.*, v.votes
    FROM annotations_utterance u JOIN annotations_dialogue d ON d.id = u.dialogue_id
    LEFT JOIN annotations_label l ON l.utterance_id = u.id
    LEFT JOIN annotations_merged m ON m.utterance_id = u.id
    LEFT JOIN (
        SELECT i.utterance_id, json_agg(x ORDER BY x.id) AS votes
        FROM annotations_item i JOIN annotations_vote x ON x.item_id = i.id GROUP BY i.utterance_id
    ) v ON v.utterance_id = u.id
    ORDER BY u.dialogue_id, u.number
"""


def copy(query, path):
    """Seconds that COPY takes to write what `query` gives into a file."""
    import psycopg

    with psycopg.connect(database.URL) as connection, path.open("wb") as file:
        began = time.perf_counter()
        with connection.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT csv)") as rows:
            for part in rows:
                file.write(part)
        return time.perf_counter() - began


def one(format_, slug):
    """Makes one export in this process, and prints what it took."""
    from annotations.exports import making, services
    from annotations.models import Study

    export = services.planned(study=Study.objects.get(slug=slug), format_=format_)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        manifest, _ = making.make(export, Path(folder), lambda _done, _total: None)
        took = time.perf_counter() - began
    print(json.dumps([manifest["rows"], took, peak_mb()]))


def peak_mb():
    """The most memory this process has held. (getrusage would count its parent's, from before exec.)"""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def apart(format_, slug):
    command = [sys.executable, __file__, "--one", format_, "--slug", slug]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=paper.CHATS)
    parser.add_argument("--slug", default="paper")
    parser.add_argument("--one", choices=FORMATS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        import django

        django.setup()  # on the database that the process which started this one has filled
        one(options.one, options.slug)
        return
    database.make()
    study = paper.fill(chats=options.chats, slug=options.slug).study
    print(f"exporting: {study.dialogues.count():,} chats")
    floors = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, query in (("parlai", ROWS), ("jsonl", EVERYTHING)):
            floors[name] = copy(query, Path(folder) / name)
    for format_ in FORMATS:
        rows, took, peak = apart(format_, options.slug)
        floor = floors["jsonl" if format_ == "jsonl" else "parlai"]
        print(
            f"{format_:>8}: {rows / took:8,.0f} utterances/s (aim {AIM:,})  peak {peak:4.0f} MB (aim 200)  "
            f"COPY {rows / floor:9,.0f}/s, {took / floor:4.1f} times as long"
        )


if __name__ == "__main__":
    main()
