#!/usr/bin/env python3
"""Benchmark of a NameNode with our plug-ins and without: `yunti nn bench`, against the goals of ../README.md."""

import argparse
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path[:0] = [os.path.dirname(HERE), os.path.join(ROOT, "hadoop/cluster")]
sys.dont_write_bytecode = True

import jars  # noqa: E402
from harness import machine, measure, report  # noqa: E402
from harness.measure import Failed  # noqa: E402

YUNTI = os.path.join(ROOT, "dist/bin/yunti")
# Mixes by percent of reads and changes.
MIXES = {
    "100/0": "getFileInfo",
    "99/1": "getFileInfo=99,mkdirs=1",
    "90/10": "getFileInfo=90,mkdirs=10",
    "50/50": "getFileInfo=50,mkdirs=50",
}
LOCKS = "stock unfair throughput balanced"
# Trade-off between running and waiting writers: overtakes, changes in a phase, phase fairness.
FRONTIER = " ".join(
    ["stock unfair"]
    + [f"overtakes-{n}:throughput,yunti.namenode.lock.overtakes.max={n}" for n in (0, 2, 8, 32)]
    + [f"writers-{n}:balanced,yunti.namenode.lock.writers.max={n}" for n in (1, 8)]
    + ["balanced", "not-fair:balanced,yunti.namenode.lock.phase.fair=false"]
)
# Audit loggers, with a lock that is not the bottleneck and with stock's lock.
AUDITS = "throughput appender:throughput,audit-stock ring:throughput,audit stock audit-stock audit"
QUEUES = "stock fair-queue queue"

# Goals of benches/README.md, "NameNodes", as ratios: (series, connections, mix, variant, base, figure, at least or at
# most, bound).
GOALS = [("locks", c, "90/10", *row) for c in (100, 300) for row in (
    ("throughput", "stock", "calls_per_second", "at least", 1.4),
    ("throughput", "stock", "namenode_cpu_us_per_call", "at most", 0.62),
    ("throughput", "stock", "write_p99_ms", "at most", 1.8),
    ("balanced", "stock", "calls_per_second", "at least", 1.2),
    ("balanced", "stock", "write_p99_ms", "at most", 1.1))]
GOALS += [
    ("locks", c, mix, "throughput", "unfair", "calls_per_second", "at least", 0.97) for c in (100, 300) for mix in MIXES
]
GOALS += [("audit", 100, "90/10", "ring", "throughput", "calls_per_second", "at least", 0.97),
          ("audit", 100, "90/10", "audit", "stock", "calls_per_second", "at least", 0.97),
          ("audit", 100, "90/10", "ring", "appender", "read_p99_ms", "at most", 0.5)]
CLIENT_US_MAX = 7


def arguments():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    p.add_argument("--quick", action="store_true", help="run one short round of each series")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=5.0, help="seconds of each turn (default 5)")
    p.add_argument(
        "--warm-up",
        type=float,
        default=20.0,
        help="seconds of load for each NameNode before the first round (default 20)",
    )
    p.add_argument(
        "--series",
        default="locks,frontier,audit,queue,cures,scenario",
        help="run these of locks, frontier, audit, queue, cures, scenario",
    )
    p.add_argument("--connections", default="100,300")
    p.add_argument(
        "--io",
        default="auto",
        help="I/O method of the load: epoll, one call at a time; uring, some twenty at once (auto: uring if available)",
    )
    p.add_argument("--no-save", action="store_true", help="do not save results")
    a = p.parse_args()
    if a.quick:
        a.rounds, a.seconds, a.connections, a.warm_up = 1, 1.0, "20", 2.0
    a.series = a.series.split(",")
    return a


def bench(options, *words):
    command = [
        YUNTI,
        "nn",
        "bench",
        "--hadoop",
        jars.Jars().lib,
        "--json",
        "-s",
        str(options.seconds),
        "--warm-up",
        str(options.warm_up),
        *words,
    ]
    # A scenario has steps instead of rounds.
    if "--scenario" not in words:
        command += ["-r", str(options.rounds), "--io", options.io]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        raise Failed(f"yunti nn bench ended with exit code {run.returncode}")
    return json.loads(run.stdout)


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def ratio(document, connections, mix, variant, base, figure):
    """Returns the median over all rounds of the ratio of the variant to the base."""
    for load in document["loads"]:
        if load["connections"] == connections and load["mix"] == MIXES[mix]:
            rounds = {row["variant"]: row["figures"].get(figure, {}).get("rounds") for row in load["variants"]}
            if rounds.get(variant) and rounds.get(base):
                return median([one / other for one, other in zip(rounds[variant], rounds[base])])
    return None


def table(document):
    lines = []
    for load in document["loads"]:
        lines.append(
            f"{load['mix']}, {load['connections']} connections; in brackets the ratio to {document['base']}, with "
            f"minimum and maximum over the rounds"
        )
        lines.append(
            f"{'':14} {'calls a second':>26} {'CPU us':>22} {'switches':>14} {'read p99 ms':>20} "
            f"{'write p99 ms':>20} {'client us':>10}"
        )
        for row in load["variants"]:
            cells = []
            for name, digits, width in (
                ("calls_per_second", 0, 26),
                ("namenode_cpu_us_per_call", 1, 22),
                ("namenode_switches_per_call", 2, 14),
                ("read_p99_ms", 1, 20),
                ("write_p99_ms", 1, 20),
            ):
                f = row["figures"].get(name)
                if not f:
                    cells.append(f"{'-':>{width}}")
                elif width > 14:
                    cells.append(
                        f"{f['median']:.{digits}f} ({f['ratio']:.2f}, {f['ratio_min']:.2f}-{f['ratio_max']:.2f})".rjust(
                            width
                        )
                    )
                else:
                    cells.append(f"{f['median']:.{digits}f} ({f['ratio']:.2f})".rjust(width))
            client = row["figures"]["client_cpu_us_per_call"]["median"]
            lines.append(f"{row['variant']:14} {' '.join(cells)} {client:>10.1f}")
        lines.append("")
    return "\n".join(lines)


