"""Cluster of hadoop/cluster for tests: start, stop, commands inside it, and jobs observed while they run.

Test files that need no special cluster share one (`shared`). The runner of tools/tests starts it once by
shared_cluster.py, and names its folder in YUNTI_SHARED_CLUSTER. A file that runs alone starts and stops its own.
"""

import glob
import os
import re
import subprocess
import tempfile
import time
import unittest
from dataclasses import dataclass

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
JOB_SECONDS = 300
# The client polls every 200 ms instead of every 5 s.
PROMPT = ["-Dmapreduce.client.progressmonitor.pollinterval=200", "-Dmapreduce.client.completion.pollinterval=200"]
# Java options of short programs. Else the optimising compiler and parallel collectors take half of their time.
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# Properties of the shared cluster. By default each step of a job waits for a heartbeat of a second.
SHARED = {
    "mapreduce.client.progressmonitor.pollinterval": 200,
    "mapreduce.client.completion.pollinterval": 200,
    "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": 100,
    "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 100,
    "mapred.child.java.opts": f"-Xmx200m {BRIEF}",  # the heap is Hadoop's default
}
# Messages of the HotSpot JVM and of Rust's runtime when they abort a process.
CRASH = re.compile(r"fatal error has been detected by the Java Runtime|memory allocation of \d+ bytes failed|"
                   r"hs_err_pid\d+|"
                   r"exit(?:ed with a non-zero exit)? ?code:? (?:134|136|139)\b", re.I)


def counter(text, name):
    """Returns the last value of a counter in the output of a job, or 0."""
    found = re.findall(rf"^\s*{re.escape(name)}=(\d+)$", text, re.M)
    return int(found[-1]) if found else 0


