"""Tests the skipping of bad records, which no cluster of today does: `SkipBadRecords` of Hadoop 1 documents it."""

import glob
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../../tools/tests")]

from long_tests import long_test  # noqa: E402
from probe import ProbeTest  # noqa: E402

SKIP = ("-Dmapreduce.map.skip.maxrecords=1", "-Dmapreduce.reduce.skip.maxgroups=1", "-Dmapreduce.map.maxattempts=5",
        "-Dmapreduce.reduce.maxattempts=5")


class BadRecords(ProbeTest):
    PROGRAM = "Bad"

    def write(self, *bad):
        lines = [f"line {n:03}" for n in range(300)]
        for n, text in bad:
            lines[n] += f" {text}"
        self.input = os.path.join(self.home, "lines")
        with open(self.input, "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")
        return [f"{line}\t{line}" for line in lines if "bad" not in line]

    def counter(self, text, name):
        return [int(line.split("=")[1]) for line in text.splitlines() if line.strip().startswith(f"{name}=")]

    def check_skipped(self, good, done, maps, groups):
        self.assertEqual(self.lines(), good)
        for name, count in (("Map skipped records", maps), ("Map input records", 300 - maps),
                            ("Reduce skipped groups", groups), ("Reduce skipped records", groups),
                            ("Reduce input groups", 300 - maps - groups),
                            ("Reduce input records", 300 - maps - groups)):
            self.assertEqual(self.counter(done.stderr, name), [count], name)

    def kept(self):
        """Returns the text of the files of skipped records, by the kind of their task."""
        found = {}
        for path in glob.glob(f"{self.out}/_logs/skip/attempt_*"):
            shown = subprocess.run(["java", "-cp", self.class_path, "org.apache.hadoop.fs.FsShell", "-text", f"file://{path}"],
                                   capture_output=True, text=True, env=self.environment, check=True).stdout
            self.assertNotIn(path.split("_")[-3], found)
            found[path.split("_")[-3]] = shown.splitlines()
        return found

    def test_records_at_which_threads_fail_are_left_out(self):
        good = self.write((0, "bad map"), (150, "bad map"), (299, "bad reduce"))
        self.check_skipped(good, self.run_probe("new", "-Dyunti.hadoop.isolation=threads", *SKIP), 2, 1)
        self.assertEqual(self.kept(), {"m": ["0\tline 000 bad map", "1358\tline 150 bad map"],
                                       "r": ["line 299 bad reduce\tline 299 bad reduce"]})

    @long_test
    def test_records_at_which_jvms_end_are_left_out(self):
        good = self.write((0, "bad reduce halt"), (150, "bad map halt"), (151, "bad map"))
        self.check_skipped(good, self.run_probe("old", *SKIP), 2, 1)

    def test_jobs_that_do_not_ask_fail(self):
        self.write((150, "bad map"))
        done = self.run_probe("old", "-Dyunti.hadoop.isolation=threads", code=1)
        self.assertEqual(self.counter(done.stderr, "Failed map tasks"), [4])
        self.assertFalse(os.path.exists(f"{self.out}/_SUCCESS"))


if __name__ == "__main__":
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
