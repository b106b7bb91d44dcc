"""Tests of the runner: readers on sample output, and small suites of shell commands."""

import os
import sys
import tempfile
import time
import unittest

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [TESTS, os.path.join(TESTS, "runner")]

import again  # noqa: E402
import counts  # noqa: E402
import lanes  # noqa: E402
import run  # noqa: E402
import skips  # noqa: E402
from suites import IN_PAIRS, PARTS, SUITES, Suite  # noqa: E402

CARGO = """\
     Running unittests src/lib.rs (target/debug/deps/a-1)

running 3 tests
test fine ... ok
test cannot ... ok
test wrong ... FAILED

successes:

---- cannot stdout ----
skipped: this processor has no AVX-512

failures:

---- wrong stdout ----
skipped: never mind

failures:
    wrong

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/jobs/main.rs (target/debug/deps/b-1)

running 2 tests
test one ... ok
error: test failed, to rerun pass `--test jobs`
  process didn't exit successfully: `b` (signal: 11, SIGSEGV: invalid memory reference)
   Doc-tests a

running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""

CTEST = """\
 1/3 Test #2: text_portable ....................   Passed    0.01 sec
 2/3 Test #3: text_avx2 ........................***Skipped   0.00 sec
 3/3 Test #1: host .............................***Exception: SegFault  0.02 sec

50% tests passed, 1 tests failed out of 3
"""

UNITTEST = """\
test_a (examples_test.Jobs.test_a) ... ok
test_b (examples_test.Jobs.test_b)
What it does. ... skipped 'clang is not installed'
test_c (examples_test.Jobs.test_c) ... FAIL

