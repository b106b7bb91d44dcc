"""Riders who watch a line each, and trams which report where they are."""
import asyncio
import json
import sys

import websockets

count = 0


async def rider(port, line):
    async with websockets.connect(f"ws://127.0.0.1:{port}/watch/{line}") as ws:
        async for _ in ws:
            pass


async def tram(port, number):
    global count
    async with websockets.connect(f"ws://127.0.0.1:{port}/report") as ws:
        while True:
            await ws.send(json.dumps({"tram": number, "line": str(number % 60), "at": [7.5, 47.5]}))
            await ws.recv()
            count += 1
            await asyncio.sleep(0.4)


async def main(port):
    jobs = [asyncio.create_task(rider(port, n % 60)) for n in range(180)]
    jobs += [asyncio.create_task(tram(port, n)) for n in range(40)]
    while True:
        await asyncio.sleep(0.2)
        print("reports", count, flush=True)

asyncio.run(main(int(sys.argv[1])))
