"""A query over one table: programs in turn, their answers, and the ratios of the peers to Yunti."""

import json
import os
import statistics
from dataclasses import asdict, dataclass

import answers
import programs
from harness import measure, opponents
from harness.measure import Failed

SAMPLE_SECONDS = 0.005
MINUTES = 20  # limit of a run
MEMORY_GOAL = 2


@dataclass(frozen=True)
class Kind:
    """Figure of the samples of a peer and of ours, in MiB or seconds. A ratio is the peer's / ours."""

    name: str
    title: str
    peer: str
    ours: str
    decides: bool = True  # else the verdict is shown only


KINDS = [
    Kind("wall", "Wall seconds of whole commands", "wall", "wall"),
    Kind("CPU", "CPU seconds of whole commands", "cpu", "cpu"),
    Kind("warm wall", "Wall seconds of a second query in the peer's process, against our whole command", "warm_wall",
         "wall", False),
    Kind("warm CPU", "CPU seconds of a second query in the peer's process, against our whole command", "warm_cpu",
         "cpu", False),
    Kind("memory", "Peak of anonymous and shared memory of whole commands, MiB", "memory", "memory"),
]


def sample(program):
    """Runs a program. Returns its figures and the path of its output."""
    taken, output = measure.run(program, MINUTES * 60, SAMPLE_SECONDS)
    # A program of a few milliseconds may end before the first sample of its memory: then the resident memory counts.
    return {"wall": taken.wall, "cpu": taken.cpu, "memory": (taken.anonymous or taken.rss) / 2**20}, output


def warm(program):
    """Runs a peer that answers twice. Returns the seconds of its second answer."""
    measure.run(program, MINUTES * 60)
    with open(programs.AGAIN) as f:
        again = json.load(f)
    return {"warm_wall": again["wall"], "warm_cpu": again["cpu"]}


def first(forms, parquet):
    """Runs each form once, untimed. Returns the one with the least CPU seconds, and its answer."""
    found = []
    for form in forms:
        try:
            taken, output = sample(form)
            found.append((taken["cpu"], form, answers.read(output, parquet)))
        except Failed as failure:
            why = failure
    if not found:
        raise why
    return min(found, key=lambda entry: entry[0])[1:]


def compare(query, label, path, options, expected):
    """Returns the result of a query over the table at `path`, and our answer.

    `expected`: the answer for another form of the table, or None.
    """
    parquet = query.writes == "parquet"
    with open(path, "rb", buffering=0) as f:  # into the page cache
        while f.read(8 << 20):
            pass
    ran, failures, differ = {}, {}, []
    ran["yunti"], answer = first([programs.ours(query, path, options.threads)], parquet)
    if expected and not answers.agree(expected, answer):
        differ.append("yunti")
    for peer in options.peers:
        name = programs.NAMES[peer]
        try:
            ran[peer], theirs = first(programs.whole(peer, query, path, options.threads), parquet)
            if not answers.agree(answer, theirs):
                differ.append(name)
        except Failed as failure:
            failures[name] = str(failure)
    rounds = {name: [] for name in ran}
    for _ in range(options.rounds):
        for name, program in ran.items():
            if slow(rounds, name):
                continue
            taken, _ = sample(program)
            if name != "yunti":
                taken |= warm(programs.warm(name, query, path, options.threads))
            rounds[name].append(taken)
    measure.clean()
    return {
        "row": query.name, "title": query.title, "data": label, "bytes": os.path.getsize(path), "rows": answer.count,
        "differ": differ, "failures": failures,
        "programs": {name: {"form": ran[name].form, "command": ran[name].command("OUT"), "samples": taken}
                     for name, taken in rounds.items()},
        "comparisons": [judged(kind, query, rounds, bool(differ)) for kind in KINDS],
    }, answer


def slow(rounds, name):
    """True for a program that took ten times our seconds in two rounds: these suffice."""
    least = {program: min((s["wall"] for s in rounds[program]), default=0) for program in (name, "yunti")}
    return len(rounds[name]) >= 2 and least[name] > 10 * least["yunti"]


def judged(kind, query, rounds, differ):
    """Returns the median of the rounds' ratios for each peer, and the verdict on the least of them."""
    ours = [s[kind.ours] for s in rounds["yunti"]]
    ratios, theirs = {}, {}
    for name, taken in rounds.items():
        if name != "yunti":
            theirs[name] = statistics.median(s[kind.peer] for s in taken)
            ratios[name] = statistics.median(s[kind.peer] / mine for s, mine in zip(taken, ours))
    memory = kind.name == "memory"
    goal = MEMORY_GOAL if memory else query.goal
    must = goal if memory else goal * 0.75
    best = min(ratios, key=ratios.get, default=None)
    verdict = "OUTPUTS DIFFER" if differ else ""
    if best and not differ:
        verdict = "goal" if ratios[best] >= goal else "must" if ratios[best] >= must else "BELOW"
    return {"kind": kind.name, "ours": statistics.median(ours), "theirs": theirs, "ratios": ratios, "best": best,
            "goal": goal, "must": must, "verdict": verdict, "decides": kind.decides}
