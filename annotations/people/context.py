from django.conf import settings
from django.http import HttpRequest


def contact(_request: HttpRequest) -> dict[str, str]:
    """Whom to ask, on every page."""
    return {"contact_email": settings.CONTACT_EMAIL}
