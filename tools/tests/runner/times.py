"""The table of suites and their times in CONTRIBUTING.md, which `run.py --times` writes."""

import datetime
import os
import subprocess

from suites import PARTS, ROOT

PAGE = os.path.join(ROOT, "CONTRIBUTING.md")
BEGIN, END = "<!-- times: begin (run.py --times) -->\n", "<!-- times: end -->\n"


def table(rows, minutes):
    """Markdown: a line for each part, with its suites, tests and minutes."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    lines = ["| part | suites | tests | minutes | longest suite |", "|---|---|---|---|---|"]
    for part in PARTS:
        own = [(suite, found, seconds) for suite, found, seconds in rows if suite.part == part]
        if own:
            suite, _, longest = max(own, key=lambda row: row[2])
            tests = sum(found.passed + len(found.failures) for _, found, _ in own)
            lines.append(f"| `{part}` | {len(own)} | {tests} | {sum(s for *_, s in own) / 60:.1f} | {suite.name}, {longest / 60:.1f} |")
    day = datetime.date.today().isoformat()
    return "\n".join([*lines, "", f"All together {minutes:.0f} minutes on {os.cpu_count()} processors, at {commit} on {day}.", ""])


def write(rows, minutes):
    """Replaces the table in the page."""
    with open(PAGE, encoding="utf-8") as file:
        before, _, rest = file.read().partition(BEGIN)
    after = rest.partition(END)[2]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + table(rows, minutes) + END + after)
