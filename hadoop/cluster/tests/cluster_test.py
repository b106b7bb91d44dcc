#!/usr/bin/env python3
"""Tests the life cycle of a cluster: up, a file, a job, a crash, down, up again with the data, down.

The cluster has its own folder, so that the tests do not touch a user's cluster.
"""

import collections
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
sys.path[:0] = [SOURCE, os.path.join(SOURCE, "../tests")]

import failure  # noqa: E402
import jars  # noqa: E402
import layout  # noqa: E402
import live_cluster  # noqa: E402
import namespace  # noqa: E402

CLUSTER = layout.Layout(os.path.join(layout.REPOSITORY, "build", "cluster-test"))
# Text with letters of one, two and three bytes.
TEXT = "".join(f"word{number % 97} Straße {'日本' * (number % 3)} {number % 7}\n" for number in range(5000))


def run(*command, stdin=None, seconds=300, env=None):
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=seconds, env=env)


def tool(name, *arguments, **options):
    return run(os.path.join(CLUSTER.bin, name), *arguments, **options)


def up(*arguments):
    return run(os.path.join(SOURCE, "up"), "--dir", CLUSTER.root, *arguments, seconds=900)


def down(*arguments):
    return run(os.path.join(SOURCE, "down"), "--dir", CLUSTER.root, *arguments)


def members():
    return namespace.members(CLUSTER.root, namespace.identity())


def listening(text):
    """Returns the listening ports in the text of /proc/net/tcp or tcp6."""
    rows = [line.split() for line in text.splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A"}


class Arguments(unittest.TestCase):
    def test_wrong_arguments_exit_with_2_and_one_line(self):
        for command, *arguments in (("up", "--nodes", "0"), ("up", "--nodes", "99"), ("up", "--nodes", "x"),
                                    ("up", "--set", "novalue"),
                                    ("up", "--conf", "/nonexistent"), ("up", "--timeout", "0"), ("up", "--no-such"),
                                    ("up", "word"),
                                    ("down", "--no-such"), ("down", "word")):
            with self.subTest(command=[command, *arguments]):
                done = run(os.path.join(SOURCE, command), *arguments)
                self.assertEqual((2, "", 1), (done.returncode, done.stdout, done.stderr.count("\n")), done.stderr)

    def test_refuses_a_folder_with_a_blank(self):
        done = run(os.path.join(SOURCE, "up"), "--dir", "/tmp/a b")
        self.assertEqual((1, 1), (done.returncode, done.stderr.count("\n")), done.stderr)
        self.assertFalse(os.path.exists("/tmp/a b"))


class SharedCluster(unittest.TestCase):
    def test_each_file_sees_its_own_crashes(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "logs"))
            old, new = (os.path.join(folder, "logs", name) for name in ("nodemanager1.log", "namenode.log"))
            with open(old, "w", encoding="utf-8") as file:
                file.write("Container exited with a non-zero exit code 134\n")
            cluster = live_cluster.Borrowed(folder)
            self.assertEqual(cluster.crashes(), [])
            for path in (old, new):
                with open(path, "a", encoding="utf-8") as file:
                    file.write("see hs_err_pid7.log\n")
            self.assertEqual(sorted(cluster.crashes()), [f"{path}: see hs_err_pid7.log" for path in sorted((old, new))])


