"""Figures of the bench: the least of the rounds, ratios to ours, geometric means, goals, and tables for people."""

import math

from programs import PEERS

# Geometric mean of the ratios of wall seconds, by scale and peer; `best` is the best peer of each query.
GOALS = {
    1: {"best": 1.3},
    10: {"polars": 1.5, "duckdb": 1.9, "datafusion": 2.9, "chdb": 3.5},
}
# Single queries against the best peer.
QUERY_GOALS = {10: {1: 3.5, 6: 1.7, 3: 1.3, 9: 1.4, 18: 1.4}}
MUST = 0.75  # share of a goal
SLOWEST = 1 / 1.2  # of no query at scale 10 less


def least(result, name, kind):
    """Returns the least figure of a program, or None if it has none."""
    return min((sample[kind] for sample in result["samples"].get(name, [])), default=None)


def ratio(result, peer, kind):
    ours, theirs = least(result, "yunti", kind), least(result, peer, kind)
    # A clock of 10 ms gives no seconds of CPU to a short query.
    return theirs / ours if ours and theirs else None


def best(result, kind):
    """Returns the ratio of the best peer that has the right answer, or None."""
    ratios = [ratio(result, peer, kind) for peer in PEERS if peer not in result["differ"]]
    return min((r for r in ratios if r), default=None)


def mean(values):
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def summary(results, scale, kind):
    """Returns the geometric mean of the ratios to each peer and to the best of each query, with their counts."""
    here = [r for r in results if r["scale"] == scale]
    columns = {peer: [ratio(r, peer, kind) for r in here if peer not in r["differ"]] for peer in PEERS}
    columns["best"] = [best(r, kind) for r in here]
    return {name: {"mean": mean(values), "queries": sum(1 for v in values if v)} for name, values in columns.items()}


def verdicts(results, scale):
    """Yields lines (what, ratio, goal, verdict) of the goals about wall seconds."""
    total = summary(results, scale, "wall")
    for name, goal in GOALS.get(scale, {}).items():
        yield f"SF{scale:g} mean, {name}", total[name]["mean"], goal
    for r in results:
        goal = QUERY_GOALS.get(scale, {}).get(r["query"])
        if r["scale"] == scale and goal:
            yield f"SF{scale:g} Q{r['query']}, best", best(r, "wall"), goal
    if scale in QUERY_GOALS:
        slowest = min((best(r, "wall") or math.inf for r in results if r["scale"] == scale), default=math.inf)
        yield f"SF{scale:g} slowest query, best", None if slowest == math.inf else slowest, SLOWEST / MUST


def verdict(figure, goal):
    return "-" if figure is None else "goal" if figure >= goal else "must" if figure >= goal * MUST else "BELOW"


def seconds(value):
    return "-" if value is None else f"{value:.3f}"


def times(value):
    return "-" if value is None else f"{value:.2f}x"


def table(results, scale, kind):
    title = {"wall": "wall seconds", "cpu": "CPU seconds"}[kind]
    lines = [(f"SF{scale:g}, {title}", "ours", *PEERS.values(), "best peer / ours", "executor")]
    for r in (r for r in results if r["scale"] == scale):
        cells = [seconds(least(r, "yunti", kind))]
        for peer in PEERS:
            cells.append(seconds(least(r, peer, kind)) + ("!" if peer in r["differ"] else ""))
        lines.append((f"Q{r['query']}", *cells, times(best(r, kind)), r["executor"][:40]))
    total = summary(results, scale, kind)
    lines.append(("peer / ours, geometric mean", "", *(times(total[peer]["mean"]) for peer in PEERS),
                  times(total["best"]["mean"]), ""))
    lines.append(("of queries", "", *(str(total[peer]["queries"]) for peer in PEERS), str(
        total["best"]["queries"]), ""))
    return aligned(lines)


def aligned(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines)


def problems(results):
    lines = []
    for r in results:
        where = f"SF{r['scale']:g} Q{r['query']}: "
        lines += [f"{where}{name} FAILED: {why}" for name, why in r["failures"].items()]
        lines += [f"{where}OUTPUTS DIFFER from {name}: {why}" for name, why in r["differ"].items()]
    return lines


def text(results):
    scales = sorted({r["scale"] for r in results})
    parts = [table(results, scale, kind) for scale in scales for kind in ("wall", "cpu")]
    judged = [line for scale in scales for line in verdicts(results, scale)]
    if judged:
        lines = [("goal", "figure", "goal", "must", "verdict")]
        lines += [(what, times(figure), times(goal), times(goal * MUST), verdict(figure, goal))
                  for what, figure, goal in judged]
        parts.append(aligned(lines))
    return "\n\n".join(parts + ["\n".join(problems(results))]).strip()
