"""The regression against planted coefficients, and against statsmodels' other way to the same figures."""

import pytest

from annotations.domain.regression import CannotFit, Term, fit


def planted(rows=2000, workers=40, seed=1):
    """Utterances of workers who differ, with +0.5 for each `dose` and -1 for `other`."""
    import numpy as np

    rng = np.random.default_rng(seed)
    worker = rng.integers(workers, size=rows)
    dose, other = rng.normal(size=rows), rng.integers(2, size=rows)
    leaning = rng.normal(0, 0.3, size=workers)[worker]
    odds = -0.2 + 0.5 * dose - 1.0 * other + leaning
    outcome = rng.random(rows) < 1 / (1 + np.exp(-odds))
    return {
        "outcome": outcome.tolist(),
        "predictors": {"dose": dose.tolist(), "other": other.tolist()},
        "clusters": worker.tolist(),
    }


def test_planted_coefficients_are_found():
    found = fit(**planted())

    dose, other, constant = found.terms
    assert (dose.name, other.name, constant.name) == ("dose", "other", "constant")
    assert dose.low < 0.5 < dose.high
    assert other.low < -1.0 < other.high
    assert (dose.stars, other.stars) == ("***", "***")
    assert (found.rows, found.clusters, found.dropped) == (2000, 40, [])


def test_the_figures_are_those_of_a_binomial_glm_with_clustered_errors():
    import numpy as np
    import statsmodels.api as sm

    data = planted()
    x = np.column_stack([*data["predictors"].values(), np.ones(2000)])
    model = sm.GLM(np.array(data["outcome"], dtype=float), x, family=sm.families.Binomial())
    other = model.fit(cov_type="cluster", cov_kwds={"groups": np.array(data["clusters"])})

    found = fit(**data)

    assert [term.coefficient for term in found.terms] == pytest.approx(other.params.tolist(), abs=1e-6)
    assert [term.error for term in found.terms] == pytest.approx(other.bse.tolist(), rel=1e-5)
    assert [term.p for term in found.terms] == pytest.approx(other.pvalues.tolist(), abs=1e-6)


def test_errors_are_clustered_so_copies_of_the_same_rows_prove_nothing():
    data = planted(rows=600)
    copies = {
        "outcome": data["outcome"] * 4,
        "predictors": {name: column * 4 for name, column in data["predictors"].items()},
        "clusters": data["clusters"] * 4,
    }

    once, often = fit(**data).terms[0], fit(**copies).terms[0]

    assert often.error == pytest.approx(once.error, rel=0.02)


@pytest.mark.parametrize(("p", "stars"), [(0.0009, "***"), (0.009, "**"), (0.04, "*"), (0.05, "")])
def test_stars_are_those_of_the_paper(p, stars):
    assert Term("x", 1.0, 1.0, 0.0, 2.0, p).stars == stars


def test_a_predictor_that_never_varies_is_left_out_and_named():
    data = planted()
    data["predictors"]["bot"] = [1.0] * 2000

    found = fit(**data)

    assert ([term.name for term in found.terms], found.dropped) == (["dose", "other", "constant"], ["bot"])


def refusal(**changes):
    data = planted() | changes
    with pytest.raises(CannotFit) as caught:
        fit(**data)
    return str(caught.value)


def test_no_rows_are_refused():
    assert (
        refusal(outcome=[], predictors={"dose": []}, clusters=[])
        == "There is no labelled utterance of a known worker yet."
    )


@pytest.mark.parametrize(("value", "word"), [(True, "not OK"), (False, "OK")])
def test_an_outcome_that_never_varies_is_refused(value, word):
    assert refusal(outcome=[value] * 2000) == f"All 2,000 utterances are {word}: there is nothing to explain."


def test_predictors_that_never_vary_are_refused():
    told = "Every predictor has the same value throughout: there is nothing to explain it by."
    assert refusal(predictors={"bot": [1.0] * 2000}) == told


def test_few_workers_are_refused():
    told = "The utterances come from 19 workers. Errors clustered by worker need at least 20."
    assert refusal(clusters=[n % 19 for n in range(2000)]) == told


def test_a_rare_outcome_is_refused():
    told = "The rarer outcome occurs 19 times. 2 predictors need at least 20, 10 for each."
    assert refusal(outcome=[True] * 19 + [False] * 1981) == told


def test_predictors_that_say_the_same_are_refused_and_named():
    dose = planted()["predictors"]["dose"]
    twice = {"dose": dose, "twice": [2 * x + 1 for x in dose], "free": [float(n % 7) for n in range(2000)]}

    told = "These predictors say the same, so they cannot be told apart: dose, twice."
    assert refusal(predictors=twice) == told


def test_a_predictor_that_settles_the_outcome_is_refused():
    data = planted()
    threshold = sorted(data["predictors"]["dose"])[1000]
    outcome = [x > threshold for x in data["predictors"]["dose"]]

    assert refusal(outcome=outcome).startswith("“dose” settles the outcome by itself")


def test_a_bot_whose_replies_are_all_alike_is_refused():
    data = planted()
    data["predictors"]["bot: Eliza"] = [float(n < 300) for n in range(2000)]
    data["outcome"][:300] = [False] * 300

    assert refusal(**data).startswith("“bot: Eliza” settles the outcome by itself")


def test_predictors_that_settle_it_together_are_refused():
    import numpy as np

    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 2000))
    predictors = {"first": first.tolist(), "second": second.tolist()}

    assert refusal(outcome=(first + second > 0).tolist(), predictors=predictors).startswith(
        "The predictors together settle the outcome"
    )
