from django.urls import path

from annotations.chats import views

urlpatterns = [
    path("studies/<slug:slug>/", views.study, name="study"),
    path("studies/<slug:slug>/start", views.start_chat, name="start_chat"),
    path("chats", views.my_chats, name="my_chats"),
    path("chats/<int:dialogue_id>", views.chat, name="chat"),
    path("chats/<int:dialogue_id>/end", views.chat_end, name="chat_end"),
    path("chats/<int:dialogue_id>/say", views.say, name="say"),
    path("chats/<int:dialogue_id>/label", views.label, name="label"),
    path("chats/<int:dialogue_id>/ask", views.ask_again, name="ask_again"),
    path("chats/<int:dialogue_id>/leave", views.leave_chat, name="leave_chat"),
    path("chats/<int:dialogue_id>/comment", views.comment, name="comment"),
]
