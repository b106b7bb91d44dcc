#!/usr/bin/env python3
"""Measures how fast `yunti observe heap` reads a dump, against VisualVM's library (hprof-heap). See ../README.md.

A JVM fills its heap with a map of items and dumps it. Both programs name the object that holds most, which must be the
same; the bytes that it holds differ by what each takes for the header of an object. Each pair alternates.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path[:0] = [os.path.dirname(HERE), os.path.join(ROOT, "tools/tests")]
sys.dont_write_bytecode = True

import jdks  # noqa: E402
from harness import commands, machine, measure, report  # noqa: E402
from harness.measure import Failed  # noqa: E402

PEER = "org.gridkit.jvmtool:hprof-heap:0.16"
# Of a dump of 1.5 GB: seconds a GB, and anonymous memory in proportion to the dump.
GOAL_SECONDS_A_GB, GOAL_MEMORY = 3.5 / 1.5, 0.3
# The library takes 8 bytes for each reference, whatever the JVM has.
HELD_DIFFERENCE_MAX = 0.6


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    p.add_argument("--quick", action="store_true", help="one round on a dump of 300,000 objects")
    p.add_argument("--objects", type=int, default=30_000_000, help="objects in the dump (default 30 million)")
    p.add_argument("--rounds", type=int, default=3, help="run this many pairs (default 3)")
    p.add_argument("--no-peer", action="store_true", help="measure only yunti")
    p.add_argument("--no-save", action="store_true", help="write no results")
    a = p.parse_args()
    if a.quick:
        a.objects, a.rounds = 300_000, 1
    return a


def timed(command):
    """Runs a command. Returns wall seconds, CPU seconds, the peak of its anonymous memory, and its output."""
    before, begin, peak, done = measure.processor_seconds(), time.monotonic(), [0], threading.Event()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def watch():
        while not done.wait(0.02):
            peak[0] = max(peak[0], measure.anonymous_bytes(child.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    out, errors = child.communicate()
    wall = time.monotonic() - begin
    done.set()
    watcher.join()
    if child.returncode:
        raise Failed(f"{' '.join(command[:3])} ..: {errors.strip()[-300:]}")
    return wall, measure.processor_seconds() - before, peak[0], out


def library(folder, home):
    """Returns the command of the peer, without the dump."""
    shutil.which("mvn") or sys.exit("bench-heap-dumps: Maven is missing")
    subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={PEER}", f"-DoutputDirectory={folder}"], check=True)
    jar = os.path.join(folder, f"hprof-heap-{PEER.rsplit(':', 1)[1]}.jar")
    source = os.path.join(HERE, "heap/Biggest.java")
    subprocess.run([os.path.join(home, "bin/javac"), "-cp", jar, "-d", folder, source], check=True)
    return [os.path.join(home, "bin/java"), "-Xmx6g", "-cp", f"{jar}:{folder}", "Biggest"]


def main():
    options = arguments()
    held = measure.lock()
    host = machine.describe()
    found = jdks.find(["17"]).get("17")
    if not found:
        raise Failed("no JDK 17 is installed")
    home, busy = found[1], host["load"][0] > 0.5
    print(f"{host['name']}: load {host['load'][0]:.1f}")
    if busy:
        print("the machine is busy: these figures are not valid results")
    begin, ours, theirs = time.strftime("%Y-%m-%d %H:%M"), [], []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "heap.hprof")
        subprocess.run([os.path.join(home, "bin/javac"), "-d", folder, os.path.join(HERE, "heap/Fill.java")], check=True)
        subprocess.run([os.path.join(home, "bin/java"), "-Xmx8g", "-cp", folder, "Fill", str(options.objects), path],
                       check=True)
        size = os.path.getsize(path)
        peer = None if options.no_peer else library(folder, home)
        for _ in range(options.rounds):
            wall, cpu, memory, out = timed([commands.YUNTI, "observe", "heap", "--json", path])
            largest = json.loads(out)["dominators"][0]
            ours.append({"seconds": wall, "cpu_seconds": cpu, "anonymous_bytes": memory})
            print(f"yunti {wall:.2f} s, {memory / size:.2f}x of the dump", flush=True)
            if peer:
                wall, cpu, memory, out = timed([*peer, path])
                shutil.rmtree(path + ".hwcache", ignore_errors=True)
                theirs.append({"seconds": wall, "cpu_seconds": cpu, "anonymous_bytes": memory})
                print(f"hprof-heap {wall:.1f} s, {memory / size:.2f}x of the dump", flush=True)
                kind, address, retained = out.split()
                same = (largest["class"], largest["id"]) == (kind, int(address, 16))
                if not same or abs(largest["retained_bytes"] / int(retained) - 1) > HELD_DIFFERENCE_MAX:
                    raise Failed(f"other answers: {largest}, and {out.strip()} by hprof-heap")

    def median(rows, key):
        return statistics.median(row[key] for row in rows)

    seconds, memory = median(ours, "seconds"), median(ours, "anonymous_bytes") / size
    reached = seconds / (size / 1e9) <= GOAL_SECONDS_A_GB and memory <= GOAL_MEMORY
    text = (f"dump of {size / 1e9:.2f} GB, {options.objects / 1e6:.1f} million objects\n"
            f"yunti       {seconds:8.2f} s  {size / 1e9 / seconds:5.2f} GB/s  {memory:5.2f}x of the dump  "
            f"{'reached' if reached else 'BELOW'} (goal {GOAL_SECONDS_A_GB * size / 1e9:.2f} s, {GOAL_MEMORY}x)\n")
    if theirs:
        text += (f"hprof-heap  {median(theirs, 'seconds'):8.2f} s  {median(theirs, 'seconds') / seconds:5.1f} times as long"
                 f"  {median(theirs, 'anonymous_bytes') / size:5.2f}x of the dump\n")
    print("\n" + text)
    if not options.no_save:
        kept = {"machine": host, "busy": busy, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"),
                "arguments": sys.argv[1:], "dump_bytes": size, "objects": options.objects, "yunti": ours, "hprof_heap": theirs}
        note = "The machine was busy with other work.\n" if busy else ""
        print("saved in", report.save_with_text(host["name"], "heap-dump", kept, f"{begin}, {host['name']}\n{note}\n{text}"))
    held.close()
    return 0 if options.quick or reached else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"bench-heap-dumps: {failed}")
