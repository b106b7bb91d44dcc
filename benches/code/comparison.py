"""Programs that run in turn on the same input, and the ratios of their CPU seconds beside goals.

CPU seconds (user and system, of all processes) decide, not wall time: user code runs in processes of its own beside the
engine, and a busy machine then favours the program that starts most of them.
"""

import statistics
from dataclasses import asdict, dataclass

from harness import measure, verify
from harness.measure import Failed


@dataclass(frozen=True)
class Goal:
    """Bound of a ratio between two programs of a series.

    `faster`: against / subject, at least; else subject / against, at most. With bound 0 the ratio is shown only.
    """

    subject: str
    against: str
    bound: float = 0
    faster: bool = False
    exact: bool = False  # the goal itself is the must, as for percentages

    @property
    def must(self):
        return self.bound if self.exact else self.bound * 0.75 if self.faster else self.bound / 0.75

    def ratio(self, subject, against):
        return against / subject if self.faster else subject / against

    def verdict(self, ratio):
        if not self.bound:
            return ""
        reached = (lambda bound: ratio >= bound) if self.faster else (lambda bound: ratio <= bound)
        return "goal" if reached(self.bound) else "must" if reached(self.must) else "BELOW"


def in_turn(programs, rounds, all_rounds=False):
    """Runs A B C A B C .. and returns the samples by name. A program ten times slower than the first stops after two,
    unless all rounds are wanted."""
    taken = {program.name: [] for program in programs}
    for number in range(rounds):
        for program in programs:
            least = min((s.cpu for s in taken[programs[0].name]), default=0)
            if not all_rounds and number >= 2 and min(s.cpu for s in taken[program.name]) > 10 * least:
                continue
            taken[program.name].append(measure.run(program)[0])
    return taken


def cheapest(forms):
    """Returns the form of a peer's query that takes the least CPU seconds, by one run of each."""
    taken = []
    for form in forms:
        try:
            taken.append((measure.run(form)[0].cpu, form))
        except Failed as failure:
            taken.append((float("inf"), form))
            print(failure)
    return min(taken, key=lambda entry: entry[0])[1]


def outputs(programs, same="unordered", differs=()):
    """Runs each program once, untimed. Returns the programs that ran, the reasons for the rest, and if all outputs agree.

    Outputs of programs in `differs` are not compared.
    """
    ran, failures, seen = [], {}, {}
    for program in programs:
        try:
            _, output = measure.run(program)
        except Failed as failure:
            if program.name.startswith("yunti"):
                raise
            failures[program.name] = str(failure)
            continue
        ran.append(program)
        if program.name not in differs:
            seen[program.name] = verify.fingerprint(output, same)
    return ran, failures, len(set(seen.values())) <= 1


def compare(row, title, programs, goals, options, same="unordered", differs=(), rounds=None):
    """Returns the result of a series: samples by program, and a comparison for each goal whose programs ran."""
    ran, failures, agree = outputs(programs, same, differs)
    taken = in_turn(ran, rounds or options.rounds)
    return {
        "row": row, "title": title, "same": agree, "skipped": failures,
        "programs": {p.name: summary(p, taken[p.name]) for p in ran},
        "comparisons": [judged(goal, taken, agree) for goal in goals if goal.subject in taken and goal.against in taken],
    }


def summary(program, samples):
    return {
        "command": program.command("OUT"), "cpu_min": min(s.cpu for s in samples),
        "cpu_median": statistics.median(s.cpu for s in samples), "wall_min": min(s.wall for s in samples),
        "samples": [asdict(s) for s in samples],
    }


def judged(goal, taken, agree):
    """Returns the median of the rounds' ratios, which decides, and the ratio of the least times.

    A bound in percent is `UNCLEAR` where the ratio is beyond it by less than the distance between its quartiles.
    """
    of, to = taken[goal.subject], taken[goal.against]
    ratios = [goal.ratio(a.cpu, b.cpu) for a, b in zip(of, to)]
    ratio = statistics.median(ratios)
    low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else (ratio,) * 3
    verdict = goal.verdict(ratio) if agree else "OUTPUTS DIFFER"
    if verdict == "BELOW" and goal.exact and abs(ratio - goal.bound) <= high - low:
        verdict = "UNCLEAR"
    least = goal.ratio(min(s.cpu for s in of), min(s.cpu for s in to))
    return {
        "subject": goal.subject, "against": goal.against, "faster": goal.faster, "ratio": ratio, "ratio_of_least": least,
        "goal": goal.bound, "must": goal.must, "verdict": verdict,
    }


def absolute(row, title, figure, unit, bound, at_most_is_must=True, **raw):
    """Returns the result of a figure that has a bound of its own: milliseconds, or a share. The goal is the must."""
    verdict = "" if not bound else "goal" if figure <= bound else "BELOW"
    return {"row": row, "title": title, "figure": figure, "unit": unit, "goal": bound, "verdict": verdict, **raw}


def table(results):
    """Returns lines for people: a line for each comparison, figure and skipped program."""
    lines = [("row", "compared", "CPU s, least / median", "against", "ratio", "of the least", "goal", "must", "verdict")]
    for r in results:
        programs = r.get("programs", {})
        seconds = lambda name: f"{programs[name]['cpu_min']:.3f} / {programs[name]['cpu_median']:.3f}"
        for c in r.get("comparisons", []):
            bound = lambda value: (("at least " if c["faster"] else "at most ") + f"{value:.2f}") if value else "-"
            lines.append((r["row"], f"{c['subject']} : {c['against']}", seconds(c["subject"]), seconds(c["against"]),
                          f"{c['ratio']:.3f}", f"{c['ratio_of_least']:.3f}", bound(c["goal"]), bound(c["must"]),
                          c["verdict"]))
        if "figure" in r:
            lines.append((r["row"], r["title"], "", "", f"{r['figure']:.1f} {r['unit']}", "",
                          f"at most {r['goal']}" if r["goal"] else "-", "", r["verdict"]))
        for name, why in (r.get("skipped") or {}).items():
            lines.append((r["row"], name, "", "", "", "", "", "", f"SKIPPED: {why}"))
        if "failure" in r:
            lines.append((r["row"], r["title"], "", "", "", "", "", "", f"FAILED: {r['failure']}"))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines)
