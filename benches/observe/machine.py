#!/usr/bin/env python3
"""Runs all subjects of `yunti machine bench` and saves the results under ../results. See ../README.md.

It needs root and at least ten minutes. Arguments go to the command.
"""

import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../.."))
sys.path.insert(0, os.path.dirname(HERE))
sys.dont_write_bytecode = True

from harness import machine, report  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))


def figure(values):
    middle = statistics.median(values)
    digits = 0 if middle >= 100 else 1 if middle >= 10 else 2
    return f"{middle:.{digits}f}" + (f" ({min(values):.{digits}f}-{max(values):.{digits}f})"
                                     if min(values) != max(values) else "")


def text_of(document):
    lines = [document["machine"], "old / new in turn; noise: largest difference of old from itself; medians (min-max)"]
    for subject in document["subjects"]:
        lines += ["", f"{subject['subject']}: {subject['what']}"]
        lines += [f"  then: {p['figure']} [{p['source']}]" for p in subject["published"]]
        if subject["skipped"] or subject["failed"]:
            lines.append(f"  SKIP {subject['skipped'] or subject['failed']}")
        for c in subject["comparisons"] or []:
            name = c["metric"] + (f", {c['unit']}" if c["unit"] else "")
            noise = "count" if c["exact"] else f"{c['noise'] * 100:.0f} %"
            lines.append(f"  {name:<44} {figure(c['old_values']):>24} {figure(c['new_values']):>24} "
                         f"{c['ratio']:>9.3g} {noise:>7}  {c['verdict']:<20}  {c['old']} / {c['new']}")
        lines += [f"  note: {note}" for note in subject["notes"] or []]
    return "\n".join(lines) + "\n"


def main():
    host, begin = machine.describe(), time.strftime("%Y-%m-%d %H:%M")
    run = subprocess.run([YUNTI, "machine", "bench", "--json", *sys.argv[1:]], stdout=subprocess.PIPE, text=True)
    if not run.stdout:
        return run.returncode
    document = json.loads(run.stdout)
    busy = host["load"][0] > 0.5
    folder = os.path.join(report.RESULTS, host["name"])
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, time.strftime("host-%Y-%m-%dT%H%M"))
    kept = {"machine": host, "busy": busy, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"),
            "arguments": sys.argv[1:], "results": document["subjects"]}
    with open(path + ".json", "w") as f:
        f.write(json.dumps(kept, indent=1) + "\n")
    with open(path + ".txt", "w") as f:
        f.write(f"{kept['begin']} to {kept['end']}, {host['name']}\n"
                + ("The machine was busy with other work.\n" if busy else "") + "\n" + text_of(document))
    print(text_of(document) + "\nsaved in " + os.path.relpath(path, ROOT) + ".json, .txt")
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