class LifeCycle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            namespace.require()
        except failure.Failure as why:
            raise unittest.SkipTest(str(why))
        down()

    @classmethod
    def tearDownClass(cls):
        down()
        shutil.rmtree(CLUSTER.root, ignore_errors=True)

    def good(self, done):
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def test_life_cycle(self):
        for step in (self.up_fails_at_the_time_limit, self.up_starts_the_cluster, self.second_up_does_nothing,
                     self.ports_are_unreachable_outside, self.in_cluster_passes_streams_and_signals, self.puts_a_file,
                     self.runs_a_job, self.detects_a_dead_namenode, self.up_restores_kept_data,
                     self.down_removes_everything):
            with self.subTest(step.__name__):
                step()

    def up_fails_at_the_time_limit(self):
        done = up("--timeout", "1")
        self.assertEqual(1, done.returncode, done.stdout + done.stderr)
        self.assertIn("did not come up in time", done.stderr)
        self.assertEqual(set(), members())
        done = tool("hadoop", "fs", "-ls", "/")
        self.assertEqual((1, "hadoop: the cluster is not running: make cluster-up\n"), (done.returncode, done.stderr))

    def up_starts_the_cluster(self):
        self.outside = self.ports_outside()
        self.assertIn("cluster: up in", self.good(up("--set", "dfs.namenode.fs-limits.min-block-size=4096")))

    def second_up_does_nothing(self):
        before = members()
        self.assertIn("up already", self.good(up()))
        self.assertEqual(before, members())

    @staticmethod
    def ports_outside():
        with open("/proc/net/tcp", encoding="ascii") as four, open("/proc/net/tcp6", encoding="ascii") as six:
            return listening(four.read()) | listening(six.read())

    def ports_are_unreachable_outside(self):
        inside = listening(self.good(tool("in-cluster", "cat", "/proc/net/tcp")))
        self.assertLessEqual({8020, 8030, 8032, 8088, 9866, 9870, 10020, 13562, 19888}, inside)
        for port in inside - self.outside:
            with self.subTest(port=port), self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=5)
        self.assertEqual("lo\n", self.good(tool("in-cluster", "ls", "/sys/class/net") if os.geteuid() else
                                           tool("in-cluster", "sh", "-c",
                                                "sed 1,2d /proc/net/dev | cut -d: -f1 | tr -d ' '")))

    def in_cluster_passes_streams_and_signals(self):
        done = tool("in-cluster", "sh", "-c", "pwd; cat; echo $ANSWER; exit 7", stdin="text\n",
                    env=os.environ | {"ANSWER": "42"})
        self.assertEqual((7, f"{os.getcwd()}\ntext\n42\n"), (done.returncode, done.stdout))
        # A signal to the launcher reaches the program.
        process = subprocess.Popen([os.path.join(CLUSTER.bin, "in-cluster"), "sleep", "60"])
        process.terminate()
        self.assertEqual(-signal.SIGTERM, process.wait(timeout=10))
        self.assertEqual(1, tool("hadoop", "NoSuchCommand").returncode)
        self.assertIn("/mine.jar",
                      self.good(tool("hadoop", "classpath", env=os.environ | {"HADOOP_CLASSPATH": "/mine.jar"})))

    def puts_a_file(self):
        self.good(tool("hadoop", "fs", "-Ddfs.blocksize=65536", "-put", "-", "words.txt", stdin=TEXT))

    def runs_a_job(self):
        folder = jars.Jars().examples
        examples, = (os.path.join(folder, name) for name in os.listdir(folder) if "examples" in name)
        # The client would ask for the end of the job every 5 s.
        done = tool("hadoop", "jar", examples, "wordcount", *live_cluster.PROMPT, "-Dmapreduce.job.reduces=2",
                    "words.txt", "counts")
        self.good(done)
        lines = self.good(tool("hadoop", "fs", "-cat", "counts/part-r-*")).splitlines()
        counts = {word: int(count) for word, count in (line.split("\t") for line in lines)}
        self.assertEqual(collections.Counter(TEXT.split()), counts)
        # Containers ran the job, not the client.
        self.assertTrue(os.listdir(CLUSTER.container_logs(1)))

    def detects_a_dead_namenode(self):
        with open(CLUSTER.pid("namenode"), encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        done = up()
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertIn("namenode", done.stderr)
        self.good(down("--keep"))
        self.assertEqual(set(), members())

    def up_restores_kept_data(self):
        self.good(up())
        self.assertEqual(TEXT, self.good(tool("hdfs", "dfs", "-cat", "words.txt")))

    def down_removes_everything(self):
        self.good(down())
        self.assertEqual(set(), members())
        self.assertFalse(os.path.exists(CLUSTER.data))
        self.assertIn("nothing was running", self.good(down()))


if __name__ == "__main__":
    unittest.main()
