from django.apps import AppConfig


class BadcollectConfig(AppConfig):
    name = "badcollect"
