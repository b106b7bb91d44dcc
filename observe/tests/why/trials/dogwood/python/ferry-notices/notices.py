"""Tells subscribers about delays of ferries: posts a notice to the address which each subscriber left."""
import itertools
import json
import queue
import sys
import threading
import time

import requests


class Notices:
    def __init__(self, addresses):
        self.addresses = addresses
        self.todo = queue.Queue(maxsize=100)
        self.sent = 0
        self.guard = threading.Lock()

    def deliver(self, address, notice):
        reply = requests.post(address, data=json.dumps(notice), timeout=30,
                              headers={"Content-Type": "application/json"})
        reply.raise_for_status()

    def courier(self):
        while True:
            address, notice = self.todo.get()
            try:
                self.deliver(address, notice)
                with self.guard:
                    self.sent += 1
            except requests.RequestException as e:
                print("not delivered", address, e, file=sys.stderr)

    def announce(self):
        for n in itertools.count():
            notice = {"ferry": f"F{n % 30}", "delay": n % 55, "pier": n % 6}
            self.todo.put((self.addresses[n % len(self.addresses)], notice))

    def run(self, couriers):
        for n in range(couriers):
            threading.Thread(target=self.courier, name=f"courier-{n}", daemon=True).start()
        threading.Thread(target=self.announce, name="announce", daemon=True).start()
        while True:
            time.sleep(0.2)
            print("sent", self.sent, flush=True)


if __name__ == "__main__":
    Notices([f"http://{host}:{sys.argv[1]}/notice" for host in sys.argv[2:]]).run(12)
