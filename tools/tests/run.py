#!/usr/bin/env python3
"""Runs the suites of the named parts (all parts without a name) and prints a table. The last line is

    N passed, N failed, N skipped

The exit code is 1 if anything failed. build/test-logs/ keeps the output of each suite.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "runner")]

import again  # noqa: E402
import changed  # noqa: E402
import counts  # noqa: E402
import lanes  # noqa: E402
import skips  # noqa: E402
import times  # noqa: E402
from long_tests import LEFT_OUT  # noqa: E402
from suites import BUILD, PARTS, ROOT, SUITES, YUNTI, Suite  # noqa: E402

LOGS = os.path.join(BUILD, "test-logs")
STEPS = "steps.tsv"  # beside the logs, of each step: seconds, seconds of processor time, log, command
os.environ["BUILD_PROFILE"] = "tested"
# tools/setup installs tools here that have no package.
os.environ["PATH"] = os.path.join(BUILD, "tools/bin") + os.pathsep + os.environ["PATH"]


def plain(text):
    """Returns the text without terminal control sequences (ECMA-48).

    Maven ends each run with one, even without colours. It would hide the start of the next line from the readers of
    counts.py.
    """
    return re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text)


def execute(arguments, env, seconds, log):
    """Runs one step and returns (output, exit code); the code is negative for a signal.

    After `seconds`, the step and all its processes are killed; the code is then 124.
    """
    if STOPPING.is_set():
        return "stopped", 130
    start = log.tell()
    log.write(("$ " + " ".join(arguments) + "\n").encode())
    log.flush()
    try:
        process = subprocess.Popen(arguments, cwd=ROOT, env=os.environ | env, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT,
                                   start_new_session=True)
    except OSError as error:
        log.write(f"{error}\n".encode())
        return str(error), 127
    STARTED.add(process)
    code, took, used = finish(process, max(1, seconds))
    if code is None:
        kill(process)
        log.write(b"\nstopped: out of time\n")
        code = 124
    STARTED.discard(process)
    with open(os.path.join(os.path.dirname(log.name), STEPS), "a") as steps:
        print(f"{took:.1f}\t{used:.1f}\t{log.name}\t{' '.join(arguments)[:120]}", file=steps)
    log.seek(start)
    text = plain(log.read().decode("utf-8", "replace").partition("\n")[2])
    log.seek(0, os.SEEK_END)
    return text, code


def finish(process, seconds):
    """Waits for a step and returns (exit code, seconds, seconds of processor time); the code is None after `seconds`."""
    begin = time.monotonic()
    while (took := time.monotonic() - begin) < seconds:
        try:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        except ChildProcessError:  # stop_all() has killed it, and waited for it
            return process.wait(), took, 0.0
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, took, usage.ru_utime + usage.ru_stime
        time.sleep(0.05)
    return None, took, 0.0


STARTED = set()  # steps that run now


def kill(process):
    """Kills a step and all processes that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


STOPPING = threading.Event()


def stop_all():
    """Kills the steps that run now, and starts no more. Each is a session of its own, which ctrl-C does not reach."""
    STOPPING.set()
    for process in list(STARTED):
        kill(process)


PREPARED = {}  # step -> its lock and its result, once it succeeded
PREPARED_LOCK = threading.Lock()


def prepare(step, env, seconds, log):
    """Executes a step that builds, once a run: the same step of another suite has the same result, for no build depends
    on the variables that tests read."""
    with PREPARED_LOCK:
        entry = PREPARED.setdefault(tuple(step), [threading.Lock(), None])
    with entry[0]:
        if entry[1] is None:
            text, code = execute(step, env, seconds, log)
            if code != 0:
                return text, code
            entry[1] = (text, code)
        else:
            log.write(("$ " + " ".join(step) + " (done before)\n").encode())
        return entry[1]


