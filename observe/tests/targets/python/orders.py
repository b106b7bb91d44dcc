"""Threads in known states: `orders.py computes|locks|permits|blocks|collects`."""

import asyncio
import sys
import threading
import time

lock = threading.Lock()
permits = threading.Semaphore(1)


class Pricer:
    def total(self):
        sum = 0
        for n in range(20_000):
            sum += n * n
        return sum


class Store:
    def save(self):
        with lock:
            time.sleep(0.01)

    def borrow(self):
        with permits:
            time.sleep(0.01)


class Entry:
    def __init__(self, n):
        self.parts = [n]


def forever(function):
    while True:
        function()


def load(entry):
    time.sleep(0.02)
    return entry


async def handle(entry):
    while True:
        load(entry)
        await asyncio.sleep(0.002)


async def serve():
    await asyncio.gather(*(handle(n) for n in range(4)))


def parse():
    return [Entry(n) for n in range(2_000)]


def collect():
    kept = [Entry(n) for n in range(300_000)]
    while True:
        kept[:20_000] = [entry for _ in range(10) for entry in parse()]


does = sys.argv[1]
print("ready", flush=True)
if does == "blocks":
    asyncio.run(serve())
elif does == "collects":
    collect()
else:
    work = {"computes": Pricer().total, "locks": Store().save, "permits": Store().borrow}[does]
    for _ in range(4):
        threading.Thread(target=forever, args=(work,), daemon=True).start()
    sys.stdin.read()
