"""Clients of a service, one connection per request: SECONDS PORT COUNT together | paced MS | loop. "together": all at
once, and again when all have an answer."""

import socket
import sys
import threading
import time

seconds, port, count, how = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
end = time.monotonic() + seconds
barrier = threading.Barrier(count)


def visit():
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
            s.sendall(b"GET /form HTTP/1.0\r\n\r\n")
            while s.recv(4096):
                pass
    except OSError:
        time.sleep(0.05)


def visitor():
    while time.monotonic() < end:
        if how == "together":
            barrier.wait()
        visit()
        if how == "paced":
            time.sleep(int(sys.argv[5]) / 1000)


for _ in range(count):
    threading.Thread(target=visitor, daemon=True).start()
print("ready", flush=True)
time.sleep(seconds)
