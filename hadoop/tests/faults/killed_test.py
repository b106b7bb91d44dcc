#!/usr/bin/env python3
"""kill -9 of task JVMs and of a NodeManager while reduces fetch: the job succeeds, as with stock Hadoop.

A map task stopped by SIGSTOP prolongs the shuffle for as long as a test needs.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import flood
from live_cluster import YUNTI, wait

MAPS = 3
FETCHED = r"about to shuffle output of map attempt"
EXPIRY_MS = 6000
# Without speculation, so that no other attempt replaces the held one.
SETTINGS = ["-Dmapreduce.map.speculative=false", "-Dmapreduce.job.reduce.slowstart.completedmaps=0",
            "-Dmapreduce.reduce.shuffle.connect.timeout=3000", "-Dmapreduce.reduce.shuffle.retry-delay.max.ms=500"]


def setUpModule():
    global cluster, files
    flood.build()
    # The ApplicationMaster would wait three minutes for the dead NodeManager before it ends.
    cluster = flood.Cluster("cluster-killed", "--nodes", "2", "--set", f"yarn.nm.liveness-monitor.expiry-interval-ms={EXPIRY_MS}", "--set",
                            "yarn.client.nodemanager-connect.max-wait-ms=3000", "--set", "yarn.client.nodemanager-connect.retry-interval-ms=1000")
    unittest.addModuleCleanup(cluster.down)
    files = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(files.cleanup)


class Killed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = os.path.join(files.name, "text")
        with open(text, "w", encoding="ascii") as file:
            file.write("".join(f"w{i % 997} w{i % 31}\n" for i in range(20_000)))
        cluster.ok("hadoop", "fs", "-put", text, "/text")

    def tearDown(self):
        self.assertEqual(cluster.crashes(), [])

    def jobs(self):
        """Yields a flood, and a job that is native from reader to writer."""
        yield "flood", flood.command("ours", {"flood.maps": MAPS, "flood.records": 20_000}) + SETTINGS
        yield "native", [YUNTI, "run", "wordcount", "--on", "yarn", "--input", "/text", "--output", "/counted", "--overwrite", *SETTINGS,
                         "-Dmapreduce.input.fileinputformat.split.maxsize=80000", *flood.PROMPT]

    def succeeds(self, name, job):
        code, printed = job.end()
        self.assertEqual(code, 0, printed[-6000:])
        flood.served(printed, 3)
        if name == "native":
            counted = [line.split("\t") for line in cluster.lines("/counted")]
            self.assertEqual(sum(int(n) for _, n in counted), 40_000)
        return printed

    def begin_and_hold(self, command):
        """Starts a job, holds its first map, and waits until its reduce has fetched the output of another one."""
        job = cluster.begin(*command)
        held = job.task("m", 0)
        held.signal(signal.SIGSTOP)
        reduce = job.task("r", 0)
        job.says(reduce, FETCHED, log=".shuffle")
        return job, held, reduce

    def test_a_reduce_task(self):
        for name, command in self.jobs():
            with self.subTest(job=name):
                job, held, reduce = self.begin_and_hold(command)
                reduce.signal(signal.SIGKILL)
                held.signal(signal.SIGCONT)
                printed = self.succeeds(name, job)
                self.assertEqual(flood.counter(printed, "Failed reduce tasks"), 1)

    def test_a_map_task(self):
        for name, command in self.jobs():
            with self.subTest(job=name):
                job, held, _ = self.begin_and_hold(command)
                held.signal(signal.SIGKILL)
                printed = self.succeeds(name, job)
                self.assertEqual(flood.counter(printed, "Failed map tasks"), 1)

    def test_a_node_manager(self):
        for name, command in self.jobs():
            with self.subTest(job=name):
                job, held, _ = self.begin_and_hold(command)
                # Not the node of the application master: its restart is another test.
                master, = cluster.tasks("MRAppMaster")
                node = 3 - int(re.search(r"/containers/node(\d)/", master.syslog)[1])
                again = killed_node(node)
                try:
                    # It may have been on the killed node.
                    with contextlib.suppress(ProcessLookupError):
                        held.signal(signal.SIGCONT)
                    self.succeeds(name, job)
                    self.assertRegex(cluster.log("resourcemanager"), r"Expired:localhost:\d+")
                finally:
                    again()


def killed_node(node):
    """Kills a NodeManager and its containers, like a machine failure. Returns a function that restarts it."""
    pid = cluster.pid(f"nodemanager{node}")
    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
        command = file.read().split("\0")[:-1]
    with open(f"/proc/{pid}/environ", encoding="utf-8") as file:
        environment = dict(word.partition("=")[::2] for word in file.read().split("\0") if "=" in word)
    os.kill(pid, signal.SIGKILL)
    for task in cluster.tasks():
        if f"/containers/node{node}/" in task.syslog:
            with contextlib.suppress(ProcessLookupError):
                task.signal(signal.SIGKILL)

    def restart():
        active = r"NodeManager from node localhost"
        before = len(re.findall(active, cluster.log("resourcemanager")))
        with open(os.path.join(cluster.directory, "logs", f"nodemanager{node}.log"), "ab") as log:
            process = subprocess.Popen([os.path.join(cluster.directory, "bin/in-cluster"), *command], env=environment, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, start_new_session=True)
        with open(os.path.join(cluster.directory, "run", f"nodemanager{node}.pid"), "w", encoding="ascii") as file:
            file.write(f"{process.pid}\n")
        wait("the NodeManager is back", 60, lambda: len(re.findall(active, cluster.log("resourcemanager"))) > before)

    return restart


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
