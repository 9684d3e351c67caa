from django.contrib.auth.views import LogoutView
from django.urls import path

from annotations.people import views

urlpatterns = [
    path("login", views.sign_in, name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("account", views.account, name="account"),
    path("account/password", views.change_password, name="change_password"),
    path("account/tokens", views.make_token, name="make_token"),
    path("account/tokens/<int:token_id>/delete", views.delete_token, name="delete_token"),
]
