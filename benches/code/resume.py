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


def spent(pid):
    """Returns the CPU seconds of a process so far; None when it has ended."""
    clock_of_process = ~pid << 3 | 2  # clock_getcpuclockid(3)
    try:
        return time.clock_gettime(clock_of_process)
    except OSError:
        return None


def killed(program, seconds):
    """Runs the program until it has taken these CPU seconds, then kills it. Returns the seconds it had taken; None if it
    ended before."""
    measure.clean()
    child = subprocess.Popen(program.command(measure.WORK + "/out"), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    taken = 0.0
    while child.poll() is None and (now := spent(child.pid)) is not None and now < seconds:
        taken = now
        time.sleep(0.002)
    child.kill()
    return taken if child.wait() == -signal.SIGKILL else None


def killed_late(program, whole, share):
    """Kills the program after this share of its CPU seconds. They vary, so a run that ends before is tried again with a
    share that is 2 % less."""
    for misses in range(10):
        taken = killed(program, whole * (share - 0.02 * misses))
        if taken is not None:
            return taken
    raise Failed(f"{program.name} ended ten times before it could be killed, within {whole:.2f} s")


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
    whole = result["programs"]["yunti --resume"]["cpu_min"]
    at_share = 0.9 if options.size >= 1 else 0.4  # a tiny job ends within a few looks at its clock
    _, output = measure.run(journaled)
    expected = verify.fingerprint(output, "exact")
    shares, samples, same = [], [], True
    for _ in range(options.rounds):
        at = killed_late(journaled, whole, at_share)
        sample, output = measure.run(journaled, keep=True)
        same &= verify.fingerprint(output, "exact") == expected
        samples.append({"killed_after_cpu": at, "resumed": asdict(sample)})
        shares.append(sample.cpu / whole * 100)
    share = absolute(f"resume-{name}", "CPU of --resume after a kill at 90 %, of the whole job", statistics.median(shares),
                     "%", 20, whole_cpu=whole, least=min(shares), samples=samples, same=same)
    if not same:
        share["verdict"] = "OUTPUTS DIFFER"
    data.remove_large(folder)
    return [result, share]


ROWS = {"resume": row}
