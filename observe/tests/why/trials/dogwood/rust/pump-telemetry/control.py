"""The control room: takes messages (pump, length, body) and confirms each with the number of its pump."""
import asyncio
import sys


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readexactly(8)
            await reader.readexactly(int.from_bytes(head[4:], "big"))
            writer.write(head[:4])
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
