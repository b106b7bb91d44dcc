"""Imports the airlines' fare files, one after the other."""
import sqlite3
import sys
import time


def main():
    path, mode = sys.argv[1:]
    c = sqlite3.connect(path, timeout=60, isolation_level=None)
    c.execute("pragma journal_mode = wal")
    c.execute("pragma synchronous = off")
    if mode == "create":
        c.execute("create table fare(origin text, target text, cents int, at real, primary key(origin, target))")
        c.execute("create table imported(file int primary key, rows int)")
        return
    for n in range(1, 1 << 30):
        if mode == "long":
            c.execute("begin immediate")
            time.sleep(0.25)
        else:
            time.sleep(0.25)
            c.execute("begin immediate")
        c.execute("insert or replace into imported values(?, ?)", (n % 50, n * 7))
        c.execute("commit")
        time.sleep(0.03)

main()
