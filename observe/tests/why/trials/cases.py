"""A case of a collection: a program with or without a cause in a folder of its own, built, started and stopped.

README.md describes the folder.
"""

import contextlib
import glob
import json
import os
import signal
import subprocess
import threading
import time
import uuid
from dataclasses import dataclass, field

import installed

BUILD_SECONDS_MAX = 300
START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 15
STEADY_SECONDS = 2
# Variable in the environment of all processes of a run.
TAG = "YUNTI_TRIAL"


@dataclass
class Case:
    folder: str
    name: str
    language: str
    kind: str  # slow or healthy
    cause: str  # empty for a healthy one
    accept: list = field(default_factory=list)
    vague: list = field(default_factory=list)
    needs: list = field(default_factory=list)

    @staticmethod
    def read(folder):
        with open(os.path.join(folder, "case.json")) as f:
            facts = json.load(f)
        return Case(folder, facts["name"], facts["language"], facts["kind"], facts.get("cause") or "",
                    facts.get("accept") or [], facts.get("vague") or [], facts.get("needs") or [])

    def missing(self):
        """Returns why the case cannot run here, or None."""
        java = ["jdk17"] if self.language == "java" and "jdk25" not in self.needs else []
        return next(filter(None, map(installed.missing, [*java, *self.needs])), None)

    def build(self, out):
        os.makedirs(out, exist_ok=True)
        done = subprocess.run([os.path.join(self.folder, "build")], cwd=self.folder, env={**os.environ, "OUT": out},
                              capture_output=True, text=True, timeout=BUILD_SECONDS_MAX)
        if done.returncode:
            raise RuntimeError(f"{self.name}: build failed: {done.stdout[-500:]}{done.stderr[-500:]}")


def find(collection, names=()):
    """Returns the cases of a collection by name; all without `names`."""
    files = glob.glob(os.path.join(os.path.abspath(collection), "**/case.json"), recursive=True)
    found = sorted((Case.read(os.path.dirname(file)) for file in files), key=lambda case: case.name)
    unknown = set(names) - {case.name for case in found}
    if unknown:
        raise SystemExit(f"{collection} has no {', '.join(sorted(unknown))}")
    return [case for case in found if not names or case.name in names]


class Run:
    """A started case, whose output a thread reads."""

    def __init__(self, case, out, cured=False):
        self.rates, self.pid, self.name, self.tag = [], None, case.name, f"{TAG}={uuid.uuid4().hex}"
        env = {**os.environ, "OUT": out, TAG: self.tag.partition("=")[2]}
        command = [os.path.join(case.folder, "run"), *(["--cured"] if cured else [])]
        self.popen = subprocess.Popen(command, cwd=case.folder, env=env, text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, start_new_session=True)
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
        if not self.steady.wait(START_SECONDS_MAX) or not self.pid:
            raise RuntimeError(f"{self.name} is not steady after {START_SECONDS_MAX} s")
        time.sleep(STEADY_SECONDS)

    def stop(self):
        """Stops the case and returns the names of processes that it left behind, which are killed."""
        self.popen.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(STOP_SECONDS_MAX)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()
        time.sleep(0.2)
        left = list(self.left())
        for pid, _ in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return [name for _, name in left]

    def left(self):
        """Yields PID and name of each process of this run."""
        for path in glob.glob("/proc/[0-9]*"):
            with contextlib.suppress(OSError):
                with open(f"{path}/environ", "rb") as environ, open(f"{path}/comm") as comm:
                    if self.tag.encode() in environ.read():
                        yield int(os.path.basename(path)), comm.read().strip()
