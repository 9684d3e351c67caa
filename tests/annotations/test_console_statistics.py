from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from annotations.console import agreements, charts, regressions
from annotations.console.tasks import task_of
from annotations.models import Figure, InstructionSet, Plan, User
from tests.factories import (
    BotFactory,
    StudyFactory,
    make_finished,
    make_labelled,
    make_merged,
    make_plan,
    make_researcher,
    make_votes,
    make_worker,
)

pytestmark = pytest.mark.django_db
BASE = "/console/studies/open/"


@pytest.fixture
def study():
    return StudyFactory(slug="open", bot=BotFactory(name="Ada"))


@pytest.fixture
def page(client, study):
    client.force_login(make_researcher(study))
    return client


@pytest.fixture
def var(tmp_path, settings):
    settings.VAR_DIR = tmp_path
    return tmp_path


def table(answer):
    return [(row.speaker, row.label, row.counts, row.total) for row in answer.context["table"].rows]


# -- the figures -------------------------------------------------------------------------------------------------


def test_nothing_merged_yet_says_how_it_comes(page):
    assert "No merged labels yet" in page.get(BASE + "statistics").content.decode()


def test_table_1_counts_the_labels_of_the_study_by_split(page, study):
    make_labelled(labels=["notok", "ok", "notok", "notok"], study=study, split="train")
    make_labelled(labels=["ok", "ok", "ok", ""], study=study, split="test")
    make_labelled(labels=["notok"] * 4)

    answer = page.get(BASE + "statistics")

    assert answer.context["table"].splits == ["train", "test"]
    assert table(answer) == [
        ("human", "ok", [0, 2], 2),
        ("human", "notok", [2, 0], 2),
        ("bot", "ok", [1, 1], 2),
        ("bot", "notok", [1, 0], 1),
        ("bot", "", [0, 1], 1),
    ]


def test_the_rule_is_the_plans_else_what_there_is_else_what_is_asked_for(page, study):
    chat = make_finished(study=study)
    make_merged(chat, ["ok", "notok"], rule="imported")
    rules = [page.get(BASE + "statistics").context["rule"]]
    make_merged(chat, ["ok", "ok"])
    rules += [
        page.get(BASE + address).context["rule"]
        for address in ("statistics", "statistics?rule=imported", "statistics?rule=%00nonsense")
    ]

    assert rules == ["imported", "majority_verifiers", "imported", "majority_verifiers"]


def test_charts_hold_the_counts_of_bots_sets_places_and_chats(page, study):
    goad = InstructionSet.objects.get(study=study, slug="goad")
    make_labelled(labels=["notok", "ok", "ok", "notok"], study=study, instruction_set=goad)
    make_labelled(labels=["ok", "ok", "ok", "ok"], study=study)

    figures = {row.name: row.result["chart"] for row in page.get(BASE + "statistics").context["figures"]}

    cells = {name.partition(":")[0]: [row[:3] for row in chart["cells"]] for name, chart in figures.items()}
    assert cells == {
        "bots": [["Ada", 1, 4]],
        "positions": [["People", 1, 1], ["Bots", 2, 0], ["People", 3, 0], ["Bots", 4, 1]],
        "instructions": [
            ["goad, bots", 1, 2],
            ["goad, people", 1, 2],
            ["none, bots", 0, 2],
            ["none, people", 0, 2],
        ],
        "messages": [[0, 1, 50.0], [1, 1, 50.0]],
    }


def test_categories_are_drawn_where_there_are_any(page, study):
    chat = make_finished(study=study)
    make_merged(chat, ["notok", "ok"], hate=True)

    figures = {
        row.name: row.result["chart"]["cells"] for row in page.get(BASE + "statistics").context["figures"]
    }

    assert figures["categories:majority_verifiers"][0][:2] == ["Hate speech, people", 1]


@pytest.mark.parametrize("count", [1, 3])
def test_the_page_asks_as_often_for_three_bots_and_chats_as_for_one(
    page, study, django_assert_num_queries, count
):
    for _ in range(count):
        make_labelled(study=study, bot=BotFactory(), labels=["notok", "ok", "ok", "notok"])
    page.get(BASE + "statistics")
    Figure.objects.update(alive_at=timezone.now())

    with django_assert_num_queries(10):
        page.get(BASE + "statistics")


