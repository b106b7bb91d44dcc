#!/usr/bin/env python3
"""Compares lookups in shared tables with LMDB, RocksDB, Chronicle Map and a hash map in the heap. See benches/README.md."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../../.."))
sys.path.insert(0, os.path.join(ROOT, "benches"))
sys.dont_write_bytecode = True

from harness import machine, measure, report  # noqa: E402
from harness.measure import Failed  # noqa: E402

BUILD = os.path.join(ROOT, "build/bench-table")
CHRONICLE = os.path.join(ROOT, "build/bench-chronicle")
# Chronicle's own list for JDK 17; its statistics stay here.
JVM = ["-Xmx4g", "-XX:+UseSerialGC", "-Dchronicle.analytics.disable=true", "-Dchronicle.announcer.disable=true",
       *(f"--add-exports={name}=ALL-UNNAMED" for name in (
           "java.base/jdk.internal.ref", "java.base/sun.nio.ch", "jdk.unsupported/sun.misc",
           "jdk.compiler/com.sun.tools.javac.file")),
       *(f"--add-opens={name}=ALL-UNNAMED" for name in (
           "jdk.compiler/com.sun.tools.javac", "java.base/java.lang", "java.base/java.lang.reflect", "java.base/java.io",
           "java.base/java.util", "java.base/java.nio"))]
FILES = ("Chronicle Map", "LMDB", "RocksDB")  # peers that keep a file


def arguments():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    p.add_argument("--quick", action="store_true", help="200,000 keys and lookups, nothing saved")
    p.add_argument("--keys", type=int, default=100_000_000, help="keys of each table (default 100,000,000)")
    p.add_argument("--lookups", type=int, default=5_000_000, help="lookups of each pass (default 5,000,000)")
    p.add_argument("--kinds", default="integers,texts", help="kinds of keys (default integers,texts)")
    p.add_argument("--peers", default="lmdb,rocksdb,chronicle", help="peers beside hashbrown (default: all three)")
    p.add_argument("--folder", default=BUILD, help="where the files are (default build/bench-table)")
    p.add_argument("--no-save", action="store_true", help="do not write results")
    options = p.parse_args()
    if options.quick:
        options.keys = options.lookups = 200_000
        options.no_save = True
    return options


def output(words):
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(words[:3])} .. ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def prepare(peers):
    os.makedirs(BUILD, exist_ok=True)
    output(["g++", "-O3", "-march=native", "-std=c++17", "-Iapi/include", "table/benches/peers/peers.cpp", "-o",
            os.path.join(BUILD, "peers"), "-llmdb", "-lrocksdb"])
    output(["cargo", "build", "--release", "--locked", "-p", "yunti-table", "--benches"])
    if "chronicle" in peers:
        output(["mvn", "-q", "-B", "-f", os.path.join(HERE, "chronicle/pom.xml"), "package"])


def measured(kind, options):
    """Runs all programs on the same rows and keys, one by one, and returns what they print."""
    words = [str(options.keys), kind, str(options.lookups)]
    path = os.path.join(options.folder, f"{kind}.ytab")
    own = output(["cargo", "bench", "-q", "--profile", "release", "--locked", "-p", "yunti-table", "--bench", "lookups", "--",
                  *words, path])
    results = [json.loads(line) for line in own.splitlines() if line.startswith("{")]
    peers = os.path.join(BUILD, "peers")
    results.append(json.loads(output([peers, "yunti", *words, path])))
    os.remove(path)
    chronicle = ["java", *JVM, "-cp", f"{CHRONICLE}/classes:{CHRONICLE}/lib/*", "org.yunti.bench.ChronicleBench"]
    for peer in options.peers.split(",") if options.peers else []:
        place = os.path.join(options.folder, peer)
        program = [*chronicle, *words] if peer == "chronicle" else [peers, peer, *words]
        try:
            results.append(json.loads(output([*program, place]).splitlines()[-1]))
        finally:
            for left in (place, place + "-lock", place + ".sst"):
                shutil.rmtree(left) if os.path.isdir(left) else os.path.exists(left) and os.remove(left)
    if len({result["sum"] for result in results}) != 1:
        raise Failed(f"{kind}: the sums differ: {results}")
    return results


def figures(kind, results):
    """Returns the rows of one kind of keys: medians, and ratios to the best of Yunti's readers."""
    by = {result["name"]: result for result in results}
    median = {name: statistics.median(result["get_ns"]) for name, result in by.items()}
    best = min(median["Yunti, Rust"], median["Yunti, C++"])
    rust = by["Yunti, Rust"]
    rows = [(f"{kind}: get, hashbrown", best / median["hashbrown"], 1.2, "at most")]
    files = [name for name in FILES if name in by]
    if files:
        fastest = min(files, key=median.get)
        rows.append((f"{kind}: get, the fastest of {', '.join(files)} ({fastest})", median[fastest] / best, 1.0, "at least"))
    for name in ("Yunti, Rust", "Yunti, C++"):
        ratio = median[name] / statistics.median(by[name]["batch_ns"])
        rows.append((f"{kind}: batch against get, {name}", ratio, 2.0, "at least"))
    rows.append((f"{kind}: file against data and 6 bytes a key",
                 rust["bytes"] / (1.15 * rust["data_bytes"] + 6 * rust["keys"]), 1.0, "at most"))
    for name in files:
        if name != "RocksDB":
            rows.append((f"{kind}: build, {name}", by[name]["build_s"] / rust["build_s"], 3.0, "at least"))
    return [{"row": row, "figure": figure, "goal": goal, "bound": bound, "verdict": verdict(figure, goal, bound)}
            for row, figure, goal, bound in rows]


