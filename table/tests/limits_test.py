"""yunti table serve at its limits: very many connections, and a table larger than the memory of the server.

    make table && YUNTI=dist/bin/yunti python3 table/tests/limits_test.py
"""

import contextlib
import os
import random
import re
import resource
import select
import socket
import struct
import subprocess
import sys
import time
import unittest

from serve_test import Serving
from table_test import ROOT, YUNTI, Case

sys.path.insert(0, os.path.join(ROOT, "tools/tests"))
from long_tests import long_test

HELLO, OPEN, GET, ERROR, FULL = 1, 2, 3, 0, 7
SECONDS_MAX = 60


def anonymous_bytes(process):
    """Returns the memory of a process that is its own: without the pages of files that it maps."""
    with open(f"/proc/{process.pid}/status") as status:
        return 1024 * int(re.search(r"RssAnon:\s+(\d+) kB", status.read()).group(1))


def mapped_bytes(process, name):
    """Returns the pages of a file that are in the memory of a process."""
    with open(f"/proc/{process.pid}/smaps") as maps:
        return 1024 * int(re.search(rf"{name}\n(?:.*\n)*?Rss:\s+(\d+) kB", maps.read()).group(1))


def string(text):
    return struct.pack("<H", len(text)) + text.encode()


class Connection:
    """One connection with a table open; its requests and responses are bytes, so that a test may send half of one."""

    def __init__(self, path, table):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(SECONDS_MAX)
        self.socket.connect(path)
        self.sent = 0
        self.request(HELLO, b"YTSV" + struct.pack("<H", 2) + string(""))
        self.handle = self.request(OPEN, string(table) + struct.pack("<H", 0xFFFF))[:4]

    def frame(self, kind, payload):
        self.sent += 1
        return struct.pack("<IIB", len(payload) + 5, self.sent, kind) + payload

    def keys(self, keys):
        """Returns the frame of a request for integer keys."""
        all_keys = b"".join(struct.pack("<Bq", 8, key) for key in keys)
        return self.frame(GET, self.handle + struct.pack("<BI", 0, len(keys)) + all_keys)

    def read(self, count):
        data = bytearray()
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise ConnectionError("the server closed the connection")
            data += part
        return bytes(data)

    def response(self):
        """Returns number, kind and payload of the next response."""
        length, number, kind = struct.unpack("<IIB", self.read(9))
        return number, kind, self.read(length - 5)

    def request(self, kind, payload):
        self.socket.sendall(self.frame(kind, payload))
        number, got, answer = self.response()
        if got != kind or number != self.sent:
            raise ConnectionError(answer[4:].decode(errors="replace"))
        return answer

    def get(self, keys):
        self.socket.sendall(self.keys(keys))
        number, kind, rows = self.response()
        assert (number, kind) == (self.sent, GET), (number, kind, rows)
        return rows

    def close(self):
        self.socket.close()


