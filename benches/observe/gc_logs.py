#!/usr/bin/env python3
"""Measures how fast `yunti observe gc` reads logs, against `grep` for the same pauses. See ../README.md.

Each collector runs a program that allocates. Its log is repeated with advancing times and numbers up to the size. The
peer is `grep -cE` for the ends of pauses, which reads each byte and knows nothing: both must count the same pauses.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path[:0] = [os.path.dirname(HERE), os.path.join(ROOT, "tools/tests")]
sys.dont_write_bytecode = True

import jdks  # noqa: E402
from harness import commands, machine, measure, report  # noqa: E402
from harness.measure import Failed  # noqa: E402

COLLECTORS = {
    "17 Serial": "-XX:+UseSerialGC",
    "17 Parallel": "-XX:+UseParallelGC",
    "17 G1": "-XX:+UseG1GC",
    "17 ZGC": "-XX:+UseZGC",
    "17 Shenandoah": "-XX:+UseShenandoahGC",
    "25 Serial": "-XX:+UseSerialGC",
    "25 Parallel": "-XX:+UseParallelGC",
    "25 G1": "-XX:+UseG1GC",
    "25 generational ZGC": "-XX:+UseZGC",
    "25 Shenandoah": "-XX:+UseShenandoahGC",
}
GOAL_MB_PER_SECOND = 200
PAUSE = r"GC\([0-9]+\) ([yYO]: )?Pause .*[0-9]ms$"
LINE = re.compile(r"\[(\d+\.\d+)s\](.*?)(?:GC\((\d+)\)(.*))?$")


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    p.add_argument("--quick", action="store_true", help="one round on logs of 4 MB")
    p.add_argument("--megabytes", type=int, default=200, help="size of each log (default 200)")
    p.add_argument("--rounds", type=int, default=5, help="run this many pairs per log (default 5)")
    p.add_argument("--no-save", action="store_true", help="write no results")
    a = p.parse_args()
    if a.quick:
        a.megabytes, a.rounds = 4, 1
    return a


def real(home, options, folder):
    """Returns the lines of a log of the program; none if the JDK lacks the collector."""
    path = os.path.join(folder, "real.log")
    command = [os.path.join(home, "bin/java"), options, "-Xmx64m", f"-Xlog:gc*,safepoint:file={path}", "-cp", folder,
               "Churn", "cache", "4"]
    if subprocess.run(command, capture_output=True, timeout=120).returncode != 0:
        return []
    with open(path) as f:
        return [match.groups() for match in map(LINE.match, f.read().splitlines()) if match]


def repeated(lines, path, size):
    """Writes the lines again and again, each time later. Returns the bytes."""
    parts = [(float(at), tags, None if number is None else int(number), rest) for at, tags, number, rest in lines]
    span, count = parts[-1][0] + 0.01, max(number or 0 for _, _, number, _ in parts) + 1
    written = again = 0
    with open(path, "w") as f:
        while written < size:
            begin, first = again * span, again * count
            text = "".join(
                f"[{begin + at:.3f}s]{tags}\n" if number is None else f"[{begin + at:.3f}s]{tags}GC({first + number}){rest}\n"
                for at, tags, number, rest in parts
            )
            f.write(text)
            written, again = written + len(text), again + 1
    return written


def timed(command, **how):
    before, begin = measure.processor_seconds(), time.monotonic()
    output = subprocess.run(command, capture_output=True, text=True, check=True, **how).stdout
    return time.monotonic() - begin, measure.processor_seconds() - before, output


def measured(name, path, size, rounds):
    ours, peer = [], []
    environment = os.environ | {"LC_ALL": "C"}
    pauses = json.loads(timed([commands.YUNTI, "observe", "gc", "--json", path])[2])["pauses"]["count"]
    for _ in range(rounds):
        wall, cpu, _ = timed([commands.YUNTI, "observe", "gc", path])
        ours.append((wall, cpu))
        wall, cpu, output = timed(["grep", "-cE", PAUSE, path], env=environment)
        peer.append((wall, cpu))
        if int(output) != pauses:
            raise Failed(f"{name}: {pauses} pauses, and {output.strip()} by grep")
    best = min(wall for wall, _ in ours)
    median = statistics.median(wall for wall, _ in ours)
    return {"row": f"gc-log-{name.replace(' ', '-')}", "bytes": size, "pauses": pauses, "ours": ours, "grep": peer,
            "mb_per_s": size / median / 1e6, "mb_per_s_best": size / best / 1e6,
            "mb_per_cpu_s": size / statistics.median(cpu for _, cpu in ours) / 1e6,
            "of_grep": statistics.median(wall for wall, _ in peer) / median,
            "verdict": "reached" if size / median / 1e6 >= GOAL_MB_PER_SECOND else "BELOW"}


def table(rows):
    lines = [f"{'log':34} {'MB/s':>6} {'MB/CPU s':>9} {'of grep':>8}  goal {GOAL_MB_PER_SECOND} MB/s"]
    lines += [f"{r['row']:34} {r['mb_per_s']:6.0f} {r['mb_per_cpu_s']:9.0f} {r['of_grep']:7.2f}x  {r['verdict']}"
              for r in rows]
    return "\n".join(lines)


def main():
    options = arguments()
    held = measure.lock()
    host = machine.describe()
    found = {version: home for version, (_, home) in jdks.find(["17", "25"]).items()}
    if not found:
        raise Failed("no JDK is installed: install JDK 17 or 25")
    busy = host["load"][0] > 0.5
    print(f"{host['name']}: load {host['load'][0]:.1f}")
    if busy:
        print("the machine is busy: these figures are not valid results")
    rows, begin = [], time.strftime("%Y-%m-%d %H:%M")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(ROOT, "observe/tests/targets/jvm/Churn.java")
        subprocess.run(["javac", "--release", "17", "-d", folder, source], check=True)
        for name, flags in COLLECTORS.items():
            home = found.get(name.split()[0])
            lines = real(home, flags, folder) if home else []
            if not lines:
                print(f"SKIP {name}: no such JDK or collector")
                continue
            path = os.path.join(folder, "big.log")
            size = repeated(lines, path, options.megabytes * 1_000_000)
            rows.append(measured(name, path, size, options.rounds))
            print(table(rows[-1:]).split("\n")[1], flush=True)
    text = table(rows)
    print("\n" + text)
    if not options.no_save:
        kept = {"machine": host, "busy": busy, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"),
                "arguments": sys.argv[1:], "results": rows}
        note = "The machine was busy with other work.\n" if busy else ""
        print("saved in", report.save_with_text(host["name"], "gc-logs", kept, f"{begin}, {host['name']}\n{note}\n{text}\n"))
    held.close()
    return 0 if options.quick or all(r["verdict"] == "reached" for r in rows) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"bench-gc-logs: {failed}")
