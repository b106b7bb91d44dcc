"""Tests `yunti machine cgroup` on private control groups, with programs that report their own use of the machine."""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../observe/tests"))
from images import MIB, do, image, mounted  # noqa: E402
from looking import YUNTI, Looking, Refusals, observe, require_programs_in_the_kernel  # noqa: E402

VERSION_2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
CONTROLLERS = ("cpu", "cpuacct", "memory", "blkio")
PERIOD_US = 100_000

BURNER = """
import sys, time, threading
def burn(end):
    while time.monotonic() < end: pass
end = time.monotonic() + float(sys.argv[1])
threads = [threading.Thread(target=burn, args=(end,)) for _ in range(int(sys.argv[2]))]
[t.start() for t in threads]; [t.join() for t in threads]
"""
SLEEPER = """
import sys, time
for _ in range(int(sys.argv[1])): time.sleep(0.0005)
"""
# Reads a file three times, of which half fits into memory.
READER = """
import os, sys
for _ in range(3):
    with open(sys.argv[1], "rb", buffering=0) as f:
        while f.read(1 << 20): pass
"""


def folders(name):
    if VERSION_2:
        return [f"/sys/fs/cgroup/{name}"]
    return [f"/sys/fs/cgroup/{controller}/{name}" for controller in CONTROLLERS]


@contextlib.contextmanager
def group(name, **limits):
    """Creates a control group with all measured controllers, and yields the prefix of a command that runs in it."""
    if VERSION_2:
        with open("/sys/fs/cgroup/cgroup.subtree_control", "w") as f:
            f.write("+cpu +memory +io")
    there = folders(name)
    for folder in there:
        os.makedirs(folder)
    try:
        for file, value in limits.items():
            path = next(
                p for p in (os.path.join(folder, file.replace("__", ".")) for folder in there) if os.path.exists(p)
            )
            with open(path, "w") as f:
                f.write(str(value))
        procs = " ".join(shlex.quote(os.path.join(folder, "cgroup.procs")) for folder in there)
        yield ["sh", "-c", f'for p in {procs}; do echo $$ > "$p"; done; exec "$@"', "sh"]
    finally:
        for folder in there:
            for _ in range(50):
                try:
                    os.rmdir(folder)
                    break
                except OSError:
                    time.sleep(0.1)


def run(before, program, *words):
    """Runs a program; returns its processor seconds, voluntary and involuntary switches, as the kernel counts them.

    The counts have the end of the process too: under a small quota that is a good part of it."""
    with subprocess.Popen([*before, sys.executable, "-c", program, *map(str, words)]) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return used.ru_utime + used.ru_stime, used.ru_nvcsw, used.ru_nivcsw


def memory_limit(size):
    return {"memory__max": size} if VERSION_2 else {"memory__limit_in_bytes": size}


def quota(processors):
    if VERSION_2:
        return {"cpu__max": f"{int(processors * PERIOD_US)} {PERIOD_US}"}
    return {"cpu__cfs_period_us": PERIOD_US, "cpu__cfs_quota_us": int(processors * PERIOD_US)}


needs_groups = unittest.skipUnless(
    os.geteuid() == 0 and os.access(os.path.dirname(folders("x")[0]), os.W_OK), "control groups cannot be created"
)


