#!/usr/bin/env python3
"""Measures the cost of `yunti observe record`: requests per second with and without it, in pairs. See ../README.md."""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(HERE, "../../tools/tests")]
sys.dont_write_bytecode = True

import jdks  # noqa: E402
from harness import commands  # noqa: E402
from run import CLASSES, Steady  # noqa: E402

LOADS = ["compute", "contend", "names"]
# Seconds until the compiled code is warm, and until the profiler has been stopped.
WARM_SECONDS, AFTER_SECONDS = 10, 1
# Goal: the largest share of lost requests, and of one processor for the recorder.
LOST_MAX, PROCESSOR_PERCENT_MAX = 0.01, 1.0


def arguments():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    p.add_argument("--quick", action="store_true", help="run one round of short windows")
    p.add_argument("--rounds", type=int, default=8, help="run this many pairs per load (default 8)")
    p.add_argument("--slice", type=int, default=20, help="seconds of a slice and of a window (default 20)")
    p.add_argument("--loads", default=",".join(LOADS), help="run these loads: " + ", ".join(LOADS))
    p.add_argument("--jdk", default="25", help="use this version (default 25, or 17 if 25 is missing)")
    p.add_argument("--json", action="store_true", help="print the results as JSON")
    a = p.parse_args()
    if a.quick:
        a.rounds, a.slice = 1, 3
    a.loads = [n for n in a.loads.split(",") if n]
    if set(a.loads) - set(LOADS):
        p.error("loads are " + ", ".join(LOADS))
    return a


def record(*words):
    return subprocess.run([commands.YUNTI, "observe", "record", *map(str, words)], capture_output=True, text=True, timeout=120)


@contextlib.contextmanager
def recorder(pid, store, seconds):
    """Records a process, from the beginning of a slice on. The block gets a function that returns the cost."""
    time.sleep(seconds - time.time() % seconds)
    run = record("start", pid, "--store", store, "--slice", f"{seconds}s")
    if run.returncode != 0:
        raise RuntimeError(run.stderr)
    try:
        yield lambda: json.loads(record("status", "--json", "--store", store).stdout)["recorder"]
    finally:
        done = record("stop", "--store", store)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        time.sleep(AFTER_SECONDS)


def measured(java, load, options):
    """Returns lost shares by pair, the recorder's shares of a processor in percent, and bytes a day."""
    lost, shares, bytes_a_day = [], [], []
    with Steady(java, load, CLASSES) as steady, tempfile.TemporaryDirectory() as store:
        time.sleep(1 if options.quick else WARM_SECONDS)
        # The beginning and the end of a slice are within a window, with the profiler's restart and the recording.
        window = options.slice * 1.5
        without = steady.rate(window)
        for _ in range(options.rounds):
            with recorder(steady.process.pid, store, options.slice) as state:
                with_it = steady.rate(window)
                now = state()
                shares.append(now["cpu_percent"])
                seconds = (now["now_ms"] - now["started_ms"]) / 1000
            after = steady.rate(window)
            lost.append(1 - with_it / statistics.mean([without, after]))
            without = after
            slices = sorted(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(store)
                            for name in names if name.endswith(".slice"))
            bytes_a_day.append(slices[-1] * 86_400 / options.slice if slices and seconds else 0)
    return lost, shares, bytes_a_day


def java_of(version):
    found = jdks.find([version, "17"])
    if not found:
        sys.exit("no JDK is installed: install JDK 17 or 25")
    return os.path.join((found.get(version) or found["17"])[1], "bin/java")


def main():
    options = arguments()
    os.makedirs(CLASSES, exist_ok=True)
    subprocess.run(["javac", "--release", "17", "-d", CLASSES, os.path.join(HERE, "Steady.java")], check=True)
    java, failed, results = java_of(options.jdk), [], []
    for load in options.loads:
        lost, shares, bytes_a_day = measured(java, load, options)
        mean = statistics.mean(lost)
        error = statistics.stdev(lost) / len(lost) ** 0.5 if len(lost) > 1 else 0.0
        result = {"load": load, "pairs": len(lost), "lost_percent": 100 * mean, "error_percent": 100 * error,
                  "recorder_percent": statistics.mean(shares), "megabytes_a_day": max(bytes_a_day) / 1e6}
        results.append(result)
        if not options.json:
            print("{load:8} {pairs:3} pairs: {lost_percent:5.2f} % of requests lost, +- {error_percent:.2f}; recorder "
                  "{recorder_percent:.2f} % of a processor; {megabytes_a_day:.1f} MB a day".format(**result), flush=True)
        # A single pair on a busy machine proves nothing.
        if not options.quick and (mean - 2 * error > LOST_MAX or result["recorder_percent"] > PROCESSOR_PERCENT_MAX):
            failed.append(load)
    if options.json:
        print(json.dumps(results))
    return f"goals missed: {', '.join(failed)}" if failed else 0


if __name__ == "__main__":
    sys.exit(main())
