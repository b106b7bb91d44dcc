"""The head end: takes frames of readings (type, length, readings, crc) and confirms each."""
import asyncio, struct, sys


async def feeder(r, w):
    try:
        while True:
            kind, length = struct.unpack("!BI", await r.readexactly(5))
            await r.readexactly(length + 4)
            w.write(b"\x06")
    except (asyncio.IncompleteReadError, ConnectionError):
        w.close()


async def main():
    s = await asyncio.start_server(feeder, "127.0.0.1", int(sys.argv[1]), backlog=64)
    await s.serve_forever()

asyncio.run(main())
