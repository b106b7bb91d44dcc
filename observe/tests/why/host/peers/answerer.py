"""Answers each line with a line, until the other side closes: SECONDS."""

import os
import signal
import socketserver
import sys


class Answers(socketserver.StreamRequestHandler):
    def handle(self):
        try:
            while line := self.rfile.readline():
                if line.strip():
                    self.wfile.write(b"ok\n")
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    request_queue_size = 512
    daemon_threads = True
    allow_reuse_address = True


signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
signal.alarm(int(float(sys.argv[1])))
with Server(("127.0.0.1", 0), Answers) as server:
    print(f"listening {server.server_address[1]}", flush=True)
    server.serve_forever()
