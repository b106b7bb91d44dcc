#!/usr/bin/env python3
"""Tasks with far more data than memory stay within Hadoop's default container, whose limit YARN enforces."""

import sys
import time
import unittest

import flood

CONTAINER_MB = 1024
MAPS, MAP_MB = 3, 250
MEGABYTE = 9600  # Approximate records of a flood.


def setUpModule():
    global cluster
    flood.build()
    # YARN checks each second, and kills containers above the limit.
    cluster = flood.Cluster("cluster-memory", "--set", "yarn.nodemanager.pmem-check-enabled=true", "--set",
                            "yarn.nodemanager.container-monitor.interval-ms=1000")
    unittest.addModuleCleanup(cluster.down)


def peak_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) >> 10 for line in file if line.startswith("VmHWM:"))


class ContainerMemory(unittest.TestCase):
    def test_much_more_data_than_memory(self):
        for codec in (None, "Snappy"):
            with self.subTest(codec=codec):
                settings = {"flood.maps": MAPS, "flood.records": MAP_MB * MEGABYTE}
                if codec:
                    settings |= {"mapreduce.map.output.compress": "true",
                                 "mapreduce.map.output.compress.codec": f"org.apache.hadoop.io.compress.{codec}Codec"}
                job, peaks = cluster.begin(*flood.command("ours", settings)), {}
                while job.client.poll() is None:
                    for task in cluster.tasks():
                        try:
                            peaks[task.attempt] = peak_mb(task.pid)
                        except (OSError, StopIteration):
                            pass  # The process has ended.
                    time.sleep(0.2)
                code, printed = job.end()
                print(f"{codec or 'no codec'}: {', '.join(f'{name[-12:]} {mb} MB' for name, mb in sorted(peaks.items()))}", flush=True)
                self.assertEqual(code, 0, printed[-6000:])
                flood.served(printed, MAPS + 1)
                self.assertNotIn("running beyond", printed)
                self.assertEqual(flood.counter(printed, "Failed map tasks") + flood.counter(printed, "Failed reduce tasks"), 0)
                self.assertEqual(len(peaks), MAPS + 1)
                self.assertLess(max(peaks.values()), CONTAINER_MB)
                # More than fits into memory.
                self.assertGreater(flood.counter(printed, "Reduce shuffle bytes"), MAPS * MAP_MB << 19)
        self.assertEqual(cluster.crashes(), [])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
