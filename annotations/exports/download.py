"""Files handed out a piece at a time."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from asgiref.sync import sync_to_async
from django.http import FileResponse


class Download(FileResponse):
    """A file as an attachment. Django would read all of one into memory before it is sent over ASGI."""

    block_size = 262_144

    def __init__(self, path: Path, *, name: str) -> None:
        super().__init__(path.open("rb"), as_attachment=True, filename=name)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks: Any = iter(self.streaming_content)  # type: ignore[arg-type]  # a file is read synchronously
        while chunk := await sync_to_async(_next, thread_sensitive=False)(chunks):
            yield chunk


def _next(chunks: Iterator[bytes]) -> bytes:
    """The next chunk; nothing at the end, since a StopIteration cannot leave a thread."""
    return next(chunks, b"")
