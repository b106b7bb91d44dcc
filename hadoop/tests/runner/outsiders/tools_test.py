"""Tests Hadoop's own tools on one machine: DistCp, archives and streaming write what they write on stock Hadoop."""

import collections
import glob
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from outsider import YUNTI, Outsider, client, jars  # noqa: E402

WORDS = """import sys
for line in sys.stdin:
    for word in line.strip().split(","):
        print(word + "\\t1")
"""
SUMS = """import itertools, sys
pairs = (line.rstrip("\\n").split("\\t") for line in sys.stdin)
for word, ones in itertools.groupby(pairs, lambda pair: pair[0]):
    print(word + "\\t" + str(sum(int(one[1]) for one in ones)))
"""


class Tools(Outsider):
    def setUp(self):
        super().setUp()
        self.tools = {name: jar for jar in jars("tools") for name in ("distcp", "archives", "streaming") if name in jar}
        self.source = f"{self.folder}/source"
        os.makedirs(f"{self.source}/deep/empty")
        for n in range(40):
            with open(f"{self.source}/{'deep/' if n % 3 else ''}file{n}", "w") as f:
                f.writelines(f"{i * n % 17},word{i % 7}\n" for i in range(n * 5))

    def run_both(self, name, tool, words):
        """Runs a tool on stock Hadoop and here, in directories of these names. Returns what the second printed."""
        self.run_in(f"{name}-stock", ["java", "-cp", ":".join(client()), "org.apache.hadoop.util.RunJar",
                                      self.tools[tool], *words])
        printed = self.run_in(f"{name}-ours", [YUNTI, "hadoop", "run", self.tools[tool], *words])[1]
        stock, ours = self.files(f"{name}-stock"), self.files(f"{name}-ours")
        self.assertEqual(ours, stock)
        self.assertTrue(ours)
        return printed

    def test_distcp(self):
        self.run_both("uniform", "distcp", ["-m", "4", self.source, "out"])
        printed = self.run_both("dynamic", "distcp", ["-strategy", "dynamic", "-m", "4", self.source, "out"])
        self.assertIn("Files Copied=40", printed)
        self.assertTrue(os.path.isdir(f"{self.folder}/dynamic-ours/out/deep/empty"))
        self.check_jobs(printed, 2, native=False)

    def test_distcp_updates(self):
        target = f"{self.folder}/target"
        command = [YUNTI, "hadoop", "run", self.tools["distcp"], "-update", "-delete", self.source, f"file://{target}"]
        self.run_in("first", command)
        os.remove(f"{self.source}/file0")
        with open(f"{self.source}/deep/file1", "a") as f:
            f.write("one more\n")
        printed = self.run_in("second", command)[1]
        self.assertIn("Files Copied=1", printed)
        self.assertIn("Files Skipped=38", printed)
        self.assertFalse(os.path.exists(f"{target}/file0"))
        with open(f"{target}/deep/file1") as f:
            self.assertTrue(f.read().endswith("one more\n"))
        self.check_jobs(printed, 2, native=False)

    def test_an_archive_and_a_job_of_it(self):
        make = ["-archiveName", "all.har", "-p", self.source, "out"]
        self.check_jobs(self.run_both("archive", "archives", make), 1)
        # Stock Hadoop sets one map for old jobs without a cluster; here, as on a cluster, parts of 8 KiB make many.
        self.run_in("parts", [YUNTI, "hadoop", "run", self.tools["archives"], "-Dhar.partfile.size=8192", *make])
        self.assertGreater(len([path for path in self.files("parts") if "part-" in path]), 1)
        for name, text in (("words.py", WORDS), ("sums.py", SUMS)):
            with open(f"{self.folder}/{name}", "w") as f:
                f.write(text)
        printed = self.run_both("streaming", "streaming", [
            "-D", "mapreduce.job.reduces=2", "-files", f"{self.folder}/words.py,{self.folder}/sums.py",
            "-input", f"har://{self.folder}/parts/out/all.har/deep/file*", "-output", "out",
            "-mapper", f"{sys.executable} words.py", "-combiner", f"{sys.executable} sums.py",
            "-reducer", f"{sys.executable} sums.py"])
        self.check_jobs(printed, 3)
        words = collections.Counter()
        for name in glob.glob(f"{self.source}/deep/file*"):
            with open(name) as f:
                words.update(f.read().replace(",", " ").split())
        lines = b"".join(self.files("streaming-ours").values()).decode().splitlines()
        self.assertEqual(sorted(lines), sorted(f"{word}\t{n}" for word, n in words.items()))


if __name__ == "__main__":
    unittest.main()
