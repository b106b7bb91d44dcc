#!/usr/bin/env python3
"""Checks the cases of a collection: each builds, runs, leaves nothing behind, and gains by its cure.

    check.py FOLDER [CASE ..] [--seconds N]    print a line of the table in the collection's README.md for each case
"""

import argparse
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases  # noqa: E402
import installed  # noqa: E402

SECONDS = 6
GAIN_MIN = 1.5


def rate(case, out, seconds, cured=False):
    """Returns operations per second, measured in a run of its own."""
    run, left = cases.Run(case, out, cured), []
    try:
        run.wait()
        time.sleep(seconds)
    finally:
        left = run.stop()
    if left:
        raise RuntimeError(f"left behind: {', '.join(left)}")
    if run.popen.returncode or not run.rates:
        raise RuntimeError(f"ended with {run.popen.returncode} after {len(run.rates)} rates")
    return sum(run.rates) / len(run.rates)


def check(case, out, seconds):
    """Returns the cells of the case's line."""
    case.build(out)
    slow = rate(case, out, seconds)
    if case.kind == "healthy":
        return [case.name, case.language, "(healthy)", f"{slow:,.0f}", "", ""]
    cured = rate(case, out, seconds, cured=True)
    if cured < GAIN_MIN * slow:
        raise RuntimeError(f"{slow:.1f} operations/s, and {cured:.1f} when cured")
    gain = f"{cured / slow:.1f}" if slow else ""
    return [case.name, case.language, case.cause, f"{slow:,.0f}", f"{cured:,.0f}", gain]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    out = os.path.join(installed.ROOT, "build/trials", os.path.basename(os.path.abspath(options.collection)))
    failed = 0
    for case in cases.find(options.collection, options.cases):
        if reason := case.missing():
            print(f"skip {case.name}: {reason}", flush=True)
            continue
        try:
            cells = check(case, os.path.join(os.path.abspath(out), case.name), options.seconds)
            print(f"| {' | '.join(cells)} |", flush=True)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            failed += 1
            print(f"FAILED {case.name}: {e}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
