from django.urls import include, path

urlpatterns = [
    path("", include("annotations.people.urls")),
    path("", include("annotations.studies.urls")),
    path("", include("annotations.chats.urls")),
    path("", include("annotations.verification.urls")),
    path("", include("annotations.console.urls")),
]
