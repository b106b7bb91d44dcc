"""Takes fare changes from the feed and writes them down; a second thread keeps statistics."""
import queue
import sqlite3
import sys
import threading
import time

changes = queue.Queue(100)
written = 0


def feed():
    n = 0
    while True:
        n += 1
        changes.put(("FRA", "X%02d" % (n % 90), 4900 + n * 37 % 20_000, time.time()))


def statistics(path):
    c = sqlite3.connect(path, timeout=60)
    while True:
        time.sleep(2)
        c.execute("select count(*), min(cents), max(cents) from fare").fetchall()


def main():
    global written
    path = sys.argv[1]
    threading.Thread(target=feed, name="feed", daemon=True).start()
    threading.Thread(target=statistics, args=(path,), name="statistics", daemon=True).start()

    def write():
        global written
        c = sqlite3.connect(path, timeout=60, isolation_level=None)
        c.execute("pragma synchronous = off")
        while True:
            origin, target, cents, at = changes.get()
            c.execute("insert or replace into fare(origin, target, cents, at) values(?, ?, ?, ?)",
                      (origin, target, cents, at))
            written += 1

    threading.Thread(target=write, name="writer", daemon=True).start()
    print("ready", flush=True)
    while True:
        time.sleep(0.5)
        print("total", written, flush=True)

main()
