"""Measures what the services carry: a closed loop at each level of clients, each service by itself.

    python3 capacity/tests/services/sweep.py                      # all: about 30 minutes
    python3 capacity/tests/services/sweep.py --only stock
    python3 capacity/tests/services/sweep.py --lock FILE          # holds the lock while a service is measured

The worker threads of a service are as many as the highest level, so that a level is the number of threads that work.
The truth goes to build/capacity/truth.json, service by service; a later run replaces only what it measures again.
"""

import argparse
import contextlib
import fcntl
import json
import os
import platform
import statistics
import sys
import time

import services

TRUTH = os.path.join(services.ROOT, "build/capacity/truth.json")
ENOUGH = 0.95  # share of the peak that the least clients reach
LOW = 0.3  # share of the peak for the check with an open loop
KEPT = ("clients", "rate", "mean_ms", "p50_ms", "p99_ms", "errors", "client_cpu", "stolen_cpu")


def point(service, clients, options):
    """Returns one measured level."""
    found = service.load(clients, options.seconds)
    kept = {key: found[key] for key in KEPT}
    own, *peers = found["watched_cpu"]
    others = found["machine_cpu"] - own - sum(peers) - found["client_cpu"]
    kept |= {"service_cpu": own, "peer_cpu": sum(peers), "others_cpu": round(max(0, others), 3)}
    kept["cpu_ms"] = round(1000 * own / found["rate"], 3) if found["rate"] else 0.0
    if len(found["urls"]) > 1:
        kept["urls"] = found["urls"]
    return kept


def middle(found):
    """Returns the middle of several measurements of one level: the median of each figure."""
    whole = dict(found[0])
    for key, value in whole.items():
        if isinstance(value, float):
            whole[key] = round(statistics.median(one[key] for one in found), 4)
    whole["rates"] = [one["rate"] for one in found]
    return whole


def rising(curve):
    """Returns the levels up to the peak as (clients, rate): levels that fall by chance share their mean with the next."""
    peak = max(range(len(curve)), key=lambda at: curve[at]["rate"])
    runs = []  # of levels: [sum of rates, clients, ..]
    for at in curve[:peak + 1]:
        runs.append([at["rate"], at["clients"]])
        while len(runs) > 1 and runs[-2][0] / len(runs[-2][1:]) > runs[-1][0] / len(runs[-1][1:]):
            total, *clients = runs.pop()
            runs[-1] = [runs[-1][0] + total, *runs[-1][1:], *clients]
    return [(clients, total / len(levels)) for total, *levels in runs for clients in levels]


def least(curve, share=ENOUGH):
    """Returns the least clients with a share of the peak: a level, and between two levels by a straight line."""
    goal = share * max(at["rate"] for at in curve)
    before, below = 0, 0.0
    for clients, rate in rising(curve):
        if rate >= goal:
            return clients, round(before + (goal - below) / (rate - below) * (clients - before), 2)
        before, below = clients, rate
    raise AssertionError("the peak is on the curve")


def gap(curve):
    """Returns a level in the middle of the two levels around the knee, or None if there is none."""
    level, _ = least(curve)
    below = max((at["clients"] for at in curve if at["clients"] < level), default=0)
    return (below + level) // 2 if level - below > 1 else None


def summary(found):
    """Returns the truth from all measurements, by level."""
    curve = [middle(found[clients]) for clients in sorted(found)]
    level, between = least(curve)
    twice = [(max(at["rates"]) - min(at["rates"])) / at["rate"] for at in curve if len(at["rates"]) > 1]
    peak = max(curve, key=lambda at: at["rate"])
    return {"peak": peak["rate"], "peak_clients": peak["clients"], "threads_95_level": level, "threads_95": between,
            "threads_93_97": [least(curve, 0.93)[1], least(curve, 0.97)[1]],
            "spread": round(max(twice, default=0), 4), "others_cpu": max(at["others_cpu"] for at in curve),
            "curve": curve}


def measure(name, options):
    """Returns the truth of one service."""
    with services.running(name) as service:
        service.warm_up()
        found = {}
        for clients in service.facts["levels"]:
            found[clients] = [point(service, clients, options)]
        for _ in range(2):
            extra = gap(summary(found)["curve"])
            if extra:
                found[extra] = [point(service, extra, options)]
        seen = summary(found)
        for clients in sorted({min(found), seen["threads_95_level"], seen["peak_clients"], max(found)}):
            found[clients].append(point(service, clients, options))
        truth = summary(found)
        low = service.load(max(found), options.seconds, rate=LOW * truth["peak"])
        truth["low"] = {key: low[key] for key in ("rate", "mean_ms", "p50_ms", "p99_ms", "errors")}
        return truth


@contextlib.contextmanager
def lock(path):
    """Holds a lock file, if there is a path, so that two measurements do not disturb each other."""
    if not path:
        yield
        return
    with open(path, "a", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write(path, name, truth):
    """Replaces the truth of one service in the file."""
    whole = {}
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        whole = json.load(file)
    machine = {"name": platform.node(), "kernel": platform.release(), "processors": os.cpu_count()}
    if whole.get("machine", {}).get("name") != platform.node():
        whole = {"services": {}}
    whole |= {"machine": machine, "calibration": services.calibration()}
    whole["services"][name] = truth
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(whole, file, indent=1)
    os.rename(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=services.SERVICES, metavar="NAME", help="may be repeated")
    parser.add_argument("--seconds", type=float, default=4, help="of each level")
    parser.add_argument("--truth", default=TRUTH, metavar="FILE", help="default: build/capacity/truth.json")
    parser.add_argument("--lock", metavar="FILE", help="lock file to hold while a service is measured")
    parser.add_argument("--realtime", action="store_true", help="round robin ahead of all others: beside other work")
    options = parser.parse_args()
    services.REALTIME = services.REALTIME or options.realtime
    services.build()
    print(f"{'service':10} {'peak/s':>8} {'threads':>8} {'95 % by':>8} {'spread':>7} {'others':>7} {'s':>4}", flush=True)
    for name in options.only or services.SERVICES:
        try:
            with lock(options.lock):
                services.calibration()
                start = time.time()
                truth = measure(name, options)
        except services.Skip as skip:
            print(f"{name:10} skipped: {skip}", flush=True)
            continue
        truth |= {"seconds": options.seconds, "realtime": services.REALTIME, "at": time.strftime("%Y-%m-%dT%H:%M:%S")}
        write(options.truth, name, truth)
        print(f"{name:10} {truth['peak']:8.1f} {truth['threads_95']:8.2f} {truth['threads_95_level']:8} "
              f"{truth['spread']:7.1%} {truth['others_cpu']:7.2f} {time.time() - start:4.0f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
