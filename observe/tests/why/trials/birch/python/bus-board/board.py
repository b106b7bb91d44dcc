"""Boards at bus stops: each asks twice a second for the departures and shows them."""
import asyncio
import collections
import json
import sys

done = 0
shown = collections.deque(maxlen=500)


async def board(stop):
    global done
    reader, writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))
    while True:
        writer.write(b"GET /departures/%d HTTP/1.1\r\nHost: hub\r\n\r\n" % stop)
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length:")[1].split()[0])
        shown.append(json.loads(await reader.readexactly(size)))
        done += 1
        await asyncio.sleep(0.5)


async def main():
    boards = [asyncio.create_task(board(i)) for i in range(40)]
    boards.append(asyncio.create_task(asyncio.sleep(1e6)))
    while True:
        await asyncio.sleep(0.5)
        print("done", done)


asyncio.run(main())
