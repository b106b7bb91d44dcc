#!/usr/bin/env python3
"""Runs every row of the bench of user code once on tiny data, without peers of registries. It compares outputs and
ignores speeds. The row of the neighbour needs 3 GB, so it is left out."""

import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
ROWS = "isolated,crash,streaming,python,start,resume"
LEAST_ROWS = 19

command = [sys.executable, "benches/code/run.py", "--rows", ROWS, "--size", "0.002", "--rounds", "1", "--no-peers",
           "--no-save"]
done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(done.stdout)
# Each section before the last table has the name of a row, and its lines of the table.
sections = done.stdout.split("\n-- ")[1:]
failed = len(sections) < LEAST_ROWS
for section in sections:
    title, _, rest = section.partition("\n")
    result = rest.split("\n\n")[0]
    bad = any(word in result for word in ("FAILED", "OUTPUTS DIFFER", "Traceback")) or title not in result
    failed |= bad
    print(f"{'FAILED' if bad else 'ok'} {title}{': ' + result.strip() if bad else ''}")
    for reason in re.findall(r"SKIPPED: (.*)", result):
        print(f"skip {title}: {reason}")
sys.exit(1 if failed else 0)