def test_table_1_as_csv(page, study):
    make_labelled(labels=["notok", "ok", "ok", "notok"], study=study, split="valid")

    answer = page.get(BASE + "statistics/table-1.csv")

    assert (
        answer.headers["Content-Disposition"] == 'attachment; filename="open-table-1-majority_verifiers.csv"'
    )
    assert answer.content.decode().splitlines() == [
        "speaker,label,split,utterances",
        "human,ok,valid,1",
        "human,notok,valid,1",
        "bot,ok,valid,1",
        "bot,notok,valid,1",
    ]


# -- drawing -----------------------------------------------------------------------------------------------------


BOTS = "bots:majority_verifiers"


def draw(name=BOTS):
    charts.draw(figure_id=Figure.objects.get(name=name).pk)


def states():
    return dict(Figure.objects.order_by("name").values_list("name", "state"))


def test_a_chart_is_shown_as_a_table_until_it_is_drawn(page, study, var):
    make_labelled(study=study)

    before = page.get(BASE + "statistics").content.decode()
    draw()
    after = page.get(BASE + "statistics").content.decode()

    names = ("The chart is being drawn.", "<picture>", 'hx-trigger="every 2s"')
    assert [before.count(words) for words in names] == [4, 0, 1]
    assert [after.count(words) for words in names] == [3, 1, 1]


@pytest.mark.parametrize(("theme", "counts"), [("", (3, 3)), ("light", (0, 3)), ("dark", (3, 3))])
def test_the_picture_follows_the_theme(page, study, var, theme, counts):
    User.objects.update(theme=theme)
    make_labelled(study=study)
    page.get(BASE + "statistics")
    draw()

    picture = (
        page.get(BASE + "statistics").content.decode().partition("<picture>")[2].partition("</picture>")[0]
    )

    assert (picture.count("/dark-"), picture.count("/light-")) == counts


def test_the_files_are_the_pictures_they_say(page, study, var):
    make_labelled(study=study, bot=BotFactory(name="=cmd|' /C <script>'!A1"))
    page.get(BASE + "statistics")
    draw()

    answers = {file: page.get(f"{BASE}charts/{BOTS}/{file}") for file in ("light-340.svg", "chart.png")}

    svg, png = (b"".join(answer.streaming_content) for answer in answers.values())
    assert (svg[:4], png[:4]) == (b"<svg", b"\x89PNG")
    assert (svg.count(b"<script"), svg.count(b"&lt;script") > 0) == (0, True)
    assert [answer.headers["Content-Type"] for answer in answers.values()] == ["image/svg+xml", "image/png"]


def test_data_is_defused_for_spreadsheets(page, study):
    make_labelled(study=study, bot=BotFactory(name="=cmd|' /C calc'!A1"))
    page.get(BASE + "statistics")

    csv = page.get(f"{BASE}charts/{BOTS}/data.csv").content.decode()

    assert csv.splitlines()[1].startswith("'=cmd|' /C calc'!A1,0,2,")


def test_a_chart_is_drawn_anew_where_its_rows_have_changed_and_only_then(page, study, var):
    make_labelled(study=study)
    page.get(BASE + "statistics")
    draw()
    page.get(BASE + "statistics")
    unchanged = states()[BOTS]
    make_labelled(study=study, labels=["notok", "notok", "ok", "ok"])
    page.get(BASE + "statistics")
    changed = states()[BOTS]
    draw()

    folder = Path(settings.VAR_DIR, "figures", str(Figure.objects.get(name=BOTS).pk))
    assert (unchanged, changed, len(list(folder.iterdir()))) == ("done", "waiting", 1)


def test_files_that_are_gone_are_drawn_again(page, study, var):
    make_labelled(study=study)
    page.get(BASE + "statistics")
    draw()
    for file in var.rglob("chart.png"):
        file.unlink()

    page.get(BASE + "statistics")

    assert states()[BOTS] == "waiting"


