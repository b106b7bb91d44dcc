#!/usr/bin/env python3
"""Runs all subjects of `yunti machine bench` and saves the results under ../results. See ../README.md.

It needs root and 25 minutes. Each subject holds the lock of the benches by itself, so that others can measure between
two subjects. Arguments go to the command; --rounds and --seconds have larger defaults here.
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

from harness import machine, measure, report  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))


def figure(values):
    middle = statistics.median(values)
    digits = 0 if middle >= 100 else 1 if middle >= 10 else 2
    return f"{middle:.{digits}f}" + (f" ({min(values):.{digits}f}-{max(values):.{digits}f})"
                                     if min(values) != max(values) else "")


def ratio_of(comparison):
    low, high = comparison["ratio_interval"]
    return f"{comparison['ratio']:.3g}" + ("" if comparison["exact"] else f" ({low:.3g}-{high:.3g})")


def text_of(document):
    lines = [document["machine"],
             "old / new in turn; medians (min-max); new/old with its 95 % interval; noise: largest difference of old "
             "from itself"]
    for subject in document["subjects"]:
        lines += ["", f"{subject['subject']}: {subject['what']}"]
        for p in subject["published"]:
            lines += [f"  then: {p['figure']} [{p['source']}]"] + ([f"    {p['beside']}"] if p["beside"] else [])
        if subject["skipped"] or subject["failed"]:
            lines.append(f"  SKIP {subject['skipped'] or subject['failed']}")
        for c in subject["comparisons"] or []:
            name = c["metric"] + (f", {c['unit']}" if c["unit"] else "")
            noise = "count" if c["exact"] else f"{c['noise'] * 100:.0f} %"
            lines.append(f"  {name:<44} {figure(c['old_values']):>24} {figure(c['new_values']):>24} "
                         f"{ratio_of(c):>22} {noise:>7}  {c['verdict']:<20}  {c['old']} / {c['new']}")
        lines += [f"  note: {note}" for note in subject["notes"] or []]
    return "\n".join(lines) + "\n"


def all_subjects(words):
    """Runs each subject by itself, and returns all of them in one document, and the largest exit code."""
    listed = subprocess.check_output([YUNTI, "machine", "bench", "--list"], text=True)
    names = [line.split()[0] for line in listed.splitlines()]
    chosen = [word for word in words if word in names] or names
    words = [word for word in words if word not in names]
    for option, value in (("--rounds", "15"), ("--seconds", "150")):
        if not any(word.split("=")[0] == option for word in words):
            words += [option, value]
    whole, code = {"subjects": [], "loads": {}}, 0
    for name in chosen:
        with measure.lock():
            load = os.getloadavg()[0]
            run = subprocess.run([YUNTI, "machine", "bench", "--json", *words, name], stdout=subprocess.PIPE, text=True)
        code = max(code, run.returncode)
        if run.stdout:
            document = json.loads(run.stdout)
            whole["machine"] = whole.get("machine", document["machine"])
            whole["subjects"] += document["subjects"]
            whole["loads"][name] = load
    if not whole["subjects"]:
        sys.exit(code or 1)
    return whole, code


def main():
    host, begin = machine.describe(), time.strftime("%Y-%m-%d %H:%M")
    document, code = all_subjects(sys.argv[1:])
    busy = any(load > 0.5 for load in document["loads"].values())
    kept = {"machine": host, "busy": busy, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"),
            "arguments": sys.argv[1:], "loads": document["loads"], "results": document["subjects"]}
    head = (f"{kept['begin']} to {kept['end']}, {host['name']}\n"
            + ("The machine was busy with other work.\n" if busy else "")
            + "load before each subject: " + ", ".join(f"{n} {v:.1f}" for n, v in document["loads"].items()))
    saved = report.save_with_text(host["name"], "host", kept, f"{head}\n\n{text_of(document)}")
    print(f"{text_of(document)}\nsaved in {saved}")
    return code


if __name__ == "__main__":
    sys.exit(main())
