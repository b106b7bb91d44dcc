#!/usr/bin/env python3
"""A shuffle through TLS, to two reducers: Hadoop's own fetchers speak it, whoever keeps what they bring."""

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
        # In the second run, outputs go to disk.
        for more in ({}, {"yunti.hadoop.reduce.memory.mb": 4}):
            with self.subTest(more=more):
                code, told = cluster.begin(*flood.command("ours", settings | more)).end()
                self.assertEqual(code, 0, told[-6000:])
                flood.served(told, MAPS + REDUCES)
                self.assertEqual(flood.counter(told, "Shuffled Maps "), MAPS * REDUCES)
                self.assertEqual(flood.counter(told, "Failed Shuffles"), 0)
        self.assertIn("Encrypted shuffle is enabled", cluster.log("nodemanager1"))
        self.assertEqual(cluster.crashes(), [])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
