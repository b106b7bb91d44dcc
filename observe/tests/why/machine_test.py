"""`yunti observe why` on programs with causes in the file system, the page cache or connections, and on healthy ones
that look alike."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "../../../machine/tests")]
from cgroup_test import VERSION_2, group, memory_limit, needs_groups  # noqa: E402
from images import MIB, do, image  # noqa: E402
from looking import YUNTI, needs_loop_devices, require_programs_in_the_kernel  # noqa: E402
import twice  # noqa: E402  (looking.py knows where it is)

SECONDS = 3
# Each prints `ready`, and ends with its parent.
BEGIN = """
import ctypes, mmap, os, random, socket, sys, threading, time
ctypes.CDLL(None).prctl(1, 9)
def threads(count, act, *words):
    for n in range(count): threading.Thread(target=act, args=(n, *words), daemon=True).start()
def ready():
    print("ready", flush=True)
    time.sleep(90)
"""
FSYNC = """
def write(n):
    fd = os.open(f"{sys.argv[1]}/log{n}", os.O_WRONLY | os.O_CREAT)
    while True:
        os.write(fd, b"an entry of some length, that may not be lost\\n")
        os.fsync(fd)
threads(3, write)
ready()
"""
BATCHES = """
def write(n):
    fd = os.open(f"{sys.argv[1]}/log{n}", os.O_WRONLY | os.O_CREAT)
    while True:
        os.write(fd, b"an entry of some length, that may not be lost\\n" * 100)
        os.fsync(fd)
        time.sleep(0.25)
threads(1, write)
ready()
"""
FILES = """
def make(n):
    folder = f"{sys.argv[1]}/d{n}"
    os.makedirs(folder, exist_ok=True)
    while True:
        for i in range(2000):
            os.close(os.open(f"{folder}/f{i}", os.O_WRONLY | os.O_CREAT))
            os.rename(f"{folder}/f{i}", f"{folder}/g{i}")
        for i in range(2000):
            os.unlink(f"{folder}/g{i}")
# More than a few: on a fast disk each waits for a part of the time alone.
threads(8, make)
ready()
"""
SCAN = """
folder = f"{sys.argv[1]}/spool"
os.makedirs(folder)
for i in range(20000): os.close(os.open(f"{folder}/message-{i}", os.O_WRONLY | os.O_CREAT))
def newest(n):
    while True: max((e.stat().st_mtime, e.name) for e in os.scandir(folder))
threads(1, newest)
ready()
"""
DIRTY = """
def write(n):
    fd = os.open(f"{sys.argv[1]}/out{n}", os.O_WRONLY | os.O_CREAT)
    data = bytes(1 << 20)
    while True:
        for i in range(64): os.pwrite(fd, data, i << 20)
