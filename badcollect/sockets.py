from typing import Any


async def no_such_socket(_scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Turns away a socket at an address where there is none, without a traceback."""
    await receive()
    await send({"type": "websocket.close", "code": 4404})
