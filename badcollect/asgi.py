import os
import sys
import warnings

# The loop that serves sockets shares the interpreter with the database threads; by default it may wait 5 ms for each.
sys.setswitchinterval(0.0005)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "badcollect.settings")

# Said of each static file: whitenoise hands it over in pieces, read in a thread.
warnings.filterwarnings("ignore", "StreamingHttpResponse must consume synchronous iterators")

from django.core.asgi import get_asgi_application

http = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter
from django.urls import path

from annotations.chats.consumers import ChatConsumer
from annotations.people.asgi import TokenOrSession
from badcollect.sockets import no_such_socket

chat = path("ws/chats/<int:dialogue_id>", ChatConsumer.as_asgi())
elsewhere = path("<path:_>", no_such_socket)  # type: ignore[arg-type]
application = ProtocolTypeRouter({"http": http, "websocket": TokenOrSession(URLRouter([chat, elsewhere]))})
