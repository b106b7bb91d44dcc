#!/usr/bin/env python3
"""Runs the cluster cases of the conformance suite (hadoop/conformance) in all variants. A job takes several seconds.

    python3 hadoop/tests/conformance_test.py

It needs `make hadoop`. The cluster is the one that YUNTI_SHARED_CLUSTER names; without it, this test starts its own
(hadoop/cluster) and stops it.
"""

import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import live_cluster  # noqa: E402
from live_cluster import ROOT  # noqa: E402

SUITE = os.path.join(ROOT, "hadoop/conformance/run")
# Seconds for twenty cases of two or more jobs. On two cores a job takes ten seconds, and more on a busy machine.
SECONDS = 3600


def setUpModule():
    global cluster
    cluster = live_cluster.shared("cluster-conformance")
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
