#!/usr/bin/env python3
"""A shuffle through TLS to two reducers, by Hadoop's own fetchers."""

import sys
import unittest

import flood

MAPS, REDUCES = 4, 2


def setUpModule():
    global cluster
    flood.build()
    cluster = flood.Cluster("cluster-tls", "--tls")
    unittest.addModuleCleanup(cluster.down)


class Tls(unittest.TestCase):
    def test_two_reducers(self):
        settings = {"flood.maps": MAPS, "flood.records": 100_000, "mapreduce.job.reduces": REDUCES,
                    "mapreduce.job.reduce.slowstart.completedmaps": 1}
        # The second run writes outputs to disk.
        for more in ({}, {"yunti.hadoop.reduce.memory.mb": 4}):
            with self.subTest(more=more):
                code, printed = cluster.begin(*flood.command("ours", settings | more)).end()
                self.assertEqual(code, 0, printed[-6000:])
                flood.served(printed, MAPS + REDUCES)
                self.assertEqual(flood.counter(printed, "Shuffled Maps "), MAPS * REDUCES)
                self.assertEqual(flood.counter(printed, "Failed Shuffles"), 0)
        self.assertIn("Encrypted shuffle is enabled", cluster.log("nodemanager1"))
        self.assertEqual(cluster.crashes(), [])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