def verdict(figure, goal, bound):
    if bound == "at least":
        return "goal" if figure >= goal else "must" if figure >= 0.75 * goal else "BELOW"
    return "goal" if figure <= goal else "must" if figure <= goal / 0.75 else "BELOW"


def table(kind, results, rows):
    lines = [("", "build s", "bytes", "get ns", "batch ns")]
    for result in results:
        middle = [f"{statistics.median(result[key]):.0f}" if key in result else "" for key in ("get_ns", "batch_ns")]
        lines.append((result["name"], f"{result.get('build_s', 0):.2f}" if "build_s" in result else "",
                      str(result.get("bytes", "")), *middle))
    widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
    text = "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines)
    judged = "\n".join(f"{row['verdict']:5}  {row['figure']:7.2f}  {row['bound']} {row['goal']}  {row['row']}" for row in rows)
    return f"{kind}\n{text}\n{judged}\n"


def main():
    options = arguments()
    held = measure.lock()
    host, busy = machine.introduce()
    prepare(options.peers.split(","))
    os.makedirs(options.folder, exist_ok=True)
    begin = time.strftime("%Y-%m-%d %H:%M")
    kept, text, rows = {}, "", []
    for kind in options.kinds.split(","):
        kept[kind] = measured(kind, options)
        own = figures(kind, kept[kind])
        part = table(f"{options.keys:,} {kind}, {options.lookups:,} lookups", kept[kind], own)
        print("\n" + part, flush=True)
        text += part + "\n"
        rows += own
    if not options.no_save:
        end = time.strftime("%Y-%m-%d %H:%M")
        document = {"machine": host, "busy": busy, "begin": begin, "end": end, "commit": machine.commit(),
                    "arguments": sys.argv[1:], "results": kept, "rows": rows}
        load = f"The machine was busy with other work: load {host['load'][0]:.1f} at the start.\n" if busy else ""
        print("saved in", report.save_with_text(host["name"], "table", document,
                                                f"{begin} to {end}, {host['name']}\n{load}\n{text}"))
    held.close()
    return 1 if any(row["verdict"] == "BELOW" for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"bench-table: {failure}")
