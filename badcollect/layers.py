"""The channel layer: Redis publishes what a chat's sockets are told."""

import asyncio
from uuid import uuid4

from channels_redis.pubsub import RedisPubSubChannelLayer


class ChatLayer(RedisPubSubChannelLayer):  # type: ignore[misc]
    """Sockets hear groups only, so none subscribes a channel of its own.

    That spares a subscription a socket, and a socket can open while Redis is away.
    """

    async def new_channel(self, prefix: str = "specific") -> str:
        """The name under which groups of this process reach one socket."""
        name = f"{prefix}.{uuid4().hex}"
        self._get_layer().channels[name] = asyncio.Queue()
        return name
