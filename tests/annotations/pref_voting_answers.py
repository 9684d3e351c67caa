"""Writes pref_voting_answers.json: what pref_voting 1.18.2 says of 400 drawn elections.

It cannot be installed beside our pins (it wants numba < 0.63, which wants numpy < 2.4, and filelock < 4), so it answers
in an environment of its own, and the answers are kept:

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install pref_voting==1.18.2
    /tmp/oracle/bin/python tests/annotations/pref_voting_answers.py
"""

import json
from pathlib import Path
from random import Random

from pref_voting.grade_profiles import GradeProfile
from pref_voting.other_methods import kemeny_young_rankings
from pref_voting.profiles import Profile
from pref_voting.profiles_with_ties import ProfileWithTies
from pref_voting.scoring_methods import symmetric_borda_scores


def linear(rng):
    k, n = rng.randint(2, 5), rng.randint(1, 9)
    votes = [rng.sample(range(k), k) for _ in range(n)]
    profile = Profile(votes)
    orders, distance = kemeny_young_rankings(profile)
    top = rng.randint(1, k)
    grades = [{c: int(c in vote[:top]) for c in range(k)} for vote in votes]
    approval = GradeProfile(grades, [0, 1]).approval_scores()
    return {
        "votes": [[[c] for c in vote] for vote in votes],
        "plurality": [profile.plurality_scores()[c] for c in range(k)],
        "borda": [profile.borda_scores()[c] for c in range(k)],
        "copeland": [profile.copeland_scores()[c] for c in range(k)],
        "approval": [int(approval[c]) for c in range(k)],
        "top": top,
        "kemeny": sorted([int(c) for c in order] for order in orders),
        "kemeny_distance": int(distance),
    }


def tied(rng):
    """Orders with ties and with candidates left out."""
    k, n = rng.randint(2, 5), rng.randint(1, 9)
    ranks = [{c: rng.randint(1, k) for c in range(k) if rng.random() < 0.8} or {0: 1} for _ in range(n)]
    profile = ProfileWithTies(ranks, candidates=list(range(k)))
    profile.use_extended_strict_preference()
    borda = symmetric_borda_scores(profile)
    tops = profile.tops_scores(score_type="split")
    return {
        "votes": [[[c for c in rank if rank[c] == r] for r in sorted(set(rank.values()))] for rank in ranks],
        "candidates": k,
        "plurality": [float(tops[c]) for c in range(k)],
        "symmetric_borda": [int(borda[c]) for c in range(k)],
        "copeland": [profile.copeland_scores()[c] for c in range(k)],
    }


def main():
    rng = Random(5)
    answers = {"linear": [linear(rng) for _ in range(200)], "tied": [tied(rng) for _ in range(200)]}
    path = Path(__file__).with_suffix(".json")
    lines = [f'"{kind}": [\n' + ",\n".join(map(json.dumps, found)) + "\n]" for kind, found in answers.items()]
    path.write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
