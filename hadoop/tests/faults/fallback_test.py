#!/usr/bin/env python3
"""Failures planted in native code at every stage of map and reduce tasks.

The next attempt runs Hadoop's own code, and the job succeeds. An agent (hadoop/faults, PlantingAgent) makes native
methods fail in the first attempts of a task; the plug-in has no code for it. Each task of a job fails at another stage.
"""

import re
import sys
import unittest

import flood

MARKED = "declined: native code failed in an earlier attempt"
REPEATED = "declined: earlier attempts failed or were killed"
# Large records use putBig, the others put.
SETTINGS = {"flood.records": 20_000, "flood.large.every": 2_000, "flood.large.bytes": 100_000, "mapreduce.task.io.sort.mb": 4,
            "mapreduce.map.speculative": "false", "mapreduce.reduce.speculative": "false",
            # No reduce is running that Hadoop could kill to make room for a map's second attempt.
            "mapreduce.job.reduce.slowstart.completedmaps": 1,
            # Small, so that a reduce merges during the fetch.
            "yunti.hadoop.reduce.memory.mb": 2, "mapreduce.reduce.shuffle.memory.limit.percent": 0.6}
MAP_STAGES = ("create", "put", "putBig", "finish")
REDUCE_STAGES = ("begin", "append", "seal", "commit", "merge", "open", "next")
FETCHES = ("begin", "append", "seal")
KINDS = {"io": "java.io.IOException", "runtime": "java.lang.IllegalStateException", "link": "java.lang.UnsatisfiedLinkError"}


def setUpModule():
    global cluster
    flood.build()
    cluster = flood.shared("cluster-fallback")
    unittest.addModuleCleanup(cluster.down)


def planted(plan):
    """Returns the settings that plant failures: {"m0": "put.1.io", ..} in attempts `0` or `0-1`."""
    attempts, stages = plan
    agent = f"-javaagent:{flood.JAR}={attempts}:" + ",".join(f"{task}.{stage}" for task, stage in stages.items())
    # Replaces the cluster's own options.
    java = f"-Xmx300m {flood.BRIEF} {agent}"
    return {"mapreduce.map.java.opts": java, "mapreduce.reduce.java.opts": java}


def failures(text):
    """Returns the diagnostics of each failed attempt, by task and attempt: {("m", 0, 0): text}."""
    parts = re.split(r"Task Id : attempt_\d+_\d+_([mr])_(\d+)_(\d+), Status : FAILED\n", text)
    return {(parts[i], int(parts[i + 1]), int(parts[i + 2])): parts[i + 3].split(" INFO ")[0] for i in range(1, len(parts), 4)}


