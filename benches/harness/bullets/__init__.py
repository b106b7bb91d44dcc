"""Bullets of benches/README.md: goals that no row against a peer measures. Each has a module."""

from dataclasses import dataclass
from functools import partial

from . import budget, cgroup, defaults_cost, proportion, scaling, sum_double


@dataclass(frozen=True)
class Bullet:
    name: str
    title: str
    jobs: tuple  # rows of rows.py for the measurement
    measure: object  # (name of the result, row, options) -> result of report.judge_bullet
    default: bool = True


BULLETS = [
    Bullet("proportion", "seconds a GB at 0.1 and 1 GB, less the empty job", ("wordcount", "terasort"),
           partial(proportion.measure_at, (0.1, 1))),
    Bullet("proportion-10g", "seconds a GB at 0.1, 1 and 10 GB, less the empty job", ("wordcount", "terasort"),
           partial(proportion.measure_at, (0.1, 1, 10)), default=False),
    Bullet("scaling", "one to two threads, against the limit program's own", ("wordcount", "zipf", "terasort"),
           scaling.measure_at),
    Bullet("budget", "memory of 1/8 of the data, against unlimited", ("zipf", "terasort"), budget.measure_at),
    Bullet("defaults-cost", "CPU of checks, clocks and report", ("wordcount", "terasort"), defaults_cost.measure_at),
    Bullet("cgroup", "anonymous and shared memory, against budget + 64 MiB",
           ("wordcount", "zipf", "terasort", "sortlines"), cgroup.measure_at),
    Bullet("sum-double", "inexact sums by key, against the exact maximum", ("maxbykey",), sum_double.measure_at),
]
