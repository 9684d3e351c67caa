"""A script's socket to the application in this process."""

import json

from asgiref.testing import ApplicationCommunicator

from badcollect.asgi import application


class Socket:
    """`ask` sends a frame and gives the next one back, `frame` waits for one, `closed` for the close code."""

    def __init__(self, dialogue_id, *, key=None, headers=()):
        if key:
            headers = [(b"authorization", f"Bearer {key}".encode()), *headers]
        scope = {
            "type": "websocket",
            "path": f"/ws/chats/{dialogue_id}",
            "headers": list(headers),
            "query_string": b"",
            "subprotocols": [],
        }
        self.raw = ApplicationCommunicator(application, scope)

    async def __aenter__(self):
        await self.raw.send_input({"type": "websocket.connect"})
        answer = await self.raw.receive_output(timeout=10)
        self.connected = answer["type"] == "websocket.accept"
        return self

    async def __aexit__(self, *_):
        await self.raw.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.raw.wait(timeout=10)

    async def send(self, text):
        await self.raw.send_input({"type": "websocket.receive", "text": text})

    async def frame(self):
        return json.loads((await self.raw.receive_output(timeout=10))["text"])

    async def ask(self, **frame):
        await self.send(json.dumps(frame))
        return await self.frame()

    async def closed(self):
        return (await self.raw.receive_output(timeout=10))["code"]
