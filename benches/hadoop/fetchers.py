#!/usr/bin/env python3
"""Processor time of Hadoop's fetchers in reduce tasks, over a link shaped to 10 Gb/s (docs/decisions/
hadoop-fetchers-native-merge.md).

    . cluster.env && python3 benches/hadoop/fetchers.py --rows 10000000

It runs TeraSort without a codec on the cluster of `make cluster-up`: the most bytes for the least work in a reduce. The
kernel's token bucket shapes the loopback of the cluster's namespace, which carries all map output. The threads of each
reduce's JVM are read from /proc until it ends. Any client would have the
kernel's part of a fetcher's time, which copies from the socket.
"""

import argparse
import collections
import glob
import os
import re
import subprocess
import tempfile
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = os.path.join(ROOT, "dist/bin/yunti")
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
SECONDS_BETWEEN = 0.1


class Threads:
    """Processor time of the threads of all reduce tasks, sampled until `stop`."""

    def __init__(self):
        self.seconds = collections.defaultdict(dict)  # attempt -> {(tid, name): (user, system)}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._sample, daemon=True)
        self.thread.start()

    def stop(self):
        self.ended.set()
        self.thread.join()

    def _sample(self):
        while not self.ended.wait(SECONDS_BETWEEN):
            for path in glob.glob("/proc/[0-9]*/cmdline"):
                try:
                    with open(path, "rb") as f:
                        words = f.read().decode(errors="replace").split("\0")
                    attempt = next((w for w in words if re.fullmatch(r"attempt_\d+_\d+_r_\d+_\d+", w)), None)
                    if attempt and words[0].endswith("java"):
                        self._read(os.path.dirname(path), attempt)
                except OSError:
                    pass  # it ended

    def _read(self, process, attempt):
        for task in glob.glob(f"{process}/task/*/stat"):
            with open(task, encoding="utf-8", errors="replace") as f:
                text = f.read()
            name = text[text.index("(") + 1:text.rindex(")")]
            fields = text[text.rindex(")") + 2:].split()
            self.seconds[attempt][task.split("/")[4], name] = tuple(int(n) / TICKS_A_SECOND for n in fields[11:13])

    def of_job(self, job):
        """Returns (fetchers' user, fetchers' system, all) in seconds, over the reduces of a job."""
        number = job.removeprefix("job_")
        times = [(name, user, system) for attempt, threads in self.seconds.items() if number in attempt
                 for (_, name), (user, system) in threads.items()]
        fetchers = [(user, system) for name, user, system in times if name.startswith("fetcher")]
        return sum(u for u, _ in fetchers), sum(s for _, s in fetchers), sum(u + s for _, u, s in times)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {text[-2000:]}")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000, help="records of 100 bytes (default 10000000)")
    parser.add_argument("--rate", default="10gbit", help="rate of the link (default 10gbit)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    examples = sorted(glob.glob(os.path.join(os.environ["HADOOP_HOME"], "examples/hadoop-mapreduce-examples-*.jar")))[-1]
    in_cluster = ["in-cluster"]
    subprocess.run([*in_cluster, "tc", "qdisc", "del", "dev", "lo", "root"], check=False, stderr=subprocess.DEVNULL)
    run([*in_cluster, "tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", options.rate, "burst", "5mb",
         "latency", "50ms"])
    run(["hadoop", "fs", "-rm", "-r", "-f", "-skipTrash", "fetchers"])
    run(["hadoop", "jar", examples, "teragen", "-D", "mapreduce.job.maps=2", str(options.rows), "fetchers/in"])
    with tempfile.NamedTemporaryFile("w", suffix=".xml", encoding="utf-8") as site:
        site.write(run([YUNTI, "hadoop", "site"]))
        site.flush()
        measure(options, examples, site.name)
    run([*in_cluster, "tc", "qdisc", "del", "dev", "lo", "root"])


def measure(options, examples, site):
    """Runs both variants in turn, and prints a line for each."""
    jar = run([YUNTI, "hadoop", "jar"]).strip()
    # Reduces begin when all maps have ended: the link alone decides how long they fetch.
    common = ["-D", "mapreduce.job.reduces=1", "-D", "mapreduce.job.reduce.slowstart.completedmaps=1.0",
              "-D", "mapreduce.reduce.memory.mb=2048", "-D", "mapreduce.reduce.java.opts=-Xmx600m"]
    variants = {
        "settings": lambda out: ["hadoop", "jar", examples, "terasort", "-conf", site, "-libjars", jar, *common,
                                 "fetchers/in", out],
        "native": lambda out: [YUNTI, "run", "terasort", "--on", "yarn", *common, "--reduces", "1", "--input",
                               "fetchers/in", "--output", out],
    }
    for round_number in range(options.rounds):
        for name, command in variants.items():
            out = f"fetchers/{name}-{round_number}"
            threads = Threads()
            begin = time.monotonic()
            text = run(command(out))
            wall = time.monotonic() - begin
            threads.stop()
            job = re.search(r"\bjob_\d+_\d+\b", text).group()
            user, system, everything = threads.of_job(job)
            print(f"{name}: reduce {everything:.2f} s of CPU; fetchers {user:.2f} s user ({user / everything:.1%}), "
                  f"{system:.2f} s system ({system / everything:.1%}); job {wall:.1f} s; load "
                  f"{os.getloadavg()[0]:.1f}; {job}", flush=True)
            run(["hadoop", "fs", "-rm", "-r", "-f", "-skipTrash", out])


if __name__ == "__main__":
    main()
