"""A sort that is killed at 90 % of its work and goes on, and what its journal costs when nobody kills it."""

import os
import signal
import statistics
import subprocess
import time
from dataclasses import asdict

from comparison import Goal, absolute, compare
from harness import commands, data, measure, verify
from harness.measure import Failed, Program


def at_work(pid):
    """Returns the CPU seconds of a process, and the bytes that it has written, so far; None when it has ended."""
    clock_of_process = ~pid << 3 | 2  # clock_getcpuclockid(3)
    try:
        with open(f"/proc/{pid}/io") as f:
            written = next(int(line.split()[1]) for line in f if line.startswith("wchar"))
        return time.clock_gettime(clock_of_process), written
    except (OSError, StopIteration):
        return None


def watched(program, until=None):
    """Runs the program, and kills it when it has written `until` bytes. Returns its exit code and what it did when."""
    measure.clean()
    child = subprocess.Popen(program.command(measure.WORK + "/out"), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    seen = []
    while child.poll() is None and (now := at_work(child.pid)):
        seen.append(now)
        if until is not None and now[1] >= until:
            break
        time.sleep(0.002)
    child.kill()
    return child.wait(), seen


def killed_late(program, share):
    """Kills the program when it has done this share of its work. Returns the CPU seconds of the whole job, and until the
    kill.

    A whole run says how many bytes are written at this share of its CPU seconds. Seconds alone would not do: they vary
    by a tenth and more from run to run.
    """
    for _ in range(5):
        code, seen = watched(program)
        if code:
            raise Failed(f"{program.name} ended with {code}")
        whole = seen[-1][0]
        until = next(written for cpu, written in seen if cpu >= share * whole)
        code, seen = watched(program, until)
        if code == -signal.SIGKILL:
            return whole, seen[-1][0]
    raise Failed(f"{program.name} ended five times before it could be killed")


def row(options):
    size = int((10e9 if options.full else 1e9) * options.size) // 100 * 100
    folder = data.prepare("tera", max(40_000_000, size))
    memory = data.eighth(folder)
    scratch = f"{commands.ROOT}/build/bench-scratch"
    os.makedirs(scratch, exist_ok=True)
    command = lambda flags: lambda output: commands.fill(
        commands.OURS["terasort-budget"] + " --scratch " + scratch + flags, input=folder, output=output, memory=memory)
    plain, journaled = Program("yunti", command("")), Program("yunti --resume", command(" --resume"))
    name = f"{size / 1e9:.0f}g"
    result = compare(f"resume-journal-{name}", f"sort of {size / 1e9:.0f} GB in an eighth of the memory", [plain, journaled],
                     [Goal("yunti --resume", "yunti", 1.01, exact=True)], options, "exact")
    at_share = 0.9 if options.size >= 1 else 0.4  # a tiny job ends within a few looks at its clock
    _, output = measure.run(journaled)
    expected = verify.fingerprint(output, "exact")
    shares, samples, same = [], [], True
    for _ in range(options.rounds):
        whole, until_kill = killed_late(journaled, at_share)
        sample, output = measure.run(journaled, keep=True)
        same &= verify.fingerprint(output, "exact") == expected
        samples.append({"whole_cpu": whole, "killed_after_cpu": until_kill, "resumed": asdict(sample)})
        shares.append(sample.cpu / whole * 100)
    share = absolute(f"resume-{name}", "CPU of --resume after a kill at 90 %, of the whole job", statistics.median(shares),
                     "%", 20, least=min(shares), samples=samples, same=same)
    if not same:
        share["verdict"] = "OUTPUTS DIFFER"
    data.remove_large(folder)
    return [result, share]


ROWS = {"resume": row}
