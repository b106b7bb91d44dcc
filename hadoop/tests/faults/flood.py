"""Self-checking job of these tests (hadoop/faults, Flood), stock and with the plug-in."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from live_cluster import BRIEF, PROMPT, ROOT, Cluster, counter, shared  # noqa: E402, F401

FAULTS = os.path.join(ROOT, "build/hadoop/yunti-hadoop-faults")
JAR = os.path.join(FAULTS, "yunti-hadoop-faults.jar")
PLUGIN = os.path.join(ROOT, "build/hadoop/yunti-hadoop/yunti-hadoop.jar")
LOG = os.path.join(ROOT, "hadoop/cluster/log4j.properties")
NATIVE = ["-Dmapreduce.job.map.output.collector.class=org.yunti.hadoop.collect.NativeMapOutputCollector,"
          "org.apache.hadoop.mapred.MapTask$MapOutputBuffer",
          "-Dmapreduce.job.reduce.shuffle.consumer.plugin.class=org.yunti.hadoop.shuffle.NativeShuffle"]
# Variant -> arguments of its jobs.
VARIANTS = {"stock": [], "ours": ["-libjars", PLUGIN, *NATIVE]}


def build():
    """Builds the jar of hadoop/faults and the class path for jobs without a cluster."""
    path = os.path.join(FAULTS, "class-path")
    subprocess.run(["mvn", "-q", "-B", "-f", "faults/pom.xml", "package", "dependency:build-classpath", f"-Dmdep.outputFile={path}",
                    "-Dmdep.includeScope=runtime"], cwd=os.path.join(ROOT, "hadoop"), check=True)


def command(variant, settings):
    """Returns the command line of a flood on a cluster."""
    words = [f"-D{name}={value}" for name, value in settings.items()]
    return ["hadoop", "jar", JAR, "org.yunti.hadoop.faults.Flood", *VARIANTS[variant], *PROMPT, *words]


def local(variant, program, *arguments, java=(), shell="", seconds=600):
    """Runs a program of hadoop/faults in one JVM, with LocalJobRunner. `shell` is run before it."""
    with open(os.path.join(FAULTS, "class-path"), encoding="utf-8") as file:
        path = ":".join([JAR, PLUGIN, file.read().strip()])
    words = [word for word in VARIANTS[variant] if word not in ("-libjars", PLUGIN)]
    java = ["java", "-XX:+UseSerialGC", f"-Dlog4j.configuration=file:{LOG}", "-Dhadoop.root.logger=INFO,console",
            *java, "-cp", path, f"org.yunti.hadoop.faults.{program}", *words, *PROMPT,
            f"-Dhadoop.tmp.dir={FAULTS}/tmp", *arguments]
    done = subprocess.run(["bash", "-c", shell + ' exec "$@"', "bash", *java], cwd=FAULTS, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=seconds)
    return done.returncode, done.stdout


def served(printed, tasks):
    """Fails unless native code served `tasks` tasks and declined none."""
    assert counter(printed, "native") >= tasks and "declined:" not in printed, printed[-6000:]