def test_a_job_whose_worker_is_gone_is_asked_for_again_after_a_minute(
    page, study, django_capture_on_commit_callbacks
):
    make_labelled(study=study)
    page.get(BASE + "statistics")
    lost = timezone.now() - timedelta(seconds=61)
    Figure.objects.filter(name=BOTS).update(state="running", alive_at=lost)

    with django_capture_on_commit_callbacks() as asked:
        page.get(f"{BASE}charts?name={BOTS}&name=messages:majority_verifiers")

    assert (len(asked), states()[BOTS]) == (1, "waiting")


def test_a_late_job_does_not_spoil_newer_rows(study):
    newer = {"chart": {"title": "new"}}
    figure = Figure.objects.create(
        study=study, name="bots:any", rows_key="new", state="running", result=newer
    )
    late = Figure(pk=figure.pk, study=study, name="bots:any", rows_key="old")

    charts.finish(late, result={"chart": {"title": "old"}})

    figure.refresh_from_db()
    assert (figure.state, figure.result) == ("running", newer)


def test_what_is_drawn_is_not_drawn_twice(study):
    finished = timezone.now()
    figure = Figure.objects.create(study=study, name="bots:any", state="done", finished_at=finished)

    charts.draw(figure_id=figure.pk)

    figure.refresh_from_db()
    assert figure.finished_at == finished


def test_a_chart_that_cannot_be_drawn_says_so_and_keeps_its_table(page, study, var, caplog):
    make_labelled(study=study)
    page.get(BASE + "statistics")
    (var / "figures").write_text("a file where the folder should be")

    draw()

    told = "The chart could not be drawn. Its data stands in the table and the CSV file."
    figure = Figure.objects.get(name=BOTS)
    assert (figure.state, figure.problem) == ("failed", told)
    assert page.get(BASE + "statistics").content.decode().count(told) == 1


def test_the_page_is_given_what_it_waited_for(page, study, var):
    make_labelled(study=study)
    page.get(BASE + "statistics")
    draw()

    body = page.get(f"{BASE}charts?name={BOTS}&name=messages:majority_verifiers").content.decode()

    assert (body.count('hx-swap-oob="true"'), body.count("<picture>")) == (1, 1)
    assert (body.count("name=messages"), body.count("name=bots")) == (1, 0)


@pytest.mark.parametrize("file", ["../../secret_key", "light-999.svg", "data.csv"])
def test_files_that_are_not_a_charts_are_not_there(page, study, file):
    assert page.get(f"{BASE}charts/bots:any/{file}").status_code == 404


def test_charts_of_another_study_are_not_there(client, study, page):
    make_labelled(study=study)
    page.get(BASE + "statistics")
    client.force_login(make_researcher(StudyFactory(slug="other")))

    codes = [
        client.get(f"/console/studies/{slug}/charts/{BOTS}/data.csv").status_code
        for slug in ("open", "other")
    ]

    assert codes == [404, 404]
    assert client.get(f"/console/studies/other/charts?name={BOTS}").context["done"] == []


# -- regression and agreement ------------------------------------------------------------------------------------


def test_the_regression_is_refused_with_its_reason(page, study):
    make_labelled(study=study, labels=["ok", "notok", "notok", "ok"])
    page.get(BASE + "regression")
    for figure in Figure.objects.all():
        regressions.regress(figure_id=figure.pk)

    body = page.get(BASE + "regression").content.decode()

    assert body.count("Not worked out: The utterances come from 1 workers.") == 2
    assert body.count("Not worked out: All 2 utterances are OK: there is nothing to explain.") == 1


def test_the_regression_takes_the_papers_predictors(study):
    probe = InstructionSet.objects.get(study=study, slug="probe")
    worker = make_worker(study)
    make_labelled(study=study, worker=worker, labels=["ok", "notok", "notok", "ok"], chats_before=0)
    make_labelled(
        ["a", "b"],
        study=study,
        worker=worker,
        labels=["ok", "ok"],
        chats_before=1,
        instruction_set=probe,
        bot=BotFactory(name="Bob"),
    )

    columns, against = regressions.columns_of(study, "verified", "majority_verifiers")

    assert columns == {
        "outcome": [True, False, False],
        "predictors": {
            "chats done before": [0, 0, 1],
            "chats done in all": [2, 2, 2],
            "position in the chat": [2, 4, 2],
            "instructions: probe": [0.0, 0.0, 1.0],
            "bot: Bob": [0.0, 0.0, 1.0],
        },
        "clusters": [worker.pk] * 3,
    }
    assert against == ["instructions none", "bot Ada"]


