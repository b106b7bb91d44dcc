"""A peer: answers each line, or each HTTP request, after a delay (ms); connecting may cost another delay."""
import asyncio
import sys

port, delay = int(sys.argv[1]), float(sys.argv[2]) / 1000
greet = float(sys.argv[3]) / 1000 if len(sys.argv) > 3 else 0.0
size = int(sys.argv[4]) if len(sys.argv) > 4 else 40


async def serve(r, w):
    try:
        if greet:
            await asyncio.sleep(greet)
        while True:
            line = await r.readline()
            if not line:
                break
            http = line.split(b" ")[-1].startswith(b"HTTP/")
            if http:
                length = 0
                while True:
                    h = await r.readline()
                    if h in (b"\r\n", b"\n", b""):
                        break
                    if h.lower().startswith(b"content-length:"):
                        length = int(h.split(b":")[1])
                if length:
                    await r.readexactly(length)
            slow = delay
            if line.startswith(b"PING "):
                slow = float(line.split()[1]) / 1000
            if slow:
                await asyncio.sleep(slow)
            body = (b'{"status":"ok","note":"' + b"x" * size + b'"}')[:]
            if http:
                w.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                        % (len(body), body))
            else:
                w.write(b"ok " + line)
            await w.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        w.close()


async def main():
    s = await asyncio.start_server(serve, "127.0.0.1", port, backlog=1024)
    await s.serve_forever()

asyncio.run(main())
