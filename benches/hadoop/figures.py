"""Medians, ratios to stock, verdicts, and tables for people."""

import json
import os
import statistics
import time

from harness import commands, report
from harness.rows import must_faster
from jobs import NATIVE, STOCK

RATIOS = ("wall", "map_cpu", "reduce_cpu", "tree_cpu")
SHOWN = {"wall": "job", "map_cpu": "map CPU", "reduce_cpu": "reduce CPU", "tree_cpu": "tree CPU"}


def middle(samples, key, pick=statistics.median):
    return pick(s[key] for s in samples)


def summarise(job, variant, command, samples, stock, fingerprint, expected, judged):
    """Returns the result of one variant. `stock` has the samples of stock in the same rounds.

    A ratio is the median of the ratios of the rounds.
    """
    result = {
        "row": "hadoop-" + job.name, "variant": variant, "opponent": STOCK, "command": command, "samples": samples,
        "output": fingerprint,
        "median": {key: middle(samples, key) for key in RATIOS + ("client_cpu",)},
        "min": {key: middle(samples, key, min) for key in RATIOS},
        "same": expected is None or fingerprint == expected, "judged": [], "verdict": "",
    }
    if stock and variant != STOCK:
        result["ratios"] = {key: statistics.median(s[key] / max(v[key], 0.01) for s, v in zip(stock, samples))
                            for key in RATIOS}
        for key, goal in job.goals.get(variant, {}).items() if judged else ():
            figure, must = result["ratios"][key], must_faster(goal)
            verdict = "goal" if figure >= goal else "must" if figure >= must else "BELOW"
            result["judged"].append({"of": key, "figure": figure, "goal": goal, "must": must, "verdict": verdict})
    last = samples[-1]
    tasks = last["maps"] + last["reduces"]
    if not result["same"]:
        result["verdict"] = "OUTPUTS DIFFER"
    elif variant in NATIVE and any(s["declined_tasks"] or s["native_tasks"] < s["maps"] + s["reduces"]
                                   for s in samples):
        reasons = sorted({v for s in samples for v in s["verdicts"] if v.startswith("declined")})
        result["verdict"] = "; ".join([f"NOT NATIVE: {last['native_tasks']} of {tasks} tasks", *reasons])
    elif any(s["attempts_failed"] for s in samples):
        result["verdict"] = f"ATTEMPTS FAILED: {sum(s['attempts_failed'] for s in samples)}"
    else:
        order = ("BELOW", "must", "goal")
        result["verdict"] = min((j["verdict"] for j in result["judged"]), key=order.index, default="")
    return result


def bad(result):
    return result.get("verdict", "").startswith(("BELOW", "OUTPUTS", "NOT NATIVE", "ATTEMPTS", "FAILED"))


def _aligned(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines)


def table(results):
    """Returns the table of median seconds, each with its ratio to stock in brackets."""
    lines = [("job", "variant", "wall s", "map CPU s", "reduce CPU s", "tree CPU s", "native", "verdict")]
    for r in results:
        if "mb_per_cpu_second" in r:
            continue
        job = r["row"].removeprefix("hadoop-")
        if "median" not in r:
            lines.append((job, r["variant"], "-", "-", "-", "-", "-", r.get("note", "").split(":")[0]))
            continue
        cells = [f"{r['median'][key]:.2f}" + (f" ({r['ratios'][key]:.2f}x)" if "ratios" in r else "") for key in RATIOS]
        last = r["samples"][-1]
        lines.append((job, r["variant"], *cells, f"{last['native_tasks']}/{last['maps'] + last['reduces']}",
                      r["verdict"]))
    return _aligned(lines) if len(lines) > 1 else ""


def phases(results):
    """Returns the table of tasks: mean and best seconds of the attempts, and the highest memory of a task."""
    lines = [("job", "variant", "map s mean/best", "map CPU mean/best", "shuffle", "sort", "reduce",
              "memory map/reduce")]
    for r in results:
        if "samples" not in r:
            continue
        some = r["samples"]
        mean = lambda key: statistics.mean(s[key]["mean"] for s in some)
        best = lambda key: min(s[key]["min"] for s in some)
        pair = lambda key: f"{mean(key):.2f}/{best(key):.2f}" if some[0][key] else "-"
        mean_cpu = statistics.mean(s["map_cpu"] / max(1, s["maps"]) for s in some)
        memory = "/".join(f"{max(s[key] for s in some) / 2**20:.0f}" for key in ("map_memory_max", "reduce_memory_max"))
        lines.append((r["row"].removeprefix("hadoop-"), r["variant"], pair("map"),
                      f"{mean_cpu:.2f}/{middle(some, 'map_cpu_best', min):.2f}",
                      pair("shuffle"), pair("sort"), pair("reduce"), memory + " MiB"))
    return _aligned(lines) if len(lines) > 1 else ""


def goals(results):
    lines = [("job", "variant", "what", "less than stock", "goal", "must", "verdict")]
    for r in results:
        for j in r.get("judged", []):
            lines.append((r["row"].removeprefix("hadoop-"), r["variant"], SHOWN[j["of"]], f"{j['figure']:.2f}x",
                          f"{j['goal']:.2f}x", f"{j['must']:.2f}x",
                          j["verdict"]))
    return _aligned(lines) if len(lines) > 1 else ""


def save(machine, kept):
    """Saves the results like the other benches, in a file named `..-hadoop.json`."""
    folder = os.path.join(report.RESULTS, machine)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, time.strftime("%Y-%m-%dT%H%M-hadoop.json"))
    with open(path, "w") as f:
        # Store paths of commands relative to the checkout.
        f.write(json.dumps(kept, indent=1).replace(commands.ROOT + "/", "") + "\n")
    return os.path.relpath(path, commands.ROOT)
