from django.urls import path

from bots.views import reply

urlpatterns = [path("bots/<slug:slug>/reply", reply, name="bot_reply")]
