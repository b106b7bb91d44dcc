#!/usr/bin/env python3
"""Compares a service that `yunti capacity` measures with itself, in pairs: requests a second and response times.

    python3 capacity/benches/cost.py [--services order,stock,thumbnail] [--rounds 4]
    python3 capacity/benches/cost.py --share 0.3        # an open loop at this share of the nominal peak

A load runs all the time: a closed loop that fills the service, or an open one as in production. In turn the service
runs alone for as many seconds as beside `yunti observe demands`. The ratios are the cost of a measurement, with
everything that belongs to it: attaching, events, and the processors that Yunti itself takes.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../tests/services"))

import services  # noqa: E402

SETTLE = 2  # seconds that a change takes to show


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    p.add_argument("--services", default="order,stock,thumbnail", help="services, with commas between")
    p.add_argument("--clients", type=int, help="clients of the closed loop (default: half the threads, 12 at most)")
    p.add_argument("--share", type=float, help="open loop at this share of the nominal peak instead of a closed one")
    p.add_argument("--rounds", type=int, default=4, help="pairs (default 4)")
    p.add_argument("--seconds", type=int, default=15, help="seconds of a measurement (default 15)")
    p.add_argument("--quick", action="store_true", help="one pair of a short measurement")
    p.add_argument("--json", help="file for all samples")
    a = p.parse_args()
    if a.quick:
        a.rounds, a.seconds = 1, 4
    return a


def pairs(name, a):
    """Returns figures beside a measurement and without one, of each pair."""
    spans = []
    with services.running(name) as service:
        service.warm_up(8)
        if a.share:
            how = ["--rate", str(max(1, round(a.share * service.facts["peak_nominal"])))]
        else:
            how = ["--closed", "-c", str(a.clients or min(12, service.threads // 2))]
        lasts = str(min(3600, 2 * a.rounds * (a.seconds + 20) + 30))
        load = subprocess.Popen([services.YUNTI, "capacity", "load", service.urls()[0], *how, "-s", lasts, "--json"],
                                stdout=subprocess.PIPE)
        begin = time.monotonic()
        time.sleep(3 * SETTLE)
        for _ in range(a.rounds):
            at = time.monotonic() - begin
            subprocess.run([services.YUNTI, "observe", "demands", "-p", str(service.pid), "-s", str(a.seconds)],
                           stdout=subprocess.DEVNULL, check=True)
            end = time.monotonic() - begin
            time.sleep(end - at + SETTLE)
            spans.append((at, end))
        load.terminate()
        series = json.loads(load.communicate()[0])["run"]["series"]

    def figures(since, until):
        part = series[math.ceil(since):math.floor(until)]
        mean = lambda name: statistics.mean(second[name] for second in part)
        return {"per_second": mean("done"), "p50_ms": mean("p50_ms"), "p99_ms": mean("p99_ms")}

    return [{"measured": figures(at, end), "alone": figures(end + SETTLE, end + SETTLE + end - at)} for at, end in spans]


def main():
    a, samples = arguments(), []
    print(f"{'service':12}{'alone/s':>10}{'measured/s':>12}{'cost %':>9}{'least':>8}{'most':>8}{'p50':>8}{'p99':>8}")
    for name in a.services.split(","):
        found = pairs(name, a)
        ratios = lambda of: [pair["measured"][of] / pair["alone"][of] for pair in found]
        costs = [100 * (1 - ratio) for ratio in ratios("per_second")]
        level = lambda of: statistics.median(pair[of]["per_second"] for pair in found)
        print(f"{name:12}{level('alone'):10.0f}{level('measured'):12.0f}{statistics.median(costs):9.1f}{min(costs):8.1f}"
              f"{max(costs):8.1f}{statistics.median(ratios('p50_ms')):8.2f}{statistics.median(ratios('p99_ms')):8.2f}",
              flush=True)
        samples += [{"service": name, "share": a.share, **pair} for pair in found]
    if a.json:
        with open(a.json, "w") as out:
            json.dump({"bench": "cost", "samples": samples}, out, indent=1)


if __name__ == "__main__":
    main()