def wait(what, seconds, of):
    """Polls `of` until its result is true, and returns it. Fails after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = of()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds} s")


@dataclass
class Task:
    """JVM of a task attempt."""

    pid: int
    attempt: str
    syslog: str

    def signal(self, number):
        os.kill(self.pid, number)


def shared(name):
    """Returns the running cluster that YUNTI_SHARED_CLUSTER names; without it, starts one in build/`name`."""
    directory = os.environ.get("YUNTI_SHARED_CLUSTER")
    if directory and os.path.exists(os.path.join(directory, "cluster.env")):
        return Borrowed(directory)
    return own(name)


def own(name):
    """Starts a cluster with the properties of the shared one."""
    return Cluster(name, *(word for key, value in SHARED.items() for word in ("--set", f"{key}={value}")))


class Cluster:
    """Cluster of one test file."""

    # Log -> its bytes before the tests of this file. Only what follows belongs to them.
    earlier = {}

    def __init__(self, name, *options, env=None):
        self.directory = os.path.join(ROOT, "build", name)
        # A killed run may have left a cluster with other settings.
        self.down()
        made = subprocess.run([os.path.join(ROOT, "hadoop/cluster/up"), "--dir", self.directory, *options],
                              env=os.environ | (env or {}), capture_output=True, text=True)
        if made.returncode != 0:
            if "no network namespace" in made.stderr:
                raise unittest.SkipTest(made.stderr.strip())
            raise AssertionError(made.stdout + made.stderr)

    def down(self):
        subprocess.run([os.path.join(ROOT, "hadoop/cluster/down"), "--dir", self.directory], capture_output=True)

    def environment(self, env=None):
        path = os.path.join(self.directory, "bin") + os.pathsep + os.environ["PATH"]
        return os.environ | {"PATH": path, "HADOOP_CONF_DIR": os.path.join(self.directory, "conf"),
                             "HADOOP_CLIENT_OPTS": BRIEF} | (env or {})

    def execute(self, *command, env=None, seconds=JOB_SECONDS):
        return subprocess.run(command, env=self.environment(env), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=seconds)

    def ok(self, *command, env=None):
        done = self.execute(*command, env=env)
        assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout + done.stderr

    def lines(self, directory):
        return sorted(self.ok("hadoop", "fs", "-cat", directory + "/part*").splitlines())

    def begin(self, *command):
        return Job(self, command)

    def log(self, daemon):
        with open(os.path.join(self.directory, "logs", daemon + ".log"), errors="replace", encoding="utf-8") as file:
            return file.read()

    def pid(self, daemon):
        with open(os.path.join(self.directory, "run", daemon + ".pid"), encoding="ascii") as file:
            return int(file.read())

    def tasks(self, java_class="YarnChild"):
        """Returns the running JVMs of tasks, or of another class."""
        found = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    words = file.read().split("\0")
            except OSError:
                continue
            if self.directory not in " ".join(words) or not any(word.endswith("." + java_class) for word in words):
                continue
            if not words[0].endswith("java"):
                continue  # the shell that waits for the JVM
            folder = next(word.partition("=")[2] for word in words if word.startswith("-Dyarn.app.container.log.dir="))
            attempt = next((word for word in words if word.startswith("attempt_")), "")
            found.append(Task(int(path.split("/")[2]), attempt, os.path.join(folder, "syslog")))
        return found

    def why(self, printed):
        """Returns the errors and causes of the attempts of a failed job. The client does not print the last ones."""
        job = re.search(r"Running job: job_(\d+_\d+)", printed)[1]
        found = []
        # The log of the application master is in the first container.
        for path in glob.glob(os.path.join(self.directory, f"logs/containers/*/application_{job}/*_000001/syslog")):
            with open(path, errors="replace", encoding="utf-8") as file:
                found += re.findall(r"(?:attempt_\w+: Error: |^Caused by: )(.+)$", file.read(), re.M)
        return found

    def crashes(self):
        """Returns the lines about crashed processes in all logs. Tests expect none."""
        found = []
        for path in self.logs():
            with open(path, errors="replace", encoding="utf-8") as file:
                file.seek(self.earlier.get(path, 0))
                found += [f"{path}: {line.strip()}" for line in file if CRASH.search(line)]
        return found

    def logs(self):
        found = glob.glob(os.path.join(self.directory, "logs/**/*"), recursive=True)
        return [path for path in found if os.path.isfile(path)]


class Borrowed(Cluster):
    """Cluster that runs before and after the tests of this file. Each file has its own folders in HDFS."""

    def __init__(self, directory):  # pylint: disable=super-init-not-called
        self.directory = os.path.abspath(directory)
        self.earlier = {path: os.path.getsize(path) for path in self.logs()}

    def down(self):
        pass


class Job:
    """Client of a job, in the background."""

    def __init__(self, cluster, command):
        self.cluster = cluster
        self.printed = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.client = subprocess.Popen(command, env=cluster.environment(), stdin=subprocess.DEVNULL,
                                       stdout=self.printed, stderr=subprocess.STDOUT)

    def text(self):
        self.printed.seek(0)
        return self.printed.read()

    def task(self, kind, number, attempt=0, seconds=120):
        """Waits for a task attempt (`m` or `r`, and its number) and returns its JVM."""
        name = re.compile(rf"attempt_\d+_\d+_{kind}_{number:06d}_{attempt}$")

        def there():
            if self.client.poll() is not None:
                raise AssertionError(f"the job ended before {name.pattern} began:\n{self.text()[-4000:]}")
            return next((task for task in self.cluster.tasks() if name.match(task.attempt)), None)

        return wait(name.pattern, seconds, there)

    def says(self, task, pattern, log="", seconds=120):
        """Waits for a line in the log of a task. `log` is `.shuffle` for the log of its fetchers."""

        def there():
            if not os.path.exists(task.syslog + log):
                return False
            with open(task.syslog + log, errors="replace", encoding="utf-8") as file:
                return re.search(pattern, file.read())

        return wait(f"{task.attempt}: {pattern}", seconds, there)

    def end(self, seconds=JOB_SECONDS):
        """Waits for the client and returns its exit code and its output."""
        try:
            self.client.wait(seconds)
        except subprocess.TimeoutExpired:
            self.client.kill()
            raise AssertionError(f"the job did not end within {seconds} s:\n{self.text()[-4000:]}") from None
        text = self.text()
        self.printed.close()
        return self.client.returncode, text
