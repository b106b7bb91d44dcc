#!/usr/bin/env python3
"""Many map outputs into one reduce with few open files, and many tasks in one JVM: no cluster, LocalJobRunner."""

import re
import sys
import unittest

import flood

MAPS = 1200
# Tasks at the two samples. Between them compiled code, metaspace and malloc arenas may grow. 24 MB are 27 KB per task,
# less than the smallest allocation of native code for a task (a batch, a block).
FIRST, LAST = 100, 1000
GROWTH_KB = 24 << 10


def setUpModule():
    flood.build()


class ManyTasks(unittest.TestCase):
    def test_1200_map_outputs_in_256_open_files(self):
        few_files = "ulimit -n 256;"
        arguments = [f"-Dflood.maps={MAPS}", "-Dflood.records=50", "-Dmapreduce.job.reduces=2"]
        # The second run writes each map output to disk.
        for share in ("0.25", "0.000001"):
            with self.subTest(share_of_memory=share):
                more = f"-Dmapreduce.reduce.shuffle.memory.limit.percent={share}"
                code, printed = flood.local("ours", "Flood", *arguments, more, shell=few_files, java=["-Xmx384m"])
                self.assertEqual(code, 0, printed[-6000:])
                flood.served(printed, MAPS + 2)
                self.assertEqual(flood.counter(printed, "Shuffled Maps "), 2 * MAPS)
                where = "NATIVE MEMORY" if share == "0.25" else "NATIVE DISK"
                self.assertEqual(printed.count(f"to {where}"), 2 * MAPS)

    def test_native_memory_does_not_grow(self):
        # Small, so that every task spills, writes to disk and merges; the heap has a fixed size.
        settings = ["-Dflood.maps=18", "-Dflood.records=20000", "-Dmapreduce.job.reduces=2", "-Dmapreduce.task.io.sort.mb=1",
                    "-Dyunti.hadoop.reduce.memory.mb=2", "-Dmapreduce.reduce.shuffle.memory.limit.percent=0.05",
                    "-Dmapreduce.local.reduce.tasks.maximum=2",
                    "-Dmapreduce.map.output.compress=true", "-Dmapreduce.map.output.compress.codec=org.apache.hadoop.io.compress.SnappyCodec"]
        java = ["-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-Dhadoop.root.logger=WARN,console"]
        shell = "export MALLOC_ARENA_MAX=4;"
        code, printed = flood.local("ours", "ManyTasks", *settings, str(FIRST), str(LAST), java=java, shell=shell)
        self.assertEqual(code, 0, printed[-6000:])
        marks = re.findall(r"after (\d+) tasks, (\d+) served natively: (\d+) KB", printed)
        (_, _, first), (tasks, served, last) = (map(int, mark) for mark in marks)
        print(f"{first >> 10} MB after {FIRST} tasks, {last >> 10} MB after {LAST}", flush=True)
        self.assertLess(last - first, GROWTH_KB)
        # Hadoop does not count the counters of failed tasks.
        self.assertGreater(served, 0.8 * tasks)
        for task in ("map", "reduce"):
            self.assertIn(f"a {task} task fails half-way, as configured", printed)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
