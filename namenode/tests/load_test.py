"""Tests of `yunti nn load` on a stock NameNode, and on other servers."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
from stock import ROOT, NameNode, jars  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "tools/tests"))
import twice  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))


def load(*words, code=0, before=None):
    run = subprocess.run(
        [YUNTI, "nn", "load", *map(str, words)], capture_output=True, text=True, timeout=120, preexec_fn=before
    )
    assert run.returncode == code, (run.returncode, run.stdout, run.stderr)
    return run


class Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("then", ctypes.c_uint8),
        ("otherwise", ctypes.c_uint8),
        ("number", ctypes.c_uint32),
    ]


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(Instruction))]


def no_io_uring():
    """Forbids io_uring to a process and its children, as containers do: io_uring_setup fails with EPERM."""
    load_number, jump_if_equal, answer = 0x20, 0x15, 0x06
    program = (Instruction * 4)(
        (load_number, 0, 0, 0), (jump_if_equal, 0, 1, 425), (answer, 0, 0, 0x00050001), (answer, 0, 0, 0x7FFF0000)
    )
    no_new_privileges, seccomp, by_filter = 38, 22, 2
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
    assert libc.prctl(seccomp, by_filter, ctypes.byref(Filter(4, program)), 0, 0) == 0, ctypes.get_errno()


class Load(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.namenode = cls.enterClassContext(NameNode({"dfs.namenode.fs-limits.min-block-size": 0}))

    def measure(self, *words, code=0, before=None):
        return json.loads(
            load(self.namenode.address, "-s", 2, "--warm-up", 1, "--json", *words, code=code, before=before).stdout
        )

    def children(self, path):
        """Names in a directory, from the NameNode's web server instead of our RPC client."""
        from urllib.request import urlopen
        with urlopen(f"http://127.0.0.1:{self.namenode.web}/webhdfs/v1{path}?op=LISTSTATUS", timeout=20) as answer:
            return [status["pathSuffix"] for status in json.load(answer)["FileStatuses"]["FileStatus"]]

    def test_all_operations_succeed(self):
        mix = (
            "null=1,getFileInfo=2,getListing=1,getBlockLocations=1,contentSummary=1,mkdirs=1,create=2,rename=1,"
            "delete=1,setPermission=1"
        )
        document = self.measure("-m", mix, "-c", 30, "--files", 2500)
        self.assertEqual(
            (document["failed"], document["unanswered"], document["reconnects"], document["errors"]), (0, 0, 0, [])
        )
        calls = {row["call"]: row for row in document["by_call"]}
        self.assertEqual(
            set(calls),
            {
                "getServerDefaults",
                "getFileInfo",
                "getListing",
                "getBlockLocations",
                "getContentSummary",
                "mkdirs",
                "create",
                "complete",
                "rename",
                "delete",
                "setPermission",
            },
        )
        self.assertEqual(sum(row["calls"] for row in calls.values()), document["calls"])
        for row in calls.values():
            self.assertLessEqual(row["p50_us"], row["p99_us"])
            self.assertLessEqual(row["p99_us"], row["max_us"] * 1.001)
        # Shares of twelve: one null, two getFileInfo.
        operations = document["calls"] - calls["complete"]["calls"]
        self.assertAlmostEqual(calls["getServerDefaults"]["calls"] / operations, 1 / 12, delta=0.02)
        self.assertAlmostEqual(calls["getFileInfo"]["calls"] / operations, 2 / 12, delta=0.02)
        # The files to read remain, each once; the run's own files are removed.
        self.assertEqual(sorted(self.children("/yunti-nn/base-2500")), ["d00000", "d00001", "d00002", "made"])
        self.assertEqual(sorted(self.children("/yunti-nn/base-2500/d00002")), [f"f{n:07}" for n in range(2000, 2500)])
        self.assertEqual([name for name in self.children("/yunti-nn") if name.startswith("run-")], [])

    def test_at_a_rate(self):
        document = self.measure("-m", "getFileInfo", "-r", 1000, "-c", 50, "--files", 100)
        self.assertAlmostEqual(document["calls_per_second"], 1000, delta=150)

    def test_a_stall_shows_in_the_percentiles(self):
        """A stall of half a second: all operations that arrive in it wait."""
        def stop():
            time.sleep(2)
            self.namenode.process.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            self.namenode.process.send_signal(signal.SIGCONT)
        load(self.namenode.address, "-m", "getFileInfo", "--files", 100, "-s", "0.2")
        thread = threading.Thread(target=stop)
        thread.start()
        # The stall is a quarter of 2 s. A closed loop would have ten slow calls in thousands.
        document = self.measure("-m", "getFileInfo", "-r", 1000, "-c", 10, "--files", 100)
        thread.join()
        row = document["by_call"][0]
        self.assertGreater(row["p90_us"], 200_000)
        self.assertGreater(row["max_us"], 400_000)

    def test_many_connections(self):
        document = self.measure("-m", "null", "-c", 2000)
        self.assertEqual((document["failed"], document["reconnects"]), (0, 0))
        self.assertLess(document["client_cpu_us_per_call"], 60)
        self.assertGreater(document["namenode_cpu_us_per_call"], 1)

    def test_both_io_methods(self):
        """Includes responses of several pieces, and operations of several calls."""
        mix = "getFileInfo=2,getListing=1,create=1,rename=1,delete=1"
        document = self.measure("-m", mix, "--io", "epoll")
        self.assertEqual(
            (document["io"], document["failed"], document["unanswered"], document["reconnects"]), ("epoll", 0, 0, 0)
        )
        try:
            document = self.measure("-m", mix, "--io", "uring")
        except AssertionError as error:
            self.assertIn("io_uring is not available", str(error))
            self.assertEqual(self.measure("-m", "null")["io"], "epoll")
            self.skipTest("io_uring is not available on this machine")
        self.assertEqual(
            (document["io"], document["failed"], document["unanswered"], document["reconnects"]), ("uring", 0, 0, 0)
        )
        self.assertEqual(self.measure("-m", "null")["io"], "uring")

    def test_io_uring_is_not_allowed(self):
        document = self.measure("-m", "null", before=no_io_uring)
        self.assertEqual((document["io"], document["failed"]), ("epoll", 0))
        self.assertGreater(document["calls"], 1000)
        run = load(self.namenode.address, "-m", "null", "--io", "uring", code=3, before=no_io_uring)
        self.assertIn("io_uring is not available: Operation not permitted", run.stderr)
        self.assertIn("--io epoll", run.stderr)

    def test_threads(self):
        document = self.measure("-m", "null", "-c", 7, "--threads", 3)
        self.assertEqual((document["failed"], document["unanswered"]), (0, 0))
        self.assertGreater(document["calls"], 1000)

    def test_text(self):
        output = load(self.namenode.address, "-s", 1, "--warm-up", 0, "-m", "null").stdout
        self.assertRegex(output, r"^\d+ calls a second: 100 % null by 100 connections")
        self.assertRegex(output, r"NameNode +\d+\.\d us of processor time a call")

    def test_a_user_without_permission(self):
        load(self.namenode.address, "-s", 1, "-m", "mkdirs")
        run = load(self.namenode.address, "-s", 1, "-m", "create", "--user", "somebody", code=3)
        self.assertIn("AccessControlException: Permission denied: user=somebody", run.stderr)

    def test_interrupted(self):
        run = subprocess.Popen(
            [YUNTI, "nn", "load", self.namenode.address, "-s", "60", "-m", "create", "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(4)
        run.send_signal(signal.SIGINT)
        output, _ = run.communicate(timeout=20)
        self.assertEqual(run.returncode, 130)
        document = json.loads(output)
        self.assertGreater(document["calls"], 10)
        self.assertEqual([name for name in self.children("/yunti-nn") if name.startswith("run-")], [])

    def test_until_ctrl_c(self):
        """-s 0 has no end of its own. Ctrl-C is the planned end, so the exit code is 0."""
        run = subprocess.Popen(
            [YUNTI, "nn", "load", self.namenode.address, "-s", "0", "--warm-up", "0", "-m", "null", "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(4)
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGINT)
        output, _ = run.communicate(timeout=20)
        self.assertEqual(run.returncode, 0)
        document = json.loads(output)
        self.assertGreater(document["calls"], 10)

    def test_the_web_port(self):
        self.assertIn("this is not a NameNode's RPC port", load(f"127.0.0.1:{self.namenode.web}", code=3).stderr)


class Wrong(unittest.TestCase):
    def refused(self, code, expected, *words):
        run = load(*words, code=code)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        self.assertIn(expected, run.stderr)

    def test_a_bench_is_interrupted(self):
        """Like Ctrl-C in a terminal while NameNodes start: they get the signal too."""
        run = subprocess.Popen(
            [YUNTI, "nn", "bench", "--hadoop", jars.Jars().lib, "-v", "stock unfair"],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        time.sleep(2)
        os.killpg(run.pid, signal.SIGINT)
        _, output = run.communicate(timeout=30)
        self.assertEqual((run.returncode, output.strip()), (130, "yunti: cancelled"))

    def test_a_missing_server(self):
        self.refused(3, "no NameNode responds", "127.0.0.1:1")
        self.refused(3, "unknown host", "no-such-host.invalid")

    def test_wrong_values(self):
        self.refused(2, "is not an operation", "-m", "getEverything")
        self.refused(2, "no weight above 0", "-m", "null=0")
        self.refused(2, "is not a rate", "-r", "0")
        self.refused(2, "is not a number of seconds", "-s", "x")
        self.refused(2, "invalid value", "-c", "10001")

    def test_wrong_variants_of_a_bench(self):
        for words, expected in {
            ("-v", "fast"): "'fast' is not a variant of a NameNode: give one of stock, unfair, throughput, balanced, ",
            ("-v", "x:balanced,yunti.namenode.lock.preset=fast"):
                "variant x: yunti.namenode.lock.preset is 'fast': give throughput or balanced",
            ("-s", "0"): "'0' is not a number of seconds above 0",
        }.items():
            run = subprocess.run([YUNTI, "nn", "bench", *words], capture_output=True, text=True, timeout=60)
            self.assertEqual((run.returncode, len(run.stderr.strip().splitlines())), (2, 1), run.stderr)
            self.assertIn(expected, run.stderr)

    def test_a_server_that_hangs_up(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            end = threading.Event()

            def hang_up():
                server.settimeout(0.1)
                while not end.is_set():
                    try:
                        server.accept()[0].close()
                    except TimeoutError:
                        pass
            thread = threading.Thread(target=hang_up)
            thread.start()
            try:
                self.refused(3, "no NameNode responds", f"127.0.0.1:{port}")
            finally:
                end.set()
                thread.join()


if __name__ == "__main__":
    twice.main()
