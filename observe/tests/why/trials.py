"""Trials of `yunti observe why` on programs of known cause, whose authors knew no rule.

    trials.py FOLDER [CASE ..] [-s SECONDS] [--cures] [--out DIR] [--page FILE]    judge a collection, print its table

trials/README.md describes collections. Each case has a verdict on the first sentence:

    right     a slow program: it matches one word of each list in "accept"; a healthy one: no cause is reported, or the
              sentence says that it computes and nothing else holds it up
    vague     it matches "vague" in the same way, or reports no cause and lists what is known
    wrong     it names another cause
    missed    it reports no cause
    accused   it reports a cause of a healthy program
    broken    the program or `why` did not run

With --cures, a right sentence about a slow program is tried: the program runs again without its cause. `why` says that
the cause takes a share of the time. The cure must save at least half of that share (SAVED_MIN).

The exit code is 1 if too few are right or too many vague (RIGHT_MIN, VAGUE_MAX), or one is accused or broken, or if
a cure saves too little.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../../.."))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "trials"), os.path.join(ROOT, "tools/tests")]
import cases  # noqa: E402
import check  # noqa: E402
import looking  # noqa: E402
import results  # noqa: E402

SECONDS = 8
# Shares of the slow programs.
RIGHT_MIN = 0.70
VAGUE_MAX = 0.15
# Part of the promised time that a cure saves.
SAVED_MIN = 0.5
VERDICTS = {"slow": ("right", "vague", "wrong", "missed", "broken"), "healthy": ("right", "accused", "broken")}
NOT_HELD_UP = "nothing else holds it up"


@dataclass
class Trial:
    case: cases.Case
    verdict: str
    sentence: str
    # Share of the time that the first cause takes, and rates with the cause and without it, if the cure was tried.
    promised: float = 0
    rates: tuple = ()

    def saved(self):
        """Returns the share of the time that the cure saved; None if it was not tried."""
        return 1 - self.rates[0] / self.rates[1] if self.rates and self.rates[1] else None


# ---- verdicts ----

def judge(case, document):
    """Returns the verdict on the answer of `why`."""
    sentence = document["answer"]
    if case.kind == "healthy":
        return "accused" if document["causes"] and NOT_HELD_UP not in sentence else "right"
    if matches(sentence, case.accept):
        return "right"
    if not document["causes"]:
        return "vague" if "What is known" in sentence else "missed"
    return "vague" if case.vague and matches(sentence, case.vague) else "wrong"


def matches(sentence, lists):
    return all(any(re.search(word, sentence, re.I) for word in words) for words in lists)


def judged(case, out, seconds, with_cure=False):
    """Builds and starts a case, and returns its trial."""
    try:
        case.build(out)
        run = cases.Run(case, out)
        try:
            run.wait()
            document = looking.answer("why", "-p", run.pid, "-s", seconds)
        finally:
            run.stop()
        trial = Trial(case, judge(case, document), document["answer"])
        if with_cure and case.kind == "slow" and trial.verdict == "right" and document["causes"]:
            trial.promised = min(document["causes"][0]["cost"], 1)
            trial.rates = sum(run.rates) / max(len(run.rates), 1), check.rate(case, out, seconds, cured=True)
    except (RuntimeError, subprocess.TimeoutExpired, AssertionError) as e:
        return Trial(case, "broken", " ".join(str(e)[-300:].split()))
    return trial


# ---- the collection ----

def summary(trials):
    """Returns one line for each kind of program with the numbers of verdicts."""
    lines = []
    for kind, verdicts in VERDICTS.items():
        found = [trial.verdict for trial in trials if trial.case.kind == kind]
        if found:
            numbers = ", ".join(f"{found.count(verdict)} {verdict}" for verdict in verdicts)
            lines.append(f"{len(found)} {kind}: {numbers}")
    return lines


def faults(trials):
    """Returns one line for each bound that the trials break."""
    found = [f"{trial.case.name}: {trial.verdict}" for trial in trials if trial.verdict in ("accused", "broken")]
    slow = [trial.verdict for trial in trials if trial.case.kind == "slow"]
    right, vague = slow.count("right"), slow.count("vague")
    if right < RIGHT_MIN * len(slow):
        found.append(f"{right} of {len(slow)} slow programs are right; at least {RIGHT_MIN:.0%}")
    if vague > VAGUE_MAX * len(slow):
        found.append(f"{vague} of {len(slow)} slow programs are vague; at most {VAGUE_MAX:.0%}")
    tried = [trial for trial in trials if trial.saved() is not None]
    found += [f"{trial.case.name}: the cause takes {trial.promised:.0%} of the time, and its cure saves "
              f"{max(trial.saved(), 0):.0%}" for trial in tried if trial.saved() < SAVED_MIN * trial.promised]
    return found


def processor():
    with open("/proc/cpuinfo") as f:
        model = re.search(r"^model name\s*: (.*)", f.read(), re.M)
    return f"{os.cpu_count()} processors, {model[1] if model else platform.machine()}"


def page(name, trials, skips, commit):
    """Returns the page of a collection, whose verdicts below `right` are no failures of the suite."""
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    lines = [f"# Trials of `yunti observe why`: {name}, last result", "",
             f"{processor()}. Commit {commit}, {when} UTC. A commit with + had uncommitted changes.", "",
             *(f"* {line}" for line in summary(trials)),
             *(f"* skipped: {case.name}: {reason}" for case, reason in skips), "",
             "A vague, wrong or missed sentence is no failure of the suite. The suite fails if less than",
             f"{RIGHT_MIN:.0%} of the slow programs are right, more than {VAGUE_MAX:.0%} are vague, any program is accused",
             "or broken, or a cure saves less than half of the share of the time that the cause is said to take.", *[line for fault in faults(trials) for line in ("", f"* failed: {fault}")],
             "", "| case | language | cause | verdict | sentence | share, saved |", "|---|---|---|---|---|---|"]
    for trial in trials:
        sentence = trial.sentence.replace(ROOT + "/", "").replace(os.path.expanduser("~/"), "~/").replace("|", "\\|")
        cured = "" if trial.saved() is None else f"{trial.promised:.0%}, {max(trial.saved(), 0):.0%}"
        lines.append(f"| {trial.case.name} | {trial.case.language} | {trial.case.cause or '(healthy)'} | "
                     f"{trial.verdict} | {sentence} | {cured} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("-s", "--seconds", type=float, default=SECONDS)
    parser.add_argument("--cures", action="store_true", help="run slow programs again without their cause")
    parser.add_argument("--out", help="build into this folder (default build/trials/COLLECTION)")
    parser.add_argument("--page", help="write the table to this file")
    options = parser.parse_args()
    name = os.path.basename(os.path.abspath(options.collection))
    out = os.path.abspath(options.out or os.path.join(ROOT, "build/trials", name))
    commit, trials, skips = results.state(), [], []
    for case in cases.find(options.collection, options.cases):
        if reason := case.missing():
            print(f"skip     {case.name}: {reason}", flush=True)
            skips.append((case, reason))
            continue
        trial = judged(case, os.path.join(out, case.name), options.seconds, options.cures)
        what = f"{case.language}, {case.cause or 'healthy'}"
        print(f"{trial.verdict:8} {case.name} ({what}): {trial.sentence}", flush=True)
        trials.append(trial)
    print("\n".join(summary(trials)))
    for fault in faults(trials):
        print(f"FAILED {fault}")
    if options.page:
        with open(options.page, "w") as f:
            f.write(page(name, trials, skips, commit))
    return 1 if faults(trials) else 0


if __name__ == "__main__":
    sys.exit(main())
