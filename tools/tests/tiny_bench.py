#!/usr/bin/env python3
"""Runs every row of a bench once on tiny data: tiny_bench.py engine | code | columns. It compares outputs and ignores speeds."""

import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
# Rows and bullets, without those of 10 GB.
ENGINE = "wordcount,wordcount-folder,wordcount-loop,wordcount-sorted,zipf,terasort,terasort-32,sortlines,maxbykey," \
         "empty,proportion,scaling,budget,defaults-cost,cgroup,sum-double"
# Without `neighbour`, which needs 3 GB.
CODE = "isolated-wordcount-folder,isolated-maxbykey,isolated-wordcount-sorted,isolated-terasort-class,crash-one," \
       "crash-ten,streaming-words-50,streaming-joined-50,streaming-awk-50,streaming-words-200,streaming-joined-200," \
       "streaming-awk-200,python-words-1000,python-words-200,python-sessions-100,python-maximum-100," \
       "python-maximum-1000,start,resume"
COLUMNS = "count,sum,q1,q6,filter,point,day,shipmode,suppkey,orderkey,comment,max-text,distinct,csv-aggregate," \
          "csv-to-parquet"
# Script, rows, and flags. No peers, which come from registries; but DuckDB checks the answers of queries over columns.
BENCHES = {
    "engine": ("benches/run.py", ENGINE, ["--size", "0.004", "--pairs", "1", "--peers", "none"]),
    "code": ("benches/code/run.py", CODE, ["--size", "0.002", "--rounds", "1", "--no-peers"]),
    "columns": ("benches/columns/run.py", COLUMNS, ["--scales", "0.01", "--rounds", "1", "--peers", "duckdb"]),
}

script, rows, flags = BENCHES[sys.argv[1]]
command = [sys.executable, script, "--rows", rows, *flags, "--no-save"]
done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(done.stdout)
# Each section before the last table has the title of a row and its lines of the table.
sections = done.stdout.split("\n-- ")[1:]
failed = len(sections) != len(rows.split(","))
for section in sections:
    title, _, rest = section.partition("\n")
    result = rest.split("\n\n")[0]
    bad = any(word in result
              for word in ("FAILED", "OUTPUTS DIFFER", "not built", "Traceback", "cannot")) or not result.strip()
    failed |= bad
    print(f"{'FAILED' if bad else 'ok'} {title}{': ' + result.strip() if bad else ''}")
    for reason in re.findall(r"SKIPPED: (.*)", result):
        print(f"skip {title}: {reason}")
sys.exit(1 if failed else 0)
