"""Programs with a cause in the machine below them (page cache, file system, network): those of host/programs.json.

An entry is as in `programs`. Its "setup" describes the environment:

  disk         an ext4 of its own on a loop device; its folder replaces {disk} in args:
                 mb, journal_mb; read_ahead_kb; read_bps, read_iops, write_bps, write_iops: limits of the device;
                 dirty_bytes: limit of its dirty data; file_mb, other_mb: uncached files `data` and `other`;
                 many, few: folders with this number of empty files; tree: folders, and files in each
  memory_mb    memory limit of a control group, for the program and its neighbours
  network      a network namespace of their own, with these settings below net.ipv4
  remote       a peer that the program calls; its port replaces {remote_port} in args
  clients      a peer that calls the program
  neighbours   peers without a connection to the program; {disk} is replaced in their words too

A peer is a program of host/peers; its arguments follow SECONDS.
"""

import contextlib
import glob
import json
import os
import subprocess
import sys
import time

import programs

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "host")
THROTTLE = "/sys/fs/cgroup/blkio/blkio.throttle."
LIMITS = {
    "read_bps": "read_bps_device",
    "read_iops": "read_iops_device",
    "write_bps": "write_bps_device",
    "write_iops": "write_iops_device",
}

with open(os.path.join(SOURCES, "programs.json")) as f:
    PROGRAMS = json.load(f)


def named(name):
    return next(p for p in PROGRAMS if p["name"] == name)


# ---- build ----


def build(chosen, folder, java_home=None):
    """Builds the `chosen` programs and their peers into `folder`."""
    java = sorted({os.path.join(SOURCES, p["source"]) for p in chosen if p["kind"] == "java"})
    native = {os.path.join(SOURCES, p["source"]) for p in chosen if p["kind"] == "c"} | set(
        glob.glob(os.path.join(SOURCES, "peers/*.c"))
    )
    if java:
        subprocess.run(
            [
                programs.tool("javac", java_home),
                "--release",
                "17",
                "-d",
                folder,
                os.path.join(SOURCES, "java/Run.java"),
                *java,
            ],
            check=True,
        )
    for source in sorted(native):
        program = os.path.join(folder, os.path.basename(source)[:-2])
        subprocess.run(["gcc", "-O2", "-g", "-Wall", "-Wextra", "-o", program, source, "-lpthread"], check=True)


def command_of(program, folder, java_home):
    match program["kind"]:
        case "java":
            return [programs.tool("java", java_home), *program["jvm_flags"], "-cp", folder, program["main"]]
        case "python":
            return [sys.executable, "-B", os.path.join(SOURCES, program["source"])]
        case _:
            return [os.path.join(folder, program["main"])]


# ---- requirements ----


def missing(program):
    """Returns the reason why `program` cannot run here, or None."""
    setup = program["setup"]
    if "disk" in setup and not (os.geteuid() == 0 and os.path.exists("/dev/loop-control")):
        return "loop devices need root and /dev/loop-control"
    if set(setup.get("disk", {})) & set(LIMITS) and not os.access(THROTTLE + "read_iops_device", os.W_OK):
        return "limits of a device for all processes need cgroup version 1"
    if "memory_mb" in setup:
        try:
            with memory_of(64):
                pass
        except OSError as e:
            return f"cannot create a control group with a memory limit: {e}"
    if "network" in setup and subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode != 0:
        return "cannot create a network namespace"
    return None


# ---- environment ----


def write(path, value):
    with open(path, "w") as f:
        f.write(str(value))


@contextlib.contextmanager
def memory_of(mb):
    """Creates a control group with a memory limit. Yields its cgroup.procs."""
    name = f"yunti-why-{os.getpid()}-{time.monotonic_ns()}"
    if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        write("/sys/fs/cgroup/cgroup.subtree_control", "+memory")
        group, limit = os.path.join("/sys/fs/cgroup", name), "memory.max"
    else:
        group, limit = os.path.join("/sys/fs/cgroup/memory", name), "memory.limit_in_bytes"
    os.mkdir(group)
    try:
        write(os.path.join(group, limit), mb << 20)
        yield os.path.join(group, "cgroup.procs")
    finally:
        programs.remove(group)


def made(folder, what):
    """Creates the files of a disk."""
    for name, mb in (("data", what.get("file_mb", 0)), ("other", what.get("other_mb", 0))):
        if mb:
            with open(os.path.join(folder, name), "wb") as f:
                piece = b"".join(b"evt%d customer=%d state=open\n" % (i % 7, i * 7919 % 10007) for i in range(40_000))[
                    : 1 << 20
                ]
                for _ in range(mb):
                    f.write(piece)
    for name in ("many", "few"):
        if name in what:
            os.mkdir(os.path.join(folder, name))
            for i in range(what[name]):
                os.close(os.open(os.path.join(folder, name, f"message-{i:06}.eml"), os.O_CREAT, 0o644))
    for i in range(what.get("tree", [0, 0])[0]):
        os.makedirs(os.path.join(folder, f"tree/d{i}"))
        for j in range(what["tree"][1]):
            os.close(os.open(os.path.join(folder, f"tree/d{i}/f{j}"), os.O_CREAT, 0o644))


