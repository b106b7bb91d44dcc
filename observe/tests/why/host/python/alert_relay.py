"""Forwards 40 alerts per second, one connection each, with enough ports. Nothing is wrong."""

import socket
import time

import run

run.ready()
while run.going():
    with socket.create_connection(("127.0.0.1", int(run.args[0]))) as relay:
        relay.sendall(b"alert\n")
        relay.recv(100)
    run.done()
    time.sleep(0.025)
run.finish()
