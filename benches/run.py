#!/usr/bin/env python3
"""Times Yunti, its peers and the hand-written limit programs in turn on the same input. See README.md."""

import argparse
import os
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from harness import commands, data, machine, measure, opponents, report  # noqa: E402
from harness.bullets import BULLETS, Bullet  # noqa: E402
from harness.rows import BY_NAME, ROWS  # noqa: E402

CHOICES = [*ROWS, *BULLETS]


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--quick", action="store_true",
                   help="run only the rows of the table, against chdb and the limit programs")
    p.add_argument("--rows", default="", help="run these rows, separated by commas; `all` includes rows of 10 GB: "
                   + ", ".join(r.name for r in CHOICES))
    p.add_argument("--peers", default="",
                   help="run only these peers (chdb,duckdb,...); `none` for only the limit programs")
    p.add_argument("--pairs", type=int, default=5, help="run this many pairs per series (default 5)")
    p.add_argument("--size", type=float, default=1.0, help="scale the data to try the bench; the goals apply to 1")
    p.add_argument("--no-save", action="store_true", help="write no results file")
    a = p.parse_args()
    names = [n for n in a.rows.split(",") if n]
    unknown = set(names) - {r.name for r in CHOICES} - {"all"}
    if unknown:
        p.error("no such row: " + ", ".join(sorted(unknown)))
    by_default = [r for r in (ROWS if a.quick else CHOICES) if r.default]
    a.rows = [r for r in CHOICES if r.name in names or "all" in names] if names else by_default
    return a


def chosen_peers(options, row):
    wanted = [n for n in options.peers.split(",") if n]
    if options.quick:
        wanted = ["chdb"]
    return {m: goal for m,
            goal in row.peers.items() if not wanted or m.removesuffix("_peer").replace("_local", "") in wanted}


def show(result):
    print(report.table([result]).splitlines()[1], flush=True)


def run_bullet(bullet, options):
    """Returns a result for each job of the bullet. A failed job does not stop the others."""
    results = []
    for job in bullet.jobs:
        name, row = f"{bullet.name} {job}", BY_NAME[job]
        try:
            built = opponents.ours(row, "") is not None
            result = bullet.measure(name, row, options) if built else {"row": name, "opponent": "",
                                                                       "note": "not built: " + row.ours}
        except measure.Failed as failure:
            result = {"row": name, "opponent": "", "verdict": "FAILED", "detail": str(failure)}
        results.append(result)
        show(result)
    return results


def run_row(row, options, name):
    """Runs the series of one row, prints each as it ends, and returns the results."""
    folder = data.of(row, options.size)
    limit = opponents.limit(row, folder)
    ours = opponents.ours(row, folder)
    subject = ours or limit  # without a built engine, the limit program replaces it, and the table marks this
    results, seen = [], {}

    def keep(result):
        results.append(result)
        show(result)

    if subject is None:
        return [{"row": row.name, "opponent": "", "note": "not built: " + row.ours}]
    if row.wall_goal:
        keep(report.judge_wall(row, measure.pairs(subject, None, row, folder, options.pairs * 4, seen)))
    if ours and limit:
        keep(report.judge(row, "limit", measure.pairs(ours, limit, row, folder, options.pairs, seen), row.limit_goal))
    for module, goal in chosen_peers(options, row).items():
        peer, forms = opponents.peer(module, row, folder)
        try:
            if not forms:
                raise measure.Failed(f"{peer} cannot be installed on this machine")
            best = measure.fastest_form(forms, row, folder)
            keep(report.judge(row, peer, measure.pairs(subject, best, row, folder, options.pairs, seen), goal))
        except measure.Failed as failure:
            if "yunti" in str(failure)[:6] or "limit" in str(failure)[:6]:
                raise
            result = {"row": row.name, "opponent": peer, "goal": goal, "note": str(failure)}
            kept = report.last_committed(name, row.name, peer)
            keep(report.judge(row, peer, result | kept, goal) if kept else result)
    data.remove_large(folder)
    return results


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    held = measure.lock()
    opponents.build()
    host = machine.describe()
    print(f"{host['name']}: {host['cores']} cores, {host['memory_gib']} GiB, load {host['load'][0]:.1f}")
    if host["load"][0] > 0.5:
        print("the machine is busy: these figures are not valid results")
    begin, results = time.strftime("%Y-%m-%d %H:%M"), []
    failed = False
    for row in options.rows:
        print(f"-- {row.title}", flush=True)
        try:
            results += run_bullet(row, options) if isinstance(row, Bullet) else run_row(row, options, host["name"])
        except measure.Failed as failure:
            failed = True
            results.append({"row": row.name, "opponent": "", "note": str(failure), "verdict": "FAILED"})
            print(failure)
    print("\n" + report.table(results))
    checks = report.limits_valid(results)
    for row, (factor, needed) in checks.items():
        state = "valid" if factor >= needed else "NOT VALID as a limit"
        print(f"limit program of {row}: best time {factor:.1f}x faster than chdb's best, {needed}x needed: {state}")
    if not options.no_save and options.size == 1.0:
        kept = {"machine": host, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"), "arguments": sys.argv[1:],
                "level": commands.LEVEL, "peers": opponents.versions(),
                "limits_valid": checks, "results": results}
        print("saved in", report.save(host["name"], kept))
    shutil.rmtree(measure.WORK, ignore_errors=True)
    held.close()
    bad = failed or any(r.get("verdict") in ("BELOW", "OUTPUTS DIFFER", "FAILED") for r in results)
    return 1 if bad or any(f < n for f, n in checks.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