@needs_groups
class Groups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()

    def setUp(self):
        self.name = f"yunti-observe-{os.getpid()}-{time.monotonic_ns()}"

    def sample(self, act, *words):
        with Looking("cgroup", "-s", 60, *words) as look:
            returned = act()
            document = look.stop()
        found = [one for one in document["groups"] if one["path"] == "/" + self.name and not one["is_job"]]
        self.assertEqual(len(found), 1, [one["path"] for one in document["groups"]])
        return found[0], returned, document

    def test_counts_processor_time(self):
        with group(self.name) as within:
            found, (used, *_), document = self.sample(lambda: run(within, BURNER, 1.5, 2))
        self.assertAlmostEqual(found["cpu_seconds"], used, delta=0.02 * used + 0.02)
        everything = next(one for one in document["groups"] if one["path"] == "/")
        self.assertGreaterEqual(everything["cpu_seconds"], found["cpu_seconds"] * 0.999)

    def test_counts_throttling(self):
        def kernel_counts():
            path = next(
                path for folder in folders(self.name) if os.path.exists(path := os.path.join(folder, "cpu.stat"))
            )
            with open(path) as f:
                stat = {name: int(value) for name, value in map(str.split, f)}
            return (
                stat["nr_periods"],
                stat["nr_throttled"],
                stat["throttled_usec"] / 1e6 if VERSION_2 else stat["throttled_time"] / 1e9,
            )

        # So small that even a busy machine would give more.
        with group(self.name, **quota(0.05)) as within:
            first = kernel_counts()
            found, (second, (used, *_), third), _ = self.sample(
                lambda: (kernel_counts(), run(within, BURNER, 2, 1), kernel_counts())
            )
            fourth = kernel_counts()
        self.assertEqual(found["quota_processors"], 0.05)
        # The throttled time depends on other programs. Kernel counts before, within and after the measurement bound
        # it.
        counts = found["periods"], found["throttled_periods"], found["throttled_seconds"]
        for one, *at in zip(counts, first, second, third, fourth):
            self.assertTrue(at[2] - at[1] - 1e-6 <= one <= at[3] - at[0] + 1e-6, (one, at))
        self.assertGreater(found["throttled_periods"], 5, found)
        self.assertAlmostEqual(found["cpu_seconds"], used, delta=0.02 * used + 0.02)

    def test_counts_switches_of_ended_threads_and_processes(self):
        with group(self.name) as within:
            found, (_, voluntary, involuntary), _ = self.sample(lambda: run(within, SLEEPER, 2000))
        # The shell that starts it has some too.
        self.assertAlmostEqual(found["voluntary_switches"], voluntary, delta=30)
        self.assertAlmostEqual(found["involuntary_switches"], involuntary, delta=30 + 0.1 * involuntary)

    def test_counts_the_run_queue(self):
        with group(self.name) as within:
            found, (used, *_), _ = self.sample(
                lambda: run(
                    [*within, "taskset", "-c", "0"],
                    BURNER.replace("end = time.monotonic()", "import os; os.fork()\nend = time.monotonic()", 1),
                    1.5,
                    1,
                )
            )
        # Two processes on one processor: while one runs, the other waits.
        self.assertGreater(found["run_queue_wait_seconds"], 0.5)
        self.assertLess(found["cpu_seconds"], 1.8)

    def test_counts_memory_page_cache_and_refaults(self):
        with tempfile.TemporaryDirectory(dir=os.path.join(os.path.dirname(os.path.abspath(__file__)))) as folder:
            path = os.path.join(folder, "file")
            with open(path, "wb") as f:
                f.write(bytes(48 * MIB))
                os.fsync(f.fileno())
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            with group(self.name, **memory_limit(32 * MIB)) as within:
                found, *_ = self.sample(lambda: run(within, READER, path))
        memory = found["memory"]
        self.assertEqual(memory["limit_bytes"], 32 * MIB)
        self.assertGreater(memory["file_bytes"], 8 * MIB, memory)
        self.assertLessEqual(memory["used_bytes"], 32 * MIB)
        self.assertGreater(memory["refaults"], 1000, memory)
        self.assertGreater(found["io"]["read_bytes"], 48 * MIB, found["io"])

    def test_counts_direct_writes_to_a_device(self):
        with tempfile.TemporaryDirectory() as folder, mounted(
            image(os.path.join(folder, "image"), mib=128)
        ) as there, group(self.name) as within:

            def write():
                subprocess.run(
                    [*within, "dd", "if=/dev/zero", f"of={there}/file", "bs=1M", "count=40", "oflag=direct"],
                    check=True,
                    capture_output=True,
                )

            found, *_ = self.sample(write)
            do("sync", "-f", there)
        # Counts of the loop device only; writes below it belong to the kernel.
        self.assertAlmostEqual(found["io"]["written_bytes"], 40 * MIB, delta=2 * MIB)
        self.assertGreater(found["io"]["writes"], 0)

    def test_reports_a_group_that_ends(self):
        def act():
            with group(self.name) as within:
                used = run(within, BURNER, 1.6, 1)
            time.sleep(1.2)
            return used

        found, (used, *_), _ = self.sample(act)
        self.assertTrue(found["has_ended"])
        self.assertGreater(found["cpu_seconds"], 0.2 * used)
        # Threads are counted to their end.
        self.assertGreater(found["involuntary_switches"] + found["voluntary_switches"], 0)

    def test_groups_include_the_groups_below(self):
        with group(self.name) as _, group(self.name + "/inner") as within:
            found, (used, *_), document = self.sample(lambda: run(within, BURNER, 1, 1))
        inner = next(one for one in document["groups"] if one["path"] == f"/{self.name}/inner")
        for one in (found, inner):
            self.assertAlmostEqual(one["cpu_seconds"], used, delta=0.02 * used + 0.02)
            self.assertGreater(one["voluntary_switches"], 0)

    def test_filters_and_sorts_groups(self):
        with group(self.name) as within:
            run(within, BURNER, 0.1, 1)
            with Looking("cgroup", self.name, "-s", 60, "--sort", "memory") as look:
                run(within, BURNER, 0.3, 1)
                document = look.stop()
        self.assertEqual([one["path"] for one in document["groups"]], ["/" + self.name])

    def test_replaces_control_characters_in_names(self):
        with group(self.name), group(self.name + "/\x1b[2Jodd \u00e4 ,;\"'") as within, Looking(
            "cgroup", "-s", 60, json=False
        ) as look:
            run(within, BURNER, 2.5, 1)
            look.run.send_signal(signal.SIGINT)
            out = look.run.communicate(timeout=30)[0]
        self.assertNotIn("\x1b", out)
        # In the live output, and at the end.
        self.assertGreaterEqual(out.count("?[2Jodd \u00e4 ,;\"'"), 2, out)

    def test_the_live_table_replaces_itself_on_a_terminal(self):
        """Each table replaces the previous one, and the answer replaces the last."""
        with tempfile.NamedTemporaryFile() as typed, group(self.name) as within:
            look = subprocess.Popen(
                ["script", "-qfec", f"TERM=xterm {YUNTI} machine cgroup {self.name} -s 4", typed.name],
                stdout=subprocess.DEVNULL,
            )
            run(within, BURNER, 4, 1)
            self.assertEqual(look.wait(timeout=30), 0)
            out = typed.read().decode()
        tables = out.count("switch/s")
        self.assertGreaterEqual(tables, 2, out)
        # Title, head and one row are erased as often as printed; no alternate screen and no hidden cursor.
        self.assertEqual(out.count("\r\x1b[3A\x1b[J"), tables, out)
        self.assertNotIn("\x1b[?", out)
        self.assertLess(out.rindex("\x1b[J"), out.index("Processors"))

    def test_writes_text_and_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            out = observe("cgroup", "-s", "1.5", "-o", page).stdout
            self.assertIn("run queue", out)
            with open(page, encoding="utf-8") as f:
                self.assertIn("Processors", f.read())


class Wrong(Refusals, unittest.TestCase):
    observer = "cgroup"

    def test_refuses_a_missing_group(self):
        self.refused(3, "no control group is named no-such-group", "no-such-group", "-s", "0.1")

    def test_refuses_an_unknown_order(self):
        self.assertNotEqual(observe("cgroup", "--sort", "colour", code=2).stderr, "")


if __name__ == "__main__":
    unittest.main()
