"""Sends 100 requests per second over one persistent connection. Nothing is wrong."""

import socket
import time

import run

server = socket.create_connection(("127.0.0.1", int(run.args[0])))
run.ready()
while run.going():
    server.sendall(b"balance\n")
    server.recv(100)
    run.done()
    time.sleep(0.01)
run.finish()
