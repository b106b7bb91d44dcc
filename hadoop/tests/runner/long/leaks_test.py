"""Tests that 1,000 tasks of one program leave nothing in its JVM and on its disks, beside what the first 100 left."""

import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from probe import ProbeTest  # noqa: E402

# Ended jobs that clients may still ask after take about 0.3 MB each; 900 tasks are 35 jobs.
HEAP_KB_MAX = 35 * 400
# Classes that Hadoop loads late, and its own threads that come and go.
CLASSES_MAX = 60
THREADS_MAX = 4
DESCRIPTORS_MAX = 8


class Leaks(ProbeTest):
    PROGRAM = "Many"
    SECONDS_MAX = 1500

    def check(self, *options):
        self.input = os.path.join(self.home, "lines")
        with open(self.input, "w", encoding="ascii") as f:
            f.writelines(f"a line of words {n}\n" for n in range(200))
        java_tmp = os.path.join(self.home, "java-tmp")
        os.mkdir(java_tmp)
        self.environment["HADOOP_CLIENT_OPTS"] = f"-Djava.io.tmpdir={java_tmp}"
        done = self.run_probe("Plain,Stateful,Failing", *options, rest=("100,1000",))
        first, last = [{k: int(n) for k, n in re.findall(r"(\w+)=(\d+)", line)}
                       for line in done.stdout.splitlines() if line.startswith("after ")]
        print(first, last, file=sys.stderr)
        for name, more in (("heap_kb", HEAP_KB_MAX), ("classes", CLASSES_MAX), ("threads", THREADS_MAX),
                           ("descriptors", DESCRIPTORS_MAX), ("directory", 0), ("java_tmp", 0), ("hadoop_tmp", 0)):
            self.assertLessEqual(last[name], first[name] + more, name)
        return done

    def test_tasks_in_threads(self):
        self.check()

    def test_tasks_in_jvms(self):
        self.check("-Dyunti.hadoop.isolation=jvms")


if __name__ == "__main__":
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
