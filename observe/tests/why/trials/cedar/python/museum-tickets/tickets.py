"""Sells tickets over HTTP; a ledger of the sales is tidied in the background."""
import http.server
import json
import multiprocessing
import os
import sys
import threading
import time


class Ledger:
    def __init__(self):
        self.rows = [(i * 7919 % 100_003, i % 12, 1150) for i in range(40_000)]
        self.checks = 0

    def tidy(self):
        """Recomputes the sums of each gate and day over and over, as the auditors want it."""
        while True:
            sums = {}
            for day, gate, cents in self.rows:
                key = day % 366, gate
                sums[key] = sums.get(key, 0) + cents * (day % 3 + 1)
            self.checks += len(sums)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    price_file = "prices.json"

    def do_GET(self):
        gate = self.path.rpartition("=")[2]
        with open(self.price_file) as f:
            price = json.load(f)["adult"]
        with open("sales-%s.log" % gate, "a") as f:
            f.write("%.3f %s %d\n" % (time.time(), gate, price))
            if f.tell() > 1 << 20:
                f.truncate(0)
        body = json.dumps({"gate": gate, "price": price, "ticket": os.urandom(6).hex()}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def main():
    port, where = int(sys.argv[1]), sys.argv[2]
    with open(Handler.price_file, "w") as f:
        json.dump({"adult": 1450, "child": 700}, f)
    ledger = Ledger()
    if where == "process":
        multiprocessing.Process(target=ledger.tidy, daemon=True).start()
    else:
        threading.Thread(target=ledger.tidy, name="ledger-tidy", daemon=True).start()
    Server(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main()