@contextlib.contextmanager
def disk_of(folder, what):
    """Creates an ext4 on a loop device as `what` describes, without cached files. Yields its mount point."""
    with contextlib.ExitStack() as within:
        image, at = os.path.join(folder, "disk.img"), os.path.join(folder, "disk")
        with open(image, "wb") as f:
            f.truncate(what.get("mb", 512) << 20)
        within.callback(os.unlink, image)
        journal = ["-J", f"size={what['journal_mb']}"] if "journal_mb" in what else []
        inodes = ["-N", "300000"] if "many" in what else []
        subprocess.run(
            ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", *journal, *inodes, image],
            check=True,
        )
        # Without the cache of the image file, which would be a second one.
        device = subprocess.run(
            ["losetup", "--find", "--show", "--direct-io=on", image], check=True, capture_output=True, text=True
        ).stdout.strip()
        within.callback(subprocess.run, ["losetup", "--detach", device], check=True)
        os.makedirs(at, exist_ok=True)
        subprocess.run(["mount", device, at], check=True)
        within.callback(unmounted, at)
        made(at, what)
        for words in (["umount", at], ["mount", device, at]):
            subprocess.run(words, check=True)
        block = os.path.join("/sys/block", os.path.basename(device))
        with open(os.path.join(block, "dev")) as f:
            number = f.read().strip()
        with_before = {os.path.join(block, "queue/read_ahead_kb"): what.get("read_ahead_kb", 128)}
        for path, value in with_before.items():
            with open(path) as f:
                within.callback(write, path, f.read().strip())
            write(path, value)
        # A loop device outlives its image and keeps earlier limits.
        bdi = f"/sys/class/bdi/{number}"
        unlimited = {f"{bdi}/strict_limit": 0, f"{bdi}/max_ratio": 100}
        for path, value in unlimited.items():
            within.callback(write, path, value)
            write(path, value)
        if "dirty_bytes" in what:
            write(f"{bdi}/strict_limit", 1)
            write(f"{bdi}/max_bytes", what["dirty_bytes"])
        for limit, file in LIMITS.items():
            if limit in what:
                within.callback(write, THROTTLE + file, f"{number} 0")
                write(THROTTLE + file, f"{number} {what[limit]}")
        yield at


def unmounted(at):
    for _ in range(100):
        if subprocess.run(["umount", at], capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    subprocess.run(["umount", at], check=True)


@contextlib.contextmanager
def network_of(settings):
    """Creates a network namespace with a loopback. Yields the words that run a command in it."""
    holder = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 600"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline() == "up\n"
        enter = ["nsenter", "--target", str(holder.pid), "--net"]
        for name, value in settings.items():
            subprocess.run([*enter, "sh", "-c", f'echo "{value}" > /proc/sys/net/ipv4/{name}'], check=True)
        yield enter
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


@contextlib.contextmanager
def peer(words, folder, seconds, inside, *first):
    name, *args = words
    path = (
        [sys.executable, "-B", os.path.join(SOURCES, "peers", name)]
        if name.endswith(".py")
        else [os.path.join(folder, name)]
    )
    process = programs.Process(
        [*inside, *path, str(seconds + programs.NEIGHBOUR_SECONDS_MORE), *map(str, first), *args], folder
    )
    try:
        yield process
    finally:
        process.stop()


@contextlib.contextmanager
def started(program, folder, java_home=None, seconds=60, cured=None):
    """Runs `program` from `folder`. Yields its process in its steady state, and stops everything afterwards."""
    program = programs.as_started(program, cured)
    setup = program["setup"]
    with contextlib.ExitStack() as within:
        inside, values = [], {}
        if "disk" in setup:
            values["{disk}"] = within.enter_context(disk_of(folder, setup["disk"]))
        if "memory_mb" in setup:
            procs = within.enter_context(memory_of(setup["memory_mb"]))
            inside += ["sh", "-c", f'echo $$ > {procs} && exec "$@"', "sh"]
        if "network" in setup:
            inside += within.enter_context(network_of(setup["network"]))
        if "remote" in setup:
            values["{remote_port}"] = within.enter_context(peer(setup["remote"], folder, seconds, inside)).line_with(
                "listening"
            )

        def words(given):
            return [values.get(word, word) for word in given]

        process = programs.Process(
            [*inside, *command_of(program, folder, java_home), str(seconds), *words(program["args"])], folder
        )
        within.callback(process.stop)
        if "clients" in setup:
            name, *rest = setup["clients"]
            within.enter_context(peer([name, *rest], folder, seconds, inside, process.line_with("listening")))
        process.line_with("ready")
        for neighbour in setup.get("neighbours", []):
            within.enter_context(peer(words(neighbour), folder, seconds, inside)).line_with("ready")
        time.sleep(program.get("warm_up_seconds", 0))
        yield process
