"""Answers each line after a delay, each connection by itself: line_server.py DELAY_MS [MORE_AT_MOST_MS]"""
import asyncio
import random
import signal
import sys

delay, more = float(sys.argv[1]) / 1000, float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0


async def serve(reader, writer):
    try:
        while line := await reader.readline():
            if delay:
                await asyncio.sleep(delay + random.random() * more)
            writer.write(b"OK " + line.strip()[:40] + b" qty=3 state=open\n")
            await writer.drain()
    except OSError:
        pass
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print("listening", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


signal.alarm(125)
asyncio.run(main())
