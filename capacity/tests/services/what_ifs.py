"""What-ifs tried for real: predicted from 15 s at 30 % load of a service, and swept on the same service changed.

    python3 capacity/tests/services/what_ifs.py                       # all: about 25 minutes
    python3 capacity/tests/services/what_ifs.py --only stock --lock FILE
    python3 capacity/tests/services/what_ifs.py --predict             # the saved demands again, for a changed model

Each service is swept, measured at 30 % of its peak, and swept once more for each change. A change is a parameter of
the service: a delay of a peer, a cost, a size of a pool, an option of the JVM, processors. The ratio of the two peaks
is what `yunti capacity what-if` predicts. Results go to build/capacity/what-ifs/.
"""

import argparse
import contextlib
import copy
import json
import os
import pathlib
import subprocess
import sys
import time

import services
import sweep

RESULTS = os.path.join(services.ROOT, "build/capacity/what-ifs")
LOW = 0.3
CLOSE = 0.1  # error of a ratio that counts as right
SETTLE = 25  # seconds that a measurement needs besides its own
LEASE = 115  # seconds that the lock is held at most
ORIGINAL, CHANGED = 70, 30  # seconds of the measurement of an original, and of a changed service, about
WARM = 6


class WhatIf:
    """Change of a service: the words of `what-if`, and the parameters of the changed service."""

    def __init__(self, words, peers=None, options=None, words_of_jvm=None, processors=None, threads=None):
        self.words = words
        self.peers, self.options, self.words_of_jvm = peers or {}, options or {}, words_of_jvm or {}
        self.processors, self.threads = processors, threads


class Original:
    """Service as it is measured: by default as services.json has it."""

    def __init__(self, what_ifs, name, threads=None, options=None):
        self.name, self.threads, self.options, self.what_ifs = name, threads, options or {}, what_ifs


# Resources of remote calls have the address of a peer as their name: `{warehouse}` is its port.
ORIGINALS = {
    "stock": Original([
        WhatIf("lock x0.5", peers={"warehouse": 2.5}),
        WhatIf("lock x2", peers={"warehouse": 10}),
        WhatIf("remote {customers} x0.5", peers={"customers": 10}),
    ], "stock"),
    "ledger": Original([WhatIf("lock x0.5", options={"--chain": "{java.hash:1.5}"})], "ledger"),
    "quota": Original([WhatIf("lock x0.5", peers={"counter": 2})], "quota"),
    "price": Original([
        WhatIf("lock x0.5", peers={"publisher": 1}, options={"--check": "{java.sort:0.5}"}),
    ], "price"),
    "count": Original([
        WhatIf("lock x0.5", options={"--table": "{c.sign:1.25}"}),
        WhatIf("cpu -1", processors="0"),
    ], "count"),
    "warehouse": Original([
        WhatIf("pool 8", options={"--connections": "8"}),
        WhatIf("pool 2", options={"--connections": "2"}),
        WhatIf("remote {warehouse} x0.5", peers={"warehouse": 5}),
    ], "warehouse"),
    "order": Original([
        WhatIf("pool 10", options={"--connections": "10"}),
        WhatIf("pool 3", options={"--connections": "3"}),
    ], "order"),
    "report": Original([
        WhatIf("threads exporter 6", options={"--exporters": "6"}),
        WhatIf("remote {store} x0.5", peers={"store": 4}),
    ], "report"),
    "ticket": Original([WhatIf("pool 12", options={"--permits": "12"})], "ticket"),
    "resize": Original([WhatIf("remote {store} x0.5", peers={"store": 6})], "resize"),
    "render": Original([WhatIf("lock x0.5", options={"--rows": "{node.render:1.25}"})], "render"),
    "invoice": Original([WhatIf("lock x0.5", options={"--lines": "{python.lines:1.5}"})], "invoice"),
    "thumbnail": Original([
        WhatIf("cpu x2", options={"--hash": "{java.hash:2}"}),
        WhatIf("cpu -1", processors="0"),
    ], "thumbnail"),
    "profile of 4 threads": Original([
        WhatIf("threads 8", threads=8),
        WhatIf("remote {users} x0.5", peers={"users": 10}),
    ], "profile", threads=4),
    "travel in turn": Original([
        WhatIf("parallel: {flights},{hotels},{cars}", options={"--at-once": "1"}),
    ], "travel", threads=4, options={"--at-once": "0"}),
    "feed": Original([
        WhatIf("young 64m", words_of_jvm={"-Xmn16m": "-Xmn64m"}),
        WhatIf("memory x0.5", options={"--kib": "1536"}),
    ], "feed"),
    "gallery": Original([WhatIf("memory x0.5", options={"--kib": "1024"})], "gallery"),
}


