"""Speed-up by a second thread, relative to the speed-up of the limit program. Both include the machine's limits."""

import statistics
from dataclasses import asdict

from .. import commands, data, measure, opponents, report

BOUND = 0.9


def measure_at(name, row, options):
    folder = data.of(row, options.size)
    programs = []
    for threads in (1, 2):
        programs += [opponents.ours(row, folder, commands.THREADS, threads=threads),
                     opponents.limit(row, folder, threads)]
    measure.warm(folder, row.touch)
    measure.in_turn(programs, 1)  # not timed
    rounds = measure.in_turn(programs, options.pairs)
    ours = [one.wall / two.wall for one, _, two, _ in rounds]
    theirs = [one.wall / two.wall for _, one, _, two in rounds]
    figure = statistics.median(a / b for a, b in zip(ours, theirs))
    keys = ("a_one_thread", "b_one_thread", "a", "b")
    result = {key: measure.summary(program, samples) for key, program, samples in zip(keys, programs, zip(*rounds))}
    result["rounds"] = [[asdict(s) for s in samples] for samples in rounds]
    result["scaling"], result["limit_scaling"] = statistics.median(ours), statistics.median(theirs)
    result["detail"] = f"{result['scaling']:.2f}x, limit {result['limit_scaling']:.2f}x"
    return report.judge_bullet(name, "limit", result, figure, BOUND, at_least=True)