class Connections(Serving):
    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.descriptors_max = hard

    def test_hundreds_of_connections(self):
        self.hold(400, slow=3)

    @long_test
    def test_ten_thousand_connections(self):  # 20 s
        count = min(10_000, self.descriptors_max - 300)
        if count < 10_000:
            print(f"only {count} connections: ulimit -Hn is {self.descriptors_max}", file=sys.stderr)
        self.hold(count, slow=12)

    def hold(self, count, slow):
        """Fills a server with connections: idle ones, slow readers, frames that are sent in halves, and live ones."""
        keys = [3 * n for n in range(1000)]
        flags = ["--connections", str(count), "--threads", "4"]
        with self.served("users.ytab", *flags) as (process, _), contextlib.ExitStack() as stack:
            path = os.path.join(self.folder, "socket")

            def connect():
                one = Connection(path, "users")
                stack.callback(one.close)
                return one

            live = [connect() for _ in range(4)]
            rows, few = live[0].get(keys), live[0].get(keys[:3])
            self.assertIn(b"name 999", rows)
            before = anonymous_bytes(process)
            idle = []
            for number in range(count - len(live)):
                idle.append(connect())
                # Each has used the buffers of its server: for a long response, or a short one.
                wanted, expect = (keys, rows) if number % 10 == 0 else (keys[:3], few)
                self.assertEqual(idle[-1].get(wanted), expect)
                if number % 50 == 0:
                    self.assertEqual(live[number % 4].get(keys), rows)
            each = (anonymous_bytes(process) - before) / len(idle)
            print(f"{count} connections: {each:.0f} bytes each", file=sys.stderr)
            self.assertLess(each, 4096, "bytes of an idle connection")
            self.refuses_more(path)

            # Half of a frame: the others are answered, and the rest of it is worth an answer.
            halves = idle[: count // 4]
            frames = [one.keys(keys[:3]) for one in halves]
            for one, frame in zip(halves, frames):
                one.socket.sendall(frame[: len(frame) // 2])
            # Readers that do not read: the server keeps at most 4 MiB for each, and reads none of their requests.
            readers = idle[-slow:]
            sent = [self.send_until_full(one, keys) for one in readers]
            held = anonymous_bytes(process) - before
            self.assertLess(held, slow * (6 << 20) + count * 4096, "bytes with slow readers and halves of frames")
            for number in range(100):
                self.assertEqual(live[number % 4].get(keys), rows)
            for one, frame in zip(halves, frames):
                one.socket.sendall(frame[len(frame) // 2 :])
            self.assertTrue(all(one.response()[2] == few for one in halves))
            for one, (requests, rest) in zip(readers, sent):
                one.socket.setblocking(True)
                one.socket.settimeout(SECONDS_MAX)
                self.assertTrue(all(one.response()[2] == rows for _ in range(requests - 1)))
                one.socket.sendall(rest)
                self.assertEqual(one.response()[2], rows)
            for one in idle:
                self.assertEqual(one.get(keys[:3]), few)

            # Others leave, and the next ones are welcome.
            self.refuses_more(path)
            for one in idle[:10]:
                one.close()
            for _ in range(10):
                self.assertEqual(self.connect_soon(connect).get(keys), rows)
            self.refuses_more(path)

    def refuses_more(self, path):
        """Checks the answer to one connection more than the server may have."""
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as one:
            one.settimeout(SECONDS_MAX)
            one.connect(path)
            said = b"".join(iter(lambda: one.recv(4096), b""))
        length, number, kind, code, text = struct.unpack("<IIBHH", said[:13])
        self.assertEqual((number, kind, code, len(said)), (0, ERROR, FULL, length + 4))
        self.assertEqual(said[13:].decode(), "the server has as many connections as it may have")
        self.assertEqual(text, len(said) - 13)
        self.assertIn("the server has as many connections as it may have", self.get("unix:socket", "3", code=3))

    def connect_soon(self, connect):
        end = time.monotonic() + SECONDS_MAX
        while True:
            try:
                return connect()
            except (ConnectionError, BrokenPipeError):
                self.assertLess(time.monotonic(), end, "a connection left, and no other is accepted")
                time.sleep(0.01)

    def send_until_full(self, one, keys):
        """Sends requests until the server reads no more. Returns their number, and what is left of the last."""
        one.socket.setblocking(False)
        ready = select.poll()
        ready.register(one.socket, select.POLLOUT)
        frames = 0
        while True:
            frame = one.keys(keys)
            frames += 1
            while frame:
                if not ready.poll(300):
                    return frames, frame
                frame = frame[one.socket.send(frame) :]
            self.assertLess(frames, 3000, "the server reads on, although nobody reads its responses")


class MemoryLimit:
    """A control group with a limit of memory, of version 2 or 1. Processes that `command` begins are in it."""

    def __init__(self, limit_bytes):
        self.limit_bytes = limit_bytes
        name = f"yunti-test-{os.getpid()}"
        # The root of version 2 hands its controllers to groups below it; version 1 has one tree for each controller.
        with open("/proc/self/cgroup") as file:
            places = dict(line.strip().split(":", 2)[1:] for line in file)
        below = places.get("memory", "/").strip("/")
        if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            with contextlib.suppress(OSError):
                self.write("/sys/fs/cgroup/cgroup.subtree_control", "+memory")
            self.folder = f"/sys/fs/cgroup/{name}"
            self.files = {"limit": "memory.max", "peak": "memory.peak", "killed": "memory.events"}
        else:
            self.folder = os.path.join("/sys/fs/cgroup/memory", below, name)
            self.files = {"limit": "memory.limit_in_bytes", "peak": "memory.max_usage_in_bytes",
                          "killed": "memory.oom_control"}
        os.mkdir(self.folder)
        try:
            self.write(os.path.join(self.folder, self.files["limit"]), str(limit_bytes))
        except OSError:
            os.rmdir(self.folder)
            raise
        if not os.path.exists(os.path.join(self.folder, self.files["peak"])):
            # Kernels before 5.19.
            self.files["peak"] = "memory.current"

    @staticmethod
    def write(path, text):
        with open(path, "w") as file:
            file.write(text)

    def read(self, what):
        with open(os.path.join(self.folder, self.files[what])) as file:
            return file.read()

    def command(self, words):
        """Returns a command that runs another one in the group."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', os.path.join(self.folder, "cgroup.procs"), *words]

    def kills(self):
        found = re.search(r"^oom_kill (\d+)$", self.read("killed"), re.M)
        return int(found.group(1)) if found else 0

    def close(self):
        os.rmdir(self.folder)


class LargerThanMemory(Case):
    KEYS = 600_000
    SHARE = 3

    @staticmethod
    def text(key):
        return f"{key * 2654435761 % (1 << 32):08x}" * 12

    def make(self):
        """Builds the table, and takes its pages out of the memory: they would count for the group of the builder."""
        path = os.path.join(self.folder, "large.csv")
        with open(path, "w") as file:
            file.write("id,text\n")
            for begin in range(0, self.KEYS, 10_000):
                file.write("".join(f"{key},{self.text(key)}\n" for key in range(begin, begin + 10_000)))
        self.table("build", "large.csv", "--key", "id:i64", "-q", "-o", "large.ytab")
        os.remove(path)
        self.forget()
        return os.path.getsize(os.path.join(self.folder, "large.ytab"))

    def forget(self):
        with open(os.path.join(self.folder, "large.ytab"), "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    @long_test
    def test_a_table_of_three_times_the_memory(self):  # 40 s
        system = subprocess.run(["stat", "-f", "-c", "%T", self.folder], capture_output=True, text=True, check=True)
        if system.stdout.strip() in ("tmpfs", "ramfs"):
            self.skipTest(f"{self.folder} is memory itself: set TMPDIR to a folder on a disk")
        size = self.make()
        try:
            limit = MemoryLimit(size // self.SHARE)
        except OSError as e:
            self.skipTest(f"no control group with a limit of memory can be made here: {e}")
        self.addCleanup(limit.close)
        speeds = {}
        for name, command in (("in memory", list), ("beyond memory", limit.command)):
            self.forget()
            process = subprocess.Popen(command([YUNTI, "table", "serve", "large.ytab", "--listen", "unix:socket"]),
                                       cwd=self.folder, stdout=subprocess.PIPE, text=True)
            try:
                self.assertIn("listening", process.stdout.readline())
                if name == "in memory":
                    self.table("warm", "large.ytab")
                speeds[name] = self.look_up(process, size // self.SHARE if name == "beyond memory" else 2 * size)
                self.assertIsNone(process.poll(), "the server has ended")
                with open(f"/proc/{process.pid}/stat") as stat:
                    faults = int(stat.read().rpartition(")")[2].split()[9])
            finally:
                process.terminate()
                self.assertEqual(process.wait(SECONDS_MAX), 0)
                process.stdout.close()
        # It has read pages again and again, so that the limit was one.
        self.assertGreater(faults, 1000, "page faults that read the disk")
        self.assertLessEqual(int(limit.read("peak")), limit.limit_bytes)
        self.assertEqual(limit.kills(), 0)
        print(f"{size} bytes, limit {limit.limit_bytes}, {faults} faults: {speeds}", file=sys.stderr)

    def look_up(self, process, resident_max):
        """Looks up keys in random order, one by one and in batches. Returns keys a second of both."""
        client = Connection(os.path.join(self.folder, "socket"), "large")
        self.addCleanup(client.close)
        chance = random.Random(7)
        speeds = []
        for batch, rounds in ((1, 4000), (1000, 60)):
            spent = 0.0
            for round_of in range(rounds):
                keys = [chance.randrange(self.KEYS * 21 // 20) for _ in range(batch)]
                begin = time.monotonic()
                rows = client.get(keys)
                spent += time.monotonic() - begin
                self.check(keys, rows)
                if round_of % 20 == 0:
                    resident = anonymous_bytes(process) + mapped_bytes(process, "large.ytab")
                    self.assertLess(resident, resident_max)
            speeds.append(round(batch * rounds / spent))
        return speeds

    def check(self, keys, rows):
        """Compares a response with the rows that the keys have."""
        at = 0
        for key in keys:
            if key >= self.KEYS:
                expect = b"\0"
            else:
                text = self.text(key).encode()
                row = struct.pack("<qB", key, len(text)) + text
                expect = bytes([1, len(row)]) + row
            self.assertEqual(rows[at : at + len(expect)], expect)
            at += len(expect)
        self.assertEqual(at, len(rows))


if __name__ == "__main__":
    unittest.main()
