"""Sample of one run of a variant: wall time, processor time of the job and of all processes, task phases, memory."""

import contextlib
import json
import os
import re
import signal
import statistics
import sys
import threading
import time

from harness.measure import Failed

HERE = os.path.dirname(os.path.abspath(__file__))
TASK = "org.apache.hadoop.mapreduce.TaskCounter"
OURS = "Yunti"
SECONDS_MAX = 3600


def _kill(child):
    """Kills a command with its children, because a script waits for its JVM."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _job_in(log_path):
    """Returns the job's name in the output of the client, or None, and the output."""
    with open(log_path, errors="replace") as f:
        text = f.read()
    name = re.search(r"\bjob_\d+_\d+\b", text)
    return name and name.group(), text


def take(cluster, command, log_path):
    """Runs a command to its end and returns its sample, a dict with seconds and bytes."""
    cluster.until_quiet()
    tree, daemons = cluster.cpu()
    with open(log_path, "wb") as log:
        begin = time.monotonic()
        child = cluster.start(command, stdout=log, stderr=log, start_new_session=True)
        timeout = threading.Timer(SECONDS_MAX, _kill, [child])
        timeout.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:  # interrupted or terminated: kill the program and its job
            _kill(child)
            name, _ = _job_in(log_path)
            if name:
                cluster.call("mapred", "job", "-kill", name, check=False)
            raise
        finally:
            timeout.cancel()
        wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
    name, text = _job_in(log_path)
    if child.returncode or not name:
        last = [line for line in text.strip().splitlines() if not line.startswith("\t")][-4:]
        raise Failed(f"ended with {child.returncode}: {' | '.join(last)[-600:]}")
    cluster.until_quiet()
    tree_after, daemons_after = cluster.cpu()
    sample = {
        "wall": wall, "tree_cpu": tree_after - tree, "client_cpu": usage.ru_utime + usage.ru_stime,
        "daemons_cpu": {d: round(daemons_after[d] - daemons[d], 2) for d in daemons},
    }
    # Query after the clocks were read, because it costs processor time of the history server.
    known = json.loads(cluster.call("in-cluster", sys.executable, os.path.join(HERE, "history.py"), name))
    return sample | _of_history(known)


def _of_history(known):
    job, attempts = known["job"], known["attempts"]
    maps = [a for a in attempts if a["type"] == "MAP"]
    reduces = [a for a in attempts if a["type"] == "REDUCE"]
    cpu = {kind: [a["counters"][TASK]["CPU_MILLISECONDS"] / 1000 for a in some] for kind,
           some in (("map", maps), ("reduce", reduces))}
    verdicts = {}
    for a in attempts:
        for counter, value in a["counters"].get(OURS, {}).items():
            verdicts[counter] = verdicts.get(counter, 0) + value
    phase = lambda some, key: {"mean": statistics.mean(a[key] / 1000 for a in some),
                               "min": min(a[key] / 1000 for a in some)} if some else {}
    memory = lambda some, counter: max((a["counters"][TASK].get(counter, 0) for a in some), default=0)
    return {
        "job": job["id"], "maps": len(maps), "reduces": len(reduces),
        "attempts_failed": job["failedMapAttempts"] + job["failedReduceAttempts"],
        "attempts_killed": job["killedMapAttempts"] + job["killedReduceAttempts"],
        "map_cpu": sum(cpu["map"]), "map_cpu_best": min(cpu["map"], default=0),
        "reduce_cpu": sum(cpu["reduce"]), "reduce_cpu_best": min(cpu["reduce"], default=0),
        "native_tasks": sum(OURS in a["counters"] and "native" in a["counters"][OURS] for a in attempts),
        "declined_tasks": sum(any(c.startswith("declined") for c in a["counters"].get(OURS, {})) for a in attempts),
        "verdicts": verdicts,
        "map": phase(maps, "elapsedTime"), "shuffle": phase(reduces, "elapsedShuffleTime"),
        "sort": phase(reduces, "elapsedMergeTime"),
        "reduce": phase(reduces, "elapsedReduceTime"),
        "map_memory_max": memory(maps, "MAP_PHYSICAL_MEMORY_BYTES_MAX"),
        "reduce_memory_max": memory(reduces, "REDUCE_PHYSICAL_MEMORY_BYTES_MAX"),
        "job_seconds": (job["finishTime"] - job["submitTime"]) / 1000,
    }
