#!/usr/bin/env python3
"""Runs unmodified jars on this machine without a cluster, by Hadoop's LocalJobRunner and by `yunti hadoop run` in turn.

README.md, "On one machine", describes the rows.
"""

import argparse
import glob
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import inputs  # noqa: E402
from harness import commands, machine, measure, report  # noqa: E402
from harness.measure import Failed, Program  # noqa: E402
from harness.rows import must_faster, must_slower  # noqa: E402

BUILD = os.path.join(commands.ROOT, "build/bench-one-machine")
CLIENT = os.path.join(commands.ROOT, "dist/java/hadoop")
REDUCES = ["-D", "mapreduce.job.reduces=2"]
TWO_THREADS = ["-D", "mapreduce.local.map.tasks.maximum=2", "-D", "mapreduce.local.reduce.tasks.maximum=2"]
STOCK, STOCK_2, YUNTI = "stock, 1 thread", "stock, 2 threads", "yunti"
JOBS_OF_DRIVER = 60
# The first jobs of a program load and compile its code.
JOBS_LEFT_OUT = 20

# `figure`: "wall" or "cpu", of `variant` against `other` where that is not None; `goal` is a ratio, or seconds.
Goal = namedtuple("Goal", "row variant other figure goal")

GOALS = [
    Goal("word count", YUNTI, STOCK, "wall", 11), Goal("word count", YUNTI, STOCK_2, "wall", 7),
    Goal("TeraSort", YUNTI, STOCK_2, "wall", 4),
    Goal("mapper alone", YUNTI, "bare loop", "cpu", 1.2),
    Goal("small job", YUNTI, None, "wall", 1.0), Goal("small job", "yunti, pool", None, "wall", 0.25),
    Goal("next job", YUNTI, None, "wall", 0.030),
]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    p.add_argument("--rows", default="", help="run these rows, separated by commas: " + ", ".join(ROWS))
    p.add_argument("--rounds", type=int, default=3, help="run each variant this many times (default 3)")
    p.add_argument("--size", type=float, default=1.0, help="scale the data; the goals apply to 1")
    p.add_argument("--no-save", action="store_true", help="write no results")
    options = p.parse_args()
    options.rows = [row for row in ROWS if not options.rows or row in options.rows.split(",")]
    if options.rounds < 1 or options.size <= 0 or not options.rows:
        p.error("--rounds is at least 1, --size above 0, and --rows names rows")
    return options


def stock(*words):
    """Returns a command of Hadoop's own launcher: its jars alone."""
    jars = ":".join(sorted(glob.glob(f"{CLIENT}/*.jar")))
    return ["java", "-cp", jars, "org.apache.hadoop.util.RunJar", *words]


def examples():
    jar = glob.glob(f"{BUILD}/hadoop-mapreduce-examples-*.jar")
    if not jar:
        subprocess.run(["mvn", "-q", "-B", "-f", os.path.join(commands.ROOT, "hadoop/cluster/pom.xml"),
                        "dependency:copy@examples", f"-Dcluster.jars={BUILD}/jars"], check=True)
        for path in glob.glob(f"{BUILD}/jars/examples/hadoop-mapreduce-examples-*.jar"):
            shutil.copy(path, BUILD)
        jar = glob.glob(f"{BUILD}/hadoop-mapreduce-examples-*.jar")
    return jar[0]


def own_jar():
    """Returns the jar of java/OneMachine.java."""
    classes, jar = f"{BUILD}/classes", f"{BUILD}/one-machine.jar"
    shutil.rmtree(classes, ignore_errors=True)
    os.makedirs(classes)
    subprocess.run(["javac", "-nowarn", "-proc:none", "--release", "8", "-Xlint:-options", "-cp", f"{CLIENT}/*", "-d",
                    classes, f"{HERE}/java/OneMachine.java"], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["jar", "cf", jar, "-C", classes, "."], check=True)
    return jar


def all_variants(jar, name, options, source):
    """Returns the variants of a job: name -> command of an output path."""
    return {
        STOCK: lambda out: stock(jar, name, *options, source, out),
        STOCK_2: lambda out: stock(jar, name, *TWO_THREADS, *options, source, out),
        YUNTI: lambda out: [commands.YUNTI, "hadoop", "run", jar, name, *options, source, out],
    }


def word_count(size):
    return all_variants(examples(), "wordcount", [], folder("text", size))


def terasort(size):
    return all_variants(examples(), "terasort", REDUCES, folder("tera", size))


def mapper_alone(size):
    jar, source = own_jar(), folder("text", size)
    files = sorted(glob.glob(f"{source}/part*"))
    dropped = ["-libjars", jar, "-D", "mapreduce.job.map.output.collector.class=OneMachine$NullCollector"]
    return {
        "bare loop": lambda out: ["java", "-XX:+UseParallelGC", "-cp", f"{jar}:{CLIENT}/*", "OneMachine", "bare",
                                  str(os.cpu_count()), out, *files],
        YUNTI: lambda out: [commands.YUNTI, "hadoop", "run", examples(), "wordcount", *dropped, source, out],
    }


def small(name):
    path = f"{BUILD}/small.txt"
    with open(path, "w") as f:
        f.write("to climb from one node to a cluster\n" * 60)
    return all_variants(examples(), "wordcount", [], path) if name == "small job" else path


def small_job(_):
    variants = small("small job")
    # The pool serves what is started while it runs.
    return {STOCK: variants[STOCK], YUNTI: variants[YUNTI], "yunti, pool": variants[YUNTI]}


