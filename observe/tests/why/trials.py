"""Trials of `yunti observe why` on programs of known cause, in collections that were written without sight of the rules.

    trials.py FOLDER [CASE ..] [--seconds N] [--cured]    judge one collection, and print its table

A collection is a folder with a folder for each program:

    case.json   "kind" is slow or healthy; of a slow one, "accept" has lists of regular expressions: the first sentence
                is right if it matches one of each list; "vague" has the same for a sentence that only points there
    build       builds into the folder $OUT
    run         starts the program with all that belongs to it, prints `pid N` when it is steady, and `rate X` each
                second, until SIGTERM; with --cured without its cause

A healthy program is accused if a cause is reported at all, unless the sentence says that it computes and nothing else
holds it up.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import looking  # noqa: E402

STEADY_SECONDS = 2
BUILD_SECONDS = 300
START_SECONDS = 60
STOP_SECONDS = 15
SECONDS = 8
NOT_HELD_UP = "nothing else holds it up"


@dataclasses.dataclass
class Case:
    folder: str
    name: str
    kind: str
    facts: dict

    @staticmethod
    def of(folder):
        with open(os.path.join(folder, "case.json")) as f:
            facts = json.load(f)
        return Case(folder, facts["name"], facts["kind"], facts)

    def judge(self, document):
        """Returns right, vague, wrong, missed or accused, by the first sentence."""
        sentence = document["answer"]
        if self.kind == "healthy":
            return "accused" if document["causes"] and NOT_HELD_UP not in sentence else "right"
        if matches(sentence, self.facts["accept"]):
            return "right"
        if not document["causes"]:
            return "vague" if "What is known" in sentence else "missed"
        return "vague" if matches(sentence, self.facts.get("vague") or [[r"(?!)"]]) else "wrong"


def matches(sentence, lists):
    return all(any(re.search(word, sentence, re.I) for word in words) for words in lists)


def cases(collection):
    names = sorted(os.listdir(collection))
    folders = [os.path.join(collection, name) for name in names]
    return [Case.of(folder) for folder in folders if os.path.exists(os.path.join(folder, "case.json"))]


def missing(case):
    """Returns what the case needs and is not here, or None."""
    for need in case.facts.get("needs", []):
        if need == "root":
            if os.geteuid() != 0:
                return "it needs root"
        elif need.startswith("jdk"):
            if need[3:] not in looking.java_versions():
                return f"there is no JDK {need[3:]}"
        elif not shutil.which({"rust": "cargo"}.get(need, need)) and not os.path.exists(os.path.expanduser(f"~/.pyenv/versions/{need}")):
            return f"there is no {need}"
    return None


def build(case, out):
    os.makedirs(out, exist_ok=True)
    script = os.path.join(case.folder, "build")
    if os.path.exists(script):
        done = subprocess.run([script], cwd=case.folder, env={**os.environ, "OUT": out}, capture_output=True, text=True,
                              timeout=BUILD_SECONDS)
        if done.returncode:
            raise RuntimeError(f"{case.name}: build failed: {done.stdout[-500:]}{done.stderr[-500:]}")


class Run:
    """A started case, whose output a thread reads."""

    def __init__(self, case, out, cured=False):
        command = [os.path.join(case.folder, "run"), *(["--cured"] if cured else [])]
        self.rates, self.pid, self.name = [], None, case.name
        self.popen = subprocess.Popen(command, cwd=case.folder, env={**os.environ, "OUT": out}, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        self.steady = threading.Event()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.popen.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "pid":
                self.pid = int(rest)
                self.steady.set()
            elif word == "rate":
                self.rates.append(float(rest))
        self.steady.set()

    def wait(self):
        if not self.steady.wait(START_SECONDS) or not self.pid:
            raise RuntimeError(f"{self.name} is not steady after {START_SECONDS} s")
        time.sleep(STEADY_SECONDS)

    def stop(self):
        self.popen.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(STOP_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()


def answer(case, out, seconds):
    run = Run(case, out)
    try:
        run.wait()
        return looking.answer("why", "-p", run.pid, "-s", seconds)
    finally:
        run.stop()


def trial(case, out, seconds):
    """Returns the verdict and the answer's document."""
    build(case, out)
    document = answer(case, out, seconds)
    return case.judge(document), document


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--out", help="keep what is built in this folder")
    options = parser.parse_args()
    verdicts = {}
    with contextlib.ExitStack() as within:
        out = options.out or within.enter_context(tempfile.TemporaryDirectory())
        for case in cases(options.collection):
            if options.cases and case.name not in options.cases:
                continue
            if reason := missing(case):
                print(f"skip     {case.name}: {reason}", flush=True)
                continue
            try:
                verdict, document = trial(case, os.path.join(out, case.name), options.seconds)
            except (RuntimeError, subprocess.TimeoutExpired, AssertionError) as e:
                verdict, document = "broken", {"answer": str(e)[-300:]}
            kind = case.facts.get("cause") or "healthy"
            print(f"{verdict:8} {case.name} ({case.facts['language']}, {kind}): {document['answer']}", flush=True)
            verdicts.setdefault(case.kind, []).append(verdict)
    for kind, found in verdicts.items():
        print(f"{kind}: " + ", ".join(f"{found.count(verdict)} {verdict}" for verdict in sorted(set(found))))


if __name__ == "__main__":
    main()