def service(original, what_if=None):
    """Returns a service that is not started: the original, or with the parameters of a change."""
    change = what_if or WhatIf("")
    made = services.Service(original.name, change.threads or original.threads)
    made.facts = copy.deepcopy(made.facts)
    made.facts["peers_ms"].update(change.peers)
    start = [change.words_of_jvm.get(word, word) for word in made.facts["start"]]
    for option, value in {**original.options, **change.options}.items():
        start[start.index(option) + 1] = value
    if change.processors:
        start[:0] = ["taskset", "--cpu-list", change.processors]
    made.facts["start"] = start
    return made


@contextlib.contextmanager
def running(made):
    """Runs a service until the end of the block."""
    try:
        yield made.start()
    finally:
        made.stop()


def levels(made):
    """Returns the numbers of clients that are tried: every second of services.json, up to the threads."""
    few = made.facts["levels"][1::2]
    return sorted({min(level, made.threads) for level in few} | {made.threads})


def peak(made, seconds):
    """Returns the most requests a second, and the clients. The best level is measured twice."""
    found = {clients: made.load(clients, seconds)["rate"] for clients in levels(made)}
    best = max(found, key=found.get)
    found[best] = (found[best] + made.load(best, seconds)["rate"]) / 2
    best = max(found, key=found.get)
    return found[best], best


