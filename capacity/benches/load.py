#!/usr/bin/env python3
"""Compares `yunti capacity load` with wrk: requests per second of the client's processor time, at the same server.

    python3 capacity/benches/load.py [--seconds 3] [--rounds 5]
    python3 capacity/benches/load.py --delays          # reported against true latencies, at a server of known delays

The server is fast_server.c, one thread. wrk (Debian: wrk) has only a closed loop; the open loop is offered more than
the server can answer, so that both clients send as fast as they can. wrk2 (github.com/giltene/wrk2, built by hand; its
program by --wrk2) has an open loop. Each round runs each client once, in turn.
"""

import argparse
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
TESTS = os.path.join(ROOT, "capacity/tests")
sys.dont_write_bytecode = True
sys.path.insert(0, TESTS)

from servers import DELAYS, PROGRAM, QUANTILES, compiled, running, true_latency  # noqa: E402


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    p.add_argument("--quick", action="store_true", help="one short round")
    p.add_argument("--seconds", type=int, default=3, help="length of a run (default 3)")
    p.add_argument("--rounds", type=int, default=5, help="runs of each client (default 5)")
    p.add_argument("--connections", type=int, default=64, help="connections of each client (default 64)")
    p.add_argument("--wrk2", help="program of wrk2")
    p.add_argument("--json", help="file for all samples")
    p.add_argument("--delays", action="store_true", help="compare latencies with the truth instead")
    a = p.parse_args()
    if a.quick:
        # wrk2 opens its connections for a third of a second.
        a.seconds, a.rounds = 3 if a.wrk2 else 1, 1
    return a


def built(name, folder):
    return compiled(name, folder) or sys.exit("there is no compiler of C")


