"""Tables for people: one for each kind of figure, a line for each row and table of data."""

from measured import KINDS
from programs import NAMES

HEAD = ("row", "data", "ours", *NAMES.values(), "of the best", "goal", "must", "verdict")


def cells(result, kind):
    """Returns the line of a result. A peer's cell has its ratio to ours, and its figure."""
    c = next(c for c in result["comparisons"] if c["kind"] == kind.name)
    own = {peer: " cli" if p["form"] == "command" and not kind.peer.startswith("warm") else ""
           for peer, p in result["programs"].items()}
    peers = [f"{c['ratios'][peer]:.2f}x ({figure(c['theirs'][peer])}{own[peer]})" if peer in c["ratios"] else "-"
             for peer in NAMES]
    best = f"{c['ratios'][c['best']]:.2f}x" if c["best"] else "-"
    return (result["row"], result["data"], figure(c["ours"]), *peers, best, f"{c['goal']:.2f}x", f"{c['must']:.2f}x",
            c["verdict"] or "-")


def figure(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def problems(results):
    """Returns a line for each failure, each answer that differs, and each peer without an answer."""
    lines = []
    for r in results:
        where = f"{r['row']}, {r['data']}: "
        lines += [where + f"FAILED: {r['failure']}"] if "failure" in r else []
        lines += [where + f"SKIPPED: {r['why']}"] if "why" in r else []
        lines += [where + f"OUTPUTS DIFFER: {', '.join(r['differ'])}"] if r.get("differ") else []
        lines += [where + f"{name} FAILED: {why}" for name, why in r.get("failures", {}).items()]
        lines += [where + f"SKIPPED: {name} cannot be installed" for name in r.get("missing", [])]
    return lines


def one(results, kind):
    return [cells(r, kind) for r in results if "comparisons" in r]


def aligned(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines]


def short(results):
    """Returns the lines of a few results while the bench runs."""
    lines = [(kind.name, *line) for r in results if "comparisons" in r for kind in KINDS for line in one([r], kind)]
    return "\n".join(problems(results) + (aligned(lines) if lines else []))


def text(results):
    parts = ["\n".join([kind.title, *aligned([HEAD, *one(results, kind)])]) for kind in KINDS]
    return "\n\n".join(parts + ["\n".join(problems(results))]).strip()
