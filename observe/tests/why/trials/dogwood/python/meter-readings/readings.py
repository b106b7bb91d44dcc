"""Takes readings of electricity meters from a feed and keeps them in a local file."""
import random
import sqlite3
import sys
import time

SCHEMA = """
create table if not exists reading (meter integer, at integer, watts real, primary key (meter, at)) without rowid;
create table if not exists latest (meter integer primary key, at integer, watts real);
"""


class Store:
    def __init__(self, path, group):
        self.db = sqlite3.connect(path)
        self.db.executescript(SCHEMA)
        self.group = group
        self.open = 0

    def save(self, reading):
        self.db.execute("insert or replace into reading values (?, ?, ?)", reading)
        self.db.execute("insert or replace into latest values (?, ?, ?)", reading)
        self.open += 1
        if self.open >= self.group:
            self.db.commit()
            self.open = 0


def feed():
    """The radio network's messages; there are always more."""
    rnd = random.Random(5)
    start = int(time.time())
    for n in range(1 << 40):
        yield rnd.randrange(2000), start + n // 2000, round(rnd.uniform(80, 4000), 1)


def valid(reading):
    return 0 <= reading[2] < 30000


def main():
    store = Store(sys.argv[1], int(sys.argv[2]))
    kept, shown = 0, time.monotonic()
    for reading in feed():
        if valid(reading):
            store.save(reading)
            kept += 1
        if time.monotonic() - shown > 0.2:
            shown = time.monotonic()
            print("kept", kept, flush=True)


main()
