"""Programs with a known cause: builds, starts and stops the programs of programs.json.

An entry of programs.json describes how to start a program. "cured" has the differences of its start without each of
its causes. "setup" describes the environment:

  remote            a neighbour that the program calls; its port replaces {remote_port} in args
  clients           a neighbour that calls the program, at the port that the program prints
  neighbours        neighbours without a connection to the program
  resolver          a name server at 127.0.0.153, in a mount namespace whose resolv.conf names it
  cgroup_cpu_quota  processors that the program may use, by a cgroup of its own
  mappings          number of mappings that the program makes and the kernel must allow

A neighbour is a C program of programs/neighbours; its arguments follow SECONDS.
"""

import contextlib
import glob
import json
import os
import re
import signal
import socket
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "programs")
RESOLVER = "127.0.0.153"
PERIOD_US = 100_000
MAPPINGS_MORE = 500
NEIGHBOUR_SECONDS_MORE = 30

with open(os.path.join(HERE, "programs.json")) as f:
    PROGRAMS = json.load(f)


def named(name):
    return next(p for p in PROGRAMS if p["name"] == name)


def as_started(program, cured=None):
    """Returns the entry without the cause `cured`. Arguments are added, everything else is replaced."""
    differs = program["cured"][cured] if cured else {}
    setup = {**program["setup"], **differs.get("setup", {})}
    return {
        **program,
        "jvm_flags": differs.get("jvm_flags", program["jvm_flags"]),
        "args": program["args"] + differs.get("args", []),
        "setup": {what: how for what, how in setup.items() if how is not None},
    }


# ---- build ----


def build(programs, folder, java_home=None):
    """Builds `programs` and their neighbours into `folder`."""
    java = [os.path.join(SOURCES, p["source"]) for p in programs if p["kind"] == "java"]
    native = [os.path.join(SOURCES, p["source"]) for p in programs if p["kind"] == "c"]
    if java:
        subprocess.run([tool("javac", java_home), "--release", "17", "-d", folder, *java], check=True)
    for source in native + glob.glob(os.path.join(SOURCES, "neighbours/*.c")):
        program = os.path.join(folder, os.path.basename(source)[:-2])
        subprocess.run(["gcc", "-O2", "-g", "-Wall", "-Wextra", "-o", program, source, "-lpthread"], check=True)


def tool(name, java_home):
    return os.path.join(java_home, "bin", name) if java_home else name


# ---- requirements ----


def missing(program):
    """Returns the reason why `program` cannot run here, or None."""
    setup = program["setup"]
    if "mappings" in setup:
        with open("/proc/sys/vm/max_map_count") as f:
            allowed = int(f.read())
        if allowed < setup["mappings"] + MAPPINGS_MORE:
            return f"vm.max_map_count is {allowed}; {setup['mappings'] + MAPPINGS_MORE} mappings are needed"
    if "cgroup_cpu_quota" in setup:
        try:
            with quota_of(1):
                pass
        except OSError as e:
            return f"cannot create a control group with a CPU quota: {e}"
    if "resolver" in setup:
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
            return "only root can create a mount namespace"
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.bind((RESOLVER, 53))
        except OSError as e:
            return f"a resolver cannot listen at {RESOLVER}, port 53: {e}"
    return None


@contextlib.contextmanager
def quota_of(processors):
    """Creates a cgroup with a CPU quota, of version 1 or 2. Yields its cgroup.procs."""
    name = f"yunti-why-{os.getpid()}-{time.monotonic_ns()}"
    quota_us = int(processors * PERIOD_US)
    if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        with open("/sys/fs/cgroup/cgroup.subtree_control", "w") as f:
            f.write("+cpu")
        group, limits = os.path.join("/sys/fs/cgroup", name), {"cpu.max": f"{quota_us} {PERIOD_US}"}
    else:
        group, limits = (
            os.path.join("/sys/fs/cgroup/cpu", name),
            {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": quota_us},
        )
    os.mkdir(group)
    try:
        for file, value in limits.items():
            with open(os.path.join(group, file), "w") as f:
                f.write(str(value))
        yield os.path.join(group, "cgroup.procs")
    finally:
        remove(group)


def remove(group):
    """Removes a cgroup, which is busy until its last process is gone."""
    for _ in range(50):
        try:
            return os.rmdir(group)
        except OSError:
            time.sleep(0.1)
    os.rmdir(group)


# ---- start and stop ----


class Process:
    """A program or a neighbour, whose output is read line by line."""

    def __init__(self, command, folder):
        self.name = os.path.basename(command[0])
        self.popen = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.pid = self.popen.pid

    def line_with(self, word):
        """Waits for the next line that begins with `word`. Returns the rest of the line."""
        for line in self.popen.stdout:
            if line.split(" ")[0].strip() == word:
                return line.strip()[len(word) :].strip()
        raise RuntimeError(f"{self.name} ended before it printed {word!r}, with exit status {self.popen.wait()}")

    def operations(self):
        """Waits for the end. Returns the operations per second."""
        count, seconds = re.fullmatch(r"(\d+) in ([\d.]+) s", self.line_with("operations")).groups()
        self.popen.wait()
        return int(count) / float(seconds)

    def stop(self):
        """Kills the program and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.popen.wait()
        self.popen.stdout.close()


@contextlib.contextmanager
def neighbour(words, folder, seconds, *first):
    program, *args = words
    process = Process(
        [os.path.join(folder, program), str(seconds + NEIGHBOUR_SECONDS_MORE), *map(str, first), *args], folder
    )
    try:
        yield process
    finally:
        process.stop()


def inside(setup, folder, within):
    """Returns the words before a command that run it in the cgroup and the mount namespace of its setup."""
    words = []
    if "cgroup_cpu_quota" in setup:
        procs = within.enter_context(quota_of(setup["cgroup_cpu_quota"]))
        words += ["sh", "-c", f'echo $$ > {procs} && exec "$@"', "sh"]
    if "resolver" in setup:
        path = os.path.join(folder, "resolv.conf")
        with open(path, "w") as f:
            f.write(f"nameserver {RESOLVER}\noptions timeout:5 attempts:2\n")
        words += ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
        words += [f'mount --bind "{path}" /etc/resolv.conf && exec "$@"', "sh"]
    return words


@contextlib.contextmanager
def started(program, folder, java_home=None, seconds=60, cured=None):
    """Runs `program` from `folder`. Yields its process in its steady state, and stops everything afterwards."""
    program = as_started(program, cured)
    setup = program["setup"]
    with contextlib.ExitStack() as within:
        args = program["args"]
        if "remote" in setup:
            remote = within.enter_context(neighbour(setup["remote"], folder, seconds))
            port = remote.line_with("listening")
            args = [a.replace("{remote_port}", port) for a in args]
        others = setup.get("neighbours", []) + ([setup["resolver"]] if "resolver" in setup else [])
        for other in others:
            within.enter_context(neighbour(other, folder, seconds)).line_with("ready")
        command = inside(setup, folder, within)
        if program["kind"] == "java":
            command += [tool("java", java_home), *program["jvm_flags"], "-cp", folder, program["main"]]
        else:
            command += [os.path.join(folder, program["main"])]
        process = Process([*command, str(seconds), *args], folder)
        within.callback(process.stop)
        if "clients" in setup:
            port = process.line_with("listening")
            within.enter_context(neighbour(setup["clients"], folder, seconds, port))
        process.line_with("ready")
        yield process

