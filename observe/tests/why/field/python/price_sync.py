"""Keeps the prices of a shop in step with those of its supplier: price_sync.py PORT"""
import http.client, json, queue, random, signal, sys, threading, time

PORT = int(sys.argv[1])
signal.alarm(120)

class SupplierClient:
    """One keep-alive connection to the supplier."""
    def __init__(self):
        self.conn = None

    def fetch(self, sku):
        for attempt in range(3):
            try:
                if self.conn is None:
                    self.conn = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
                self.conn.request("GET", "/v2/prices/%06d" % sku, headers={"Accept": "application/json"})
                r = self.conn.getresponse()
                return json.loads(r.read())
            except (OSError, http.client.HTTPException):
                self.conn = None
                time.sleep(0.2 * attempt)
        raise RuntimeError("supplier gone")

class PriceTable:
    def __init__(self):
        self.rows, self.changed = {}, 0

    def apply(self, doc):
        net = {p["cur"]: p["net"] for p in doc["prices"]}
        gross = {c: round(v * 1.19 / 100, 2) for c, v in net.items()}
        if self.rows.get(doc["sku"]) != gross:
            self.changed += 1
        self.rows[doc["sku"]] = gross

def worker(jobs, table, stats):
    client = SupplierClient()
    while True:
        sku = jobs.get()
        t = time.time()
        doc = client.fetch(sku)
        t1 = time.time()
        table.apply(doc)
        stats[threading.current_thread().name] = (
            stats.get(threading.current_thread().name, (0, 0, 0))[0] + 1,
            t1 - t,
            time.time() - t1,
        )


def main():
    jobs, table, stats = queue.Queue(maxsize=20), PriceTable(), {}
    for i in range(6):
        threading.Thread(target=worker, args=(jobs, table, stats), name="sync-%d" % i, daemon=True).start()
    def fill():
        while True:
            jobs.put(random.randint(1, 80000))
    threading.Thread(target=fill, name="catalogue", daemon=True).start()
    last = 0
    while True:
        time.sleep(2)
        n = sum(v[0] for v in stats.values())
        print(
            "prices/s %.1f" % ((n - last) / 2),
            "last fetch ms %.1f apply ms %.3f" % tuple(1000 * x for x in list(stats.values())[0][1:]),
            "changed",
            table.changed,
            flush=True,
        )
        last = n

main()
