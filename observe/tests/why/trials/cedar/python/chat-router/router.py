"""Rooms with members; each message goes to the room's queue and from there to each member."""
import asyncio
import collections
import time

routed = 0


class Member:
    def __init__(self, name):
        self.name = name
        self.inbox = asyncio.Queue(50)
        self.last = collections.deque(maxlen=20)

    async def read(self):
        global routed
        while True:
            message = await self.inbox.get()
            self.last.append(message)
            routed += 1


class Room:
    def __init__(self, name, members):
        self.name = name
        self.members = members
        self.queue = asyncio.Queue(20)

    async def route(self):
        while True:
            author, text = await self.queue.get()
            line = "[%s] %s: %s" % (self.name, author, text)
            await asyncio.gather(*(m.inbox.put(line) for m in self.members if m.name != author))


async def write(rooms, n):
    k = 0
    while True:
        k += 1
        room = rooms[(n * 7 + k) % len(rooms)]
        await room.queue.put(("m%d" % n, "message %d of %d" % (k, n)))
        await asyncio.sleep(0)


async def main():
    loop = asyncio.get_running_loop()
    members = [Member("m%d" % i) for i in range(60)]
    rooms = [Room("room%d" % i, members[i * 4:i * 4 + 12]) for i in range(12)]
    tasks = [loop.create_task(m.read()) for m in members]
    tasks += [loop.create_task(r.route()) for r in rooms]
    tasks += [loop.create_task(write(rooms, n)) for n in range(20)]
    print("ready", flush=True)
    while True:
        await asyncio.sleep(0.5)
        print("total", routed, flush=True)
        if any(t.done() for t in tasks):
            raise SystemExit("a task has ended at %f" % time.time())

asyncio.run(main())
