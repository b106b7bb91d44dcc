"""`yunti observe flame` on native programs that wait, and that allocate memory."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looking import (  # noqa: E402
    NOBODY, YUNTI, Started, built, may_be_others, observe, require_programs_in_the_kernel, stacks,
)
import twice  # noqa: E402  (looking.py knows where it is)

SECONDS = 2


class Waiting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        os.chmod(cls.folder.name, 0o755)
        cls.waits = built(cls.folder.name, "waits")

    def measure(self, *more, target=(), before=(), seconds=SECONDS):
        with Started(*before, self.waits, "60", *target) as process:
            return json.loads(
                observe("flame", "-e", "wall", "-p", process.pid, "-s", seconds, *more, "--json", before=before).stdout
            )

    def seconds(self, document, *wanted):
        """Returns the seconds in all paths that contain these names, group names included."""
        ways = ((own, [name for name, _ in way]) for own, way in stacks(document))
        return sum(own for own, names in ways if all(name in names for name in wanted)) / document["rate_hz"]

    def check_sleepers(self, document, moments=0.15):
        time = document["seconds"]
        for function, delta in (("waits_for_a_lock", 0.15), ("waits_for_ever", 0.15), ("sleeps_for_moments", moments)):
            self.assertAlmostEqual(self.seconds(document, function), time, delta=delta * time, msg=function)

    def test_all_threads_for_all_the_time(self):
        require_programs_in_the_kernel()
        document = self.measure("--states")
        time = document["seconds"]
        # One timer interrupt may wake a sleeper and the reader: then the sleeper runs when it is read.
        self.check_sleepers(document, moments=0.25)
        # A thread that runs whenever it gets a processor.
        self.assertAlmostEqual(self.seconds(document, "d"), time, delta=0.15 * time)
        self.assertAlmostEqual(
            self.seconds(document, "runs_half") + self.seconds(document, "sleeps_half"), time, delta=0.2 * time
        )
        self.assertAlmostEqual(self.seconds(document, "sleeps_half"), time / 2, delta=0.2 * time)
        # Unwound to the end, with the kernel's frames.
        self.assertAlmostEqual(
            self.seconds(document, "clone3", "waits_for_a_lock", "futex_wait"), time, delta=0.15 * time
        )
        for function, state in (
            ("waits_for_a_lock", "sleeping"),
            ("waits_for_ever", "sleeping"),
            ("sleeps_half", "sleeping"),
        ):
            self.assertGreater(self.seconds(document, state, function), 0.8 * self.seconds(document, function))
        self.assertLess(self.seconds(document, "d", "sleeping"), 0.05 * time)
        self.assertGreater(self.seconds(document, "d", "running"), 0)

    def test_a_thousand_threads(self):
        require_programs_in_the_kernel()
        document = self.measure(target=("1000",))
        self.assertAlmostEqual(
            self.seconds(document, "waits_for_ever"), 1001 * document["seconds"], delta=150 * document["seconds"]
        )
        self.assertLess(document["overhead_percent"], 60)

    def test_without_root(self):
        if not may_be_others():
            self.skipTest("only root can become another user")
        document = self.measure(before=NOBODY)
        # Without root, a woken thread in the run queue looks like a running one.
        self.check_sleepers(document, moments=0.5)
        self.assertIn("only root can read their registers", str(document["skipped"]))


class Counting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.faults, cls.waits = built(cls.folder.name, "faults"), built(cls.folder.name, "waits")

    def count(self, event, *command, seconds=20):
        run = observe("flame", "-e", event, "--rate", 2000, "-s", seconds, "--json", "--", *command)
        document = json.loads(run.stdout[run.stdout.index("{"):])
        self.assertEqual(document["event"], event)
        return document

    def test_page_faults(self):
        pages = 30_000
        for event in ("page-faults", "minor-faults"):
            document = self.count(event, self.faults, "shared", pages, "at-once")
            found = sum(own for own, way in stacks(document) if "main" in [name for name, _ in way])
            # The sum is exact: samples stand for the events that a counter without samples counts.
            self.assertAlmostEqual(found / pages, 1, delta=0.05)

    def test_context_switches(self):
        document = self.count("context-switches", self.waits, "2", seconds=2)
        names = {name for _, way in stacks(document) for name, _ in way}
        self.assertTrue({"sleeps_for_moments", "schedule"} <= names, names)

    def test_events_of_the_processor_or_the_reason(self):
        run = subprocess.run([YUNTI, "observe", "flame", "-e", "cache-misses", "-s", "1", "--", self.faults,
                              "shared", "100", "at-once"], capture_output=True, text=True)
        if run.returncode:
            self.assertEqual(run.returncode, 3)
            self.assertRegex(run.stderr, "cache-misses cannot be counted: .*no such counter of its processor")
        else:
            self.assertIn("misses of the last cache", run.stdout)

    def test_slices_have_no_counted_events(self):
        run = observe("flame", "-e", "cycles", "--at", "03:10", code=2)
        self.assertIn("slices have no cycles", run.stderr)


class Allocating(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        os.chmod(cls.folder.name, 0o755)
        cls.allocates = built(cls.folder.name, "allocates", "-fno-builtin")

    def test_each_call_is_counted(self):
        run = observe("flame", "-e", "alloc", "-s", 20, "--json", "--", self.allocates, "100")
        self.assertIn("WARNING each call of malloc", run.stderr)
        ready, truth, document = run.stdout.split("\n", 2)
        document = json.loads(document)
        calls, allocated = map(int, truth.split())
        self.assertEqual((ready, document["calls"], document["bytes"]), ("ready", calls, allocated))
        by_function = {}
        for own, way in stacks(document):
            for name in {name for name, _ in way}:
                by_function[name] = by_function.get(name, 0) + own
        # Allocations after a thread's last stack are in no stack.
        self.assertGreater(by_function["main"], 0.99 * allocated)
        self.assertLessEqual(by_function["main"], allocated)
        self.assertAlmostEqual(by_function["asks_for_three_quarters"] / allocated, 0.75, delta=0.03)
        self.assertAlmostEqual(by_function["asks_for_a_quarter"] / allocated, 0.25, delta=0.03)

    def test_few_allocations(self):
        document = json.loads(
            observe("flame", "-e", "alloc", "-s", 20, "--json", "--", self.allocates, "0").stdout.split("\n", 2)[2]
        )
        self.assertEqual(document["calls"], 8)
        self.assertGreater(document["samples"], 1)

    def test_without_root(self):
        if not may_be_others():
            self.skipTest("only root can become another user")
        with Started(*NOBODY, "sh", "-c", "echo ready; exec sleep 20") as process:
            run = observe("flame", "-e", "alloc", "-p", process.pid, "-s", 1, before=NOBODY, code=3)
        self.assertIn("run as root", run.stderr)

    def test_a_program_without_malloc(self):
        source, program = os.path.join(self.folder.name, "bare.c"), os.path.join(self.folder.name, "bare")
        with open(source, "w") as f:
            f.write(
                'void _start(void) { __asm__ volatile("syscall" :: "a"(1), "D"(1), "S"("ready\\n"), "d"(6)'
                ' : "rcx", "r11"); for (;;) ; }\n'
            )
        subprocess.run(["gcc", "-O1", "-static", "-nostdlib", "-o", program, source], check=True)
        with Started(program) as process:
            run = observe("flame", "-e", "alloc", "-p", process.pid, "-s", 1, code=3)
        self.assertIn("has no function malloc", run.stderr)


if __name__ == "__main__":
    twice.main()
