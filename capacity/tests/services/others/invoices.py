"""Invoice service in Python: a thread a connection. Each request asks another service and then adds up an invoice.

    python3 invoices.py --port N --threads N --lines N --customers PORT
    python3 invoices.py --calibrate
"""

import argparse
import http.client
import json
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

LINE = "2026-03-01;article {};{};19.90"
local = threading.local()


def add_up(lines):
    """Returns the total of an invoice with that number of lines: pure Python, which holds the interpreter's lock."""
    total = 0.0
    for i in range(lines):
        day, name, count, price = LINE.format(i, i % 7).split(";")
        total += int(count) * float(price) + len(day) + len(name)
    return total


def customer(port):
    """Returns the customer's name from the other service; each thread keeps a connection."""
    connection = getattr(local, "connection", None)
    if connection is None:
        connection = local.connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/customer")
    return connection.getresponse().read().decode()


class Invoice(BaseHTTPRequestHandler):
    """Request for an invoice."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        body = f"{customer(self.server.customers)} {add_up(self.server.lines)}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, HTTPServer):
    """HTTP server with a thread a connection."""

    daemon_threads = True
    request_queue_size = 1024


def calibrate():
    best = 0
    for _ in range(200):
        start = time.perf_counter()
        add_up(1000)
        best = max(best, 1000 / (time.perf_counter() - start) / 1000)
    print(json.dumps({"python.lines": best}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calibrate", action="store_true")
    for name in ("port", "threads", "lines", "customers"):
        parser.add_argument("--" + name, type=int)
    options = parser.parse_args()
    if options.calibrate:
        calibrate()
        return
    server = Server(("127.0.0.1", options.port), Invoice)
    server.lines, server.customers = options.lines, options.customers
    print("ready", server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
