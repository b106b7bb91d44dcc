"""Cost of little memory: a job with an eighth of its data as memory against the default, which holds all data."""

from .. import commands, data, measure, opponents, report

BOUND = 2.5


def measure_at(name, row, options):
    folder = data.of(row, options.size)
    little = opponents.ours(row, folder, commands.MEMORY, memory=data.eighth(folder))
    result = measure.pairs(little, opponents.ours(row, folder), row, folder, options.pairs, {})
    return report.judge_bullet(name, "unlimited memory", result, 1 / result["ratio"], BOUND)
