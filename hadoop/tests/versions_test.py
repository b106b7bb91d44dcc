#!/usr/bin/env python3
"""Runs jobs on clusters of several versions of Hadoop and compares the outputs with stock Hadoop's.

    python3 hadoop/tests/versions_test.py

It needs `make hadoop`. Each test starts its own cluster (hadoop/cluster) and stops it; the jars come from Maven
Central.
"""

import glob
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import live_cluster  # noqa: E402
from live_cluster import ROOT, YUNTI, counter  # noqa: E402

BOOKS = sorted(glob.glob(os.path.join(ROOT, "examples/books/*.gz")))


class Versions(unittest.TestCase):
    def check(self, version):
        """Starts a cluster of a version, and runs the check, an unmodified job with the settings, and a native job."""
        shared = (word for key, value in live_cluster.SHARED.items() for word in ("--set", f"{key}={value}"))
        cluster = live_cluster.Cluster("cluster-versions", "--hadoop", version, *shared)
        self.addCleanup(cluster.down)
        self.assertIn(f"Hadoop {version}", cluster.ok("hadoop", "version"))
        printed = cluster.ok(YUNTI, "hadoop", "check")
        self.assertIn(f"Hadoop {version}", printed)
        self.assertRegex(printed, r"native +2 tasks")

        cluster.ok("hadoop", "fs", "-mkdir", "-p", "in")
        cluster.ok("hadoop", "fs", "-put", *BOOKS, "in")
        examples, = glob.glob(os.path.join(ROOT, f"build/cluster/hadoop-{version}/examples/hadoop-mapreduce-examples-*"))
        jar = cluster.ok(YUNTI, "hadoop", "jar").strip()
        with tempfile.NamedTemporaryFile("w", suffix=".xml", encoding="utf-8") as site:
            site.write(cluster.ok(YUNTI, "hadoop", "site"))
            site.flush()
            cluster.ok("hadoop", "jar", examples, "wordcount", "in", "stock")
            printed = cluster.ok("hadoop", "jar", examples, "wordcount", "-conf", site.name, "-libjars", jar, "in", "settings")
        # Each book is one split, because gzip files are not cut.
        self.assertEqual(counter(printed, "native"), len(BOOKS) + 1, printed)
        self.assertNotIn("declined", printed)
        cluster.ok(YUNTI, "run", "wordcount", "--input", "in", "--output", "tasks", "--on", "yarn")
        stock = cluster.lines("stock")
        self.assertGreater(len(stock), 10_000)
        self.assertEqual(cluster.lines("settings"), stock)
        self.assertEqual(cluster.lines("tasks"), stock)
        self.assertEqual(cluster.crashes(), [])

    def test_hadoop_3_3(self):
        self.check("3.3.6")

    def test_hadoop_3_4(self):
        self.check("3.4.2")

    def test_hadoop_3_5(self):
        self.check("3.5.0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
