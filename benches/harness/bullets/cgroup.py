"""Memory limit: a job in a control group of its budget + 64 MiB without swap writes the same output as without a group.

The group kills a process that uses more. The figure is the highest sample; the run is not timed. If no group can be
created, samples of the process decide, and the result notes this.
"""

from .. import commands, control_group, data, measure, opponents, report, verify
from ..measure import Program

SLACK_BYTES = 64 << 20
SAMPLE_SECONDS = 0.003


def measure_at(name, row, options):
    folder = data.of(row, options.size)
    budget = data.eighth(folder)
    limit = budget + SLACK_BYTES
    within = opponents.ours(row, folder, commands.MEMORY, memory=budget)
    _, output = measure.run(opponents.ours(row, folder))
    expected = verify.fingerprint(output, row.same)
    with control_group.limited(limit) as group:
        enclosed = Program(within.name, lambda output: control_group.entering(group, within.command(output)),
                           within.form)
        sample, output = measure.run(enclosed if group else within, sample_seconds=SAMPLE_SECONDS)
    same = verify.fingerprint(output, row.same) == expected
    measure.clean()
    place = "in a control group" if group else "sampled at the process, no control group"
    result = {"budget_bytes": budget, "limit_bytes": limit, "peak_bytes": sample.anonymous, "in_group": bool(group),
              "same": same,
              "command": within.command("OUT"),
              "detail": f"{sample.anonymous / 2**20:.0f} of {limit / 2**20:.0f} MiB, {place}"}
    # With tiny data, the process may end before the first sample.
    figure = sample.anonymous / limit if sample.anonymous else None
    return report.judge_bullet(name, "budget + 64 MiB", result, figure, 1)
