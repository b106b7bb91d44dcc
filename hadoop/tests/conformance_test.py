#!/usr/bin/env python3
"""The conformance suite's cases for a cluster (hadoop/conformance), in all variants. Long: a job takes seconds here.

    python3 hadoop/tests/conformance_test.py

Starts a cluster of its own (hadoop/cluster) and ends it. Needs `make hadoop`.
"""

import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from live_cluster import PROMPT, ROOT, Cluster  # noqa: E402

SUITE = os.path.join(ROOT, "hadoop/conformance/run")
# Twenty cases of two jobs and more; on two cores each job takes ten seconds, and more where others work too.
SECONDS = 3600


def setUpModule():
    global cluster
    cluster = Cluster("cluster-conformance", *(word for setting in PROMPT for word in ("--set", setting.removeprefix("-D"))))
    unittest.addModuleCleanup(cluster.down)


class Conformance(unittest.TestCase):
    def same(self, variant):
        done = cluster.execute(SUITE, "--cluster", "--variant", variant, seconds=SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-4000:])
        passed = re.search(r"(?m)^(\d+) passed, 0 failed, ", done.stdout)
        self.assertTrue(passed and int(passed[1]) > 5, done.stdout)
        self.assertEqual(cluster.crashes(), [])

    def test_collector(self):
        self.same("collector")

    def test_collector_and_shuffle(self):
        self.same("shuffle")

    def test_native_tasks(self):
        self.same("native")


if __name__ == "__main__":
    unittest.main(verbosity=2)
