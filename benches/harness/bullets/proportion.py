"""Cost in proportion to the data: seconds per GB, less the empty job, are about the same at every size."""

import json
import os
from dataclasses import asdict, replace

from .. import data, measure, opponents, report
from ..rows import BY_NAME, GB

BOUND = 1.3
# Share of idle processor time. Above it, if the report names a disk, the disk is the limit and the size is not judged.
IDLE = 0.25


def measure_at(sizes, name, row, options):
    folders = [data.of(replace(row, bytes=int(size * GB)), options.size) for size in sizes]
    try:
        return _measure(sizes, folders, name, row, options)
    finally:
        for folder in folders:
            data.remove_large(folder)


def _measure(sizes, folders, name, row, options):
    empty = BY_NAME["empty"]
    programs = [opponents.ours(empty, data.of(empty, 1)), *(opponents.ours(row, folder) for folder in folders)]
    for folder in folders:
        measure.warm(folder, row.touch)
    bound_by = [_resource(measure.run(program)[1]) for program in programs]
    # Each round runs all sizes in turn, so that drift affects all of them.
    rounds = measure.in_turn(programs, options.pairs)
    start, *timed = [measure.summary(program, samples) for program, samples in zip(programs, zip(*rounds))]
    points = []
    for size, folder, seen, resource in zip(sizes, folders, timed, bound_by[1:]):
        idle = 1 - seen["cpu_median"] / (seen["median"] * os.cpu_count())
        points.append({
            "gb": size, "seconds_a_gb": (seen["median"] - start["median"]) / data.bytes_of(folder) * GB,
            "bound_by": resource, "idle": idle,
            "disk": resource.startswith("disk") and idle > IDLE,
        } | seen)
    costs = [p["seconds_a_gb"] for p in points if not p["disk"]]
    costs_text = ", ".join(f"{p['gb']:g} GB {p['seconds_a_gb']:.3f}{' (disk)' if p['disk'] else ''}" for p in points)
    result = {"empty": start, "points": points, "rounds": [[asdict(s) for s in samples] for samples in rounds],
              "a": timed[-1],
              "detail": f"s/GB: {costs_text}"}
    # Tiny data may take no longer than the empty job.
    figure = max(costs) / min(costs) if len(costs) > 1 and min(costs) > 0 else None
    return report.judge_bullet(name, "the cheapest size", result, figure, BOUND)


def _resource(output):
    with open(output + "/_yunti/report.json") as f:
        return json.load(f)["bottleneck"]["resource"]
