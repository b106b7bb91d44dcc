"""Follows the parcels of a shop: asks the carrier's terminal protocol for each and notes changes."""
import asyncio
import collections
import concurrent.futures
import socket
import sys
import threading

DEPOT, WORKERS = int(sys.argv[1]), int(sys.argv[2])
local = threading.local()
states = collections.Counter()
done = 0


def carrier_status(parcel):
    """The carrier's client library, which knows no asyncio."""
    if not hasattr(local, "file"):
        local.file = socket.create_connection(("127.0.0.1", DEPOT)).makefile("rwb")
    local.file.write(b"TRACK %d\n" % parcel)
    local.file.flush()
    return local.file.readline().split()


async def follow(parcel):
    global done
    loop = asyncio.get_running_loop()
    while True:
        state, day, place = await loop.run_in_executor(None, carrier_status, parcel)
        states[state] += 1
        done += 1
        await asyncio.sleep(0.05)


async def report():
    while True:
        await asyncio.sleep(0.5)
        print("done", done)


async def main():
    if WORKERS:
        asyncio.get_running_loop().set_default_executor(concurrent.futures.ThreadPoolExecutor(WORKERS))
    await asyncio.gather(report(), *(follow(p) for p in range(1000, 1060)))


asyncio.run(main())
