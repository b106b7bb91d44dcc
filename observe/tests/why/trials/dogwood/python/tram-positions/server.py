"""Passes positions of trams to all who watch a line."""
import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import websockets

watchers = {}
latest = {}
archive = []
writers = ThreadPoolExecutor(24, thread_name_prefix="archive")


def keep(line, position):
    archive.append((line, position))
    if len(archive) > 5000:
        del archive[:2500]


async def watch(ws, line):
    watchers.setdefault(line, set()).add(ws)
    try:
        await ws.wait_closed()
    finally:
        watchers[line].discard(ws)


async def report(ws):
    loop = asyncio.get_running_loop()
    async for text in ws:
        message = json.loads(text)
        line = message["line"]
        latest[message["tram"]] = message["at"]
        await loop.run_in_executor(writers, keep, line, message["at"])
        websockets.broadcast(watchers.get(line, ()), text)
        await ws.send("ok")


async def serve(ws):
    kind, _, line = ws.path.strip("/").partition("/")
    await (watch(ws, line) if kind == "watch" else report(ws))


async def main():
    async with websockets.serve(serve, "127.0.0.1", int(sys.argv[1])):
        await asyncio.Future()

asyncio.run(main())
