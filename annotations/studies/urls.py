from django.urls import path

from annotations.studies import views

urlpatterns = [
    path("join/<slug:code>", views.join, name="join"),
    path("studies/<slug:slug>/join", views.join_study, name="join_study"),
    path("support", views.support, name="support"),
]
