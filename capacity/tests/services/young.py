"""Measures what a service that allocates much carries with each size of the young generation, or of the heap.

    python3 capacity/tests/services/young.py                       # all collectors: about 15 minutes
    python3 capacity/tests/services/young.py --only g1 --lock FILE

The service is `feed`: 3 MiB and a millisecond of processor time a request. At the smallest size its demands are
measured at 30 % of the peak; `yunti capacity` predicts the other sizes from them. The rates and the demands go to
build/capacity/young/.
"""

import argparse
import json
import os
import subprocess
import sys

import services
from sweep import lock

FOLDER = os.path.join(services.ROOT, "build/capacity/young")
LOW = 0.3  # share of the peak at which demands are measured
CLIENTS = (4, 8)
HEAP = ["-Xms1800m", "-Xmx1800m"]
YOUNG = (24, 40, 80, 160, 320, 640, 1280)
HEAPS = (192, 256, 384, 512, 768, 1024, 1536, 2048)

# By name: JDK, options, what a size in MB sets, sizes.
COLLECTORS = {
    "parallel": ("17", [*HEAP, "-XX:+UseParallelGC"], ["-Xmn{}m"], YOUNG),
    "g1": ("17", [*HEAP, "-XX:+UseG1GC"], ["-Xmn{}m"], YOUNG),
    "g1-25": ("25", [*HEAP, "-XX:+UseG1GC"], ["-Xmn{}m"], YOUNG),
    "zgc-25": ("25", ["-XX:+UseZGC"], ["-Xms{}m", "-Xmx{}m"], HEAPS),
    "shenandoah": ("17", ["-XX:+UseShenandoahGC"], ["-Xms{}m", "-Xmx{}m"], HEAPS),
    "shenandoah-25": ("25", ["-XX:+UseShenandoahGC"], ["-Xms{}m", "-Xmx{}m"], HEAPS),
    "generational-shenandoah-25": ("25", ["-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"],
                                   ["-Xms{}m", "-Xmx{}m"], HEAPS),
}


def feed(jdk, options):
    """Returns the service with other options of its JVM."""
    service = services.Service("feed")
    words = service.facts["start"]
    rest = words[words.index("-XX:+AlwaysPreTouch"):]
    service.facts = service.facts | {"start": ["{java%s}" % jdk, *options, *rest]}
    return service


def demands(service, peak, seconds, path):
    """Writes the demands at a low rate to a file, with what the same load needs without the measurement."""
    load = service.load_beside(64, seconds + 16, rate=LOW * peak)
    words = [services.YUNTI, "observe", "demands", "-p", str(service.pid), "-s", str(seconds)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    load.communicate()
    if done.returncode:
        sys.exit(done.stderr)
    with open(path, "w", encoding="utf-8") as file:
        file.write(done.stdout)


def others(level):
    """Returns the processors that other programs used."""
    return round(max(0, level["machine_cpu"] - sum(level["watched_cpu"]) - level["client_cpu"]), 3)


def measure(name, size, options):
    """Returns the rates with a size."""
    jdk, fixed, sized, _ = COLLECTORS[name]
    service = feed(jdk, [*fixed, *[word.format(size) for word in sized], *options.option])
    try:
        service.start()
        service.warm_up(4)
        levels = [service.load(clients, options.seconds) for clients in CLIENTS]
        peak = max(level["rate"] for level in levels)
        if size in options.demands or (not options.demands and size == COLLECTORS[name][3][0]):
            demands(service, peak, 12, os.path.join(FOLDER, f"{name}-{size}.demands.json"))
        return {"size_mb": size, "peak": peak, "others_cpu": [others(level) for level in levels],
                "rates": [level["rate"] for level in levels],
                "cpu_ms": [round(1000 * level["watched_cpu"][0] / max(1, level["rate"]), 3) for level in levels],
                "errors": sum(level["errors"] for level in levels)}
    finally:
        service.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=COLLECTORS, metavar="NAME", help="may be repeated")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="MB", help="sizes; default: those of the collector")
    parser.add_argument("--seconds", type=float, default=4, help="of each number of clients")
    parser.add_argument("--demands", type=int, nargs="*", default=[], metavar="MB",
                        help="sizes at which demands are measured; default: the smallest")
    parser.add_argument("--option", action="append", default=[], metavar="-XX:..", help="further option of the JVM")
    parser.add_argument("--lock", metavar="FILE", help="lock file to hold while a collector is measured")
    options = parser.parse_args()
    services.build()
    os.makedirs(FOLDER, exist_ok=True)
    for name in options.only or COLLECTORS:
        path = os.path.join(FOLDER, f"{name}.json")
        found = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found = {one["size_mb"]: one for one in json.load(file)}
        with lock(options.lock):
            for size in options.sizes or COLLECTORS[name][3]:
                try:
                    found[size] = measure(name, size, options)
                except RuntimeError as error:
                    print(f"{name} {size}: {error}", flush=True)
                    continue
                print(name, json.dumps(found[size]), flush=True)
        if not options.option:
            with open(path, "w", encoding="utf-8") as file:
                json.dump([found[size] for size in sorted(found)], file, indent=1)


if __name__ == "__main__":
    main()
