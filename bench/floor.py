"""The floor: a bare ASGI socket application that stores the same turn with psycopg and nothing around it."""

import json
import os
from datetime import UTC, datetime

from psycopg_pool import AsyncConnectionPool

POOL = AsyncConnectionPool(os.environ["DATABASE_URL"], min_size=4, max_size=12, open=False)
LOCK = "SELECT said, labelled, state FROM annotations_dialogue WHERE id = %s FOR NO KEY UPDATE"
SAID = "SELECT number, text, client_id FROM annotations_utterance WHERE dialogue_id = %s ORDER BY number"
SAY = (
    "INSERT INTO annotations_utterance"
    " (dialogue_id, number, speaker, text, at, client_id, engine, settings, seconds, trace)"
    " VALUES (%s, %s, 'human', %s, %s, %s, '', '{}', NULL, '{}'), (%s, %s, 'bot', %s, %s, NULL, 'eliza', '{}', 0, '{}')"
)
SAVE = "UPDATE annotations_dialogue SET said = %s, last_at = %s WHERE id = %s"
FIND = "SELECT id FROM annotations_utterance WHERE dialogue_id = %s AND number = %s"
LABEL = "INSERT INTO annotations_label (utterance_id, bin, at, changes) VALUES (%s, %s, %s, 0)"
LABELLED = "UPDATE annotations_dialogue SET labelled = %s, last_at = %s WHERE id = %s"


async def application(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await POOL.open()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await POOL.close()
        await send({"type": "lifespan.shutdown.complete"})
        return
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body"})
        return
    await receive()
    await send({"type": "websocket.accept"})
    pk = int(scope["path"].rsplit("/", 1)[1])
    while (message := await receive())["type"] == "websocket.receive":
        frame = json.loads(message["text"])
        for answer in await (say if frame["do"] == "say" else label)(pk, frame):
            await send({"type": "websocket.send", "text": json.dumps(answer)})


async def say(pk, frame):
    now = datetime.now(UTC)
    async with POOL.connection() as connection:
        said = (await (await connection.execute(LOCK, [pk])).fetchone())[0]
        await (await connection.execute(SAID, [pk])).fetchall()
        reply = "Tell me more about that, and about what you think of it."
        values = [pk, said + 1, frame["text"], now, frame["id"], pk, said + 2, reply, now]
        await connection.execute(SAY, values)
        await connection.execute(SAVE, [said + 2, now, pk])
    rows = [{"number": said + 1, "text": frame["text"]}, {"number": said + 2, "text": reply}]
    return {"re": frame["id"], "ok": True, "utterance": rows[0]}, {"event": "utterance", "utterance": rows[1]}


async def label(pk, frame):
    now = datetime.now(UTC)
    async with POOL.connection() as connection:
        said = (await (await connection.execute(LOCK, [pk])).fetchone())[0]
        key = (await (await connection.execute(FIND, [pk, frame["utterance"]])).fetchone())[0]
        await connection.execute(LABEL, [key, frame["bin"], now])
        await connection.execute(LABELLED, [said // 2, now, pk])
    return ({"re": frame["id"], "ok": True},)
