"""Pushes metrics, one connection each, and retries later without a port. Cured: one connection."""

import socket
import time

import run

address = ("127.0.0.1", int(run.args[0]))
run.ready()
kept = socket.create_connection(address) if run.cured else None
while run.going():
    try:
        push = kept or socket.create_connection(address)
        push.sendall(b"requests_total 17\n")
        push.recv(100)
        run.done()
        if not kept:
            push.close()
    except OSError:
        time.sleep(0.1)
run.finish()