threads(2, write)
ready()
"""
READ = """
def read(n):
    with open(f"{sys.argv[1]}/data", "rb", buffering=8192) as f:
        while True:
            while f.read(8192): pass
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            f.seek(0)
threads(1, read)
ready()
"""
AGAIN = """
fd = os.open(sys.argv[1] + "/set", os.O_RDONLY)
size = os.fstat(fd).st_size
def use(n):
    while True:
        at = random.randrange(size // 4096) * 4096
        os.pread(fd, 4096, at)
threads(2, use)
ready()
"""
STREAM = """
def stream(n):
    fd = os.open(sys.argv[1] + "/stream", os.O_RDONLY)
    while True:
        while os.read(fd, 1 << 20): pass
        os.lseek(fd, 0, 0)
threads(1, stream)
ready()
"""
SERVICE = """
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(int(sys.argv[2]))
def accept(n):
    while True:
        connection, _ = listening.accept()
        time.sleep(float(sys.argv[3]))
        connection.sendall(b"hello\\n")
        connection.close()
def call(n):
    while True:
        try:
            with socket.create_connection(listening.getsockname(), timeout=5) as s: s.recv(10)
        except OSError: pass
        time.sleep(float(sys.argv[4]))
threads(1, accept)
# The callers are another process, which does not count.
if os.fork() == 0:
    ctypes.CDLL(None).prctl(1, 9)
    threads(int(sys.argv[5]), call)
    time.sleep(90)
ready()
"""
CALLS = """
listening = socket.socket()
listening.bind(("127.0.0.1", 9999))
listening.listen(128)
if os.fork() == 0:
    ctypes.CDLL(None).prctl(1, 9)
    while True:
        connection, _ = listening.accept()
        connection.recv(10)
        connection.recv(10)
        connection.close()
listening.close()
def call(n):
    while True:
        s = socket.socket()
        try:
            s.connect(("127.0.0.1", 9999))
            s.sendall(b"x")
        except OSError:
            time.sleep(0.05)
        s.close()
        time.sleep(float(sys.argv[2]))
threads(1, call)
time.sleep(2)
ready()
"""


class Volume:
    """A file system on a loop device of its own, which can be slowed down."""

    def __init__(self, stack, folder, *options, mib=256, throttle=None):
        self.stack = stack
        path = image(os.path.join(folder, f"image-{time.monotonic_ns()}"), *options, mib=mib)
        self.device = do("losetup", "-f", "--show", path).strip()
        stack.callback(do, "losetup", "-d", self.device)
        self.at = tempfile.mkdtemp(dir=folder)
        do("mount", self.device, self.at)
        stack.callback(do, "umount", self.at)
        with open(f"/sys/block/{os.path.basename(self.device)}/dev") as f:
            self.number = f.read().strip()

    def set(self, **values):
        for name, value in values.items():
            # A loop device outlives its image and keeps its settings. The kernel stores max_bytes as a ratio.
            kept = "max_ratio" if name == "max_bytes" else name
            with open(f"/sys/class/bdi/{self.number}/{kept}") as f:
                self.stack.callback(self.write, kept, f.read().strip())
            self.write(name, value)

    def write(self, name, value):
        with open(f"/sys/class/bdi/{self.number}/{name}", "w") as f:
            f.write(str(value))


@contextlib.contextmanager
def started(program, *words, before=()):
    process = subprocess.Popen(
        [*before, sys.executable, "-c", BEGIN + program, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout.readline().strip() == "ready"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def answer_for(process):
    done = subprocess.run(
        [YUNTI, "observe", "why", "--json", "-p", str(process.pid), "-s", str(SECONDS)],
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def few_reads(name, number, per_second):
    """Creates a control group with a limit of reads per second from a device."""
    return group(
        name,
        **(
            {"io__max": f"{number} riops={per_second}"}
            if VERSION_2
            else {"blkio__throttle__read_iops_device": f"{number} {per_second}"}
        ),
    )


OF_PROCESSORS = ("cpu-neighbour", "one-thread")


@needs_loop_devices
class Why(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.name = f"yunti-why-{os.getpid()}-{time.monotonic_ns()}"

    def check(self, *expected, program, words=(), before=()):
        process = self.stack.enter_context(started(program, *words, before=before))
        document = answer_for(process)
        # Other tests may take the processors. A program of one thread whose reads find their pages computes.
        causes = [found["cause"] for found in document["causes"] if found["cause"] not in OF_PROCESSORS]
        self.assertEqual(
            causes[:1],
            list(expected),
            (document["answer"], document["causes"], document["disk_waits"], document["skipped"]),
        )
        return document

    def test_fsync_storm(self):
        volume = Volume(self.stack, self.folder)
        self.check("fsync-storm", program=FSYNC, words=[volume.at])

    def test_entries_in_batches_are_healthy(self):
        volume = Volume(self.stack, self.folder)
        self.check(program=BATCHES, words=[volume.at])

    def test_directory_scan(self):
        volume = Volume(self.stack, self.folder, "-N", "30000")
        self.check("directory-scan", program=SCAN, words=[volume.at])

    def test_dirty_throttling(self):
        volume = Volume(self.stack, self.folder)
        volume.set(strict_limit=1, max_bytes=4 * MIB)
        self.check("dirty-throttling", program=DIRTY, words=[volume.at])

    def test_journal(self):
        volume = Volume(self.stack, self.folder, "-b", "1024", "-J", "size=1", "-N", "20000")
        self.check("journal", program=FILES, words=[volume.at])

    @needs_groups
    def test_read_ahead_too_small(self):
        volume = Volume(self.stack, self.folder)
        volume.set(read_ahead_kb=8)
        self.filled(volume, data=128)
        within = self.stack.enter_context(few_reads(self.name, volume.number, 400))
        self.check("read-ahead-too-small", program=READ, words=[volume.at], before=within)

    def test_reads_with_enough_read_ahead_are_healthy(self):
        volume = Volume(self.stack, self.folder)
        self.filled(volume, data=32)
        self.check(program=READ.replace("os.posix_fadvise", "(lambda *_: None)"), words=[volume.at])

    @needs_groups
    def test_cache_thrash(self):
        volume = Volume(self.stack, self.folder, mib=400)
        self.filled(volume, set=24, stream=200)
        within = self.stack.enter_context(group(self.name, **memory_limit(48 * MIB)))
        self.stack.enter_context(started(STREAM, volume.at, before=within))
        document = self.check("cache-thrash", program=AGAIN, words=[volume.at], before=within)
        self.assertIn(
            "python", next(found["sentence"] for found in document["causes"] if found["cause"] == "cache-thrash")
        )

    def filled(self, volume, **mib):
        for name, count in mib.items():
            path = os.path.join(volume.at, name)
            with open(path, "wb") as f:
                for _ in range(count):
                    f.write(os.urandom(MIB))
                os.fsync(f.fileno())
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def test_listen_overflow(self):
        document = self.check("listen-overflow", program=SERVICE, words=[self.folder, 2, 0.05, 0.01, 12])
        self.assertGreater(document["listen_overflows"], 5)

    def test_a_service_that_accepts_in_time_is_healthy(self):
        self.check(program=SERVICE, words=[self.folder, 128, 0.001, 0.1, 4])

    def test_time_wait_exhaustion(self):
        inside = [
            "unshare",
            "--net",
            "sh",
            "-c",
            "ip link set lo up && echo 40000 40299 > /proc/sys/net/ipv4/ip_local_port_range"
            ' && echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse && exec "$@"',
            "sh",
        ]
        self.check("time-wait-exhaustion", program=CALLS, words=[self.folder, 0.002], before=inside)

    def test_few_connections_in_time_wait_are_healthy(self):
        inside = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        self.check(program=CALLS, words=[self.folder, 0.05], before=inside)


if __name__ == "__main__":
    twice.main()
