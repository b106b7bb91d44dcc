#!/usr/bin/env python3
"""Runs every row and bullet of the bench once on tiny data. It compares outputs and ignores speeds."""

import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
ROWS = "wordcount,wordcount-folder,wordcount-loop,wordcount-sorted,zipf,terasort,terasort-32,sortlines,maxbykey," \
       "empty,proportion,scaling,budget,defaults-cost,cgroup,sum-double"

command = [sys.executable, "benches/run.py", "--rows", ROWS, "--size", "0.004", "--pairs", "1", "--peers", "none",
           "--no-save"]
done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(done.stdout)
# Each section before the last table has the title of a row and its line of the table.
sections = done.stdout.split("\n-- ")[1:]
failed = len(sections) != len(ROWS.split(","))
for section in sections:
    title, _, rest = section.partition("\n")
    result = rest.split("\n\n")[0]
    bad = any(word in result
              for word in ("FAILED", "OUTPUTS DIFFER", "not built", "Traceback", "cannot")) or not result.strip()
    failed |= bad
    print(f"{'FAILED' if bad else 'ok'} {title}{': ' + result.strip() if bad else ''}")
sys.exit(1 if failed else 0)
