#!/usr/bin/env python3
"""Pauses of logs that others wrote, by `yunti observe gc` and by a plain search for the ends of their lines.

    python3 observe/gc/tests/foreign.py FOLDER [-o TABLE.md]

The folder holds logs, one a file, also gzip. docs/decisions/gc-logs.md names collections of them. The search shares no
code with the parser and knows no brackets: a pause is a line that ends with a duration. So both agree only if both are
right, and each difference needs a line in EXPECTED. YUNTI names the program.
"""

import argparse
import collections
import gzip
import json
import os
import re
import subprocess
import sys

# JDK 9 and later: a pause of a numbered collection. The lines that begin pauses have no duration.
UNIFIED = re.compile(r"GC\(\d+\) (?:[yYO]: )?Pause .*?([\d.,]+) ?ms\s*$")
# JDK 8 and earlier: the duration that ends a record, by what may follow it. Phases beside the program have `a/b secs`.
SECONDS = re.compile(r", +([\d.,]+) secs?\](?=\s*(?:\[Times|\[Eden|$|[\d.,]+: \[(?:Full )?GC))")
# What a duration may belong to that is no pause, by the last bracket before it.
NO_PAUSE = re.compile(r"\[(?:(?:GC|CMS)[ -]concurrent|Rescan|weak refs|class unloading|scrub|GC ref-proc|Finalize Marking"
                      r"|\w+ ?(?:Weak )?Reference)[^\]]*$")
SHENANDOAH = re.compile(r"\[Pause [^\]]*?, ([\d.]+) ms\]\s*$")

# Differences that are no faults, by the end of the path: what the search finds, and why the parser is right.
EXPECTED = {
    "dataset11.txt": "a full collection with the occupancy of a remark is taken for one by the search",
    "dataset120.txt": "the young collection within a remark has no name that the search could know it by",
    "SampleSun1_7_0CMSTenuringDistributionInitiationStatistics.txt": "a statistic follows the duration in its line",
}


def number(text):
    return float(text.replace(",", "."))


def searched(text):
    """Returns the pauses of a text in milliseconds."""
    pauses, in_remark, in_histogram = [], False, False
    for line in re.split(r"\r?\n", text):
        if match := UNIFIED.search(line):
            pauses.append(number(match[1]))
            continue
        if match := SHENANDOAH.search(line):
            pauses.append(number(match[1]))
            continue
        # CMS: a young collection before the remark is part of the remark's pause.
        began = in_remark
        in_remark = (in_remark or "YG occupancy" in line and "[Full GC" not in line) and "CMS-remark" not in line
        ends_histogram = in_histogram and line.lstrip().startswith(",")
        in_histogram = (in_histogram or "[Class Histogram" in line) and not ends_histogram
        if in_remark and ("YG occupancy" in line or began) or ends_histogram:
            continue
        for match in SECONDS.finditer(line):
            if not NO_PAUSE.search(line[:match.start()]):
                pauses.append(number(match[1]) * 1000)
    return pauses


def parsed(path):
    """Returns the facts of a log by the program; None if it finds no log."""
    command = [os.environ.get("YUNTI", "yunti"), "observe", "gc", "--json", path]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if run.returncode == 3 and "no line of a garbage collection log" in run.stderr:
        return None
    if run.returncode != 0:
        raise SystemExit(f"{path}: exit {run.returncode}: {run.stderr[-500:]}")
    return json.loads(run.stdout)


def contents(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return data.decode("utf-8", "replace")


def form(text):
    return "JDK 9 and later" if re.search(r"^(?:\[[^\]]*\])+ ?(?:GC\(|Using |Safepoint)|^GC\(\d", text, re.M) else "JDK 8"


def logs(folder):
    for at, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            yield os.path.join(at, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("-o", "--output", help="table of the sums, as Markdown")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    differ, rows = 0, collections.defaultdict(lambda: [0, 0, 0, 0.0, 0.0, 0, 0])
    for path in logs(options.folder):
        text = contents(path)
        expect = searched(text)
        facts = parsed(path)
        if facts is None:
            if expect:
                differ += 1
                print(f"DIFFER {path}: not taken for a log, {len(expect)} pauses found")
            continue
        count, total = facts["pauses"]["count"], facts["pauses"]["total_ms"]
        name = facts["collector"] or "not named"
        row = rows[name, form(text)]
        for column, value in enumerate([1, facts["lines"], count, total, sum(expect), facts["lines_foreign"],
                                        facts["lines_damaged"]]):
            row[column] += value
        same = count == len(expect) and abs(total - sum(expect)) <= 1e-6 * total + 1e-6
        reason = next((why for end, why in EXPECTED.items() if path.endswith(end)), None)
        verdict = "same" if same else "expected" if reason else "DIFFER"
        differ += verdict == "DIFFER"
        if options.verbose or not same:
            print(f"{verdict} {path}: {count} pauses {total:.3f} ms, found {len(expect)} "
                  f"{sum(expect):.3f} ms; {facts['lines']} lines, {facts['lines_foreign']} of others, "
                  f"{facts['lines_damaged']} damaged; {name}" + (f"; {reason}" if verdict == "expected" else ""))
    table = ["| collector | form | logs | lines | pauses | sum of pauses, ms | by search, ms | lines of others | damaged |",
             "|---|---|---:|---:|---:|---:|---:|---:|---:|"]
    for (name, kind), (files, lines, count, total, found, foreign, damaged) in sorted(rows.items()):
        table.append(f"| {name} | {kind} | {files} | {lines:,} | {count:,} | {total:,.3f} | {found:,.3f} | {foreign:,} "
                     f"| {damaged:,} |")
    print("\n".join(table))
    if options.output:
        with open(options.output, "w") as f:
            f.write("\n".join(table) + "\n")
    print(f"{sum(row[0] for row in rows.values())} logs, {differ} differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
