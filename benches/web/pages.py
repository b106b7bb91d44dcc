"""Measures pages by engines with JMH, in a new JVM each time, and engines in turn."""

import json
import os
import statistics
import subprocess

import jvm
from harness.measure import Failed

STOCK, OURS, HAND, VARIABLES = "stock", "ours", "hand", "variables"
EVERY_ENGINE = (STOCK, "stock-bytes", OURS, "ours-writer", "freemarker", "jte", "jstachio", "rocker", HAND, VARIABLES)
# Engines of the pages that only Velocity renders.
VELOCITY = (STOCK, OURS)
PAGES = {"stocks": EVERY_ENGINE, "search": EVERY_ENGINE, "references": VELOCITY, "site": VELOCITY, "report": VELOCITY,
         "mail": VELOCITY}
QUICK_PAGES = ("stocks", "search")
QUICK_ENGINES = (STOCK, OURS, "jte", "jstachio", HAND, VARIABLES)
FIGURES = ("cpu", "allocated", "process")
# Seconds for the start and end of a fork, in addition to its iterations.
SPARE_SECONDS = 60


def check(jdk):
    """Compares the pages of all engines with stock Velocity's, and fails if one differs."""
    found = jdk.lines(jvm.PACKAGE + ".OutputCheck", timeout=300)
    squeezed = [f"{o['page']} {o['engine']}" for o in found if o.get("same") == "squeezed"]
    if squeezed:
        print("same except for white space: " + ", ".join(squeezed))
    return found


def fork(jdk, page, engine, options):
    """Runs one JVM and returns the medians of its iterations: times in us, allocation in bytes."""
    os.makedirs(jvm.WORK, exist_ok=True)
    output = os.path.join(jvm.WORK, "jmh.json")
    if os.path.exists(output):
        os.remove(output)
    # JMH accepts only whole units of time.
    length = f"{round(options.seconds * 1000)}ms"
    command = jdk.command("org.openjdk.jmh.Main", r"PageBenchmark\.render$", "-p", "page=" + page, "-p",
                          "engine=" + engine, "-f", 1,
                          "-wi", options.warm_up, "-w", length, "-i", options.iterations, "-r", length, "-foe", "true",
                          "-prof", jvm.PACKAGE + ".measure.CpuProfiler", "-rf", "json", "-rff", output, "-jvmArgs",
                          " ".join(jvm.HEAP))
    try:
        limit = SPARE_SECONDS + (options.warm_up + options.iterations) * options.seconds * 3
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired as expired:
        raise Failed(f"{page} by {engine} on JDK {jdk.version} did not end") from expired
    if done.returncode or not os.path.exists(output):
        raise Failed(f"{page} by {engine} on JDK {jdk.version}: "
                     + " | ".join((done.stderr or done.stdout).strip().splitlines()[-4:]))
    with open(output) as f:
        result = json.load(f)[0]
    sample = {name: statistics.median(result["secondaryMetrics"][name]["rawData"][0]) for name in FIGURES}
    sample["wall"] = statistics.median(result["primaryMetric"]["rawData"][0])
    return {name: round(value if name == "allocated" else value / 1000, 4) for name, value in sample.items()}


def run(jdks, options, outputs):
    """Returns the results of each page, engine and JDK."""
    cases = [(v, page, engine) for v in jdks for page in options.pages for engine in PAGES[page]
             if engine in options.engines]
    samples = {case: [] for case in cases}
    for turn in range(options.forks):
        for version, page, engine in cases:
            sample = fork(jdks[version], page, engine, options)
            samples[version, page, engine].append(sample)
            print(f"{turn + 1} JDK {version} {page} {engine}: CPU {sample['cpu']:.2f} us, {sample['allocated']:.0f} "
                  f"bytes allocated", flush=True)
    return [summary(*case, samples[case], samples.get((case[0], case[1], STOCK)), outputs) for case in cases]


def spread(values):
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def summary(version, page, engine, samples, stock, outputs):
    # Entries that are no engine have no page.
    same = next((o for o in outputs if o["page"] == page and o.get("engine") == engine), {"bytes": 0, "same": "-"})
    result = {"row": "web-" + page, "jdk": version, "variant": engine, "opponent": STOCK, "bytes": same["bytes"],
              "same": same["same"] != "no",
              "samples": samples} | {name: spread([s[name] for s in samples]) for name in (*FIGURES, "wall")}
    if stock and engine != VARIABLES:
        result["less_cpu"] = statistics.median(a["cpu"] / b["cpu"] for a, b in zip(stock, samples))
    return result
