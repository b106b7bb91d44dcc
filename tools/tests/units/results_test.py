"""Tests of the pages of long suites, on small git repositories."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import counts  # noqa: E402
import results  # noqa: E402
import skips  # noqa: E402
from suites import Suite  # noqa: E402

NAME = "address sanitizer"


def page(commit, failed=0, name=NAME):
    """Returns a page with one row."""
    return ("# Long tests of the part engine, last results\n\n| suite | passed | failed | skipped | seconds | commit | "
            f"UTC |\n|---|---|---|---|---|---|---|\n| {name} | 7 | {failed} | 0 | 46 | {commit} | 2026-11-22 16:42 |\n")


class Repository(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="yunti-results-")
        self.addCleanup(folder.cleanup)
        self.root = os.path.join(folder.name, "checkout")
        os.mkdir(self.root)
        self.git("init", "-q", "-b", "main")
        self.first = self.commit("engine/sort")

    def git(self, *words):
        done = subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false",
                               *words], cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, path):
        """Changes a file, and returns the short name of the new commit."""
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a") as file:
            file.write("line\n")
        self.git("add", path)
        self.git("commit", "-q", "-m", "change")
        return self.git("rev-parse", "--short", "HEAD")

    def faults(self, text, names=(NAME,)):
        return results.faults(text, names, ("engine/", "Cargo.lock"), self.root, limit=2)

    def test_a_recent_green_result_is_valid(self):
        self.commit("engine/sort")
        self.commit("Cargo.lock")
        self.assertEqual(self.faults(page(self.first)), [])

    def test_commits_on_inputs_age_a_result(self):
        for _ in range(3):
            self.commit("engine/sort")
        self.assertEqual(self.faults(page(self.first)), [f"{NAME}: ran 3 commits ago on {self.first} (limit 2)"])

    def test_other_commits_do_not_age_it(self):
        for _ in range(3):
            self.commit("web/page")
        self.assertEqual(self.faults(page(self.first)), [])

    def test_uncommitted_changes_are_a_fault(self):
        self.assertEqual(self.faults(page(self.first + "+")), [f"{NAME}: ran with uncommitted changes on {self.first}"])

    def test_a_failed_suite_is_a_fault(self):
        self.assertEqual(self.faults(page(self.first, failed=2)), [f"{NAME}: 2 failed at {self.first}"])

    def test_a_suite_that_never_ran_is_a_fault(self):
        self.assertEqual(self.faults(page(self.first), (NAME, "fuzz csv")), ["fuzz csv: never run"])

    def test_what_is_older_than_the_rule_has_time_from_there(self):
        def after_rule(text, names=(NAME,)):
            return results.faults(text, names, ("engine/", "Cargo.lock"), self.root, limit=2, began=rule)

        rule = self.commit("docs/rule")
        old = [page(self.first), page(self.first, failed=2), page(self.first + "+"), page("0123456")]
        self.assertEqual([after_rule(text) for text in old], [[]] * 4)
        self.assertEqual(after_rule(page(self.first), (NAME, "fuzz csv")), [])
        new = self.commit("engine/a")
        self.assertEqual(after_rule(page(new, failed=1)), [f"{NAME}: 1 failed at {new}"])
        self.assertEqual(after_rule(page(new + "+")), [f"{NAME}: ran with uncommitted changes on {new}"])
        for name in ("b", "c"):
            self.commit(f"engine/{name}")
        self.assertEqual(after_rule(page(self.first)), [f"{NAME}: ran 3 commits ago on {self.first} (limit 2)"])
        self.assertEqual(after_rule(page(new), (NAME, "fuzz csv")),
                         ["fuzz csv: never run, and no run in 3 commits (limit 2)"])
        self.assertEqual(after_rule(page(self.first, failed=2)),
                         [f"{NAME}: 2 failed at {self.first}, and no run in 3 commits (limit 2)"])

    def test_rows_of_removed_suites_do_not_count(self):
        self.assertEqual(self.faults(page("0123456", name="removed") + page(self.first).splitlines()[-1]), [])

    def test_a_commit_outside_the_history_is_a_fault(self):
        self.assertEqual(self.faults(page("0123456")), [f"{NAME}: ran on 0123456, which is no ancestor of HEAD"])
        self.git("switch", "-q", "-c", "side")
        side = self.commit("engine/sort")
        self.git("switch", "-q", "main")
        self.assertEqual(self.faults(page(side)), [f"{NAME}: ran on {side}, which is no ancestor of HEAD"])

    def test_a_shallow_clone_has_no_history(self):
        self.commit("engine/sort")
        self.assertIsNone(results.no_history(self.root))
        clone = self.root + "-shallow"
        subprocess.run(["git", "clone", "-q", "--depth", "1", "file://" + self.root, clone], check=True)
        self.assertIn("this clone is shallow", results.no_history(clone))

    def test_an_archive_has_no_history(self):
        for folder in (self.root + "-archive", os.path.join(self.root, "engine")):
            os.makedirs(folder, exist_ok=True)
            self.assertIn("this is no checkout", results.no_history(folder))

    def test_the_skip_is_valid_without_history_only(self):
        here = results.no_history()
        fault = skips.judge("long suites", f"{results.NEEDS_HISTORY}, and this clone is shallow")
        self.assertEqual(fault is None, here is not None)


class Pages(unittest.TestCase):
    def test_a_written_row_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "engine-full.md")
            for name, found in (("a", counts.Counts(3, ["x"], [])), ("b", counts.Counts(4)), ("a", counts.Counts(5))):
                results.put(path, "engine", Suite("full", name, []), found, "46", "0123456", ["a", "b", "c"])
            with open(path) as file:
                text = file.read()
        rows = results.read(text)
        self.assertEqual([(r.suite, r.passed, r.failed, r.commit) for r in rows.values()],
                         [("a", 5, 0, "0123456"), ("b", 4, 0, "0123456")])
        self.assertIn("\n9 passed, 0 failed, 0 skipped\n* c: never run\n", text)


if __name__ == "__main__":
    unittest.main()
