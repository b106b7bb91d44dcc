"""A remote service for tests: HTTP/1.1 with keep-alive, or lines; answers after a delay.
peer.py PORT DELAY_MS [drop=K]: every K-th HTTP request is never answered."""
import asyncio
import sys
port, delay = int(sys.argv[1]), float(sys.argv[2]) / 1000
drop = int(next((a[5:] for a in sys.argv[3:] if a.startswith('drop=')), 0))
n = 0


async def serve(r, w):
    global n
    try:
        while True:
            line = await r.readline()
            if not line:
                break
            if b' HTTP/1' in line:
                size = 0
                while True:
                    h = await r.readline()
                    if h in (b'\r\n', b''):
                        break
                    if h.lower().startswith(b'content-length:'):
                        size = int(h[15:])
                if size:
                    await r.readexactly(size)
                n += 1
                if drop and n % drop == 0:
                    await asyncio.sleep(3600)
                if delay:
                    await asyncio.sleep(delay)
                body = b'{"ok":true,"value":%d}' % (n % 1000)
                w.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
                        b'Content-Length: %d\r\n\r\n' % len(body) + body)
            else:
                k = len(line.split()) - 1 if line.startswith(b'MGET') else 1
                if delay:
                    await asyncio.sleep(delay)
                w.write(b'v %d %s\n' % (k, line.strip()[-20:]))
            await w.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        w.close()


async def main():
    s = await asyncio.start_server(serve, '127.0.0.1', port, backlog=512)
    await s.serve_forever()
asyncio.run(main())
