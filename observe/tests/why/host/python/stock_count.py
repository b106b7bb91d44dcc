"""Counts stock into an SQLite database with a write-ahead log, one transaction per item. Cured: one per 500."""

import os
import sqlite3

import run

base = sqlite3.connect(os.path.join(run.args[0], "stock.db"), isolation_level=None)
base.execute("PRAGMA journal_mode=WAL")
base.execute("PRAGMA synchronous=FULL")
base.execute("CREATE TABLE IF NOT EXISTS stock (item INTEGER PRIMARY KEY, shelf TEXT, pieces INTEGER)")
at_once = 500 if run.cured else 1
run.ready()
item = 0
while run.going():
    base.execute("BEGIN")
    for _ in range(at_once):
        item += 1
        base.execute("INSERT OR REPLACE INTO stock VALUES (?, ?, ?)", (item % 20000, f"shelf-{item % 97}", item % 31))
        run.done()
    base.execute("COMMIT")
run.finish()
