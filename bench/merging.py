"""`remerge` of a study of the paper's size, against crowd-kit's MajorityVote on the same votes in memory."""

import argparse
import time

import database
import paper

RULES = ("majority_verifiers", "majority_all", "dawid_skene")


def crowd_kit(study):
    """Seconds that crowd-kit's majority takes, and seconds to read its table of votes first; and its labels."""
    import pandas as pd
    from crowdkit.aggregation import MajorityVote

    from annotations.models import Vote

    began = time.perf_counter()
    votes = Vote.objects.filter(item__study=study, set_aside_at=None).order_by()
    rows = list(votes.values_list("item__utterance", "verifier", "ok"))
    table = pd.DataFrame(rows, columns=["task", "worker", "label"])
    read = time.perf_counter() - began
    began = time.perf_counter()
    found = MajorityVote().fit_predict(table)
    return time.perf_counter() - began, read, found.to_dict()


def remerge(study, rule):
    from annotations.verification import remerging

    began = time.perf_counter()
    job = remerging.run(study=study, rule=rule)
    assert job.state == "done", job.problem
    return time.perf_counter() - began, job.total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=paper.CHATS)
    parser.add_argument("--mace", action="store_true", help="MACE too, which takes minutes")
    options = parser.parse_args()
    database.make()
    filled = paper.fill(chats=options.chats, merged=False)
    from annotations.models import Merged, Vote

    print(f"merging: {len(filled.truth):,} utterances, {Vote.objects.count():,} votes")
    floor, read, theirs = crowd_kit(filled.study)
    print(f"{'crowd-kit MajorityVote':>24}: {floor:6.2f} s in memory, {read:.2f} s to read the votes")
    for rule in (*RULES, *(["mace"] if options.mace else [])):
        for which in ("first time", "again"):
            took, total = remerge(filled.study, rule)
            print(
                f"{rule:>24}: {took:6.2f} s {which:<10} {total / took:8,.0f} utterances/s, {took / (floor + read):5.1f} x crowd-kit"
            )
        ours = dict(Merged.objects.filter(rule=rule).values_list("utterance", "label"))
        right = sum((ours[key] == "notok") == bad for key, bad in filled.truth.items()) / len(filled.truth)
        print(f"{'':>24}  {right:.2%} as planted")
        if rule == "majority_verifiers":
            same = sum((ours[key] == "ok") == ok for key, ok in theirs.items()) / len(theirs)
            print(f"{'':>24}  {same:.2%} as crowd-kit; aim: all in 10 s, stored")


if __name__ == "__main__":
    main()
