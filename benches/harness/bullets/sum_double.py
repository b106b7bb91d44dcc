"""A fold whose order shows in the last bits: what it costs beside an exact one, and that threads do not show in the bytes.

Shown, not judged: benches/README.md has no goal for it.
"""

from dataclasses import replace

from .. import commands, data, measure, opponents, report, verify

# More splits than threads at any size, so that threads could differ in what they add first.
SPLITS = 16


def measure_at(name, row, options):
    folder = data.of(row, options.size)
    doubles = replace(row, ours="sumdouble")
    split_bytes = data.bytes_of(folder) // SPLITS
    written = set()
    for threads in (1, 2):
        program = opponents.ours(doubles, folder, commands.THREADS + commands.SPLITS, threads=threads, split_bytes=split_bytes)
        written.add(verify.fingerprint(measure.run(program)[1], "exact"))
    result = measure.pairs(opponents.ours(doubles, folder), opponents.ours(row, folder), row, folder, options.pairs, {})
    result["same"] = len(written) == 1  # sums and maxima differ, of course
    result["detail"] = "the same bytes with 1 and 2 threads" if result["same"] else "threads show in the bytes"
    return report.judge_bullet(name, row.name, result, 1 / result["ratio"], 0)
