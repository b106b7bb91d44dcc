#!/usr/bin/env python3
"""Tests archives of classes for containers: warm.sh alone, then `yunti hadoop warm` and jobs on a cluster.

    python3 hadoop/command/tests/warm_test.py

It needs `make hadoop` and a node's Java of 13 or newer. YUNTI_SHARED_CLUSTER names the cluster; without it, this test
starts its own and stops it.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests"))

import live_cluster  # noqa: E402
from live_cluster import ROOT, YUNTI, counter  # noqa: E402

SCRIPT = os.path.join(ROOT, "hadoop/plugin/src/main/resources/org/yunti/hadoop/warm/warm.sh")
WARM = "-Dyunti.hadoop.warm=true"
# Lines of a JVM about each class that it loads, in a container's stdout.
LOADS = "-Xlog:class+load:stdout"
FROM_ARCHIVE = re.compile(r"org\.apache\.hadoop\.mapred\.YarnChild source: shared objects file")


class Script(unittest.TestCase):
    """A folder like a container's, with a class path like the one that Hadoop gives it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = os.path.realpath(folder.name)
        self.container = os.path.join(self.top, "container")
        for name in ("container/yunti-warm", "conf", "lib", "java"):
            os.makedirs(os.path.join(self.top, name))
        for name in ("a.jar", "b.jar"):
            self.write("lib/" + name, "jar")
        self.write("java/release", 'JAVA_VERSION="17.0.15"\n')
        self.class_path = f"{self.container}:{self.top}/conf:{self.top}/lib/*:{self.top}/lib/*:{self.top}/none"
        self.job = f"job.jar/*:job.jar/classes/:{self.container}/*"
        self.write("container/yunti-warm/map.jsa", "")
        self.write("container/yunti-warm/java", 'JAVA_VERSION="17.0.15"\n')
        self.write("container/yunti-warm/class-path", "yunti-warm/directory-0.jar:a.jar")
        jars = (os.path.join(self.top, "lib", name) for name in ("a.jar", "b.jar"))
        lines = [f"directory {self.top}/conf", *(f"jar {jar} 3 {int(os.path.getmtime(jar))}" for jar in jars)]
        self.write("container/yunti-warm/entries", "\n".join(lines) + "\n")

    def write(self, name, text):
        with open(os.path.join(self.top, name), "w", encoding="utf-8") as file:
            file.write(text)

    def options(self, kind="map", class_path=None):
        env = {"PATH": os.environ["PATH"], "PWD": self.container, "JAVA_HOME": self.top + "/java",
               "CLASSPATH": class_path or f"{self.class_path}:{self.job}"}
        done = subprocess.run(["sh", SCRIPT, "options", kind], cwd=self.container, env=env, capture_output=True,
                              text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_archives_that_fit_give_options_and_a_class_path(self):
        self.assertIn("-XX:SharedArchiveFile=yunti-warm/map.jsa", self.options())
        with open(os.path.join(self.container, ".yunti-warm.arguments"), encoding="utf-8") as file:
            self.assertEqual(file.read(), f'-cp\n"yunti-warm/directory-0.jar:a.jar:{self.job}"\n')

    def test_another_kind_has_none(self):
        self.assertEqual(self.options("am"), "")

    def test_another_java_has_none(self):
        self.write("java/release", 'JAVA_VERSION="17.0.16"\n')
        self.assertEqual(self.options(), "")

    def test_a_touched_jar_has_none(self):
        os.utime(self.top + "/lib/b.jar", (1, 1))
        self.assertEqual(self.options(), "")

    def test_a_new_jar_has_none(self):
        self.write("lib/c.jar", "jar")
        self.assertEqual(self.options(), "")

    def test_a_job_whose_classes_come_first_has_none(self):
        self.assertEqual(self.options(class_path=f"{self.container}:{self.job}:{self.class_path}"), "")


class Jobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = live_cluster.shared("cluster-warm")
        cls.addClassCleanup(cls.cluster.down)
        files = tempfile.TemporaryDirectory()
        cls.addClassCleanup(files.cleanup)
        cls.site = os.path.join(files.name, "yunti-site.xml")
        with open(cls.site, "w", encoding="utf-8") as file:
            file.write(cls.cluster.ok(YUNTI, "hadoop", "site"))
        text = os.path.join(files.name, "text")
        with open(text, "w", encoding="utf-8") as file:
            file.write("a b a\n" * 1000)
        cls.cluster.ok("hadoop", "fs", "-mkdir", "/warm")
        cls.cluster.ok("hadoop", "fs", "-put", text, "/warm/text")
        cls.examples = glob.glob(os.path.join(ROOT, "build/cluster/examples/hadoop-mapreduce-examples-*.jar"))[0]
        # Like a shell after `eval $(yunti hadoop env)`.
        code = cls.cluster.ok(YUNTI, "hadoop", "env", env={"XDG_CACHE_HOME": files.name})
        cls.env = dict(re.findall(r"export (\w+)=(\S+?)(?:\$\{|\s|$)", code))
        # The staging directory outlives this test on a shared cluster.
        cls.staged = f"/tmp/hadoop-yarn/staging/{os.environ.get('USER', 'root')}/.staging/yunti-warm"

    def count(self, output, *options):
        """Runs the word count of Hadoop's examples. Returns the client's output and the stdout of its containers."""
        printed = self.cluster.ok("hadoop", "jar", self.examples, "wordcount", *options, "/warm/text", output,
                                  env=self.env)
        self.assertEqual(self.cluster.lines(output), ["a\t2000", "b\t1000"])
        job = re.search(r"Running job: job_(\d+_\d+)", printed)[1]
        logs = {}
        for path in glob.glob(os.path.join(self.cluster.directory, f"logs/containers/*/application_{job}/*/stdout")):
            with open(path, encoding="utf-8") as file:
                logs[path[-len("000001/stdout"):-len("/stdout")]] = file.read()
        return printed, logs

    def test_jobs_start_from_archives_where_they_fit(self):
        cluster = self.cluster
        cluster.execute("hadoop", "fs", "-rm", "-r", "-skipTrash", self.staged)
        printed, _ = self.count("/warm/none", WARM)
        self.assertEqual(printed.count("yunti hadoop warm makes them"), 1)

        made = cluster.ok(YUNTI, "hadoop", "warm")
        self.assertIn("Set yunti.hadoop.warm to true", made)
        loads = [f"-D{name}={LOADS}" for name in ("mapreduce.map.java.opts", "mapreduce.reduce.java.opts")]
        printed, logs = self.count("/warm/warm", WARM, *loads)
        self.assertEqual(counter(printed, "native"), 2)
        for container in ("000002", "000003"):
            self.assertRegex(logs[container], FROM_ARCHIVE)

        # A class path of another order has no archive. Nothing says so in the task's output.
        printed, logs = self.count("/warm/first", WARM, "-Dmapreduce.job.user.classpath.first=true")
        self.assertEqual(set(logs.values()), {""})

        # Native tasks take the archives too.
        cluster.ok(YUNTI, "run", "wordcount", "--on", "yarn", "-D", "yunti.hadoop.warm=true", "--input", "/warm/text",
                   "--output", "/warm/native")
        self.assertEqual(cluster.lines("/warm/native"), ["a\t2000", "b\t1000"])
        self.assertEqual(cluster.crashes(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
