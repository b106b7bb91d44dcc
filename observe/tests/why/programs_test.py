"""The programs that test `yunti observe why`: all exist, build, become ready and end by themselves."""

import concurrent.futures
import contextlib
import os
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../../tools/tests")]
import field  # noqa: E402
import host  # noqa: E402
import jdks  # noqa: E402
import programs  # noqa: E402

CAUSES = """hot-method lock fair-lock-convoy small-young-generation promotion too-many-gc-threads first-touch
    copy-on-write pool-of-one slow-remote slow-dns full-executor-queue cpu-neighbour eager-allocator many-mappings
    cpu-quota""".split()
CAUSES_BELOW = """fsync-storm journal directory-scan read-ahead-too-small cache-thrash dirty-throttling listen-overflow
    time-wait-exhaustion""".split()
SETUPS = {"remote", "clients", "neighbours", "resolver", "cgroup_cpu_quota", "mappings"}
JAVA_HOME = jdks.find(["17"]).get("17", (None, None))[1]
AT_ONCE = 4
END_SECONDS_MAX = 10


class Manifest(unittest.TestCase):
    def test_each_cause_has_one_program_of_its_own(self):
        single = [p["causes"][0] for p in programs.PROGRAMS if len(p["causes"]) == 1]
        self.assertEqual(sorted(single), sorted(CAUSES))

    def test_five_are_healthy_and_three_have_two_causes(self):
        counts = [len(p["causes"]) for p in programs.PROGRAMS]
        self.assertEqual((len(counts), counts.count(0), counts.count(2)), (24, 5, 3))

    def test_entries_are_complete(self):
        self.assertEqual(len({p["name"] for p in programs.PROGRAMS}), len(programs.PROGRAMS))
        for p in programs.PROGRAMS:
            with self.subTest(p["name"]):
                self.assertIn(p["kind"], ("java", "c"))
                self.assertTrue(os.path.exists(os.path.join(programs.SOURCES, p["source"])))
                self.assertEqual(sorted(p["cured"]), sorted(p["causes"]))
                self.assertLessEqual(set(p["causes"]), set(CAUSES))
                self.assertLessEqual(set(p["setup"]), SETUPS)

    def test_half_are_java(self):
        self.assertGreaterEqual(2 * sum(p["kind"] == "java" for p in programs.PROGRAMS), len(programs.PROGRAMS))


class FieldManifest(unittest.TestCase):
    def test_each_cause_has_a_program(self):
        self.assertEqual({p["causes"][0] for p in field.PROGRAMS if len(p["causes"]) == 1}, set(CAUSES))

    def test_four_are_healthy_and_three_have_two_causes(self):
        counts = [len(p["causes"]) for p in field.PROGRAMS]
        self.assertEqual((len(counts), counts.count(0), counts.count(1), counts.count(2)), (25, 4, 18, 3))

    def test_entries_are_complete(self):
        self.assertEqual(len({p["name"] for p in field.PROGRAMS}), len(field.PROGRAMS))
        for p in field.PROGRAMS:
            with self.subTest(p["name"]):
                self.assertIn(p["kind"], ("java", "c++", "python"))
                self.assertTrue(os.path.exists(os.path.join(field.SOURCES, p["source"])))
                self.assertLessEqual(set(p["causes"]), set(CAUSES))
                self.assertLessEqual(
                    set(p["setup"]), {"remote", "clients", "neighbours", "resolver", "cgroup_cpu_quota", "mappings"}
                )