class Ends:
    """Steps that suites share as their end (`Suite.end`). Each runs once, after the last suite that names it."""

    def __init__(self, suites):
        self.left = [suite.end for suite in suites if suite.end]
        self.lock = threading.Lock()

    def after(self, suite):
        """Notes that the suite has ended, and runs its step if it was the last one."""
        with self.lock:
            if suite.end:
                self.left.remove(suite.end)
            last = suite.end and suite.end not in self.left
        if last:
            self.execute(suite.end)

    def interrupt(self):
        """Runs the steps that are left."""
        while self.left:
            step = self.left.pop()
            if step not in self.left:
                self.execute(step)

    @staticmethod
    def execute(step):
        done = subprocess.run(step, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            why = f"{counts.describe(done.returncode)}: {done.stderr.strip()}"
            print(f"run.py: {' '.join(step)}: {why}", file=sys.stderr, flush=True)


def run(suite, logs=LOGS, prepare=prepare):
    """Runs a suite and returns its counts. A skip without a valid reason counts as a failure."""
    path = os.path.join(logs, re.sub(r"\W+", "-", f"{suite.part} {suite.name}").strip("-") + ".log")
    suite.log = os.path.relpath(path, ROOT)
    why = suite.skip() if suite.skip else None
    found = counts.Counts()
    os.makedirs(logs, exist_ok=True)
    with open(path, "w+b") as log:
        if why:
            found.skips.append((suite.name, why))
            log.write(f"skipped: {why}\n".encode())
        else:
            end = time.monotonic() + suite.minutes * 60
            for number, step in enumerate(suite.steps):
                is_last = number == len(suite.steps) - 1
                text, code = (execute if is_last else prepare)(step, suite.env, end - time.monotonic(), log)
                if is_last:
                    found = suite.read(text, code)
                    if code == 124:
                        found.failures.append("out of time")
                elif code != 0:
                    found.failures.append(f"{' '.join(step[:3])} ..: {counts.describe(code)}")
                    break
    wrong = [(name, reason, skips.judge(name, reason)) for name, reason in found.skips]
    found.failures += [fault for *_, fault in wrong if fault]
    found.skips = [(name, reason) for name, reason, fault in wrong if not fault]
    return found


def excerpt(path, failures, sections=3):
    """What the failed tests of cargo printed, or the end of the log."""
    with open(os.path.join(ROOT, path), errors="replace") as f:
        text = f.read()
    found = [(f"{name} printed", shortened(output, 10, 15)) for name, output in counts.outputs_of_cargo(text) if name in failures]
    said = found[:sections] or [("it ends with", shortened(text, 0, 25))]
    return f"  {path}: " + "".join(f"{what}\n" + "".join(f"    {line[:1000]}\n" for line in lines) for what, lines in said)


def shortened(text, first, last):
    """The first and the last lines of a text."""
    lines = text.rstrip().splitlines()
    return lines if len(lines) <= first + last else lines[:first] + [".."][:first] + lines[-last:]


def parts_of(arguments):
    """The parts to run: as named, all, or with --changed [BASE] the parts whose inputs differ from a commit."""
    if arguments[:1] == ["--changed"]:
        base = arguments[1] if len(arguments) > 1 else changed.base_of_checkout()
        files = changed.files_since(base)
        parts = changed.of_files(files)
        left_out = [part for part in PARTS if part not in parts]
        print(f"{len(files)} files differ from {base}; parts to test: {', '.join(parts)}; left out: {', '.join(left_out) or 'none'}", flush=True)
        return parts
    unknown = set(arguments) - set(PARTS)
    if unknown:
        sys.exit(f"run.py: no such part: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    return arguments or list(PARTS)


def run_again(rows, minutes, logs=LOGS):
    """Runs failed tests once more, alone (again.py), and returns the names of the tests that passed."""
    names = []
    for (suite, found, _), second in list(again.chosen(rows, minutes)):
        print(f"{suite.part}: {second.name} ..", flush=True)
        # What prepares a suite may have been undone at its end.
        result = run(second, logs, execute)
        if suite.end:
            Ends.execute(suite.end)
        if result.failures:
            print(f"  FAILED: {'; '.join(result.failures)}\n{excerpt(second.log, result.failures)}", flush=True)
        names += [f"{suite.part}: {suite.name}: {name}" for name in again.merge(found, result)]
    return names


def main(arguments):
    # A shell that starts this in the background ignores ctrl-C, and programs under test would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ[LEFT_OUT] = "1"
    keep_times = "--times" in arguments
    parts = parts_of([word for word in arguments if word != "--times"])
    total, rows = counts.Counts(), []
    suites = [s for s in SUITES if s.part in parts]
    if set(parts) - {"engine", "web"}:
        suites.insert(0, Suite("build", "dist/bin/yunti", [["make", "-s", "yunti"]], counts.read_exit))
        # Remove the old binary, so that a failed build cannot leave it to the tests.
        if os.path.exists(YUNTI):
            os.remove(YUNTI)
    os.makedirs(LOGS, exist_ok=True)
    open(os.path.join(LOGS, STEPS), "w").close()  # the steps of this run alone
    started = time.monotonic()
    ends = Ends(suites)

    def one(suite):
        print(f"{suite.part}: {suite.name} ..", flush=True)
        begin = time.monotonic()
        found = run(suite)
        ends.after(suite)
        seconds = time.monotonic() - begin
        rows.append((suite, found, seconds))
        print(f"[{len(rows)}/{len(suites)}] {suite.part}: {suite.name}: {found.passed} passed, {len(found.failures)} failed, "
              f"{len(found.skips)} skipped, {seconds:.0f} s", flush=True)
        if found.failures:
            # Names come before the end of the log, so that a truncated output still has them.
            print(f"  FAILED: {'; '.join(found.failures)}\n{excerpt(suite.log, found.failures)}", flush=True)

    # All other suites need the binary.
    if suites and suites[0].part == "build":
        one(suites[0])
    try:
        lanes.run_all([suite for suite in suites if suite.part != "build"], one)
    except BaseException:
        stop_all()
        ends.interrupt()
        raise
    rows.sort(key=lambda row: suites.index(row[0]))
    second = run_again(rows, (time.monotonic() - started) / 60)
    # Summed here, because the lanes are threads.
    for _, found, _ in rows:
        total.add(found)
    minutes = (time.monotonic() - started) / 60
    if keep_times:
        times.write(rows, minutes)

    width = max(len(f"{s.part}: {s.name}") for s in suites)
    print(f"\n{'suite':{width}} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8}  log")
    for suite, found, seconds in rows:
        name = f"{suite.part}: {suite.name}"
        print(f"{name:{width}} {found.passed:>7} {len(found.failures):>7} {len(found.skips):>8} {seconds:>8.0f}  "
              f"{suite.log}")
    for suite, found, _ in rows:
        for name in found.failures:
            print(f"failed: {suite.part}: {suite.name}: {name}")
        for name, reason in found.skips:
            print(f"skipped: {suite.part}: {suite.name}: {name}: {reason}")
    for name in second:
        print(f"failed beside others, passed alone: {name}")
    print(f"{minutes:.0f} minutes")
    print(f"\n{total.passed} passed, {len(total.failures)} failed, {len(total.skips)} skipped", flush=True)
    return 1 if total.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