class Fallback(unittest.TestCase):
    maxDiff = None

    def run_job(self, settings, plan=None, code=0):
        """Runs a flood; returns the client's output and the failed attempts."""
        command = flood.command("ours", SETTINGS | settings | (planted(plan) if plan else {}))
        found, text = cluster.begin(*command).end()
        self.assertEqual(found, code, text[-8000:])
        self.assertNotIn("--memory", text)
        return text, failures(text)

    def every_stage(self, kind):
        maps = {f"m{i}": f"{stage}.1.{kind}" for i, stage in enumerate(MAP_STAGES)}
        # Hadoop attributes an IOException in a fetch to the sender, and fetches again.
        reduce_stages = [stage for stage in REDUCE_STAGES if kind != "io" or stage not in FETCHES]
        reduces = {f"r{i}": f"{stage}.1.{kind}" for i, stage in enumerate(reduce_stages)}
        sizes = {"flood.maps": len(maps), "mapreduce.job.reduces": len(reduces)}
        text, failed = self.run_job(sizes, ("0", maps | reduces))
        stages = {("m", i, 0): stage for i, stage in enumerate(MAP_STAGES) if stage != "create"}
        stages |= {("r", i, 0): stage for i, stage in enumerate(reduce_stages)}
        self.assertEqual(sorted(failed), sorted(stages), "".join(failed.values()) + text[-2000:])
        for attempt, stage in stages.items():
            why = "" if kind == "io" else KINDS[kind] + ": "
            self.assertRegex(failed[attempt], rf"native code failed in attempt_\w+_{attempt[0]}_00000{attempt[1]}_0: {why}planted in {stage}; "
                                              "Hadoop's own code runs any further attempt of the task")
        self.assertEqual(flood.counter(text, MARKED), len(stages))
        # If the native half cannot be created, the same attempt declines the task.
        self.assertRegex(text, rf"declined: {KINDS[kind]}: planted in create=1\n")

    def test_an_io_exception(self):
        self.every_stage("io")

    def test_an_io_exception_in_a_fetch(self):
        for stage in FETCHES:
            with self.subTest(stage=stage):
                text, failed = self.run_job({"flood.maps": 1}, ("0", {"r0": f"{stage}.1.io"}))
                # A reduce without another map to fetch from ends after one failed fetch, as with stock Hadoop.
                self.assertNotIn("native code failed", "".join(failed.values()))
                flood.served(text, 2)

    def test_a_runtime_exception(self):
        self.every_stage("runtime")

    def test_a_link_error(self):
        self.every_stage("link")

    def test_jvms_that_die_twice(self):
        maps = {f"m{i}": f"{stage}.1.halt" for i, stage in enumerate(MAP_STAGES)}
        reduces = {f"r{i}": f"{stage}.1.halt" for i, stage in enumerate(REDUCE_STAGES)}
        sizes = {"flood.maps": len(maps), "mapreduce.job.reduces": len(reduces)}
        text, failed = self.run_job(sizes, ("0-1", maps | reduces))
        tasks = [("m", i) for i in range(len(maps))] + [("r", i) for i in range(len(reduces))]
        self.assertEqual(sorted(failed), sorted((*task, attempt) for task in tasks for attempt in (0, 1)))
        self.assertEqual(flood.counter(text, REPEATED), len(tasks))
        self.assertEqual(flood.counter(text, MARKED), 0)

    def test_jvms_that_die_once_stay_native(self):
        text, failed = self.run_job({"flood.maps": 2}, ("0", {"m0": "put.1.halt", "r0": "next.1.halt"}))
        self.assertEqual(sorted(failed), [("m", 0, 0), ("r", 0, 0)])
        flood.served(text, 3)

    def test_the_last_attempt(self):
        last = {"flood.maps": 2, "mapreduce.map.maxattempts": 2, "mapreduce.reduce.maxattempts": 2}
        text, failed = self.run_job(last, ("0", {"m0": "put.1.halt", "m1": "finish.1.io", "r0": "open.1.halt"}))
        self.assertEqual(sorted(failed), [("m", 0, 0), ("m", 1, 0), ("r", 0, 0)])
        self.assertEqual(flood.counter(text, REPEATED), 2)
        self.assertEqual(flood.counter(text, MARKED), 1)

    def test_late_calls(self):
        """Failures after many records, with runs on disk."""
        text, failed = self.run_job({"flood.maps": 3}, ("0", {"m0": "put.40.runtime", "m1": "putBig.9.io", "r0": "next.30.runtime"}))
        self.assertEqual(sorted(failed), [("m", 0, 0), ("m", 1, 0), ("r", 0, 0)])
        self.assertEqual(flood.counter(text, MARKED), 3)

    def test_mappers_that_catch(self):
        """No record is lost if a mapper catches the collector's exception."""
        text, failed = self.run_job({"flood.maps": 1, "flood.catch": "true"}, ("0", {"m0": "put.3.io"}))
        self.assertIn("planted in put", failed["m", 0, 0])
        self.assertEqual(flood.counter(text, MARKED), 1)

    def test_user_code_that_fails(self):
        """A failure of a combiner, a mapper or a reducer ends the job as it does with stock Hadoop, and leaves no mark."""
        user = {"combine": {"flood.combine": "true", "flood.fail.combine": "true"}, "map": {"flood.fail.map": 0}, "reduce": {"flood.fail.reduce": 0}}
        for name, settings in user.items():
            with self.subTest(fails=name):
                errors = []
                for variant in flood.VARIANTS:
                    # With two attempts, the plug-in's last one runs Hadoop's own code.
                    settings = SETTINGS | settings | {"flood.maps": 1, "mapreduce.map.maxattempts": 2, "mapreduce.reduce.maxattempts": 2}
                    code, text = cluster.begin(*flood.command(variant, settings)).end()
                    self.assertEqual(code, 1, text[-6000:])
                    self.assertNotIn("native code failed", text)
                    errors.append(re.findall(r"^(?:Error|Caused by): .*", text, re.M))
                self.assertEqual(errors[0], errors[1])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
