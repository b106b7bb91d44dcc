"""A remote service for prices that takes its time: price_server.py DELAY_MS"""
import json
import random
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

delay = float(sys.argv[1]) / 1000


class Prices(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(delay * (0.8 + 0.4 * random.random()))
        prices = [{"cur": currency, "net": random.randint(100, 9999)} for currency in ("EUR", "USD", "GBP")]
        body = json.dumps({"sku": self.path[-6:], "prices": prices}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        """A client that is gone is no error."""


signal.alarm(125)
server = Server(("127.0.0.1", 0), Prices)
print("listening", server.server_address[1], flush=True)
server.serve_forever()
