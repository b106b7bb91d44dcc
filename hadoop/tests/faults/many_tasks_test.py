#!/usr/bin/env python3
"""Many map outputs into one reduce with few open files, and many tasks in one JVM: no cluster, LocalJobRunner."""

import re
import sys
import unittest

import flood

MAPS = 1200
# Between the two readings lie this many tasks. What may grow meanwhile is compiled code, metaspace and the arenas of malloc; 24 MB
# are 27 KB a task, less than the smallest thing that native code holds for one (a batch, a block).
FIRST, LAST = 100, 1000
GROWTH_KB = 24 << 10


def setUpModule():
    flood.build()


class ManyTasks(unittest.TestCase):
    def test_1200_map_outputs_in_256_open_files(self):
        few_files = "ulimit -n 256;"
        arguments = [f"-Dflood.maps={MAPS}", "-Dflood.records=50", "-Dmapreduce.job.reduces=2"]
        # In the second run, each map output goes to disk.
        for share in ("0.25", "0.000001"):
            with self.subTest(share_of_memory=share):
                more = f"-Dmapreduce.reduce.shuffle.memory.limit.percent={share}"
                code, told = flood.local("ours", "Flood", *arguments, more, shell=few_files, java=["-Xmx384m"])
                self.assertEqual(code, 0, told[-6000:])
                flood.served(told, MAPS + 2)
                self.assertEqual(flood.counter(told, "Shuffled Maps "), 2 * MAPS)
                where = "NATIVE MEMORY" if share == "0.25" else "NATIVE DISK"
                self.assertEqual(told.count(f"to {where}"), 2 * MAPS)

    def test_native_memory_does_not_grow(self):
        # Small, so that every task spills, goes to disk and merges; the heap is taken at the start and does not grow.
        settings = ["-Dflood.maps=18", "-Dflood.records=20000", "-Dmapreduce.job.reduces=2", "-Dmapreduce.task.io.sort.mb=1",
                    "-Dyunti.hadoop.reduce.memory.mb=2", "-Dmapreduce.reduce.shuffle.memory.limit.percent=0.05",
                    "-Dmapreduce.local.reduce.tasks.maximum=2",
                    "-Dmapreduce.map.output.compress=true", "-Dmapreduce.map.output.compress.codec=org.apache.hadoop.io.compress.SnappyCodec"]
        java = ["-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-Dhadoop.root.logger=WARN,console"]
        shell = "export MALLOC_ARENA_MAX=4;"
        code, told = flood.local("ours", "ManyTasks", *settings, str(FIRST), str(LAST), java=java, shell=shell)
        self.assertEqual(code, 0, told[-6000:])
        told_marks = re.findall(r"after (\d+) tasks, (\d+) served natively: (\d+) KB", told)
        (_, _, first), (tasks, served, last) = (map(int, mark) for mark in told_marks)
        print(f"{first >> 10} MB after {FIRST} tasks, {last >> 10} MB after {LAST}", flush=True)
        self.assertLess(last - first, GROWTH_KB)
        # Hadoop does not count what tasks that failed said.
        self.assertGreater(served, 0.8 * tasks)
        for task in ("map", "reduce"):
            self.assertIn(f"a {task} task fails half-way, as asked", told)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