======================================================================
FAIL: test_c (examples_test.Jobs.test_c)
----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)
"""


class Again(unittest.TestCase):
    def chosen(self, suite, failures, seconds=10.0, minutes=30):
        rows = [(suite, counts.Counts(passed=5, failures=failures), seconds)]
        return [second.steps[-1] for _, second in again.chosen(rows, minutes)]

    def test_failed_tests_of_cargo_are_named(self):
        suite = Suite("engine", "a", [["cargo", "test", "--", "--show-output"]], counts.read_cargo)
        self.assertEqual(self.chosen(suite, ["causes::hot_key"], 900.0), [["cargo", "test", "--", "--show-output", "causes::hot_key"]])
        self.assertEqual(self.chosen(suite, ["tests/jobs/main.rs crashed"], 900.0), [])
        self.assertEqual(self.chosen(suite, ["tests/jobs/main.rs crashed"]), suite.steps)

    def test_failed_tests_of_python_are_named(self):
        suite = Suite("observe", "a", [["python3", "a_test.py"]], counts.read_unittest)
        failures = ["test_b (__main__.A.test_b)", "test_b (__main__.A.test_b) (n=1)", "tearDownClass (__main__.B)"]
        self.assertEqual(self.chosen(suite, failures), [["python3", "a_test.py", "A.test_b", "B"]])

    def test_many_failures_are_no_chance(self):
        suite = Suite("observe", "a", [["python3", "a_test.py"]], counts.read_unittest)
        self.assertEqual(self.chosen(suite, [f"test_{n} (__main__.A.test_{n})" for n in range(4)]), [])
        self.assertEqual(self.chosen(suite, ["test_b (__main__.A.test_b)"], minutes=85), [])

    def test_a_defect_stays_a_failure(self):
        found = counts.Counts(passed=5, failures=["a"])
        self.assertEqual(again.merge(found, counts.Counts(failures=["a"])), [])
        self.assertEqual((found.passed, found.failures), (5, ["a"]))
        found = counts.Counts(passed=5, failures=["a"])
        self.assertEqual(again.merge(found, counts.Counts(passed=1)), ["a"])
        self.assertEqual((found.passed, found.failures), (6, []))

    def test_a_run_has_the_second_result(self):
        with tempfile.TemporaryDirectory() as folder:
            flag = os.path.join(folder, "flag")
            script = f"[ -e {flag} ] && echo ok a && exit; touch {flag}; echo FAILED a; exit 1"
            suites = [Suite("table", "flaky", [["sh", "-c", script]], counts.read_lines),
                      Suite("table", "wrong", [["sh", "-c", "echo FAILED b; exit 1"]], counts.read_lines)]
            rows = [(suite, run.run(suite, folder), 1.0) for suite in suites]
            self.assertEqual(run.run_again(rows, 1, folder), ["table: flaky: a"])
            self.assertEqual([found.failures for _, found, _ in rows], [[], ["b"]])


class Readers(unittest.TestCase):
    def check(self, found, passed, failures, skipped):
        self.assertEqual((found.passed, found.failures, [name for name, _ in found.skips]), (passed, failures, skipped))

    def test_cargo(self):
        self.check(counts.read_cargo(CARGO, 101), 1, ["tests/jobs/main.rs crashed", "wrong"], ["cannot"])

    def test_cargo_compile_error_is_a_failure(self):
        self.check(counts.read_cargo("error[E0308]: mismatched types\n", 101), 0, ["no test was run"], [])

    def test_cargo_ignored_counts_as_skipped(self):
        text = ("     Running unittests src/lib.rs (x)\ntest slow ... ignored\ntest result: ok. 0 passed; 0 failed; 1 "
                "ignored;\n")
        self.check(counts.read_cargo(text, 0), 0, [], ["slow"])

    def test_ctest(self):
        self.check(counts.read_ctest(CTEST, 8), 1, ["host (Exception: SegFault)"], ["text_avx2"])

    def test_ctest_without_summary_is_a_failure(self):
        self.check(counts.read_ctest(CTEST.splitlines()[0] + "\n", 0), 1, ["ctest did not finish"], [])

    def test_unittest(self):
        self.check(counts.read_unittest(UNITTEST, 1), 1, ["test_c (examples_test.Jobs.test_c)"], ["test_b"])

    def test_unittest_without_tests_is_a_failure(self):
        self.check(counts.read_unittest("Ran 0 tests in 0.000s\n\nOK\n", 0), 0, ["no test was run"], [])
        self.check(counts.read_unittest("Segmentation fault\n", -11), 0, ["no test was run"], [])

    def test_lines(self):
        self.check(counts.read_lines("ok one\nok two: 3\n", 0), 2, [], [])
        self.check(counts.read_lines("ok one\nFAILED two: why\n", 1), 1, ["two: why"], [])

    def test_trials(self):
        text = "right    a (c, lock): x\nvague    b (go, gc): y\nskip     d: there is no ruby\n2 slow: 1 right, 1 vague\n"
        self.check(counts.read_trials(text, 0), 1, [], ["d"])
        self.check(counts.read_trials(text + "FAILED 1 of 2 right\n", 1), 1, ["1 of 2 right"], ["d"])
        self.check(counts.read_trials("right    a (c, lock): x\n", -9), 1, ["the suite crashed"], [])
        self.check(counts.read_lines("ok a: b\nskip a: c: not here\n", 0), 1, [], ["a"])
        self.check(counts.read_lines("", 0), 0, ["no test was run"], [])

    def test_conformance(self):
        text = ("ok keys/int\nFAIL codecs/gzip: file out/part-r-00001 differs\nskip codecs/zstandard: not here\n1 "
                "passed, 1 failed, 1 skipped\n")
        found = counts.read_conformance(text, 1)
        self.assertEqual((found.passed, found.failures, found.skips),
                         (1, ["codecs/gzip"], [("codecs/zstandard", "not here")]))
        self.assertEqual(counts.read_conformance("ok keys/int\n2 passed, 0 failed, 0 skipped\n", 0).failures,
                         ["the suite's lines and its summary differ"])
        self.assertEqual(counts.read_conformance("ok keys/int\n", 134).failures, ["the suite crashed"])

    def test_surefire(self):
        text = ("[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s -- in A\n[INFO] Tests "
                "run: 3, Failures: 0, Errors: 0, Skipped: 0\n")
        self.check(counts.read_surefire(text, 0), 3, [], [])
        self.check(counts.read_surefire("[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n" * 2, 0), 6, [], [])
        text = "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n[ERROR]   ATest.fails:12 expected\n"
        self.check(counts.read_surefire(text, 1), 1, ["ATest.fails"], [])
        self.check(counts.read_surefire("[ERROR] COMPILATION ERROR\n", 1), 0, ["no test was run"], [])

    def test_surefire_skips(self):
        text = ("[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 2, Time elapsed: 1 s -- in org.a.BTest\n"
                "[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 2\n")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "TEST-org.a.BTest.xml"), "w") as f:
                f.write('<testsuite><testcase name="one"><skipped type="T"><![CDATA[T: Assumption failed: no '
                        'browser\n at x]]></skipped></testcase>'
                        '<testcase name="two"/><testcase name="three"><skipped message="not '
                        'here"/></testcase></testsuite>')
            found = counts.read_surefire(text, 0, folder)
            self.assertEqual((found.passed, found.failures, found.skips),
                             (1, [], [("BTest.one", "no browser"), ("BTest.three", "not here")]))
        found = counts.read_surefire(text, 0, "/nonexistent")
        self.assertEqual(found.skips, [("a test of Maven's", "skipped without a reason")] * 2)

    def test_exit_code(self):
        self.check(counts.read_exit("", 0), 1, [], [])
        self.check(counts.read_exit("", -11), 0, ["ended with signal 11"], [])
        self.check(counts.read_lines("ok one\n", 3), 1, ["ended with exit code 3"], [])


class Lanes(unittest.TestCase):
    @staticmethod
    def seen(suites, **how):
        """Runs suites in lanes. Returns the sets of names that ran at the same time."""
        running, seen = [], []

        def one(suite):
            running.append(suite.name)
            for _ in range(20):
                seen.append(frozenset(running))
                time.sleep(0.002)
            running.remove(suite.name)

        lanes.run_all(suites, one, **how)
        return seen

    def test_suites_that_share_folders_do_not_meet(self):
        suites = [Suite("formats", "a", [], shares=("python",)), Suite("python", "b", []), Suite("web", "c", [])]
        seen = self.seen(suites, lanes=3)
        self.assertFalse(any({"a", "b"} <= names for names in seen))
        self.assertTrue(any("c" in names and len(names) > 1 for names in seen))

    def test_suites_that_measure_meet_only_their_like(self):
        pair = ("page faults of known programs", "guard on failing devices")
        suites = [Suite("web", "free", []), Suite("observe", "alone", []), Suite("observe", pair[0], []),
                  Suite("machine", pair[1], []), Suite("engine", "other", [])]
        seen = self.seen(suites)
        self.assertLessEqual(set(seen), {frozenset(names) for names in (
            ["free"], ["other"], ["free", "other"], [pair[0]], [pair[1]], pair, ["alone"])})
        self.assertIn(frozenset(pair), seen)
        self.assertTrue(all(any(suite.name == name for suite in SUITES) for name in IN_PAIRS))


class Suites(unittest.TestCase):
    def run_suite(self, *steps, **fields):
        with tempfile.TemporaryDirectory() as logs:
            return run.run(Suite("engine", "s", [["sh", "-c", step] for step in steps], **fields), logs)

    def test_a_failed_step_is_a_failure(self):
        self.assertEqual(self.run_suite("exit 3", "true").failures, ["sh -c exit 3 ..: exit code 3"])
        self.assertEqual(self.run_suite("true", "true").passed, 1)

    def test_a_line_after_control_sequences_counts(self):
        # Maven ends with such a sequence and without a line end.
        self.assertEqual(self.run_suite("printf '\\033[0m\\033[1;31mok one\\n'", read=counts.read_lines).passed, 1)

    def test_a_crash_is_a_failure(self):
        self.assertEqual(self.run_suite("echo ok one; kill -SEGV $$", read=counts.read_lines).failures,
                         ["ended with signal 11"])

    def test_an_excerpt_shows_what_failed_tests_printed(self):
        with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
            log.write("successes:\n\n---- a stdout ----\nfine\n\nfailures:\n\n---- b::c stdout ----\nseed 7 fails\n\n"
                      "failures:\n    b::c\n\nDoc-tests of another crate\n")
            log.flush()
            self.assertEqual(run.excerpt(log.name, ["b::c"]), f"  {log.name}: b::c printed\n    seed 7 fails\n")
            self.assertIn("    Doc-tests of another crate\n", run.excerpt(log.name, ["ended with exit code 1"]))
        self.assertEqual(run.shortened("1\n2\n3\n4\n", 1, 1), ["1", "..", "4"])
        self.assertEqual(run.shortened("1\n2\n3\n4\n", 0, 2), ["3", "4"])

    def test_a_hanging_suite_is_killed(self):
        self.assertIn("out of time", self.run_suite("sleep 60 & sleep 60", minutes=0.01).failures)

    def test_a_missing_program_is_a_failure(self):
        with tempfile.TemporaryDirectory() as logs:
            self.assertEqual(run.run(Suite("engine", "s", [["/no/such/program"]]), logs).failures,
                             ["ended with exit code 127"])

    def test_a_skip_needs_a_valid_reason(self):
        here, elsewhere = [("moon", lambda: True)], [("moon", lambda: False)]
        self.assertIsNone(skips.judge("t", "needs the moon", elsewhere))
        self.assertIn("can run here", skips.judge("t", "needs the moon", here))
        self.assertIn("unknown reason", skips.judge("t", "did not feel like it", here))
        found = self.run_suite("true", skip=lambda: "did not feel like it")
        self.assertEqual((found.passed, len(found.failures), found.skips), (0, 1, []))

    def test_a_shared_end_runs_once_after_the_last_suite(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = os.path.join(folder, "lines")
            end = ["sh", "-c", f"echo end >> {lines}"]
            suites = [Suite("hadoop", name, [], end=end) for name in "ab"] + [Suite("hadoop", "c", [])]
            ends = run.Ends(suites)
            ends.after(suites[2])
            ends.after(suites[0])
            self.assertFalse(os.path.exists(lines), "b still needs what they share")
            ends.after(suites[1])
            ends.interrupt()
            with open(lines) as file:
                self.assertEqual(file.read(), "end\n")

    def test_an_interrupted_run_ends_what_is_shared(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = os.path.join(folder, "lines")
            end = ["sh", "-c", f"echo end >> {lines}"]
            run.Ends([Suite("hadoop", name, [], end=end) for name in "ab"]).interrupt()
            with open(lines) as file:
                self.assertEqual(file.read(), "end\n")

    def test_every_suite_has_a_part_and_a_unique_name(self):
        self.assertTrue(all(s.part in PARTS for s in SUITES))
        self.assertEqual(len({(s.part, s.name) for s in SUITES}), len(SUITES))


if __name__ == "__main__":
    unittest.main()
