#!/usr/bin/env python3
"""The life of a cluster: up, a file, a job, a crash, down, up again with the data, down. In a folder of its own, so that a
cluster that the user has up is not touched."""

import collections
import os
import shutil
import signal
import socket
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
sys.path.insert(0, SOURCE)

import failure  # noqa: E402
import jars  # noqa: E402
import layout  # noqa: E402
import namespace  # noqa: E402

CLUSTER = layout.Layout(os.path.join(layout.REPOSITORY, "build", "cluster-test"))
# The words of a text with letters that take one, two and three bytes.
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
    """The ports of /proc/net/tcp or tcp6 that something listens on."""
    rows = [line.split() for line in text.splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A"}


class Arguments(unittest.TestCase):
    def test_wrong_ones_end_with_2_and_one_line(self):
        for command, *arguments in (("up", "--nodes", "0"), ("up", "--nodes", "99"), ("up", "--nodes", "x"), ("up", "--set", "novalue"),
                                    ("up", "--conf", "/nonexistent"), ("up", "--timeout", "0"), ("up", "--no-such"), ("up", "word"),
                                    ("down", "--no-such"), ("down", "word")):
            with self.subTest(command=[command, *arguments]):
                done = run(os.path.join(SOURCE, command), *arguments)
                self.assertEqual((2, "", 1), (done.returncode, done.stdout, done.stderr.count("\n")), done.stderr)

    def test_a_folder_that_hadoop_cannot_work_in(self):
        done = run(os.path.join(SOURCE, "up"), "--dir", "/tmp/a b")
        self.assertEqual((1, 1), (done.returncode, done.stderr.count("\n")), done.stderr)
        self.assertFalse(os.path.exists("/tmp/a b"))


class Life(unittest.TestCase):
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

    def test_life(self):
        for step in (self.fails_half_way, self.comes_up, self.comes_up_once, self.is_not_seen_outside, self.passes_all_through, self.keeps_a_file,
                     self.runs_a_job, self.crashes, self.comes_up_with_its_data, self.goes_down):
            with self.subTest(step.__name__):
                step()

    def fails_half_way(self):
        done = up("--timeout", "1")
        self.assertEqual(1, done.returncode, done.stdout + done.stderr)
        self.assertIn("did not come up in time", done.stderr)
        self.assertEqual(set(), members())
        done = tool("hadoop", "fs", "-ls", "/")
        self.assertEqual((1, "hadoop: the cluster is not running: make cluster-up\n"), (done.returncode, done.stderr))

    def comes_up(self):
        self.outside = self.ports_outside()
        self.assertIn("cluster: up in", self.good(up("--set", "dfs.namenode.fs-limits.min-block-size=4096")))

    def comes_up_once(self):
        before = members()
        self.assertIn("up already", self.good(up()))
        self.assertEqual(before, members())

    @staticmethod
    def ports_outside():
        with open("/proc/net/tcp", encoding="ascii") as four, open("/proc/net/tcp6", encoding="ascii") as six:
            return listening(four.read()) | listening(six.read())

    def is_not_seen_outside(self):
        inside = listening(self.good(tool("in-cluster", "cat", "/proc/net/tcp")))
        self.assertLessEqual({8020, 8030, 8032, 8088, 9866, 9870, 10020, 13562, 19888}, inside)
        for port in inside - self.outside:
            with self.subTest(port=port), self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=5)
        self.assertEqual("lo\n", self.good(tool("in-cluster", "ls", "/sys/class/net") if os.geteuid() else
                                           tool("in-cluster", "sh", "-c", "sed 1,2d /proc/net/dev | cut -d: -f1 | tr -d ' '")))

    def passes_all_through(self):
        done = tool("in-cluster", "sh", "-c", "pwd; cat; echo $ANSWER; exit 7", stdin="text\n", env=os.environ | {"ANSWER": "42"})
        self.assertEqual((7, f"{os.getcwd()}\ntext\n42\n"), (done.returncode, done.stdout))
        # A signal to the launcher is one to the program.
        process = subprocess.Popen([os.path.join(CLUSTER.bin, "in-cluster"), "sleep", "60"])
        process.terminate()
        self.assertEqual(-signal.SIGTERM, process.wait(timeout=10))
        self.assertEqual(1, tool("hadoop", "NoSuchCommand").returncode)
        self.assertIn("/mine.jar", self.good(tool("hadoop", "classpath", env=os.environ | {"HADOOP_CLASSPATH": "/mine.jar"})))

    def keeps_a_file(self):
        self.good(tool("hadoop", "fs", "-Ddfs.blocksize=65536", "-put", "-", "words.txt", stdin=TEXT))

    def runs_a_job(self):
        examples, = (os.path.join(jars.EXAMPLES, name) for name in os.listdir(jars.EXAMPLES) if "examples" in name)
        done = tool("hadoop", "jar", examples, "wordcount", "-Dmapreduce.job.reduces=2", "words.txt", "counts")
        self.good(done)
        lines = self.good(tool("hadoop", "fs", "-cat", "counts/part-r-*")).splitlines()
        counts = {word: int(count) for word, count in (line.split("\t") for line in lines)}
        self.assertEqual(collections.Counter(TEXT.split()), counts)
        # The job ran in containers, not in the client.
        self.assertTrue(os.listdir(CLUSTER.container_logs(1)))

    def crashes(self):
        with open(CLUSTER.pid("namenode"), encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        done = up()
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertIn("namenode", done.stderr)
        self.good(down("--keep"))
        self.assertEqual(set(), members())

    def comes_up_with_its_data(self):
        self.good(up())
        self.assertEqual(TEXT, self.good(tool("hdfs", "dfs", "-cat", "words.txt")))

    def goes_down(self):
        self.good(down())
        self.assertEqual(set(), members())
        self.assertFalse(os.path.exists(CLUSTER.data))
        self.assertIn("nothing was running", self.good(down()))


if __name__ == "__main__":
    unittest.main()
