#!/usr/bin/env python3
"""Measures the processor time of each case of the conformance suite, stock Hadoop against the plug-in.

This runs hadoop/conformance/run --cpu with the same options, and saves its samples with the other results.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from harness import commands, machine, report  # noqa: E402

VARIANTS = ("collector", "shuffle")


def main(arguments):
    described = machine.describe()
    begin = time.strftime("%Y-%m-%d %H:%M")
    variants = [word for variant in VARIANTS for word in ("--variant", variant)] if "--variant" not in arguments else []
    with tempfile.TemporaryDirectory() as folder:
        samples = os.path.join(folder, "samples")
        code = subprocess.call([os.path.join(commands.ROOT, "hadoop/conformance/run"), "--cpu", *variants, *arguments,
                                "--json", samples])
        if not os.path.exists(samples):
            return code
        with open(samples) as f:
            results = [json.loads(line) for line in f]
    folder = os.path.join(report.RESULTS, described["name"])
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, time.strftime("%Y-%m-%dT%H%M-hadoop-cpu.json"))
    head = {"machine": described, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"), "arguments": arguments,
            "hadoop": "3.5.0"}
    # One line per result, because there are hundreds.
    lines = ",\n".join("  " + json.dumps(result) for result in results)
    with open(path, "w") as f:
        f.write(json.dumps(head, indent=1)[:-2] + ',\n "results": [\n' + lines + "\n ]\n}\n")
    print(os.path.relpath(path, commands.ROOT))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
