#!/usr/bin/env python3
"""Times queries over files of columns and CSV beside DuckDB, Polars and chdb. See ../README.md."""

import argparse
import os
import shutil
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
sys.dont_write_bytecode = True

import lineitem  # noqa: E402
import measured  # noqa: E402
import programs  # noqa: E402
import tables  # noqa: E402
from harness import machine, measure, opponents, report  # noqa: E402
from queries import BY_NAME  # noqa: E402

SCALES = [1, 10]  # of the kept results


def words(text):
    return [word for word in text.split(",") if word]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    p.add_argument("--rows", default=",".join(BY_NAME), help="run these rows: " + ", ".join(BY_NAME))
    p.add_argument("--peers", default=",".join(programs.NAMES),
                   help="run only these peers: " + ", ".join(programs.NAMES) + "; `none` for no peer")
    p.add_argument("--scales", default="1,10",
                   help="scale factors of TPC-H; the goals apply to 1 and 10 (default 1,10)")
    p.add_argument("--codecs", default="snappy,zstd", help="codecs of the Parquet files (default snappy,zstd)")
    p.add_argument("--rounds", type=int, default=5, help="run each program this many times, in turn (default 5)")
    p.add_argument("--threads", type=int, default=2, help="threads and processors of each program (default 2)")
    p.add_argument("--quick", action="store_true", help="one round of scale 1 with snappy")
    p.add_argument("--no-save", action="store_true", help="write no results file")
    a = p.parse_args()
    if a.quick:
        a.scales, a.codecs, a.rounds = "1", "snappy", 1
    a.scales = [float(scale) for scale in words(a.scales)]
    a.rows, a.codecs, a.peers = words(a.rows), words(a.codecs), [n for n in words(a.peers) if n != "none"]
    for given, known in ((a.rows, BY_NAME), (a.codecs, ("snappy", "zstd")), (a.peers, programs.NAMES)):
        if set(given) - set(known):
            p.error("not known: " + ", ".join(sorted(set(given) - set(known))))
    return a


def run_row(query, options, missing):
    """Returns a result for each scale and form of the table. The forms of one scale must give the same answer."""
    results = []
    for scale in options.scales:
        answer = None
        for form in options.codecs if query.source == "parquet" else ["csv"]:
            label = f"SF{scale:g} {form}"
            try:
                path = lineitem.table(scale, form)
            except lineitem.NoSpace as reason:
                results.append({"row": query.name, "data": label, "why": str(reason)})
                continue
            try:
                result, answer = measured.compare(query, label, path, options, answer)
                result["missing"] = missing
            except measure.Failed as failure:
                result = {"row": query.name, "data": label, "failure": str(failure)}
            results.append(result | {"load": os.getloadavg()[0]})
            print(tables.short(results[-1:]), flush=True)
    return results


def failed(result):
    bad = ("BELOW", "OUTPUTS DIFFER")
    return "failure" in result or any(c["decides"] and c["verdict"] in bad for c in result.get("comparisons", []))


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    held = measure.lock()
    if not opponents.install(lineitem.PACKAGES):
        print("the bench needs " + " and ".join(lineitem.PACKAGES) + " from PyPI")
        return 1
    missing = [programs.NAMES[p] for p in options.peers if not opponents.install([p])]
    options.peers = [p for p in options.peers if programs.NAMES[p] not in missing]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])  # all programs inherit it
    host, busy = machine.introduce()
    begin, commit, results = time.strftime("%Y-%m-%d %H:%M"), machine.commit(), []
    for name in options.rows:
        print(f"-- {name}: {BY_NAME[name].title}", flush=True)
        results += run_row(BY_NAME[name], options, missing)
    text = tables.text(results)
    print("\n" + text)
    if not options.no_save and set(options.scales) <= set(SCALES):
        kept = {"machine": host, "busy": busy, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"),
                "commit": commit, "arguments": sys.argv[1:], "threads": options.threads,
                "peers": opponents.versions(), "results": results}
        text = head(kept, host["name"]) + text + "\n"
        print("\nsaved in", report.save_with_text(host["name"], "columns", kept, text))
    for scale in options.scales:
        lineitem.remove_large_csv(scale)
    shutil.rmtree(measure.WORK, ignore_errors=True)
    held.close()
    return 1 if any(map(failed, results)) else 0


def head(kept, name):
    busy = "The machine was busy with other work: load {:.1f} at the beginning.\n".format(kept["machine"]["load"][0])
    peers = ", ".join(f"{package} {version}" for package, version in kept["peers"].items())
    return f"{kept['begin']} to {kept['end']}, {name}, commit {kept['commit']}\n{peers}\n" + busy * kept["busy"] + "\n"


if __name__ == "__main__":
    sys.exit(main())
