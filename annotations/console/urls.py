from django.urls import path

from annotations.console.views import bots, chats, people, statistics, studies, verification

STUDY = "console/studies/<slug:slug>/"
BOT = "console/bots/<slug:slug>"

urlpatterns = [
    path("console/", studies.console, name="console"),
    path("console/new-study", studies.study_new, name="study_new"),
    path(STUDY, studies.study_overview, name="study_overview"),
    path(STUDY + "figures", studies.study_figures, name="study_figures"),
    path(STUDY + "edit", studies.study_edit, name="study_edit"),
    path(STUDY + "open", studies.study_open, name="study_open"),
    path(STUDY + "pause", studies.study_pause, name="study_pause"),
    path(STUDY + "close", studies.study_close, name="study_close"),
    path(STUDY + "links", studies.study_invite, name="study_invite"),
    path(STUDY + "links/<int:invitation_id>/delete", studies.study_uninvite, name="study_uninvite"),
    path(STUDY + "chats", chats.study_chats, name="study_chats"),
    path(STUDY + "people", people.study_people, name="study_people"),
    path(STUDY + "people/<int:worker_id>/block", people.worker_block, name="worker_block"),
    path(STUDY + "people/<int:worker_id>/unblock", people.worker_unblock, name="worker_unblock"),
    path(STUDY + "search", chats.study_search, name="study_search"),
    path(STUDY + "exposure", people.study_exposure, name="study_exposure"),
    path(STUDY + "audit", people.study_audit, name="study_audit"),
    path(STUDY + "statistics", statistics.study_statistics, name="study_statistics"),
    path(STUDY + "statistics/table-1.csv", statistics.study_table, name="study_table"),
    path(STUDY + "regression", statistics.study_regression, name="study_regression"),
    path(STUDY + "charts", statistics.study_charts, name="study_charts"),
    path(STUDY + "charts/<str:name>/<str:file>", statistics.study_chart, name="study_chart"),
    path(STUDY + "verification", verification.study_verification, name="study_verification"),
    path(STUDY + "verification/plan", verification.study_plan, name="study_plan"),
    path(STUDY + "verification/imported", verification.study_send_imported, name="study_send_imported"),
    path(STUDY + "verification/mergings", verification.study_mergings, name="study_mergings"),
    path(STUDY + "verification/remerge", verification.study_remerge, name="study_remerge"),
    path(
        STUDY + "verification/remerge/<int:merging_id>/stop",
        verification.study_remerge_stop,
        name="study_remerge_stop",
    ),
    path(STUDY + "gold", verification.study_gold, name="study_gold"),
    path(STUDY + "gold/from/<int:utterance_id>", verification.gold_new, name="gold_new"),
    path(STUDY + "gold/<int:item_id>/retire", verification.gold_retire, name="gold_retire"),
    path(STUDY + "verifiers", verification.study_verifiers, name="study_verifiers"),
    path(STUDY + "verifiers/<int:verifier_id>/pause", verification.verifier_pause, name="verifier_pause"),
    path(STUDY + "verifiers/<int:verifier_id>/lift", verification.verifier_lift, name="verifier_lift"),
    path(
        STUDY + "verifiers/<int:verifier_id>/set-aside",
        verification.verifier_set_aside,
        name="verifier_set_aside",
    ),
    path("console/chats/<int:dialogue_id>", chats.chat_view, name="chat_view"),
    path("console/bots/", bots.bots, name="bots"),
    path("console/new-bot", bots.bot_new, name="bot_new"),
    path(BOT, bots.bot, name="bot"),
    path(BOT + "/try", bots.bot_try, name="bot_try"),
    path(BOT + "/trials", bots.bot_trials, name="bot_trials"),
]
