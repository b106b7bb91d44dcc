"""Inexact fold, whose order affects the last bits: its cost against an exact fold, and equal bytes for all threads.

The result is not judged, because benches/README.md has no goal for it.
"""

from dataclasses import replace

from .. import commands, data, measure, opponents, report, verify

# Splits, more than threads at any size, so that the threads could change the order of additions.
SPLITS = 16


def measure_at(name, row, options):
    folder = data.of(row, options.size)
    doubles = replace(row, ours="sumdouble")
    split_bytes = data.bytes_of(folder) // SPLITS
    written = set()
    for threads in (1, 2):
        program = opponents.ours(doubles, folder, commands.THREADS + commands.SPLITS, threads=threads,
                                 split_bytes=split_bytes)
        written.add(verify.fingerprint(measure.run(program)[1], "exact"))
    result = measure.pairs(opponents.ours(doubles, folder), opponents.ours(row, folder), row, folder, options.pairs, {})
    result["same"] = len(written) == 1  # sums differ from maxima
    result["detail"] = f"{'the same' if result['same'] else 'other'} bytes with 1 and 2 threads"
    return report.judge_bullet(name, row.name, result, 1 / result["ratio"], 0)
