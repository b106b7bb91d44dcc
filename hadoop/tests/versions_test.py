#!/usr/bin/env python3
"""Runs jobs on clusters of several versions of Hadoop and compares the outputs with stock Hadoop's.

    python3 hadoop/tests/versions_test.py

It needs `make hadoop`; Hadoop 3.1 needs a JDK 8 too. Each test starts its own cluster (hadoop/cluster) and stops it.
The jars come from Maven Central.
"""

import glob
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../cluster"), os.path.join(HERE, "../../tools/tests")]

import jars  # noqa: E402
import jdks  # noqa: E402
import live_cluster  # noqa: E402
from live_cluster import ROOT, YUNTI, counter  # noqa: E402

BOOKS = sorted(glob.glob(os.path.join(ROOT, "examples/books/*.gz")))


def setUpModule():
    # Maven runs in the default JVM, not in a cluster's, and prints before the lines of the tests.
    for version in ("3.1.4", "3.3.6", "3.4.2", "3.5.0"):
        jars.Jars(version).fetch()


class Versions(unittest.TestCase):
    def check(self, version, java="17"):
        """Starts a cluster of a version, and runs the check, an unmodified job with the settings, and a native job."""
        found = jdks.find([java])
        if not found:
            self.skipTest(f"there is no JDK {java}")
        shared = (word for key, value in live_cluster.SHARED.items() for word in ("--set", f"{key}={value}"))
        cluster = live_cluster.Cluster("cluster-versions", "--hadoop", version, *shared, env={"JAVA_HOME": found[java][1]})
        self.addCleanup(cluster.down)
        self.assertIn(f"Hadoop {version}", cluster.ok("hadoop", "version"))
        printed = cluster.ok(YUNTI, "hadoop", "check")
        self.assertIn(f"Hadoop {version}", printed)
        self.assertRegex(printed, r"native +2 tasks")

        cluster.ok("hadoop", "fs", "-mkdir", "-p", "in")
        cluster.ok("hadoop", "fs", "-put", *BOOKS, "in")
        examples, = glob.glob(os.path.join(jars.Jars(version).examples, "hadoop-mapreduce-examples-*"))
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

    def test_hadoop_3_1(self):
        # Its daemons need a class library before Java 11.
        self.check("3.1.4", java="8")

    def test_hadoop_3_3(self):
        self.check("3.3.6")

    def test_hadoop_3_4(self):
        self.check("3.4.2")

    def test_hadoop_3_5(self):
        self.check("3.5.0")

    def test_hadoop_3_5_on_the_newest_java(self):
        self.check("3.5.0", java="25")


if __name__ == "__main__":
    unittest.main(verbosity=2)