def yunti(*words):
    """Returns what the program prints, as JSON."""
    done = subprocess.run([services.YUNTI, *map(str, words), "--json"], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise RuntimeError(f"{words}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def measure(original, options):
    """Returns the peak of an original, its peers' ports, and its demands at 30 % load."""
    with running(service(original)) as made:
        made.warm_up(WARM)
        most, clients = peak(made, options.seconds)
        load = made.load_beside(max(64, made.threads), options.measured + SETTLE, rate=LOW * most)
        try:
            demands = yunti("observe", "demands", "-p", made.pid, "-s", options.measured)
        finally:
            load.terminate()
            load.communicate()
        return {"peak": most, "clients": clients, "ports": made.peers}, demands


def tried(original, what_if, options):
    """Returns the peak of a changed service."""
    with running(service(original, what_if)) as made:
        made.warm_up(WARM)
        most, clients = peak(made, options.seconds)
        return {"peak": most, "clients": clients}


def path(name, kind):
    return os.path.join(RESULTS, f"{name.replace(' ', '-')}.{kind}.json")


def write(value, name, kind):
    with open(path(name, kind), "w", encoding="utf-8") as file:
        json.dump(value, file)


def read(name, kind):
    with open(path(name, kind), encoding="utf-8") as file:
        return json.load(file)


class Lease:
    """Lock that is held for some measurements in a row, and given to others from time to time."""

    def __init__(self, path):
        self.path, self.held, self.since = path, contextlib.ExitStack(), None

    def hold(self, seconds):
        """Holds the lock for a measurement of about this length."""
        if self.since is None or time.time() - self.since + seconds > LEASE:
            self.held.close()
            self.held.enter_context(sweep.lock(self.path))
            self.since = time.time()


def try_all(name, original, options, lease):
    """Measures a service and all its changes, under the lock."""
    lease.hold(ORIGINAL)
    found, demands = measure(original, options)
    write(demands, name, "demands")
    found["tried"] = {}
    for what_if in original.what_ifs:
        lease.hold(CHANGED)
        found["tried"][what_if.words] = tried(original, what_if, options)
    found |= {"realtime": services.REALTIME}
    found["at"] = time.strftime("%Y-%m-%dT%H:%M:%S")
    write(found, name, "tried")


def kept_for_others():
    """Returns the share of a processor that programs in real-time priority leave to the rest."""
    of = [int(pathlib.Path(f"/proc/sys/kernel/sched_rt_{name}_us").read_text(encoding="ascii"))
          for name in ("runtime", "period")]
    return 0 if of[0] < 0 else 1 - of[0] / of[1]


def rows(name, original):
    """Yields a row of the table for each change, from saved results."""
    found, demands = read(name, "tried"), read(name, "demands")
    for what_if in original.what_ifs:
        if found["realtime"]:
            # The sweeps ran ahead of all other programs, which then get the share that the kernel keeps for them alone.
            # On one of the processors, a service borrows that share from the other.
            kept = 0 if what_if.processors else kept_for_others()
            demands["processors"]["used_by_others"] = kept * demands["processors"]["count"]
        write(demands, name, "alone")
        words = what_if.words.format(**found["ports"])
        answer = yunti("capacity", "what-if", "--demands", path(name, "alone"), words)["answers"][0]
        gain, after = answer["gain"], found["tried"][what_if.words]["peak"]
        yield {"service": name, "change": what_if.words.translate(str.maketrans("", "", "{}")),
               "before": found["peak"], "after": after, "measured": after / found["peak"],
               "predicted": 1 + gain["value"], "low": 1 + gain["low"], "high": 1 + gain["high"],
               "error": (1 + gain["value"]) / (after / found["peak"]) - 1,
               "before_error": answer["before"]["peak"]["value"] / found["peak"] - 1,
               "peak_error": answer["after"]["peak"]["value"] / after - 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=ORIGINALS, metavar="NAME", help="may be repeated")
    parser.add_argument("--seconds", type=float, default=2.5, help="of each number of clients")
    parser.add_argument("--measured", type=float, default=15, metavar="SECONDS", help="at 30 %% load")
    parser.add_argument("--predict", action="store_true", help="measure nothing: predict from the saved demands")
    parser.add_argument("--lock", metavar="FILE", help="lock file to hold while a service is measured")
    parser.add_argument("--realtime", action="store_true", help="round robin ahead of all others: beside other work")
    options = parser.parse_args()
    services.REALTIME = services.REALTIME or options.realtime
    os.makedirs(RESULTS, exist_ok=True)
    if not options.predict:
        services.build()
        services.calibration()
    print("| service | change | tried | predicted | error | peak, tried | error of the peak: before, after |\n"
          "|---|---|---|---|---|---|---|", flush=True)
    errors, lease = [], Lease(options.lock)
    for name in options.only or ORIGINALS:
        try:
            if not options.predict:
                try_all(name, ORIGINALS[name], options, lease)
            for row in rows(name, ORIGINALS[name]):
                errors.append(row["error"])
                print("| {service} | {change} | x{measured:.2f} | x{predicted:.2f} ({low:.2f} to {high:.2f}) | {error:+.0%}"
                      " | {before:.0f} to {after:.0f} | {before_error:+.0%}, {peak_error:+.0%} |".format(**row), flush=True)
        except services.Skip as skip:
            print(f"{name} skipped: {skip}", flush=True)
        except (RuntimeError, FileNotFoundError, subprocess.SubprocessError) as error:
            errors.append(float("inf"))
            print(f"{name} failed: {error}", flush=True)
    right = sum(abs(error) <= CLOSE for error in errors)
    print(f"{right} of {len(errors)} within {CLOSE:.0%}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
