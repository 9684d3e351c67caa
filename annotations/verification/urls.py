from django.urls import path

from annotations.verification import views

urlpatterns = [
    path("", views.home, name="home"),
    path("verify/<slug:slug>", views.verify, name="verify"),
    path("verify/<slug:slug>/take", views.take, name="verify_take"),
    path("verify/<slug:slug>/judge", views.judge, name="verify_judge"),
    path("verify/<slug:slug>/renew", views.renew, name="verify_renew"),
    path("verify/<slug:slug>/leave", views.leave, name="verify_leave"),
    path("verify/<slug:slug>/break", views.take_break, name="verify_break"),
    path("verify/<slug:slug>/test", views.test, name="verify_test"),
    path("verify/<slug:slug>/test/start", views.start_test, name="verify_test_start"),
    path("verify/<slug:slug>/test/answer", views.answer_test, name="verify_test_answer"),
]
