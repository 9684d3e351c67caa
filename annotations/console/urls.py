from django.urls import path

from annotations.console.views import bots, chats, people, studies

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
    path("console/chats/<int:dialogue_id>", chats.chat_view, name="chat_view"),
    path("console/bots/", bots.bots, name="bots"),
    path("console/new-bot", bots.bot_new, name="bot_new"),
    path(BOT, bots.bot, name="bot"),
    path(BOT + "/try", bots.bot_try, name="bot_try"),
    path(BOT + "/trials", bots.bot_trials, name="bot_trials"),
]
