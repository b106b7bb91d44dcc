"""One event loop without threads: `peer SECONDS` answers lines after a time, `relay PORT` asks a peer for each line,
`client PORT CONNECTIONS` sends lines one after another on each connection."""

import asyncio
import sys


async def serve(answer):
    async def connected(reader, writer):
        try:
            while await reader.readline():
                await answer()
                writer.write(b"ok\n")
        except ConnectionError:
            pass
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


async def peer(seconds):
    await serve(lambda: asyncio.sleep(float(seconds)))


async def relay(port):
    free = []

    async def call():
        reader, writer = free.pop() if free else await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"question\n")
        await reader.readline()
        free.append((reader, writer))

    await serve(call)


async def client(port, connections):
    async def talk():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while True:
            writer.write(b"request\n")
            if not await reader.readline():
                return

    print("ready", flush=True)
    await asyncio.gather(*[talk() for _ in range(int(connections))])


asyncio.run({"peer": peer, "relay": relay, "client": client}[sys.argv[1]](*sys.argv[2:]))
