"""`yunti observe flame` on programs with known costs."""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looking import (  # noqa: E402
    NOBODY, ROOT, YUNTI, Started, built, compiled, container, java_versions, may_be_others, observe,
    within,
)
import twice  # noqa: E402  (looking.py knows where it is)
from long_tests import long_test  # noqa: E402

SECONDS = 2


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def shares(document):
    """Returns name -> share of the total in it and its callees. Recursive frames count once."""
    names, nodes = document["tree"]["names"], document["tree"]["nodes"]
    total = max(1, nodes[0][3])
    spent, path = {}, {}
    for i, (parent, name, _, value, _) in enumerate(nodes):
        above = path[parent] if parent is not None else frozenset()
        word = names[name]
        if word not in above:
            spent[word] = spent.get(word, 0) + value / total
        path[i] = above | {word}
    return spent


def share(document, part):
    return sum(value for name, value in shares(document).items() if part in name)


class Native(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.hot = built(cls.folder.name, "hot")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, document, outermost="main"):
        self.assertAlmostEqual(share(document, "costs_three_quarters"), 0.75, delta=0.08)
        self.assertAlmostEqual(share(document, "costs_a_quarter"), 0.25, delta=0.08)
        # Unwound to the end, without frame pointers.
        self.assertGreater(share(document, outermost), 0.97)

    def test_shares_of_functions(self):
        with Started(self.hot, "30") as process:
            used = cpu_seconds(process.pid)
            document = json.loads(observe("flame", "-p", process.pid, "-s", SECONDS, "--rate", 499, "--json").stdout)
            used = cpu_seconds(process.pid) - used
        self.check(document)
        # On a busy machine it gets less than a processor.
        self.assertAlmostEqual(document["samples"], 499 * min(used, SECONDS), delta=499 * SECONDS * 0.2)

    def test_a_command_from_its_beginning(self):
        self.check(
            json.loads(
                observe("flame", "-s", SECONDS, "--rate", 499, "--json", "--", self.hot, "30").stdout.split(
                    "ready\n", 1
                )[1]
            )
        )

    def test_a_command_that_ends_at_once(self):
        run = observe("flame", "--", "/bin/true")
        self.assertIn("The process ended during the measurement", run.stdout)

    def test_existing_and_later_threads(self):
        with Started(self.hot, "30", "4") as process:
            document = json.loads(observe("flame", "-p", process.pid, "-s", SECONDS, "--threads", "--json").stdout)
        names = document["tree"]["names"]
        groups = [names[node[1]] for node in document["tree"]["nodes"] if node[0] == 0]
        self.assertEqual(len(groups), 4, groups)

    def test_a_target_that_ends(self):
        with Started(self.hot, "1") as process:
            run = observe("flame", "-p", process.pid, "-s", 20)
        self.assertIn("ended during the measurement", run.stdout)
        self.assertIn("costs_three_quarters", run.stdout)

    def test_without_root(self):
        if not may_be_others():
            self.skipTest("only root can become another user")
        os.chmod(self.folder.name, 0o755)
        with Started(*NOBODY, self.hot, "30") as process:
            document = json.loads(
                observe("flame", "-p", process.pid, "-s", SECONDS, "--rate", 499, "--json", before=NOBODY).stdout
            )
            other = observe("flame", "-p", os.getpid(), "-s", 1, before=NOBODY, code=3)
        self.check(document)
        self.assertIn("run as its owner, or as root", other.stderr)
        with open("/proc/sys/kernel/perf_event_paranoid") as f:
            if int(f.read()) > 1:
                self.assertIn("frames of the kernel", str(document["skipped"]))

    def test_in_a_container(self):
        if os.geteuid() != 0:
            self.skipTest("only root can create namespaces here")
        with tempfile.TemporaryDirectory(dir=os.path.join(ROOT, "build")) as folder:
            hot = built(folder, "hot")
            with Started(*container(hot, "30")) as process:
                self.check(
                    json.loads(observe("flame", "-p", within(process), "-s", SECONDS, "--rate", 499, "--json").stdout)
                )

    def test_a_thousand_threads(self):
        with Started(self.hot, "30", "1000") as process:
            document = json.loads(observe("flame", "-p", process.pid, "-s", SECONDS, "--json").stdout)
        self.check(document, "work")

    def test_a_target_that_executes_another_program(self):
        with Started("sh", "-c", f"echo ready; sleep 1.5; exec {self.hot} 30") as process:
            document = json.loads(observe("flame", "-p", process.pid, "-s", 4, "--rate", 499, "--json").stdout)
        self.check(document)

    def test_compared_with_an_earlier_answer(self):
        old = os.path.join(self.folder.name, "old.json")
        with Started(self.hot, "30") as process:
            with open(old, "w") as f:
                f.write(observe("flame", "-p", process.pid, "-s", SECONDS, "--json").stdout)
            output = observe("flame", "-p", process.pid, "-s", SECONDS, "--diff", old).stdout
        self.assertIn("Changes of own shares", output)
        with open(old, "w") as f:
            f.write("{}")
        self.assertIn("no flame graph", observe("flame", "-p", os.getpid(), "--diff", old, code=3).stderr)

    def test_interrupted(self):
        with Started(self.hot, "30") as process:
            command = [YUNTI, "observe", "flame", "-p", str(process.pid), "-s", "30"]
            run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            time.sleep(1.5)
            run.send_signal(signal.SIGINT)
            output, _ = run.communicate(timeout=20)
        self.assertEqual(run.returncode, 130)
        self.assertIn("costs_three_quarters", output)

    def test_a_page(self):
        page = os.path.join(self.folder.name, "page.html")
        with Started(self.hot, "30") as process:
            observe("flame", "-p", process.pid, "-s", 1, "-o", page)
        with open(page) as f:
            text = f.read()
        self.assertIn("costs_three_quarters", text)
        self.assertNotIn("http", text.replace("http-equiv", ""))