def next_job(_):
    jar, path = own_jar(), small("next job")
    words = lambda out, *more: ["OneMachine", "jobs", *more, str(JOBS_OF_DRIVER), path, out]
    # By default stock's client asks every 5 s whether its job has ended.
    return {STOCK: lambda out: stock(jar, *words(out, "-D", "mapreduce.client.completion.pollinterval=5")),
            YUNTI: lambda out: [commands.YUNTI, "hadoop", "run", jar, *words(out)]}


ROWS = {"word count": word_count, "TeraSort": terasort, "mapper alone": mapper_alone, "small job": small_job,
        "next job": next_job}


def folder(kind, size):
    return os.path.dirname(inputs.local(kind, size)[0])


def fingerprint(output):
    """Returns the digest of an output's parts, in order."""
    digest = hashlib.md5()
    for part in sorted(glob.glob(f"{output}/**/part-*", recursive=True)):
        with open(part, "rb") as f:
            while block := f.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def pool(*words):
    subprocess.run([commands.YUNTI, "hadoop", "pool", *words], check=True, stdout=subprocess.DEVNULL)


def taken(row, name, command):
    """Runs a variant once. Returns its seconds, and its output's digest."""
    if name == "yunti, pool":
        pool("start")
        try:
            measure.run(Program(name, command))
            time.sleep(5)  # A JVM has run small jobs by then, and waits.
            sample, output = measure.run(Program(name, command))
        finally:
            pool("stop")
    else:
        sample, output = measure.run(Program(name, command))
    one = {"wall": sample.wall, "cpu": sample.cpu}
    if row == "next job":
        with open(f"{output}/times") as f:
            one["wall"] = statistics.median(list(map(float, f))[JOBS_LEFT_OUT:]) / 1000
        one["cpu"] = sample.cpu / JOBS_OF_DRIVER
    return one, fingerprint(output) if os.path.isdir(output) else ""


def measured(row, options):
    variants = ROWS[row](options.size)
    samples, digests = {name: [] for name in variants}, {}
    for turn in range(options.rounds):
        for name, command in variants.items():
            one, digest = taken(row, name, command)
            samples[name].append(one)
            digests.setdefault(name, digest)
            print(f"{turn + 1} {row}, {name}: {one['wall']:.3f} s, CPU {one['cpu']:.2f} s", flush=True)
    differ = row != "mapper alone" and len(set(digests.values())) > 1
    return {"row": row, "samples": samples, "outputs": digests, "verdict": "OUTPUTS DIFFER" if differ else "",
            "commands": {name: command("OUT") for name, command in variants.items()}}


def judged(results):
    """Returns a line a goal: figures, must and verdict. A ratio is the median of the rounds' ratios."""
    lines = []
    for goal in GOALS:
        found = [r for r in results if r["row"] == goal.row]
        if not found:
            continue
        own = [s[goal.figure] for s in found[0]["samples"][goal.variant]]
        if goal.other is None:
            figure, must = statistics.median(own), goal.goal
        else:
            others = [s[goal.figure] for s in found[0]["samples"][goal.other]]
            faster = goal.figure == "wall"
            figure = statistics.median(o / s if faster else s / o for s, o in zip(own, others))
            must = must_faster(goal.goal) if faster else must_slower(goal.goal)
        faster = goal.other is not None and goal.figure == "wall"
        reach = lambda bound: figure >= bound if faster else figure <= bound
        verdict = "goal" if reach(goal.goal) else "must" if reach(must) else "BELOW"
        lines.append({**goal._asdict(), "result": figure, "must": must, "verdict": verdict})
    return lines


def table(results, goals):
    lines = [("row", "variant", "wall s", "CPU s")]
    for r in results:
        for name, samples in r["samples"].items():
            middle = lambda key: f"{statistics.median(s[key] for s in samples):.3f}"
            lines.append((r["row"], name, middle("wall"), middle("cpu")))
    lines += [("", "", "", ""), ("goal", "against", "result", "goal, must: verdict")]
    for g in goals:
        unit = " s" if g["other"] is None else "x"
        lines.append((f"{g['row']}, {g['variant']}, {g['figure']}", g["other"] or "", f"{g['result']:.3f}{unit}",
                      f"{g['goal']}, {g['must']:.3g}: {g['verdict']}"))
    lines += [(r["row"], "", "", r["verdict"]) for r in results if r["verdict"]]
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines)


def main():
    options = arguments()
    held = measure.lock()
    host, busy = machine.introduce()
    if not os.path.isdir(CLIENT):
        raise Failed("dist/java/hadoop is not there: make hadoop")
    os.makedirs(BUILD, exist_ok=True)
    begin = time.strftime("%Y-%m-%d %H:%M")
    with tempfile.TemporaryDirectory() as run_directory:
        os.environ["XDG_RUNTIME_DIR"] = run_directory  # No pool of this user serves the bench.
        os.environ["XDG_STATE_HOME"] = f"{BUILD}/state"
        results = [measured(row, options) for row in options.rows]
    goals = judged(results) if options.size == 1 else []
    text = table(results, goals)
    print("\n" + text)
    if not options.no_save and options.size == 1:
        kept = {"machine": host, "busy": busy, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"),
                "commit": machine.commit(), "arguments": sys.argv[1:], "results": results, "goals": goals}
        load = f"The machine was busy with other work: load {host['load'][0]:.1f} at the start.\n" if busy else ""
        print("\nsaved in", report.save_with_text(host["name"], "one-machine", kept,
                                                  f"{begin}, {host['name']}, commit {machine.commit()}\n{load}\n{text}\n"))
    held.close()
    return 1 if any(g["verdict"] == "BELOW" for g in goals) or any(r["verdict"] for r in results) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"bench-one-machine: {failed}")
