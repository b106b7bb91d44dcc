#!/usr/bin/env python3
"""A local disk that fills during a spill: the task reports it, and the next job runs."""

import os
import subprocess
import sys
import unittest

import flood

DISK = os.path.join(flood.ROOT, "build/cluster-full-disk-local")
DISK_MB = 96
MEGABYTE = 9600  # Approximate records of a flood.
ONE_ATTEMPT = {"mapreduce.map.maxattempts": 1, "mapreduce.reduce.maxattempts": 1, "mapreduce.job.reduce.slowstart.completedmaps": 1}
FULL = rf"^(java\.nio\.file\.FileSystemException: )?Yunti: cannot write: No space left on device: {DISK}/\S+, byte \d+: free some space"


def setUpModule():
    global cluster
    flood.build()
    os.makedirs(DISK, exist_ok=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=755", "none", DISK], capture_output=True, text=True)
    if made.returncode != 0:
        raise unittest.SkipTest("a small file system cannot be mounted here: " + made.stderr.strip())
    unittest.addModuleCleanup(subprocess.run, ["umount", "-l", DISK])
    # The default NodeManager would take a full disk out of use.
    cluster = flood.Cluster("cluster-full-disk", "--set", f"yarn.nodemanager.local-dirs={DISK}", "--set",
                            "yarn.nodemanager.disk-health-checker.enable=false")
    unittest.addModuleCleanup(cluster.down)


class FullDisk(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(cluster.crashes(), [])

    def fails(self, settings):
        """Returns the failed attempts' messages, stock and with the plug-in; then runs a small job, which must succeed."""
        messages = {}
        for variant in flood.VARIANTS:
            code, printed = cluster.begin(*flood.command(variant, ONE_ATTEMPT | settings)).end()
            self.assertEqual(code, 1, printed[-6000:])
            messages[variant] = cluster.why(printed)
            print(f"{variant}: {messages[variant]}", flush=True)
            code, printed = cluster.begin(*flood.command(variant, {"flood.maps": 2})).end()
            self.assertEqual(code, 0, printed[-6000:])
        flood.served(printed, 3)
        return messages

    def test_while_a_map_spills(self):
        messages = self.fails({"flood.maps": 1, "flood.records": 3 * DISK_MB * MEGABYTE, "mapreduce.task.io.sort.mb": 10})
        self.assertTrue(messages["stock"])
        self.assertRegex(messages["ours"][-1], FULL)

    def test_while_a_reduce_fetches(self):
        # The outputs of all maps fit once, but not twice.
        messages = self.fails({"flood.maps": 3, "flood.records": DISK_MB // 5 * MEGABYTE, "mapreduce.task.io.sort.mb": 40,
                           "mapreduce.reduce.shuffle.memory.limit.percent": 0.0001})
        self.assertTrue(messages["stock"])
        self.assertRegex(messages["ours"][-1], FULL)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
