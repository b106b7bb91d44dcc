#!/usr/bin/env python3
"""Measures the overhead of `yunti observe`: requests per second of a program with and without it. See ../README.md."""

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path[:0] = [os.path.dirname(HERE), os.path.join(ROOT, "tools/tests"), os.path.join(ROOT, "machine/tests"),
                os.path.join(ROOT, "observe/tests")]
sys.dont_write_bytecode = True

import images  # noqa: E402
import jdks  # noqa: E402
from harness import commands, machine, measure, report  # noqa: E402
from harness.measure import Failed  # noqa: E402
from looking import part  # noqa: E402

CLASSES = os.path.join(ROOT, "build/bench-observe")
# Seconds until an observer is attached, and until its changes are undone and the code is compiled again.
BEGIN_SECONDS, END_SECONDS = 1.0, 0.7

# Load of the program -> observers: their arguments, and the goal, the largest share of lost requests per second. {pid}
# is the program's pid, and {folder} the folder of its files.
OF_PROCESS = ["-p", "{pid}"]
LOADS = {
    "compute": {
        "flame --event cpu": (["flame", "-e", "cpu"], 0.01),
        "flame --event wall": (["flame", "-e", "wall"], None),
        "locks without contention": (["locks"], 0.03),
        "faults": (["faults"], None),
        "trace of one method": (["trace", "Steady.request"], None),
    },
    "contend": {"locks": (["locks"], 0.03)},
    "names": {"native getaddrinfo": (["native", "getaddrinfo"], None)},
}
LOADS = {load: {name: ([*words, *OF_PROCESS], goal) for name, (words, goal) in observers.items()}
         for load, observers in LOADS.items()}
# Loads on the machine, by the C program steady.c.
OF_MACHINE = {
    "read": {"cache": (["cache"], 0.02), "ext4 io": (["ext4", "io", "{folder}"], 0.01)},
    "write": {"cache": (["cache"], 0.02), "ext4 io": (["ext4", "io", "{folder}"], 0.01)},
    "switch": {"cgroup": (["cgroup"], 0.01)},
    "call": {"net": (["net"], 0.01)},
}
LOADS |= OF_MACHINE


def arguments():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    p.add_argument("--quick", action="store_true", help="run one round of short windows")
    p.add_argument("--rounds", type=int, default=10, help="run this many pairs per observer (default 10)")
    p.add_argument("--window", type=float, default=2.0, help="count requests for this many seconds (default 2)")
    p.add_argument("--loads", default=",".join(LOADS), help="run these loads: " + ", ".join(LOADS))
    p.add_argument("--jdk", default="25", help="use this version (default 25, or 17 if 25 is missing)")
    p.add_argument("--no-save", action="store_true", help="write no results")
    a = p.parse_args()
    if a.quick:
        a.rounds, a.window = 1, 0.3
    a.loads = [n for n in a.loads.split(",") if n]
    if set(a.loads) - set(LOADS):
        p.error("loads are " + ", ".join(LOADS))
    if a.rounds < 1 or a.window < 0.1:
        p.error("--rounds is at least 1, --window at least 0.1")
    return a


