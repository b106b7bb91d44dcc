"""Runs programs in turn and measures wall and CPU seconds, peak memory, and the equality of their outputs."""

import ctypes
import fcntl
import os
import resource
import shutil
import statistics
import subprocess
import threading
import time
from dataclasses import asdict, dataclass

from . import commands, data, verify

WORK = os.path.join(commands.ROOT, "build/bench-out")


class Failed(Exception):
    pass


def lock():
    """Waits for the lock of this machine's benches. It lasts until the returned file is closed."""
    os.makedirs(os.path.join(commands.ROOT, "build"), exist_ok=True)
    f = open(os.path.join(commands.ROOT, "build/bench.lock"), "w")
    try:
        fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("another bench is running: waiting for build/bench.lock", flush=True)
        fcntl.flock(f, fcntl.LOCK_EX)
    return f


@dataclass
class Sample:
    wall: float  # seconds from start to exit, which follows the rename
    cpu: float  # user and system, of the process and of all that it started
    rss: int  # bytes, peak; counts mapped input too
    anonymous: int  # bytes, highest sample, only of this process


@dataclass
class Program:
    """Measured program; template() returns the command line for an output path."""

    name: str
    template: object
    form: str = ""

    def command(self, output):
        return self.template(output)


def anonymous_bytes(pid):
    """Returns the memory of a process without files; 0 after its end."""
    try:
        with open(f"/proc/{pid}/status") as f:
            lines = dict(line.split(":", 1) for line in f)
        return sum(int(lines[k].split()[0]) for k in ("RssAnon", "RssShmem")) * 1024
    except (OSError, KeyError, ValueError):
        return 0


def _adopt_orphans():
    """Makes this process the parent of processes whose parent ends first, so that their CPU seconds count."""
    set_child_subreaper = 36
    ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)


def _end_orphans(seconds=10):
    """Waits for what the program left behind, and kills nothing: a process that stays is not counted."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)
        except ChildProcessError:
            return


def processor_seconds():
    """Returns the CPU seconds of all processes that this one has started and waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def clean():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)


def run(program, timeout=3600, sample_seconds=0.05, keep=False):
    """Runs a program with an empty output folder and returns its sample and the path of the output.

    `keep`: leaves what an earlier run has left, for a job that goes on.
    """
    if not keep:
        clean()
    output = WORK + "/out"
    command = program.command(output)
    _adopt_orphans()
    before = processor_seconds()
    peak, done = [0], threading.Event()
    with open(WORK + "/log", "wb") as log:
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

        def watch():
            while not done.wait(sample_seconds):
                peak[0] = max(peak[0], anonymous_bytes(child.pid))
                if time.monotonic() - begin > timeout:
                    child.kill()

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:  # interrupted or terminated: kill the program too
            child.kill()
            raise
        finally:
            wall = time.monotonic() - begin
            done.set()
            watcher.join()
        child.returncode = os.waitstatus_to_exitcode(status)
        _end_orphans()
        cpu = processor_seconds() - before
    if child.returncode or not os.path.exists(output):
        with open(WORK + "/log", errors="replace") as f:
            last = " | ".join(f.read().strip().splitlines()[-3:])
        raise Failed(f"{program.name} ended with {child.returncode}: {last[-400:]}")
    return Sample(wall, cpu, usage.ru_maxrss * 1024, peak[0]), output


def warm(folder, touch):
    """Reads the input into the page cache, then touches and frees the memory that the programs need."""
    data.into_page_cache(folder)
    with open("/proc/meminfo") as f:
        available = next(int(line.split()[1]) * 1024 for line in f if line.startswith("MemAvailable"))
    subprocess.run([commands.LIMITS + "/warm", str(min(touch, available * 7 // 10))], check=True)


def fastest_form(programs, row, folder):
    """Returns the fastest form of a peer's query, by one run of each form and a second run of close ones."""
    if len(programs) == 1:
        return programs[0]
    warm(folder, row.touch)
    best, failures = [], []
    for p in programs:
        try:
            best.append((run(p)[0].wall, p))
        except Failed as e:
            failures.append(str(e))
    if not best:
        raise Failed(failures[0])
    least = min(wall for wall, _ in best)
    close = [(min(wall, run(p)[0].wall), p) for wall, p in best if wall < least * 1.3]
    return min(close, key=lambda entry: entry[0])[1]


def in_turn(programs, rounds):
    """Runs A B C A B C ... and returns the samples of each round."""
    return [[run(p)[0] for p in programs] for _ in range(rounds)]


def summary(program, samples):
    walls = [s.wall for s in samples]
    return {
        "name": program.name, "form": program.form, "command": program.command("OUT"), "min": min(walls),
        "median": statistics.median(walls),
        "cpu_median": statistics.median(s.cpu for s in samples), "rss_max": max(s.rss for s in samples),
        "anonymous_max": max(s.anonymous for s in samples),
    }


def pairs(a, b, row, folder, count, seen):
    """Runs A B A B ...; b may be None. `seen` holds fingerprints by program, so that each is computed once per row.

    Returns {"pairs": [...], "ratio": median of b/a, "same": True if the outputs agree}.
    """
    warm(folder, row.touch)
    programs = [a, b] if b else [a]
    for p in programs:  # the first run is not timed: it warms the program's pages, and its output is checked
        if p.name + p.form not in seen:
            _, output = run(p)
            seen[p.name + p.form] = verify.fingerprint(output, row.same)
    taken = []
    while len(taken) < count:
        taken.append([run(p)[0] for p in programs])
        if b and len(taken) == 2 and statistics.median(y.wall / x.wall for x, y in taken) > 10:
            break  # two pairs suffice for a program that is ten times slower
    clean()
    result = {"pairs": [[asdict(s) for s in pair] for pair in taken]}
    for i, p in enumerate(programs):
        result["ab"[i]] = summary(p, [pair[i] for pair in taken])
    if b:
        result["ratio"] = statistics.median(y.wall / x.wall for x, y in taken)
        result["same"] = seen[a.name + a.form] == seen[b.name + b.form]
    return result
