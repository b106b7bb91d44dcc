"""Finds the oldest of 60,000 files by name and time before each file that it creates. Cured: from a list of its own."""

import collections
import os

import run

folder = os.path.join(run.args[0], "many")
known = collections.deque(sorted(os.listdir(folder)))
run.ready()
while run.going():
    if run.cured:
        oldest = os.path.join(folder, known[0])
        known.rotate(-1)
    else:
        with os.scandir(folder) as entries:
            oldest = min((e for e in entries if e.is_file()), key=lambda e: e.stat().st_mtime).path
    os.utime(oldest)
    run.done()
run.finish()