class Steady:
    """Program under load, which counts its requests."""

    def __init__(self, java, load, folder):
        command = [os.path.join(CLASSES, "steady"), load, folder] if load in OF_MACHINE else [java, "-Xmx256m", "-cp",
                                                                                              CLASSES, "Steady", load]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        if self.process.stdout.readline().strip() != "ready":
            raise Failed("the program does not start")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def count(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            words = line.split()
            if len(words) == 2 and all(word.isdigit() for word in words):
                return int(words[0]), int(words[1])
        raise Failed("the program has ended")

    def rate(self, seconds):
        """Returns requests per second over `seconds`."""
        begin, first = self.count()
        time.sleep(seconds)
        end, last = self.count()
        return (last - first) / (end - begin) * 1e9


@contextlib.contextmanager
def folder_of(load):
    """Yields the folder of the program's files: for loads on the machine, a separate file system on an image."""
    if load not in OF_MACHINE or os.geteuid() != 0:
        yield CLASSES
        return
    with images.mounted(images.image(os.path.join(CLASSES, "image"), mib=256)) as folder:
        yield folder


def observed(steady, words, folder, window):
    """Returns requests per second under observation, and the observer's share of a processor in percent."""
    words = [word.format(pid=steady.process.pid, folder=folder) for word in words]
    command = [commands.YUNTI, part(words[0]), *words, "-s", "600", "--json"]
    observer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(BEGIN_SECONDS)
        rate = steady.rate(window)
        observer.send_signal(signal.SIGINT)
        output, errors = observer.communicate(timeout=60)
    finally:
        if observer.poll() is None:
            observer.kill()
            observer.wait()
    if observer.returncode != 130:
        raise Failed(errors.strip() or f"it ended with {observer.returncode}")
    time.sleep(END_SECONDS)
    return rate, json.loads(output)["overhead_percent"]


def measured(java, load, options):
    """Measures each observer between two windows without one, and compares with their mean to cancel drift.

    The control is such a window without an observer.
    """
    observers, failed = LOADS[load], {}
    samples = {name: [] for name in ["nothing", *observers]}
    with folder_of(load) as folder, Steady(java, load, folder) as steady:
        time.sleep(options.window * 2)
        before = steady.rate(options.window)
        for number in range(options.rounds):
            for name in ["nothing", *observers]:
                if name in failed:
                    continue
                try:
                    if name == "nothing":
                        rate, own = steady.rate(options.window), 0.0
                    else:
                        rate, own = observed(steady, observers[name][0], folder, options.window)
                except Failed as failure:
                    failed[name] = str(failure)
                    continue
                after = steady.rate(options.window)
                samples[name].append({"before": before, "with": rate, "after": after, "observer_cpu_percent": own})
                before = after
            print(f"{load}: round {number + 1} of {options.rounds}", flush=True)
    return [row(load, name, samples[name], failed.get(name), observers.get(name, ([], None))) for name in samples]


def row(load, name, samples, failure, observer):
    words, goal = observer
    found = {"row": f"observe-{load}", "look": name, "words": words, "goal": goal, "samples": samples}
    if failure:
        return found | {"verdict": "SKIPPED", "note": failure}
    lost = sorted(1 - s["with"] / ((s["before"] + s["after"]) / 2) for s in samples)
    low, _, high = statistics.quantiles(lost, n=4) if len(lost) > 1 else (lost[0],) * 3
    return found | {"lost": statistics.median(lost), "lost_quartiles": [low, high], "lost_range": [lost[0], lost[-1]],
                    "observer_cpu_percent": statistics.median(s["observer_cpu_percent"] for s in samples)}


def judge(rows, rounds):
    """Judges against the control of the same load. A loss within its spread is indistinguishable from none."""
    spread = {r["row"]: r["lost_quartiles"][1] - r["lost_quartiles"][0] for r in rows if r["look"] == "nothing"}
    for r in rows:
        if r["goal"] is None or "lost" not in r:
            continue
        more = r["lost"] - r["goal"]
        r["control_spread"] = spread[r["row"]]
        r["verdict"] = "reached" if more <= 0 else "BELOW" if rounds >= 10 and more > spread[r["row"]] else "UNCLEAR"


def table(rows):
    percent = lambda part: f"{part * 100:.2f} %"
    lines = [("load", "observer", "requests lost", "half of the pairs", "observer's CPU", "goal", "verdict")]
    for r in rows:
        if "lost" in r:
            quartiles = " to ".join(percent(q) for q in r["lost_quartiles"])
            goal = "" if r["goal"] is None else percent(r["goal"])
            lines.append((r["row"][8:], r["look"], percent(r["lost"]), quartiles, f"{r['observer_cpu_percent']:.1f} %",
                          goal, r.get("verdict", "")))
        else:
            lines.append((r["row"][8:], r["look"], "", "", "", "", f"SKIPPED: {r['note']}"))
    widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def save(name, kept, text):
    busy = "The machine was busy with other work.\n" if kept["busy"] else ""
    head = f"{kept['begin']} to {kept['end']}, {name}; {kept['jdk']}\n{busy}"
    return report.save_with_text(name, "observe", kept, f"{head}\n{text}\n")


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    held = measure.lock()
    host = machine.describe()
    found = jdks.find([options.jdk, "17"])
    if not found:
        raise Failed("no JDK is installed: install JDK 17 or 25")
    name, home = found.get(options.jdk) or found["17"]
    print(f"{host['name']}: {host['cores']} cores, {host['memory_gib']} GiB, load {host['load'][0]:.1f}; {name}")
    busy = host["load"][0] > 0.5
    if busy:
        print("the machine is busy: these figures are not valid results")
    os.makedirs(CLASSES, exist_ok=True)
    subprocess.run(["javac", "--release", "17", "-d", CLASSES, os.path.join(HERE, "Steady.java")], check=True)
    subprocess.run(["gcc", "-O2", "-o", os.path.join(CLASSES, "steady"), os.path.join(HERE, "steady.c"), "-lpthread"],
                   check=True)
    begin = time.strftime("%Y-%m-%d %H:%M")
    rows = [r for load in options.loads for r in measured(os.path.join(home, "bin/java"), load, options)]
    judge(rows, options.rounds)
    text = table(rows)
    print("\n" + text)
    if not options.no_save:
        kept = {"machine": host, "busy": busy, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"),
                "arguments": sys.argv[1:], "jdk": name,
                "window_seconds": options.window, "results": rows}
        print("\nsaved in", save(host["name"], kept, text))
    held.close()
    # Some observers need root; without it they are reported as skipped, which is no failure.
    return 1 if any(r.get("verdict") == "BELOW" for r in rows) or not any("lost" in r for r in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"bench-observe: {failed}")
