"""CPU cost of the defaults: checks, clocks and the report.

They cannot be turned off, so no pair of commands shows their cost. Instead `perf` gives their share of the CPU samples.
Code that is inlined into other functions and the kernel's part of writing the report are not counted. The job has an
eighth of its data as memory, because blocks are checked when they are spilled. Fault injection costs nothing, because
only tests provide files that fail.

A share comes from one run. So the spread of the same command against itself is reported and not added to the bound.
"""

import collections
import re
import statistics
import subprocess

from .. import commands, data, measure, opponents, report
from ..measure import Program

BOUND = 1.03
SAMPLES_A_SECOND = 5000
RECORD = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_A_SECOND), "--no-buildid-cache"]

PARTS = {
    "checks": re.compile(r"crc32c::"),
    "clocks": re.compile(r"clock_gettime|RealClock|\[vdso\]"),
    "report": re.compile(r"yunti_engine::job::report|serde_json"),
}


def measure_at(name, row, options):
    folder = data.of(row, options.size)
    program = opponents.ours(row, folder, commands.MEMORY, memory=data.eighth(folder))
    result = measure.pairs(program, program, row, folder, options.pairs, {})
    spread = statistics.median(abs(b["cpu"] / a["cpu"] - 1) for a, b in result["pairs"])
    result["cpu_spread"] = spread
    spread_text = f"A/A spread {spread * 100:.1f} %"
    if not _has_perf():
        return report.judge_bullet(name, "itself", result | {"detail": spread_text + "; perf is not available"}, None,
                                   BOUND)
    samples = collections.Counter()
    for _ in range(options.pairs):
        samples += _sampled(program)
    total = samples.total()
    shares = {part: samples[part] / total for part in PARTS}
    result |= {"samples": total, "shares": shares}
    result["detail"] = ", ".join(f"{part} {share * 100:.1f} %" for part, share in shares.items()) + "; " + spread_text
    return report.judge_bullet(name, "without them", result, 1 / (1 - sum(shares.values())), BOUND)


def _has_perf():
    """Returns True if perf is installed and the kernel lets it sample."""
    try:
        return subprocess.run(RECORD + ["-o", "/dev/null", "--", "true"], capture_output=True).returncode == 0
    except OSError:
        return False


def _sampled(program):
    """Returns the CPU samples of one run by part."""
    file = measure.WORK + "/perf.data"
    measure.run(Program(program.name, lambda output: [*RECORD, "-o", file, "--", *program.command(output)],
                        program.form))
    text = subprocess.run(["perf", "report", "-i", file, "--stdio", "-g", "none", "-t", "\t", "-F", "sample,dso,sym"],
                          capture_output=True, text=True, check=True).stdout
    if "yunti_engine::" not in text:
        raise measure.Failed("perf finds no symbols in the binary: build it with symbols")
    samples = collections.Counter()
    for line in text.splitlines():
        number, _, symbol = line.partition("\t")
        if number.strip().isdigit():
            part = next((part for part, pattern in PARTS.items() if pattern.search(symbol)), "work")
            samples[part] += int(number)
    return samples