def steps(document):
    lines = [
        f"{'':14} {'machines':>9} {'target /s':>9} {'actual /s':>12} {'keeps up':>9} {'queue ms':>9} {'lock ms':>9} "
        f"{'processing ms':>14} {'CPU us':>7}"
    ]
    for variant in document["variants"]:
        for step in variant["steps"]:
            own = step["namenode_rpc"] or {}
            means = [own.get(f"{name}_ms_mean") for name in ("queue", "lock_wait", "processing")]
            queue, lock, processing = ("-" if mean is None else f"{mean:.2f}" for mean in means)
            lines.append(
                f"{variant['variant']:14} {step['machines']:>9} {step['target_per_second']:>9.0f} "
                f"{step['calls_per_second']:>12.0f}"
                f" {'yes' if step['keeps_up'] else 'no':>9} {queue:>9} {lock:>9} {processing:>14} "
                f"{step['namenode_cpu_us_per_call']:>7.1f}"
            )
    return "\n".join(lines) + "\n"


def judged(documents):
    lines, behind = [], 0
    for series, connections, mix, variant, base, figure, side, wanted in GOALS:
        found = ratio(documents[series], connections, mix, variant, base, figure) if series in documents else None
        if found is None:
            continue
        good = found >= wanted if side == "at least" else found <= wanted
        behind += not good
        lines.append(
            f"{'ok    ' if good else 'BEHIND'} {mix:>6} {connections:>4} connections: {variant} {figure} is "
            f"{found:.2f} of {base}'s, {side} {wanted}"
        )
    clients = [
        row["figures"]["client_cpu_us_per_call"]["median"]
        for d in documents.values()
        if "loads" in d
        for load in d["loads"]
        for row in load["variants"]
    ]
    if clients:
        good = min(clients) <= CLIENT_US_MAX
        lines.append(
            f"{'ok    ' if good else 'BEHIND'} client: {min(clients):.1f} to {max(clients):.1f} us a call, at most "
            f"{CLIENT_US_MAX} if the NameNode is saturated"
        )
    return "\n".join(lines), behind


def main():
    options = arguments()
    jars.Jars().fetch()
    held = measure.lock()
    host = machine.describe()
    busy = host["load"][0] > 0.5
    if busy:
        print("the machine is busy: do not keep these figures")
    begin = time.strftime("%Y-%m-%d %H:%M")
    documents, text = {}, []
    words = {
        "locks": ["-v", LOCKS, "-c", options.connections, *[word for mix in MIXES.values() for word in ("-m", mix)]],
        "frontier": ["-v", FRONTIER, "-c", options.connections.split(",")[0], "-m", MIXES["90/10"]],
        "audit": ["-v", AUDITS, "-c", options.connections.split(",")[0], "-m", MIXES["90/10"]],
        "queue": ["-v", QUEUES, "-c", options.connections, "-m", "null", "-m", MIXES["90/10"]],
        "cures": ["--cures", "-c", options.connections.split(",")[0]],
        "scenario": [
            "--scenario",
            "yunti",
            "-v",
            "stock throughput balanced",
            "--datanodes",
            "40" if options.quick else "3200",
        ],
    }
    for series in options.series:
        document = documents[series] = bench(options, *words[series])
        if series == "cures":
            rows = [
                f"{row['cure']:28} RPC {row['rpc']['calls_per_second']['ratio']:.2f} calls, "
                f"{row['rpc']['cpu_us_per_call']['ratio']:.2f} CPU;"
                f" in process {row['in_process']['calls_per_second']['ratio']:.2f} calls, "
                f"{row['in_process']['cpu_us_per_call']['ratio']:.2f} CPU;"
                f" {row['today']}"
                for row in document["cures"]
            ]
            text.append("proposals of 2012: ratios of with to without\n" + "\n".join(rows) + "\n")
        elif series == "scenario":
            text.append(f"== a cluster, step by step ==\n{steps(document)}")
        else:
            text.append(f"== {series} ==\n{table(document)}")
        print(text[-1], flush=True)
    verdict, behind = judged(documents)
    print(verdict)
    if not options.no_save:
        kept = {
            "machine": host,
            "busy": busy,
            "begin": begin,
            "end": time.strftime("%Y-%m-%d %H:%M"),
            "arguments": sys.argv[1:],
            "series": documents,
        }
        state = "The machine was busy with other work.\n" if busy else ""
        head = f"{begin} to {kept['end']}, {host['name']}\n{state}"
        lines = "\n".join([head, *text, verdict]) + "\n"
        print(f"saved to {report.save_with_text(host['name'], 'namenode', kept, lines)}")
    held.close()
    return 1 if behind and not options.quick else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"bench-namenode: {failed}")