def measured(command):
    """Returns the output of a command and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


CALIBRATION = 10  # seconds from its begin whose latencies wrk2 leaves out


def wrk2(a, connections, rate, seconds, *more):
    return [a.wrk2, "-t1", f"-c{connections}", f"-d{seconds}s", f"-R{rate}", *more]


def clients(url, a):
    """Returns the clients: a name, a command, and how to read the number of answers."""
    ours = [PROGRAM, "load", url, "-s", str(a.seconds), "-c", str(a.connections), "--json", "--stop-errors", "100"]
    done = lambda out: json.loads(out)["run"]["done"]
    of_wrk = lambda out: next(int(line.split()[0]) for line in out.splitlines() if "requests in" in line)
    of_wrk2 = {"wrk2, open loop" + words: (wrk2(a, a.connections, rate, a.seconds, url), of_wrk)
               for words, rate in (("", 400000), (" at 20,000/s", 20000)) if a.wrk2}
    return {
        "wrk, closed loop": (["wrk", "-t1", f"-c{a.connections}", f"-d{a.seconds}s", url], of_wrk),
        **of_wrk2,
        "yunti, closed loop": (ours + ["--closed"], done),
        "yunti, open loop": (ours + ["--rate", "400000"], done),
        "yunti, open loop at 20,000/s": (ours + ["--rate", "20000"], done),
    }


def rates(a):
    found = {}
    with running(built("fast_server", HERE)) as url:
        for _ in range(a.rounds):
            for name, (command, answers) in clients(url, a).items():
                if shutil.which(command[0]) or os.path.exists(command[0]):
                    out, cpu = measured(command)
                    found.setdefault(name, []).append((answers(out) / a.seconds, answers(out) / cpu))
    print(f"{'client':32}{'requests/s':>14}{'per CPU second: median':>26}{'least':>12}{'most':>12}{'to wrk':>10}")
    peer = found.get("wrk, closed loop")
    for name, rows in found.items():
        per_cpu = [row[1] for row in rows]
        ratio = statistics.median(own[1] / other[1] for own, other in zip(rows, peer)) if peer else math.nan
        print(f"{name:32}{statistics.median(row[0] for row in rows):14,.0f}{statistics.median(per_cpu):26,.0f}"
              f"{min(per_cpu):12,.0f}{max(per_cpu):12,.0f}{ratio:10.2f}")
    return [{"client": name, "requests_per_second": row[0], "requests_per_cpu_second": row[1]}
            for name, rows in found.items() for row in rows]


STALL_AT_MS, STALL_MS = 2000, 500


def wrk_latency(command):
    """Returns what wrk or wrk2 reports."""
    out = subprocess.run(command, capture_output=True, text=True).stdout
    units = {"us": 1e-3, "ms": 1.0, "s": 1e3}

    def ms(text):
        unit = "us" if text.endswith("us") else "ms" if text.endswith("ms") else "s"
        return float(text[:-len(unit)]) * units[unit]

    lines = [line.split() for line in out.splitlines()]
    shares = {"50%": "p50_ms", "50.000%": "p50_ms", "90%": "p90_ms", "90.000%": "p90_ms", "99%": "p99_ms",
              "99.000%": "p99_ms"}
    found = {shares[words[0]]: ms(words[1]) for words in lines if len(words) == 2 and words[0] in shares}
    # wrk2 does not keep to one longest value in both of its tables; 100 % is the histogram's.
    whole = [ms(words[1]) for words in lines if len(words) == 2 and words[0] == "100.000%"]
    line = [ms(words[3]) for words in lines if len(words) == 5 and words[0] == "Latency"]
    found["max_ms"] = (whole + line)[0]
    return found


def latencies(a):
    program, seconds = built("delays", TESTS), 6
    print(f"{'client':20}{'stall ms':>10}{'rate':>8}" + "".join(f"{name[:-3] + ' (error)':>20}" for name in QUANTILES))

    def served(stall_ms, work, later_s=0):
        with running(program, STALL_AT_MS + 1000 * later_s, stall_ms, *DELAYS) as url:
            return work(url)

    def row(client, stall_ms, rate, rounds, true):
        found = {name: statistics.median(r[name] for r in rounds) for name in QUANTILES if name in rounds[0]}
        cells = (f"{found[n]:.2f} ({found[n] - true[n]:+.2f})" if n in found else "" for n in QUANTILES)
        print(f"{client:20}{stall_ms:10}{rate:8}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
        return [{"client": client, "stall_ms": stall_ms, "rate": rate, "latency": r, "true": true} for r in rounds]

    def ours(rate):
        command = [PROGRAM, "load", "-r", str(rate), "-s", str(seconds), "--arrivals", "even", "--json", "-c", "4000"]
        run = lambda url: json.loads(subprocess.run(command + [url], capture_output=True, text=True).stdout)
        return lambda url: run(url)["run"]["latency"]

    rows = []
    for stall_ms in (0, STALL_MS):
        for rate in (200, 1000, 5000):
            true = true_latency(rate, seconds, STALL_AT_MS, stall_ms)
            rounds = [served(stall_ms, ours(rate)) for _ in range(a.rounds)]
            rows += row("yunti, open loop", stall_ms, rate, rounds, true)
            if a.wrk2:
                # Connections for ten times the mean delay, which wrk2 needs to keep its rate beside a stall.
                command = wrk2(a, max(64, rate // 5), rate, CALIBRATION + seconds, "--latency")
                work = lambda url: wrk_latency(command + [url])
                rounds = [served(stall_ms, work, CALIBRATION) for _ in range(a.rounds)]
                rows += row("wrk2, open loop", stall_ms, rate, rounds, true)
        if shutil.which("wrk"):
            # A closed loop with the eight connections that carry about 1000 requests a second.
            command = ["wrk", "-t1", "-c8", f"-d{seconds}s", "--latency"]
            rounds = [served(stall_ms, lambda url: wrk_latency(command + [url])) for _ in range(a.rounds)]
            rows += row("wrk, closed loop", stall_ms, "~1000", rounds, true_latency(1000, seconds, STALL_AT_MS, stall_ms))
    return rows


def main():
    a = arguments()
    samples = (latencies if a.delays else rates)(a)
    if a.json:
        with open(a.json, "w") as out:
            json.dump({"bench": "load", "samples": samples}, out, indent=1)


if __name__ == "__main__":
    main()
