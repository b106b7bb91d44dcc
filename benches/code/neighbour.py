"""A sort in a control group of 3 GiB, and a neighbour there that takes most of it: how soon the sort gives way.

    neighbour: 0 ---- grows at 1 GB/s ---- 2.3 GiB, stays
    the sort:  2 GiB ... "memory: .. -> 512 MiB" .... 512 MiB

The signal is the message of the job. The figure is the time from there until the anonymous memory is that small. It is
wall time, and on a busy machine too long.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time

from comparison import absolute
from harness import commands, control_group, data, measure, verify
from harness.measure import Failed

GIB = 1 << 30
LIMIT = 3 * GIB
TARGET = 512 << 20
# What every process may have beside its budget (docs/guide/memory.md).
BESIDE = 64 << 20
# Leaves so much that 70 % of it are the target.
TAKEN = LIMIT - int(TARGET / 0.7) + (32 << 20)
# Arguments: bytes, bytes a second.
GROW = """
import mmap, sys, time
memory, step, begin = mmap.mmap(-1, int(sys.argv[1]), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), 16 << 20, time.monotonic()
for at in range(0, len(memory) - step, step):
    memory[at:at + step] = b"x" * step
    time.sleep(max(0, begin + at / float(sys.argv[2]) - time.monotonic()))
time.sleep(600)
"""
# Bytes a second that it takes.
RATE = 1e9
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def anonymous(pid):
    try:
        with open(f"/proc/{pid}/status") as f:
            return next((int(line.split()[1]) << 10 for line in f if line.startswith("RssAnon")), 0)
    except OSError:
        return 0


class Job:
    """A sort in the group, whose messages are read as they come."""

    def __init__(self, group, folder):
        measure.clean()
        self.output = measure.WORK + "/out"
        command = commands.fill(commands.OURS["terasort"] + " --no-mmap", input=folder, output=self.output, reduces=1)
        self.process = subprocess.Popen(control_group.entering(group, command), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        self.signal, self.messages = None, []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.messages.append(line.strip())
            found = re.search(r"memory: .* -> ([\d.]+) (\w+) at", line)
            if found and self.signal is None and float(found[1]) * UNITS[found[2]] <= TARGET:
                self.signal = time.monotonic()


def once(group, folder):
    """Returns the seconds from the signal to the small memory, the peak before, and the output."""
    job, neighbour, peak, reached = Job(group, folder), None, 0, None
    try:
        while job.process.poll() is None:
            now = anonymous(job.process.pid)
            peak = max(peak, now)
            if neighbour is None and now > 1.7 * GIB:
                neighbour = subprocess.Popen(control_group.entering(group, [
                    sys.executable, "-c", GROW, str(TAKEN), str(RATE)]))
            if job.signal is not None and reached is None and now <= TARGET + BESIDE:
                reached = time.monotonic()
            time.sleep(0.005)
        job.reader.join()
        if job.process.returncode:
            raise Failed(f"yunti ended with {job.process.returncode}: {' | '.join(job.messages[-3:])}")
        if neighbour is None:
            raise Failed(f"the sort never had 1.7 GiB: {peak / GIB:.2f}")
        if neighbour.poll() is not None:
            raise Failed(f"the neighbour was killed: {neighbour.returncode}")
        if job.signal is None or reached is None:
            raise Failed("the job did not give way: " + " | ".join(job.messages[-5:]))
        return {"seconds": reached - job.signal, "peak": peak, "messages": job.messages}, job.output
    finally:
        for process in (job.process, neighbour):
            if process is not None:
                process.kill()
                process.wait()


def row(options):
    title = "memory of a sort from 2 GiB to 512 MiB, from the message on"
    if options.size < 0.5:
        return [{"row": "neighbour", "title": title, "skipped": {"yunti": "needs the whole 3 GB (--size 1)"}}]
    folder = data.prepare("tera", 3_000_000_000)
    with control_group.limited(LIMIT) as group:
        if group is None:
            return [{"row": "neighbour", "title": title, "skipped": {"yunti": "needs a control group (root)"}}]
        samples, same, expected = [], True, None
        for _ in range(options.rounds):
            sample, output = once(group, folder)
            samples.append(sample)
            seen = verify.fingerprint(output, "exact")
            expected = expected or seen
            same &= seen == expected
            shutil.rmtree(output)
    result = absolute("neighbour", title, statistics.median(s["seconds"] for s in samples) * 1000, "ms", 1000,
                      least=min(s["seconds"] for s in samples), samples=samples, same=same)
    if not same:
        result["verdict"] = "OUTPUTS DIFFER"
    return [result]


ROWS = {"neighbour": row}
