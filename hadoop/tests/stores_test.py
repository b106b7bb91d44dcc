#!/usr/bin/env python3
"""Jobs on the node whose inputs and outputs are in HDFS, by `yunti-stores`: healthy, failing and killed.

    python3 hadoop/tests/stores_test.py

It needs `make hadoop stores`. YUNTI_SHARED_CLUSTER names the cluster; without it, this test starts its own.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import live_cluster  # noqa: E402
from live_cluster import YUNTI, wait  # noqa: E402

HDFS = "hdfs://localhost:8020"


def setUpModule():
    global cluster
    cluster = live_cluster.shared("cluster-stores")
    unittest.addModuleCleanup(cluster.down)
    cluster.ok("hadoop", "fs", "-mkdir", "-p", "/stores/in/deep")


class Stores(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="yunti-hdfs-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        draw = random.Random(3)
        cls.lines = [f"{draw.getrandbits(40):010x} the quick brown fox {n}" for n in range(500_000)]
        for name, lines in (("a.txt", cls.lines[:200_000]), ("deep/b.txt", cls.lines[200_000:])):
            path = f"{cls.folder}/{os.path.basename(name)}"
            with open(path, "w", encoding="ascii") as f:
                f.write("".join(line + "\n" for line in lines))
            cluster.ok("hadoop", "fs", "-put", "-f", path, f"/stores/in/{name}")

    def yunti(self, *words, code=0):
        done = cluster.execute("in-cluster", YUNTI, *words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        if code:
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done

    def names(self, folder):
        done = cluster.execute("hadoop", "fs", "-ls", "-R", folder)
        return sorted(re.findall(rf"{re.escape(folder)}/(\S+)", done.stdout))

    def clear(self, folder):
        cluster.ok("hadoop", "fs", "-rm", "-r", "-f", "-skipTrash", folder)

    def test_a_job_from_hdfs_to_hdfs(self):
        self.clear("/stores/sorted")
        self.yunti("run", "sort", f"{HDFS}/stores/in", "-o", f"{HDFS}/stores/new/sorted", "--overwrite", "-q")
        self.assertEqual(self.names("/stores/new"), ["sorted", "sorted/_SUCCESS", "sorted/_yunti",
                                                     "sorted/_yunti/report.json", "sorted/part-r-00000"])
        text = cluster.ok("hadoop", "fs", "-cat", "/stores/new/sorted/part-r-00000")
        self.assertEqual(text.splitlines(), sorted(self.lines))
        done = self.yunti("run", "sort", f"{HDFS}/stores/in", "-o", f"{HDFS}/stores/new/sorted", code=8)
        self.assertIn("exists already", done.stderr)
        self.yunti("run", "wordcount", f"{HDFS}/stores/in", "-o", f"{HDFS}/stores/new/sorted", "--overwrite", "-q")
        self.assertIn("the\t500000", cluster.lines("/stores/new/sorted"))
        self.assertEqual(self.names("/stores/new")[0], "sorted")

    def test_names_globs_and_the_default_file_system(self):
        want = self.yunti("run", "wordcount", f"{HDFS}/stores/in").stdout
        for name in (f"{HDFS}/stores/*/a.txt", "hdfs:///stores/in/a*"):
            out = f"{self.folder}/out"
            self.yunti("run", "wordcount", name, "-o", out, "--overwrite", "-q")
            with open(f"{out}/part-r-00000", encoding="ascii") as f:
                self.assertIn("the\t200000\n", f.read())
        self.assertTrue(want)
        self.assertIn("no such file", self.yunti("run", "sort", f"{HDFS}/stores/none", code=3).stderr)

    def test_a_name_node_that_is_not_there(self):
        begin = time.monotonic()
        self.yunti("run", "sort", "hdfs://localhost:1/x", "--store-option", "retries=1", "--store-option", "timeout=2",
                   code=3)
        self.assertLess(time.monotonic() - begin, 30)

    def test_a_job_that_is_killed_leaves_nothing_or_all(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.clear("/stores/killed")
            words = [YUNTI, "run", "sort", f"{HDFS}/stores/in", "-o", f"{HDFS}/stores/killed/out", "-m", "16MiB"]
            job = subprocess.Popen([f"{cluster.directory}/bin/in-cluster", *words], env=cluster.environment(),
                                   stderr=subprocess.DEVNULL)
            wait("the output", 60, lambda: any("part-r-00000" in name for name in self.names("/stores/killed"))
                 or job.poll() is not None)
            struck = []
            for entry in os.listdir("/proc"):
                try:
                    with open(f"/proc/{entry}/cmdline", "rb") as f:
                        # Jobs of other tests run beside this one.
                        if f.read().split(b"\0")[:-1] == [word.encode() for word in words]:
                            os.kill(int(entry), number)
                            struck.append(entry)
                except OSError:
                    pass
            self.assertTrue(struck or job.poll() is not None)
            job.wait(60)
            wait("the store process", 30, lambda: not any("_temporary" in n for n in self.names("/stores/killed")))
            # A commit that had begun goes on to its end.
            left = self.names("/stores/killed")
            self.assertTrue(left == [] or {"out/_SUCCESS", "out/part-r-00000"} <= set(left), left)


if __name__ == "__main__":
    unittest.main()
