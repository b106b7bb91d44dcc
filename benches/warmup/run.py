#!/usr/bin/env python3
"""Measures the first seconds of a Spring Boot service: plain, with the archive, and with replay. See ../README.md."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path[:0] = [os.path.dirname(HERE), os.path.join(ROOT, "tools/tests")]
sys.dont_write_bytecode = True

import jdks  # noqa: E402
from harness import machine, measure, report  # noqa: E402
from harness.measure import Failed  # noqa: E402

YUNTI = os.path.join(ROOT, "dist/bin/yunti")
BUILD = os.path.join(ROOT, "build/bench-warmup")
PORT = 18099
PATHS = ("/search?page=1", "/search?page=2", "/items")
# Figure -> its name in reports of `check`, and the goal: the largest ratio of an applied start to a plain one.
FIGURES = {
    "port opens": ("open_s", None), "first answer": ("first_answer_s", None), "CPU until then": ("cpu_s", None),
    "first request": ("first_ms", None), "p50": ("p50_ms", None), "p99": ("p99_ms", 0.5),
}


def arguments():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    p.add_argument("--quick", action="store_true", help="one round of three seconds on one JDK")
    p.add_argument("--rounds", type=int, default=5, help="start each variant this many times (default 5)")
    p.add_argument("--rate", type=float, default=60, help="requests a second (default 60)")
    p.add_argument("--jdk", action="append", choices=("17", "25"), help="JDKs to measure (default: both)")
    p.add_argument("--replay-seconds", type=float, default=2, help="longest replay (default 2)")
    p.add_argument("--no-save", action="store_true", help="do not write results")
    options = p.parse_args()
    options.seconds = 3 if options.quick else 10
    options.rounds = 1 if options.quick else options.rounds
    options.jdk = options.jdk or (["25"] if options.quick else ["25", "17"])
    return options


def run(*words):
    done = subprocess.run([YUNTI, "warmup", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"yunti warmup {words[0]} ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


def measured(version, home, options):
    """Records a profile on a JDK and compares starts. Returns the report of `check`."""
    profile = os.path.join(BUILD, f"jdk{version}.warmup")
    shutil.rmtree(profile, ignore_errors=True)
    command = ["--profile", profile, "--", os.path.join(home, "bin/java"), "-XX:+UseSerialGC", "-Xmx512m", "-jar",
               os.path.join(BUILD, "shop.jar"), f"--server.port={PORT}"]
    urls = [word for path in PATHS for word in ("--url", f"http://127.0.0.1:{PORT}{path}")]
    run("record", "--seconds", str(options.seconds), *urls, *command)
    return json.loads(run("check", "--json", "--archive-alone", "--rounds", str(options.rounds), "--rate", str(options.rate),
                          "--seconds", str(options.seconds), "--replay-seconds", str(options.replay_seconds), *command))


def rows_of(version, result):
    """Returns a row a figure: medians of the variants, ratios to the plain start of the same round, and the verdict."""
    rows = []
    for figure, (name, goal) in FIGURES.items():
        values = {kind: [r[kind][name] for r in result["rounds"]] for kind in ("plain", "archive", "applied")}
        ratios = {kind: statistics.median(v / p for v, p in zip(values[kind], values["plain"]))
                  for kind in ("archive", "applied")}
        row = {"jdk": version, "figure": figure, "ratios": ratios, "goal": goal,
               "medians": {kind: statistics.median(v) for kind, v in values.items()}}
        if goal is not None:
            row["verdict"] = "reached" if ratios["applied"] <= goal else "BELOW"
        rows.append(row)
    return rows


def table(rows):
    lines = [("JDK", "figure", "plain", "archive", "applied", "archive/plain", "applied/plain", "goal", "verdict")]
    for r in rows:
        unit = "s" if FIGURES[r["figure"]][0].endswith("_s") else "ms"
        cells = [f"{r['medians'][kind]:.3g} {unit}" for kind in ("plain", "archive", "applied")]
        lines.append((r["jdk"], r["figure"], *cells, f"{r['ratios']['archive']:.2f}", f"{r['ratios']['applied']:.2f}",
                      "" if r["goal"] is None else f"{r['goal']:.1f}", r.get("verdict", "")))
    widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def main():
    options = arguments()
    held = measure.lock()
    host, busy = machine.introduce()
    found = jdks.find(options.jdk)
    if not found:
        raise Failed("no JDK is installed: install JDK 17 or 25")
    subprocess.run(["mvn", "-q", "-B", "-f", os.path.join(HERE, "pom.xml"), "package"], check=True)
    begin = time.strftime("%Y-%m-%d %H:%M")
    results = {version: measured(version, home, options) for version, (_, home) in found.items()}
    rows = [row for version, result in results.items() for row in rows_of(version, result)]
    text = table(rows)
    print("\n" + text)
    if not options.no_save:
        end = time.strftime("%Y-%m-%d %H:%M")
        kept = {"machine": host, "busy": busy, "begin": begin, "end": end, "commit": machine.commit(),
                "arguments": sys.argv[1:], "jdks": {version: name for version, (name, _) in found.items()}, "rows": rows,
                "checks": {version: {**result, "profile": ""} for version, result in results.items()}}
        load = f"The machine was busy with other work: load {host['load'][0]:.1f} at the start.\n" if busy else ""
        names = "; ".join(name for name, _ in found.values())
        head = f"{begin} to {end}, {host['name']}; {names}; {options.rate:.0f} requests a second\n{load}"
        print("\nsaved in", report.save_with_text(host["name"], "warmup", kept, f"{head}\n{text}\n"))
    held.close()
    return 1 if any(row.get("verdict") == "BELOW" for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"bench-warmup: {failed}")
