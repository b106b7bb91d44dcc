#!/usr/bin/env python3
"""Runs the same jobs on a Hadoop cluster of one machine, stock and with Yunti's plug-ins in turn. See README.md."""

import argparse
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import cluster as clusters  # noqa: E402
import figures  # noqa: E402
import inputs  # noqa: E402
import jobs  # noqa: E402
import map_path  # noqa: E402
import sample  # noqa: E402
from harness import commands, machine, measure  # noqa: E402
from harness.measure import Failed  # noqa: E402

# Bytes that the containers of a job may use together. They are touched before each series, because the first use of
# memory is slow in a virtual machine.
TOUCHED_BYTES = 8 << 30
WARM_UP_SCALE = 0.001


def arguments():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    p.add_argument("--jobs", default="", help="run these jobs, separated by commas: "
                   + ", ".join([j.name for j in jobs.JOBS] + [map_path.NAME]))
    p.add_argument("--variants", default="", help="run these variants and stock: " + ", ".join(jobs.VARIANTS))
    p.add_argument("--pairs", type=int, default=3,
                   help="run this many rounds; each runs every variant once (default 3)")
    p.add_argument("--size", type=float, default=1.0, help="scale the data to try the bench; the goals apply to 1")
    p.add_argument("--use", metavar="DIR", nargs="?", const=os.path.join(clusters.BUILD, "cluster"),
                   help="use a running cluster (default build/cluster) instead of starting one")
    p.add_argument("--cluster-set", metavar="KEY=VALUE", action="append", default=[],
                   help="set a property of the bench's own cluster")
    p.add_argument("-D", dest="define", metavar="KEY=VALUE", action="append", default=[],
                   help="set a setting of every job")
    p.add_argument("--no-save", action="store_true", help="write no results file")
    a = p.parse_args()
    for given, known in ((a.jobs, [j.name for j in jobs.JOBS] + [map_path.NAME]), (a.variants, jobs.VARIANTS)):
        unknown = [n for n in given.split(",") if n and n not in known]
        if unknown:
            p.error(f"there is no {', '.join(unknown)}: " + ", ".join(known))
    if a.pairs < 1 or a.size <= 0:
        p.error("--pairs is at least 1, --size above 0")
    if a.use and a.cluster_set:
        p.error("--cluster-set applies only to the bench's own cluster, not to --use")
    a.map_path = not a.jobs or map_path.NAME in a.jobs.split(",")
    a.jobs = [j for j in jobs.JOBS if not a.jobs or j.name in a.jobs.split(",")]
    a.variants = [v for v in jobs.VARIANTS if not a.variants or v == jobs.STOCK or v in a.variants.split(",")]
    return a


def touch(scale):
    """Touches and frees the memory of a job. Without the program `warm`, the first round bears this cost."""
    warm = commands.LIMITS + "/warm"
    if os.path.exists(warm):
        with open("/proc/meminfo") as f:
            available = next(int(line.split()[1]) * 1024 for line in f if line.startswith("MemAvailable"))
        subprocess.run([warm, str(min(int(TOUCHED_BYTES * min(1, scale)), available * 7 // 10))], check=True)


def run_job(cluster, job, options):
    """Runs all variants of a job in turn and returns their results in order."""
    source, files = inputs.put(cluster, job.data, options.size)
    results, ready = {}, {}
    for variant in (v for v in job.variants if v in options.variants):
        try:
            ready[variant] = jobs.command(cluster, job, variant, options.define)
        except jobs.Missing as missing:
            print(f"{job.name} {variant}: not available: {missing}", flush=True)
            results[variant] = {"row": "hadoop-" + job.name, "variant": variant, "opponent": jobs.STOCK,
                                "note": f"not available: {missing}"}
    touch(options.size)
    samples, seen = {variant: [] for variant in ready}, {}
    for turn in range(options.pairs):
        for variant, command in list(ready.items()):
            target = f"{inputs.FOLDER}/out"
            log = os.path.join(clusters.BUILD, f"bench-hadoop-jobs/{job.name}-{variant}.log")
            os.makedirs(os.path.dirname(log), exist_ok=True)
            try:
                cluster.hdfs("-rm", "-r", "-f", "-skipTrash", target)
                one = sample.take(cluster, command(source, target), log)
                if variant not in seen:
                    seen[variant] = job.check(cluster, target, files)
            except Failed as failure:
                print(f"{job.name} {variant}: FAILED: {failure}", flush=True)
                results[variant] = {"row": "hadoop-" + job.name, "variant": variant, "opponent": jobs.STOCK,
                                    "verdict": "FAILED", "note": f"FAILED: {failure}"}
                del ready[variant]
                continue
            samples[variant].append(one)
            print(f"{turn + 1} {job.name} {variant}: {one['wall']:.2f} s, CPU of maps {one['map_cpu']:.2f}, of "
                  f"reduces {one['reduce_cpu']:.2f}, "
                  f"of the tree {one['tree_cpu']:.2f}", flush=True)
    cluster.hdfs("-rm", "-r", "-f", "-skipTrash", f"{inputs.FOLDER}/out", source)
    stock = samples[jobs.STOCK] if jobs.STOCK in ready else None
    for variant, command in ready.items():
        results[variant] = figures.summarise(job, variant, command(source, "OUT"), samples[variant], stock,
                                             seen[variant], seen.get(jobs.STOCK),
                                             judged=options.size == 1)
    return [results[v] for v in job.variants if v in results]


def warm_up(cluster):
    """Runs a small stock job, so that daemons load classes, the history server its pages, and YARN staging folders."""
    job = jobs.JOBS[0]
    source, _ = inputs.put(cluster, job.data, WARM_UP_SCALE)
    command = jobs.command(cluster, job, jobs.STOCK, [])
    os.makedirs(jobs.BUILT, exist_ok=True)
    cluster.hdfs("-rm", "-r", "-f", "-skipTrash", f"{inputs.FOLDER}/out")
    sample.take(cluster, command(source, f"{inputs.FOLDER}/out"), os.path.join(jobs.BUILT, "warm-up.log"))


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    held = measure.lock()
    host = machine.describe()
    print(f"{host['name']}: {host['cores']} cores, {host['memory_gib']} GiB, load {host['load'][0]:.1f}")
    if host["load"][0] > 0.5:
        print("the machine is busy: these figures are not valid results")
    begin, results = time.strftime("%Y-%m-%d %H:%M"), []
    with clusters.borrowed(options.use) if options.use else clusters.own(options.cluster_set) as cluster:
        version, counted = cluster.version(), cluster.how_counted()
        print(f"Hadoop {version}; tree CPU is from {counted}", flush=True)
        try:
            warm_up(cluster)
            for job in options.jobs:
                print(f"-- {job.title}", flush=True)
                results += run_job(cluster, job, options)
            if options.map_path:
                print("-- the native map path, in a warm JVM", flush=True)
                results += map_path.run(cluster, options.size)
        finally:
            cluster.hdfs("-rm", "-r", "-f", "-skipTrash", inputs.FOLDER, check=False)
    for part in (figures.table(results), figures.phases(results), figures.goals(results)):
        if part:
            print("\n" + part)
    if not options.no_save and options.size == 1:
        kept = {"machine": host, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"), "arguments": sys.argv[1:],
                "hadoop": version,
                "tree_cpu": counted, "settings": jobs.common(options.define), "cluster_settings": options.cluster_set,
                "results": results}
        print("\nsaved in", figures.save(host["name"], kept))
    held.close()
    return 1 if any(figures.bad(r) for r in results) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"bench-hadoop: {failed}")