class HostManifest(unittest.TestCase):
    def test_each_cause_has_three_programs_and_nine_are_healthy(self):
        causes = [cause for p in host.PROGRAMS for cause in p["causes"]]
        self.assertEqual(set(causes), set(CAUSES_BELOW))
        self.assertGreaterEqual(min(map(causes.count, CAUSES_BELOW)), 3)
        self.assertEqual([len(p["causes"]) for p in host.PROGRAMS].count(0), 9)

    def test_entries_are_complete(self):
        self.assertEqual(len({p["name"] for p in host.PROGRAMS}), len(host.PROGRAMS))
        for p in host.PROGRAMS:
            with self.subTest(p["name"]):
                self.assertIn(p["kind"], ("java", "c", "python"))
                self.assertTrue(os.path.exists(os.path.join(host.SOURCES, p["source"])))
                self.assertEqual(sorted(p["cured"]), sorted(p["causes"]))
                self.assertLessEqual(
                    set(p["setup"]), {"disk", "memory_mb", "network", "remote", "clients", "neighbours"}
                )


class HostRuns(unittest.TestCase):
    """Some quick programs; `make test-full-observe` runs all."""

    def test_each_starts_and_leaves_nothing(self):
        chosen = [
            host.named(name)
            for name in ("order-log", "greeting-service", "quote-client", "price-lookup", "export-writer")
        ]
        with tempfile.TemporaryDirectory() as folder:
            host.build(chosen, folder, JAVA_HOME)
            for program in chosen:
                with self.subTest(program["name"]):
                    if reason := host.missing(program):
                        self.skipTest(reason)
                    with host.started(
                        program, folder, JAVA_HOME, seconds=1 + program.get("warm_up_seconds", 0)
                    ) as process:
                        self.assertGreater(process.operations(), 0)
                    self.assertEqual(FieldRuns.running_in(folder), [])
                    self.assertFalse(os.path.ismount(os.path.join(folder, "disk")))


class Runs(unittest.TestCase):
    def test_each_becomes_ready_and_ends(self):
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as runs:
            programs.build(programs.PROGRAMS, folder, JAVA_HOME)
            reasons = {p["name"]: programs.missing(p) for p in programs.PROGRAMS}
            started = {name: runs.submit(self.run_once, name, folder) for name, reason in reasons.items() if not reason}
            for name, reason in reasons.items():
                with self.subTest(name):
                    if reason:
                        self.skipTest(reason)
                    operations, pid = started[name].result()
                    self.assertGreater(operations, 0)
                    self.assertFalse(os.path.exists(f"/proc/{pid}"))
            self.assertEqual([name for name in os.listdir(folder) if name.startswith("survey.")], [])

    @staticmethod
    def run_once(name, folder):
        with programs.started(programs.named(name), folder, JAVA_HOME, seconds=1) as process:
            start = time.monotonic()
            operations = process.operations()
            assert time.monotonic() - start < END_SECONDS_MAX
            return operations, process.pid


class FieldRuns(unittest.TestCase):
    def test_each_starts_and_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            field.build(field.PROGRAMS, folder, JAVA_HOME)
            for program in field.PROGRAMS:
                with self.subTest(program["name"]):
                    if reason := field.missing(program):
                        self.skipTest(reason)
                    with field.started(program, folder, JAVA_HOME, warm_up=0.5) as process:
                        self.assertIn(
                            os.path.basename(program["source"] if program["kind"] == "python" else program["main"]),
                            self.words_of(process.pid),
                        )
                    self.assertEqual(self.left_in(folder, END_SECONDS_MAX), [])

    @staticmethod
    def words_of(pid):
        with open(f"/proc/{pid}/cmdline") as f:
            return [word if word.startswith("com.") else os.path.basename(word) for word in f.read().split("\0")]

    def left_in(self, folder, seconds):
        """Returns the command lines of processes that still run there after `seconds`, because killed ones need a
        moment."""
        end = time.monotonic() + seconds
        while (found := self.running_in(folder)) and time.monotonic() < end:
            time.sleep(0.05)
        return found

    @staticmethod
    def running_in(folder):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/cwd") == folder:
                    with open(f"/proc/{pid}/cmdline") as f:
                        found.append(f.read())
        return found


if __name__ == "__main__":
    unittest.main()
