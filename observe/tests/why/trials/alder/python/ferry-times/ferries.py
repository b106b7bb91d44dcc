"""Ferry times: a task per port asks the timetable server again and again."""
import asyncio
import json
import sys

table, count = {}, 0


class Timetable:
    def __init__(self, port):
        self.port = port

    async def open(self):
        self.r, self.w = await asyncio.open_connection('127.0.0.1', self.port)
        return self

    async def ask(self, harbour):
        self.w.write(b'GET /ferries/%s HTTP/1.1\r\nHost: times\r\n\r\n' % harbour.encode())
        await self.w.drain()
        size = 0
        while True:
            line = await self.r.readline()
            if line.lower().startswith(b'content-length:'):
                size = int(line.split(b':')[1])
            if line == b'\r\n':
                break
        return json.loads(await self.r.readexactly(size))


async def follow(harbour, port):
    global count
    t = await Timetable(port).open()
    while True:
        table[harbour] = (await t.ask(harbour))['value']
        count += 1


async def main():
    tasks = [asyncio.ensure_future(follow('harbour%d' % i, int(sys.argv[1]))) for i in range(8)]
    while True:
        await asyncio.sleep(1)
        print('done', count, len(table), flush=True)
        for t in tasks:
            if t.done():
                t.result()


asyncio.run(main())