class Wrong(unittest.TestCase):
    def refused(self, code, expected, *words):
        run = observe("flame", *words, code=code)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        self.assertIn(expected, run.stderr)

    def test_wrong_arguments(self):
        self.refused(3, "no process 4194999", "-p", "4194999")
        self.refused(3, "no process is called", "surely-no-such-name")
        self.refused(3, "no such program", "--", "/nonexistent/program")
        self.refused(2, "no process is named")
        self.refused(2, "seconds", "-s", "0", "-p", "1")
        # The error comes before the measurement.
        began = time.monotonic()
        self.refused(5, "cannot write the page", "-s", "50", "-p", str(os.getpid()), "-o", "/nonexistent/page.html")
        self.refused(5, "cannot write the page", "-s", "50", "-p", str(os.getpid()), "-o", "/tmp")
        self.assertLess(time.monotonic() - began, 10)


class Java:
    """Tests on one JDK."""

    version = ""

    @classmethod
    def setUpClass(cls):
        home = java_versions().get(cls.version)
        if not home:
            raise unittest.SkipTest(f"there is no JDK {cls.version}")
        cls.folder = tempfile.TemporaryDirectory()
        cls.java = [os.path.join(home, "bin/java"), "-cp", cls.folder.name, "Hot"]
        compiled(cls.folder.name, "Hot")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def left(self, process):
        return glob.glob(f"/tmp/.yunti-observe-{process.pid}-*") + glob.glob(f"/tmp/.attach_pid{process.pid}")

    def test_shares_of_methods(self):
        with Started(*self.java, "30") as process:
            document = json.loads(observe("flame", "-p", process.pid, "-s", SECONDS, "--rate", 499, "--json").stdout)
            again = json.loads(observe("flame", "-p", process.pid, "-s", 1, "--rate", 499, "--json").stdout)
        for result in (document, again):
            three, one = share(result, "Hot.costsThreeQuarters"), share(result, "Hot.costsAQuarter")
            self.assertAlmostEqual(three / max(0.01, three + one), 0.75, delta=0.08)
        kinds = {document["kinds"][node[2]] for node in document["tree"]["nodes"]}
        self.assertLessEqual({"interpreted", "native", "jvm"}, kinds)
        self.assertEqual(self.left(process), [])

    def test_waiting_allocating_and_locks(self):
        with Started(*self.java, "60") as process:
            wall = json.loads(
                observe("flame", "-p", process.pid, "-s", SECONDS, "-e", "wall", "--threads", "--json").stdout
            )
            alloc = json.loads(observe("flame", "-p", process.pid, "-s", SECONDS, "-e", "alloc", "--json").stdout)
            lock = json.loads(observe("flame", "-p", process.pid, "-s", SECONDS, "-e", "lock", "--json").stdout)
        names = wall["tree"]["names"]
        self.assertTrue({"busy", "first", "second"} <= {n.split(" ")[0].strip("[]") for n in names}, names[:40])
        self.assertGreater(share(alloc, "Hot.allocates"), 0.9)
        self.assertGreater(share(lock, "Hot.holdsTheLock"), 0.9)

    def test_a_command_from_its_beginning(self):
        run = observe("flame", "-s", SECONDS, "--json", "--", *self.java, "30")
        self.assertGreater(share(json.loads(run.stdout.split("ready\n", 1)[1]), "Hot.costs"), 0.3)

    def test_in_a_container(self):
        if os.geteuid() != 0:
            self.skipTest("only root can create namespaces here")
        with tempfile.TemporaryDirectory(dir=os.path.join(ROOT, "build")) as folder:
            shutil.copytree(self.folder.name, folder, dirs_exist_ok=True)
            with Started(*container(self.java[0], "-cp", folder, "Hot", "60")) as process:
                pid = within(process)
                document = json.loads(observe("flame", "-p", pid, "-s", SECONDS, "--json").stdout)
                left = [
                    name
                    for name in os.listdir(os.path.join("/proc", str(pid), "root", "tmp"))
                    if name.startswith(".yunti")
                ]
        self.assertGreater(share(document, "Hot.costs"), 0.3)
        self.assertEqual(left, [])

    def test_without_root(self):
        if not may_be_others():
            self.skipTest("only root can become another user")
        os.chmod(self.folder.name, 0o755)
        with Started(*NOBODY, *self.java, "60") as process:
            document = json.loads(observe("flame", "-p", process.pid, "-s", SECONDS, "--json", before=NOBODY).stdout)
            by_root = json.loads(observe("flame", "-p", process.pid, "-s", 1, "--json").stdout)
        for result in (document, by_root):
            self.assertGreater(share(result, "Hot.costs"), 0.3)
        self.assertEqual(self.left(process), [])

    def test_a_jvm_with_reduced_signals(self):
        with Started(self.java[0], "-Xrs", *self.java[1:], "30") as process:
            document = json.loads(observe("flame", "-p", process.pid, "-s", 1, "--json").stdout)
            self.assertGreater(share(document, "Hot.costs"), 0.3)
        # SIGQUIT would end this one.
        with Started(self.java[0], "-Xrs", "-XX:+DisableAttachMechanism", *self.java[1:], "30") as process:
            output = observe("flame", "-p", process.pid, "-s", 1, code=3).stderr
            self.assertIn("no handler for SIGQUIT", output)
            self.assertIsNone(process.poll())

    def test_killed_observer_leaves_nothing(self):
        with Started(*self.java, "60") as process:
            run = subprocess.Popen(
                [YUNTI, "observe", "flame", "-p", str(process.pid), "-s", "50"], stdout=subprocess.DEVNULL
            )
            time.sleep(1.5)
            self.assertNotEqual(self.left(process), [])
            run.kill()
            run.wait()
            end = time.monotonic() + 10
            while self.left(process) and time.monotonic() < end:
                time.sleep(0.1)
            self.assertEqual(self.left(process), [])
            # The profiler is free again.
            document = json.loads(observe("flame", "-p", process.pid, "-s", 1, "--json").stdout)
            self.assertGreater(share(document, "Hot.costs"), 0.3)

    def test_a_target_that_is_killed(self):
        with Started(*self.java, "60") as process:
            run = subprocess.Popen(
                [YUNTI, "observe", "flame", "-p", str(process.pid), "-s", "30"], stdout=subprocess.PIPE, text=True
            )
            time.sleep(7)
            process.kill()
            output, _ = run.communicate(timeout=20)
        self.assertEqual(run.returncode, 0, output)
        self.assertIn("ended during the measurement", output)
        self.assertIn("Hot.spin", output)
        self.assertEqual(self.left(process), [])

    def test_two_observers(self):
        with Started(*self.java, "60") as process:
            first = subprocess.Popen(
                [YUNTI, "observe", "flame", "-p", str(process.pid), "-s", "4", "--json"],
                stdout=subprocess.PIPE,
                text=True,
            )
            time.sleep(1.5)
            second = observe("flame", "-p", process.pid, "-s", 1, code=3)
            self.assertIn("another profiler is running", second.stderr)
            output, _ = first.communicate(timeout=20)
            self.assertEqual(first.returncode, 0)
            self.assertGreater(json.loads(output)["samples"], 100)


class Java17(Java, unittest.TestCase):
    version = "17"


@long_test
class Java25(Java, unittest.TestCase):
    version = "25"


if __name__ == "__main__":
    twice.main()
