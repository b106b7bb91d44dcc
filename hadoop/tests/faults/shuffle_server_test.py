#!/usr/bin/env python3
"""A failing ShuffleHandler, and map outputs corrupted on its disk: jobs end as with stock Hadoop."""

import glob
import os
import re
import signal
import sys
import tempfile
import time
import unittest

import flood
from live_cluster import YUNTI

# Faults of the responses to the reducer's first requests (hadoop/faults, FaultProxy).
FAULTS = ["404", "429", "429-retry-after", "500", "200-page", "200-page-signed", "half", "half-hang", "hang", "flip", "header-huge",
          "header-huge-part", "header-long", "header-short", "header-empty", "header-negative", "header-other-reduce"]
# Faults after a valid header, which the plug-in's own code must handle.
BODY_FAULTS = ["half", "half-hang", "flip", "header-huge-part"]
MAPS = 3
# Half a megabyte per map; short timeouts for a hanging handler, and short penalties.
SETTINGS = {"flood.maps": MAPS, "flood.records": 5000, "mapreduce.reduce.shuffle.read.timeout": 2000,
            "mapreduce.reduce.shuffle.retry-delay.max.ms": 300, "mapreduce.job.reduce.slowstart.completedmaps": 1,
            # Attempts that fail here fail for Hadoop's own reasons.
            "yunti.hadoop.native.attempts": 100}


def setUpModule():
    global cluster, directory
    flood.build()
    directory = tempfile.TemporaryDirectory()
    cluster = flood.Cluster("cluster-faults", "--set", f"yunti.faults.directory={directory.name}", "--set",
                            "yarn.nodemanager.aux-services.mapreduce_shuffle.class=org.yunti.hadoop.faults.FaultyShuffleHandler",
                            env={"HADOOP_CLASSPATH": flood.JAR})


def tearDownModule():
    cluster.down()
    directory.cleanup()


def plan(*faults):
    with open(os.path.join(directory.name, "plan"), "w", encoding="ascii") as file:
        file.write("".join(f"{fault}\n" for fault in faults))
    open(os.path.join(directory.name, "log"), "w", encoding="ascii").close()


def produced_faults():
    """Returns the faults produced since `plan`."""
    with open(os.path.join(directory.name, "log"), encoding="ascii") as file:
        return [line.split()[0] for line in file]


# Hadoop's reduce stops fetching in one of two ways, depending on timing.
GIVEN_UP = r"\d+ failures downloading attempt_\w+|Exceeded MAX_FAILED_UNIQUE_FETCHES; bailing-out\."


def reason(printed):
    """Returns the reason for a failed reduce, without names and numbers."""
    return sorted({re.sub(r"\d+", "N", re.sub(GIVEN_UP, "gave up", line)) for line in cluster.why(printed)})


