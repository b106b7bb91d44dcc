"""Verdicts against goal and must, the table for people, and the raw results."""

import glob
import json
import os
import time

from . import commands
from .rows import LIMIT_VALID, must_faster, must_slower

RESULTS = os.path.join(commands.ROOT, "benches/results")


def judge(row, opponent, result, goal):
    """Fills in goal, must and verdict. The figure is the speed-up over a peer or the slow-down to the limit program."""
    result.update(row=row.name, opponent=opponent, goal=goal)
    if opponent == "limit":
        figure = 1 / result["ratio"]
        result["must"] = must_slower(goal)
        reached, close = figure <= goal, figure <= result["must"]
    else:
        figure = result["ratio"]
        result["must"] = must_faster(goal)
        reached, close = figure >= goal, figure >= result["must"]
    result["figure"] = figure
    result["verdict"] = "" if not goal else "goal" if reached else "must" if close else "BELOW"
    if not result.get("same", True):
        result["verdict"] = "OUTPUTS DIFFER"
    return result


def judge_wall(row, result):
    median = result["a"]["median"]
    result.update(row=row.name, opponent="", goal=row.wall_goal, must=row.wall_goal, figure=median)
    result["verdict"] = "goal" if median <= row.wall_goal else "BELOW"
    return result


def judge_bullet(name, opponent, result, figure, bound, at_least=False):
    """Judges a bullet by one bound, which is goal and must. With bound 0 or without a figure there is no verdict.

    Without a figure, `detail` gives the reason.
    """
    result.update(row=name, opponent=opponent, figure=figure, bound=bound)
    reached = figure is not None and (figure >= bound if at_least else figure <= bound)
    result["verdict"] = "" if not bound or figure is None else "goal" if reached else "BELOW"
    if not result.get("same", True):
        result["verdict"] = "OUTPUTS DIFFER"
    return result


def limits_valid(results):
    """Returns {row: (factor, needed)} for the rows with times of both a limit program and chdb."""
    checks = {}
    for row, needed in LIMIT_VALID.items():
        best = {}
        for r in results:
            if r["row"] == row and "pairs" in r:
                for side in "ab":
                    if side in r:
                        name = r[side]["name"]
                        best[name] = min(best.get(name, 1e9), r[side]["min"])
        if "limit" in best and "chdb" in best:
            checks[row] = (best["chdb"] / best["limit"], needed)
    return checks


def last_committed(machine, row, opponent):
    """Returns the newest saved ratio of a peer that cannot run now, from this machine or else from any."""
    for pattern in (f"{RESULTS}/{machine}/*.json", f"{RESULTS}/*/*.json"):
        for path in sorted(glob.glob(pattern), key=os.path.basename, reverse=True):
            with open(path) as f:
                for r in json.load(f)["results"]:
                    if r["row"] == row and r["opponent"] == opponent and r.get("ratio") and not r.get("kept_from"):
                        return {"ratio": r["ratio"], "kept_from": os.path.relpath(path, RESULTS)}
    return None


def table(results):
    head = ("row", "against", "ours min/med", "theirs min/med", "figure", "goal", "must", "verdict",
            "memory ours/theirs")
    lines = [head]
    for r in results:
        timed = lambda side: f"{r[side]['min']:.3f}/{r[side]['median']:.3f}" if side in r else "-"
        memory = "/".join(f"{r[s]['anonymous_max'] / 2**20:.0f}" for s in "ab" if s in r)
        unit = lambda v: "-" if not v else f"{v * 1000:.1f} ms" if not r["opponent"] else f"{v:.2f}x"
        against = r["opponent"] or "start to exit"
        if r.get("kept_from"):
            against += f" (kept: {r['kept_from']})"
        subject = "" if r.get("a", {}).get("name", "yunti") == "yunti" else " [limit program as ours]"
        goal, must = (r.get(key, r.get("bound")) for key in ("goal", "must"))
        outcome = " ".join(filter(None,
                                  (r.get("verdict") or r.get("note"), f"({r['detail']})" if "detail" in r else "")))
        lines.append((r["row"], against, timed("a"), timed("b"), unit(r.get("figure")), unit(goal), unit(must),
                      outcome + subject,
                      memory + " MiB" if memory else ""))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines)


def save(machine, report):
    folder = f"{RESULTS}/{machine}"
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/{time.strftime('%Y-%m-%dT%H%M')}.json"
    with open(path, "w") as f:
        # Store paths of commands relative to the checkout.
        f.write(json.dumps(report, indent=1).replace(commands.ROOT + "/", "") + "\n")
    return os.path.relpath(path, commands.ROOT)


def save_with_text(machine, kind, kept, text):
    """Saves results as KIND-TIME.json, with a text for people beside them. Returns their names."""
    folder = f"{RESULTS}/{machine}"
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/{kind}-{time.strftime('%Y-%m-%dT%H%M')}"
    if os.path.exists(path + ".json"):
        path += time.strftime("%S")  # short runs of chosen rows may end in the same minute
    with open(path + ".txt", "w") as f:
        f.write(text)
    with open(path + ".json", "w") as f:
        # Store paths of commands relative to the checkout.
        f.write(json.dumps(kept, indent=1).replace(commands.ROOT + "/", "") + "\n")
    return os.path.relpath(path, commands.ROOT) + ".json, .txt"
