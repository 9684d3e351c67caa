from django.contrib import admin
from django.urls import include, path

from badcollect.api import api
from badcollect.views import health

urlpatterns = [
    path("", include("annotations.urls")),
    path("", include("bots.urls")),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
    path("health", health, name="health"),
]
handler400 = "badcollect.views.bad_request"
handler403 = "badcollect.views.forbidden"
handler404 = "badcollect.views.not_found"
handler500 = "badcollect.views.broken"
