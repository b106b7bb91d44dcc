#!/usr/bin/env python3
"""Times code of any language in the engine: isolated classes, programs, Python, crashes, resume. See ../README.md."""

import argparse
import os
import shutil
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
sys.dont_write_bytecode = True

import batches  # noqa: E402
import comparison  # noqa: E402
import crashes  # noqa: E402
import isolation  # noqa: E402
import neighbour  # noqa: E402
import resume  # noqa: E402
import start  # noqa: E402
import streaming  # noqa: E402
from harness import machine, measure, opponents, report  # noqa: E402

ROWS = isolation.ROWS | crashes.ROWS | streaming.ROWS | batches.ROWS | start.ROWS | resume.ROWS | neighbour.ROWS
# What a bench of Yunti's Python functions imports.
PACKAGES = ["cloudpickle", "numpy"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    p.add_argument("--rows", default=",".join(ROWS),
                   help="run these rows, or all whose names begin so: " + ", ".join(ROWS))
    p.add_argument("--rounds", type=int, default=5, help="run each program this many times, in turn (default 5)")
    p.add_argument("--no-peers", dest="peers", action="store_false",
                   help="leave out peers that a registry must provide: Hadoop, mrjob, DuckDB, Polars, pyarrow")
    p.add_argument("--size", type=float, default=1.0, help="scale the data to try the bench; the goals apply to 1")
    p.add_argument("--full", action="store_true",
                   help="resume a sort of 10 GB, which needs 30 GB of disk, instead of 1 GB")
    p.add_argument("--no-save", action="store_true", help="write no results file")
    a = p.parse_args()
    wanted = [n for n in a.rows.split(",") if n]
    unknown = [n for n in wanted if not any(row.startswith(n) for row in ROWS)]
    if unknown:
        p.error("no such row: " + ", ".join(unknown))
    a.rows = [row for row in ROWS if any(row.startswith(n) for n in wanted)]
    return a


def environment():
    """Sets what all measured programs inherit."""
    # `python3` of a script is the interpreter itself, not a script that looks for it.
    os.environ["PATH"] = opponents.VENV + "/bin:" + os.environ["PATH"]
    # Container images set it. It makes a program that prints lines three times as slow; Yunti removes it by itself.
    os.environ.pop("PYTHONUNBUFFERED", None)


def save(name, kept, text):
    busy = "The machine was busy with other work: load {:.1f} at the beginning.\n".format(kept["machine"]["load"][0])
    head = f"{kept['begin']} to {kept['end']}, {name}, commit {kept['commit']}\n" + (busy if kept["busy"] else "")
    return report.save_with_text(name, "code", kept, f"{head}\n{text}\n")


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    held = measure.lock()
    opponents.build("libraries")
    if not opponents.install(PACKAGES) or not opponents.install_wheel():
        print("Python's rows need " + ", ".join(PACKAGES) + " and the wheel (make python)")
        return 1
    environment()
    host, busy = machine.introduce()
    begin, commit, results = time.strftime("%Y-%m-%d %H:%M"), machine.commit(), []
    for name in options.rows:
        print(f"-- {name}", flush=True)
        try:
            found = ROWS[name](options)
        except measure.Failed as failure:
            found = [{"row": name, "title": name, "failure": str(failure), "verdict": "FAILED"}]
        results += [result | {"load": os.getloadavg()[0]} for result in found]
        print("\n".join(comparison.table(found).splitlines()[1:]), flush=True)
    text = comparison.table(results)
    print("\n" + text)
    if not options.no_save and options.size == 1.0:
        kept = {"machine": host, "busy": busy, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"),
                "commit": commit, "arguments": sys.argv[1:], "peers": opponents.versions(), "results": results}
        print("\nsaved in", save(host["name"], kept, text))
    shutil.rmtree(measure.WORK, ignore_errors=True)
    held.close()
    bad = {"BELOW", "OUTPUTS DIFFER", "FAILED"}
    return 1 if any(r.get("verdict") in bad or any(c["verdict"] in bad for c in r.get("comparisons", []))
                    for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
