#!/usr/bin/env python3
"""Measures the memory of several JVMs with one shared table, and the pauses of three collectors beside it.

    make table-java && python3 table/benches/jvms.py [--keys 118000000] [--jvms 8]

First 8 JVMs look keys up in one table of 2 GB, and /proc/PID/smaps_rollup tells what they have. Then one JVM after the
other looks keys up with each collector: in this table, in one of 5,000,000 keys, and in a HashMap of these keys.
"""

import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
FOLDER = os.path.join(ROOT, "build/bench-table")
CLASSES = ":".join(os.path.join(ROOT, "build/table/yunti-table", name) for name in ("test-classes", "classes"))
COLLECTORS = {"Serial": ["-XX:+UseSerialGC"], "G1": ["-XX:+UseG1GC"], "ZGC": ["-XX:+UseZGC"]}
SMALL = 5_000_000


def build(keys):
    path = os.path.join(FOLDER, f"integers-{keys}.ytab")
    if not os.path.exists(path):
        os.makedirs(FOLDER, exist_ok=True)
        subprocess.run(["cargo", "bench", "-q", "--profile", "release", "--locked", "-p", "yunti-table", "--bench", "lookups",
                        "--", str(keys), "integers", "1000", path], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return path


class Jvm:
    def __init__(self, path, keys, lookups, kind, heap, flags):
        words = ["java", f"-Xmx{heap}", "-Xlog:gc,safepoint*=off", *flags, "-cp", CLASSES, "org.yunti.table.bench.MemoryBench",
                 path, str(keys), str(lookups), kind]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.log = []

    def wait(self):
        for line in self.process.stdout:
            if line.startswith("ready"):
                return
            self.log.append(line)
        sys.exit(f"jvms.py: the JVM ended: {''.join(self.log)[-500:]}")

    def memory(self):
        """Returns Rss, Pss and Anonymous in MiB."""
        with open(f"/proc/{self.process.pid}/smaps_rollup") as file:
            fields = dict(re.findall(r"^(\w+): +(\d+) kB", file.read(), re.M))
        return [int(fields[name]) / 1024 for name in ("Rss", "Pss", "Anonymous")]

    def pauses(self):
        """Returns the milliseconds of young and of full pauses. ZGC's are within its log of phases."""
        found = {"young": [], "full": []}
        for line in self.log:
            pause = re.search(r"Pause (\w+).* ([0-9.]+)ms$", line.strip())
            if pause:
                found["full" if pause[1] == "Full" else "young"].append(float(pause[2]))
        return found

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def memory_of(path, keys, count, lookups):
    jvms = [Jvm(path, keys, lookups, "table", "64m", ["-XX:+UseSerialGC"]) for _ in range(count)]
    for jvm in jvms:
        jvm.wait()
    rows = [jvm.memory() for jvm in jvms]
    for jvm in jvms:
        jvm.close()
    rss, pss, own = (sum(row[n] for row in rows) for n in range(3))
    size = os.path.getsize(path) / 2**20
    print(f"{count} JVMs with a table of {size:.0f} MiB: {pss:.0f} MiB in all (Pss), {own:.0f} MiB of it their own; "
          f"each maps {rss / count:.0f} MiB (Rss)", flush=True)


def pauses_of(large, keys, small, lookups):
    for name, flags in COLLECTORS.items():
        log = ["-Xlog:gc,gc+phases"] if name == "ZGC" else []
        for path, of, kind, heap in ((large, keys, "table", "256m"), (small, SMALL, "table", "256m"), (small, SMALL, "map", "2g")):
            jvm = Jvm(path, of, lookups, kind, heap, [*flags, *log])
            jvm.wait()
            found = jvm.pauses()
            jvm.close()
            text = ", ".join(f"{len(times)} {phase} of at most {max(times):.1f} ms, {sum(times) / len(times):.2f} on average"
                             for phase, times in found.items() if times)
            print(f"{name:6}  {kind:5}  {of:>11,} keys: {text or 'no pause'}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--keys", type=int, default=118_000_000, help="keys of the large table (default 118,000,000: 2 GB)")
    p.add_argument("--jvms", type=int, default=8)
    p.add_argument("--lookups", type=int, default=10_000_000)
    options = p.parse_args()
    large, small = build(options.keys), build(SMALL)
    memory_of(large, options.keys, options.jvms, options.lookups)
    pauses_of(large, options.keys, small, options.lookups)


if __name__ == "__main__":
    main()