@pytest.mark.parametrize(("lowest", "outcome"), [("<10", [True, True]), (">=50", [False, True])])
def test_the_workers_outcome_goes_by_the_bin_of_the_plan(study, lowest, outcome):
    make_plan(study, unsafe_from=lowest)
    make_finished(["a", "b", "c", "d"], ["<10", ">=50"], study=study)

    columns, _ = regressions.columns_of(study, "worker", "any")

    assert columns["outcome"] == outcome


def test_a_regression_that_can_be_is_shown_with_stars_and_drawn(page, study, var):
    for number in range(24):
        worker = make_worker(study)
        for place in range(6):
            labels = ["ok", "notok" if (number + place) % 3 == 0 else "ok"]
            make_labelled(
                ["a", "b"], study=study, worker=worker, labels=labels, chats_before=(place * 7 + number) % 5
            )
    figures = {row.name: row for row in page.get(BASE + "regression").context["figures"]}

    regressions.regress(figure_id=figures["regression-verified:majority_verifiers"].pk)

    figure = Figure.objects.get(name="regression-verified:majority_verifiers")
    assert (figure.state, figure.problem) == ("done", "")
    assert [term["name"] for term in figure.result["fit"]["terms"]] == ["chats done before", "constant"]
    assert figure.result["fit"]["dropped"] == ["chats done in all", "position in the chat"]
    body = page.get(BASE + "regression").content.decode()
    assert (body.count("<picture>"), body.count("144 utterances of 24 workers")) == (1, 1)


def test_agreement_is_worked_out_and_drawn(page, study, var):
    make_votes(study, [["ok", "ok", "ok"], ["attack", "attack", "ok"], ["ok", "attack", "ok"], ["hate"] * 3])
    make_merged(study.dialogues.get(), ["ok", "notok", "ok", "notok"])
    page.get(BASE + "verification")

    agreements.work_out(figure_id=Figure.objects.get(name="agreement:majority_verifiers").pk)

    chart = Figure.objects.get(name="agreement:majority_verifiers").result["chart"]
    assert chart["cells"][0][0] == "All utterances"
    assert chart["cells"][0][1] == pytest.approx(0.3889, abs=0.0001)
    assert chart["finding"].startswith("Krippendorff’s alpha: All utterances 0.39 (")
    assert page.get(BASE + "verification").content.decode().count("<picture>") == 1


def test_no_votes_no_agreement(page, study):
    make_labelled(study=study)
    page.get(BASE + "verification")

    agreements.work_out(figure_id=Figure.objects.get(name="agreement:majority_verifiers").pk)

    body = page.get(BASE + "verification").content.decode()
    assert "No utterance has two votes yet, so there is nothing to agree on." in body


@pytest.mark.parametrize("name", ["regression-worker", "agreement"])
def test_what_breaks_is_told_and_nobody_waits_for_it(page, study, name):
    make_labelled(study=study)
    page.get(BASE + "verification")
    page.get(BASE + "regression")
    figure = Figure.objects.get(name=f"{name}:majority_verifiers")
    Plan.objects.update(unsafe_from="odd")

    task_of(figure.name)(figure.pk)

    figure.refresh_from_db()
    told = "This could not be worked out. The log of the worker tells more."
    assert (figure.state, figure.problem) == ("failed", told)


def test_the_regression_is_of_chats_whose_worker_is_known(study):
    make_labelled(study=study)
    make_labelled(study=study, imported=True)

    columns, _ = regressions.columns_of(study, "human", "majority_verifiers")

    assert (columns["outcome"], columns["predictors"]["chats done in all"]) == ([False, False], [1, 1])


@pytest.mark.parametrize("address", ["charts?name=%00", "charts/%00/data.csv", "charts/%00/chart.png"])
def test_a_name_that_no_database_holds_is_no_chart(page, address):
    assert page.get(BASE + address).status_code == (200 if "?" in address else 404)
