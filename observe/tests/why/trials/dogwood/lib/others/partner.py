"""A partner's HTTP service: answers each request after a fixed time."""
import asyncio
import sys

host, port, ms, body = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4].encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = 0
            for line in head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    length = int(line[15:])
            if length:
                await reader.readexactly(length)
            if ms:
                await asyncio.sleep(ms / 1000)
            writer.write(REPLY)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, host, port, backlog=512)
    await server.serve_forever()

asyncio.run(main())