class ShuffleServer(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(cluster.crashes(), [])

    def flood(self, variant, more=None):
        return cluster.begin(*flood.command(variant, SETTINGS | (more or {}))).end()

    def faults_in_turn(self, variant, more=None):
        plan(*FAULTS)
        begin = time.monotonic()
        code, printed = self.flood(variant, {"mapreduce.reduce.maxattempts": 2 * len(FAULTS)} | (more or {}))
        failed = flood.counter(printed, "Failed reduce tasks")
        print(f"{variant}: {failed} attempts failed, {time.monotonic() - begin:.0f} s", flush=True)
        self.assertEqual(code, 0, f"{produced_faults()}\n{printed[-6000:]}")
        self.assertEqual(produced_faults()[:len(FAULTS)], FAULTS)
        return printed

    def test_every_fault_in_turn_stock(self):
        self.faults_in_turn("stock")

    def test_every_fault_in_turn(self):
        # Maps with discarded outputs are not counted.
        flood.served(self.faults_in_turn("ours"), 2)

    def test_every_fault_in_turn_when_outputs_go_to_disk(self):
        flood.served(self.faults_in_turn("ours", {"yunti.hadoop.reduce.memory.mb": 1}), 2)

    def test_a_native_job_too(self):
        plan(*BODY_FAULTS)
        text = os.path.join(directory.name, "text")
        with open(text, "w", encoding="ascii") as file:
            file.write("".join(f"w{i % 997} w{i % 31}\n" for i in range(20_000)))
        cluster.ok("hadoop", "fs", "-put", text, "/text")
        limits = ["-Dmapreduce.reduce.shuffle.read.timeout=2000", "-Dmapreduce.reduce.shuffle.retry-delay.max.ms=300"]
        printed = cluster.ok(YUNTI, "run", "wordcount", "--on", "yarn", "--input", "/text", "--output", "/counted", *limits,
                          "-Dmapreduce.input.fileinputformat.split.maxsize=80000", *flood.PROMPT)
        flood.served(printed, 3)
        self.assertEqual(produced_faults()[:len(BODY_FAULTS)], BODY_FAULTS)
        counted = dict(line.split("\t") for line in cluster.lines("/counted"))
        self.assertEqual(sum(map(int, counted.values())), 40_000)
        self.assertEqual(counted["w0"], str(20_000 // 997 + 1 + 20_000 // 31 + 1))

    def test_a_handler_that_never_recovers(self):
        """The job fails, for the same reason as with stock."""
        for fault in ("404", "flip"):
            reasons = {}
            for variant in flood.VARIANTS:
                plan(*[fault] * 500)
                code, printed = self.flood(variant, {"mapreduce.reduce.maxattempts": 1, "mapreduce.map.maxattempts": 1})
                self.assertNotEqual(code, 0, printed[-6000:])
                reasons[variant] = reason(printed)
            with self.subTest(fault=fault):
                self.assertTrue(reasons["stock"])
                self.assertEqual(reasons["ours"], reasons["stock"])

    def begin_and_rot(self, variant, rots, settings):
        """Runs a job with three more maps, and corrupts the output of each first map after all maps are done."""
        plan()
        job = cluster.begin(*flood.command(variant, SETTINGS | {"flood.maps": len(rots) + MAPS} | settings))
        reduce = job.task("r", 0, seconds=120)
        # Before the first fetch.
        reduce.signal(signal.SIGSTOP)
        for number, spoil in enumerate(rots):
            attempt = reduce.attempt.replace("_r_000000_", f"_m_{number:06d}_")
            output, = glob.glob(os.path.join(cluster.directory, "data/node1/local/usercache/*/appcache/*/output", attempt, "file.out"))
            spoil(output)
        reduce.signal(signal.SIGCONT)
        return job.end()

    def test_map_outputs_that_rot_on_disk(self):
        """A map whose output fails its checksum runs again."""
        for variant in flood.VARIANTS:
            with self.subTest(variant=variant):
                # With shorter penalties, a reduce would request 30 times and give up before the map has run again.
                more = {"mapreduce.reduce.maxattempts": 10, "mapreduce.reduce.shuffle.retry-delay.max.ms": 2000}
                code, printed = self.begin_and_rot(variant, ROTS.values(), more)
                self.assertEqual(code, 0, printed[-6000:])
                self.assertEqual(flood.counter(printed, "Launched map tasks"), MAPS + 2 * len(ROTS), printed[-6000:])
                if variant == "ours":
                    flood.served(printed, MAPS + len(ROTS) + 1)

    def test_a_map_output_that_cannot_be_served(self):
        """Hadoop's handler responds 500 to all requests that name the map: the reduce gives up, as with stock."""
        reasons = {}
        for variant in flood.VARIANTS:
            code, printed = self.begin_and_rot(variant, [lambda output: flip(output + ".index", 5)], {"mapreduce.reduce.maxattempts": 1})
            self.assertEqual(code, 1, printed[-6000:])
            reasons[variant] = reason(printed)
        self.assertTrue(reasons["stock"])
        self.assertEqual(reasons["ours"], reasons["stock"])


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at, os.SEEK_END if at < 0 else os.SEEK_SET)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))


ROTS = {
    "a record": lambda path: flip(path, 1000),
    "the first length": lambda path: flip(path, 0),
    "the checksum": lambda path: flip(path, -1),
}

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
