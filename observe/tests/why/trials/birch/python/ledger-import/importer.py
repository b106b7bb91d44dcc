"""Imports the entries of a ledger into SQLite, each in a transaction of its own."""
import datetime
import itertools
import sqlite3
import sys
import threading
import time

done = 0


def entries():
    for n in itertools.count():
        yield f"acc{n * 7919 % 1000}", (n * 37) % 20000 - 10000


def report():
    while True:
        time.sleep(0.5)
        print("done", done)


def main():
    global done
    db = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
    db.execute("pragma synchronous=off")
    threading.Thread(target=report, daemon=True).start()
    for account, cents in entries():
        db.execute("begin immediate")
        db.execute("insert into entry(account, cents, at) values (?, ?, ?)",
                   (account, cents, datetime.datetime.now().isoformat()))
        db.execute("update balance set cents = cents + ? where account = ?", (cents, account))
        db.execute("commit")
        done += 1


main()
