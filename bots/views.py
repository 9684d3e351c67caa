"""The plain REST contract of the trust paper's chatbots: `bot_id` and `messageText` in, `output.text` out.

One message at a time, no history: the contract has no place for one. `bot_id` is taken and not looked at,
since the address names the bot.
"""

import json
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.views.decorators.csrf import csrf_exempt

from bots import replies
from bots.errors import EngineError
from bots.models import Bot
from bots.text import LONGEST, one_line

LONGEST_BODY = 64 * 1024


@csrf_exempt
def reply(request: HttpRequest, slug: str) -> HttpResponse:
    """The bot's answer to one message; problems as {"error", "detail"}.

    404 unless the bot is scripted, switched on and made public; 405, 413 and 422 for what was sent.
    """
    if request.method != "POST":
        answer = _problem(405, "wrong_method", "Send a POST with bot_id and messageText.")
        answer["Allow"] = "POST"
        return answer
    bot = Bot.objects.filter(slug=slug, public=True, enabled=True, engine__in=replies.SCRIPTED).first()
    if bot is None:
        return _problem(404, "no_such_bot", "There is no public bot at this address.")
    if int(request.META.get("CONTENT_LENGTH") or 0) > LONGEST_BODY or len(request.body) > LONGEST_BODY:
        return _problem(413, "too_big", f"Send at most {LONGEST_BODY // 1024} KB.")
    return _answer(bot, request)


def _answer(bot: Bot, request: HttpRequest) -> JsonResponse:
    try:
        text = one_line(_message(request))
    except ValueError as error:
        return _problem(422, "bad_body", str(error))
    if not text:
        return _problem(422, "empty", "messageText is empty. Send at least one character.")
    if len(text) > LONGEST:
        return _problem(422, "too_long", f"messageText is over {LONGEST:,} characters. Shorten it.")
    try:
        said = replies.reply(bot, [text])
    except EngineError:
        return _problem(502, "no_reply", "The bot did not answer. Try again.")
    return JsonResponse({"output": {"text": said.text}})


def _message(request: HttpRequest) -> str:
    """The message of a JSON or form body. Raises ValueError with what to send instead."""
    if request.content_type == "application/json":
        try:
            values: Any = json.loads(request.body)
        except (ValueError, RecursionError):
            raise ValueError("The body is not JSON.") from None
        found = values.get("messageText", "") if isinstance(values, dict) else None
    else:
        try:
            found = request.POST.get("messageText", "")
        except (MultiPartParserError, SuspiciousOperation):
            raise ValueError("The form could not be read.") from None
    if not isinstance(found, str):
        raise ValueError("Send an object with messageText, a string.")  # noqa: TRY004 one kind for the caller
    return found


def _problem(status: int, error: str, detail: str) -> JsonResponse:
    return JsonResponse({"error": error, "detail": detail}, status=status)
