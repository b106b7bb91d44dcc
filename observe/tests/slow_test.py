"""`yunti observe slow` on programs where every fiftieth request is slow, for a known cause."""

import glob
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from looking import (
    HERE,
    NOBODY,
    ROOT,
    YUNTI,
    InAFolder,
    Looking,
    OfOneJdk,
    Refusals,
    Started,
    built,
    container,
    do_all,  # noqa: E402
    document_in,
    folder_for_containers,
    java_versions,
    left_in_container,
    needs_namespaces,
    needs_nobody,
    observe,
    text_of,
    until,
    within,
)
import twice  # noqa: E402  (looking.py knows where it is)
from long_tests import long_test  # noqa: E402

MS = 1_000_000
REQUESTS, EVERY = 500, 50
# Slow ones take 40 ms.
OVER = "30ms"
MAY_LOAD = os.geteuid() == 0
needs_the_kernel = unittest.skipUnless(MAY_LOAD, "only root can load programs into the kernel")


def do(process, line):
    answers = do_all(process, line)
    assert not answers, answers


def left(process):
    return glob.glob(f"/tmp/.yunti-observe-{process.pid}-*") + glob.glob(f"/tmp/.attach_pid{process.pid}")


def times(document, side="slow"):
    return {row["kind"]: row[f"{side}_ns"] for row in document["spent"]}


def names(document):
    """Returns the names of all frames of slow requests."""
    of_stacks = {name for stack in document["stacks"] for name in stack["frames"]}
    return of_stacks | set(document.get("tree", {}).get("names", []))


class Checks:
    def measure(self, process, cause, *words, requests=REQUESTS, over=OVER, before=(), wanted=None, target=None):
        """Returns the answer for requests that are slow for a cause. `target` is the measured process if it is not the
        started one."""
        wanted = requests // EVERY if wanted is None else wanted
        # Other processes may delay a fast request for longer than a slow one takes.
        for _ in range(5):
            with Looking(
                "slow", *(["--over", over] if over else []), *words, at=target or process, before=before
            ) as slow:
                do(process, f"{cause} {requests}")
                document = slow.stop()
            if document["slow"]["count"] == wanted:
                break
        held_up = [one for one in document["slowest"] if one["spent"].get("run queue", 0) > one["duration_ns"] / 2]
        if document["slow"]["count"] > wanted and held_up:
            self.skipTest("this machine is so busy that fast requests wait longer for a processor than slow ones take")
        self.assertEqual(document["slow"]["count"], wanted)
        return document

    def check(self, document, kind, place, fast_path, requests=REQUESTS, least=0.6):
        """Checks the cause. Other time in the run queue is left out, because the machine may be busy."""
        # async-profiler drops a call if it is processing three others.
        self.assertAlmostEqual(document["slow"]["count"] + document["fast"]["count"], requests, delta=requests / 100)
        slow = times(document)
        of = {name: ns for name, ns in slow.items() if name != "run queue" or kind == "run queue"}
        self.assertGreater(of[kind] / sum(of.values()), least, slow)
        self.assertLess(times(document, "fast").get(kind, 0), of[kind] / 10)
        mean = document["slow"]["total_ns"] / document["slow"]["count"]
        self.assertAlmostEqual(sum(slow.values()) / mean, 1, delta=0.1)
        for one in document["slowest"]:
            self.assertAlmostEqual(sum(one["spent"].values()) / one["duration_ns"], 1, delta=0.1)
        found = names(document)
        self.assertTrue(any(place in name for name in found), found)
        self.assertFalse([name for name in found if fast_path in name])
        largest = max(document["stacks"], key=lambda stack: stack["slow_ns"] if stack["kind"] == kind else 0)
        self.assertEqual(largest["kind"], kind)
        self.assertTrue(any(place in name for name in largest["frames"]), largest)


class Java(Checks, OfOneJdk):
    program = "Requests"
    new_folder = staticmethod(folder_for_containers)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.chmod(cls.folder.name, 0o777)
        cls.java += ["-Xmx400m", "-XX:+UseG1GC", f"-Dfolder={cls.folder.name}", "Requests"]
        cls.process = cls.started(*cls.java)

    def tearDown(self):
        self.assertEqual(left(self.process), [])

    def because(self, cause, kind, place, least=0.6, requests=REQUESTS, by_samples=True):
        """Checks a cause. Without root, causes that show in stacks are found too."""
        if not MAY_LOAD and not by_samples:
            self.skipTest("only root can load programs into the kernel")
        document = self.measure(self.process, cause, "--method", "Requests.Handler.handle", requests=requests)
        self.assertEqual(len(document["skipped"]), 0 if MAY_LOAD else 1, document["skipped"])
        self.check(document, kind, f"Requests.{place}", "fastPath", requests=requests, least=least)
        return document

    def test_processor(self):
        document = self.because("cpu", "on CPU", "computes")
        self.assertIn("more on the processor, in Requests.spin <- Requests.computes", document["answer"])

    def test_monitor(self):
        document = self.because("monitor", "lock", "waitsForTheMonitor", 0.8, requests=1000)
        self.assertIn(
            "more waiting for a lock, in Requests.waitsForTheMonitor <- Requests.slowPath", document["answer"]
        )

    def test_lock(self):
        self.because("lock", "lock", "waitsForTheLock", 0.8)

    def test_result_of_another_thread(self):
        self.because("result", "another thread", "waitsForAResult", 0.8)

    def test_threads_at_once(self):
        document = self.measure(self.process, "threads", "--method", "Handler.handle", requests=200, wanted=16)
        self.check(document, "another thread", "Requests.waitsForAResult", "fastPath", requests=800, least=0.8)
        self.assertEqual({one["thread"] for one in document["slowest"]}, {f"worker-{n}" for n in range(4)})

    def test_sleep(self):
        self.because("sleep", "sleep", "sleeps", 0.8)

    def test_slow_socket(self):
        self.because("network", "network", "asksTheServer", 0.8)

    def test_file(self):
        # Much of the time of small writes and syncs is the kernel's own work.
        self.because("file", "file I/O", "syncsTheFile", 0.2, by_samples=False)

    def test_page_faults(self):
        self.because("pages", "page fault", "touchesFreshPages", 0.4, by_samples=False)

    def test_garbage_collection(self):
        document = self.because("gc", "GC", "collects")
        self.assertIn("more waiting for the garbage collector, G1CollectFull", document["answer"])
        self.assertEqual(document["pauses"][0]["reason"], "G1CollectFull")

    @needs_the_kernel
    def test_run_queue(self):
        processor = str(max(os.sched_getaffinity(0)))
        with subprocess.Popen(["taskset", "-c", processor, "sh", "-c", "while :; do :; done"]) as burner:
            try:
                with Started("taskset", "-c", processor, *self.java) as process:
                    document = self.measure(process, "queue", "--method", "Requests.Handler.handle")
            finally:
                burner.kill()
        self.assertGreater(times(document)["run queue"], 0.8 * sum(times(document).values()))
        self.assertIn("in the run queue", document["answer"])

    def test_the_slowest_hundredth(self):
        document = self.measure(self.process, "sleep", "--method", "Handler.handle", requests=500, over=None, wanted=5)
        self.assertRegex(document["answer"], "5 of (500|49[6-9]) requests")
        self.assertGreater(document["slow_from_ns"], 30 * MS)

    def test_http(self):
        with Started(*self.java) as process:
            errors = observe("slow", "-p", process.pid, "-s", 1, code=3).stderr
            self.assertIn("has none of these HTTP servers", errors)
            self.assertEqual(len(errors.strip().splitlines()), 1)
            do(process, "http 1")
            # The last answer is sent before its request ends.
            document = self.measure(process, "http", requests=210)
        self.assertEqual(document["request"], "sun.net.httpserver.ServerImpl$Exchange.run")
        self.check(document, "sleep", "Requests.sleeps", "fastPath", requests=210, least=0.5)

    def test_text_and_page(self):
        page = os.path.join(self.folder.name, "page.html")
        with Looking(
            "slow", "--method", "Requests$Handler.handle", "--over", OVER, "-o", page, at=self.process, json=False
        ) as slow:
            do(self.process, "monitor 200")
            output = slow.stop()
        self.assertRegex(output, r"\d of (200|19[89]) requests took .* instead of .* more")
        self.assertIn("Where the time of one request goes", output)
        self.assertIn("waitsForTheMonitor", output)
        text = text_of(page)
        self.assertIn("waitsForTheMonitor", text)
        self.assertNotIn("http", text.replace("http-equiv", ""))

    @needs_nobody
    def test_without_root(self):
        with Started(*NOBODY, *self.java) as process:
            document = self.measure(process, "monitor", "--method", "Handler.handle", before=NOBODY)
            self.check(document, "lock", "Requests.waitsForTheMonitor", "fastPath")
            self.assertIn("time in the run queue", str(document["skipped"]))
            refused = observe("slow", "--from", "write", "-p", process.pid, "-s", 1, code=3, before=NOBODY).stderr
            self.assertIn("run as root", refused)
            self.assertEqual(left(process), [])
            by_root = self.measure(process, "monitor", "--method", "Handler.handle")
            self.check(by_root, "lock", "Requests.waitsForTheMonitor", "fastPath")

    @needs_namespaces
    def test_in_a_container(self):
        with Started(*container(*self.java)) as process:
            target = within(process)
            document = self.measure(process, "monitor", "--method", "Handler.handle", target=target)
            left = left_in_container(target)
        self.check(document, "lock", "Requests.waitsForTheMonitor", "fastPath")
        self.assertEqual(left, [])

    def test_a_command_from_its_beginning(self):
        command = [
            YUNTI,
            "observe",
            "slow",
            "--json",
            "--method",
            "Requests.Handler.handle",
            "--over",
            OVER,
            "-s",
            "20",
            "--",
            *self.java,
        ]
        run = subprocess.run(command, input="monitor 1\nmonitor 1500\n", capture_output=True, text=True, timeout=30)
        self.assertEqual(run.returncode, 0, run.stderr)
        document = document_in(run.stdout)
        self.assertTrue(document["target_ended"])
        # The program runs during the measurement's start.
        self.assertGreater(document["slow"]["count"], 2)

    def test_two_observers(self):
        with Looking("slow", "--over", OVER, "--method", "Handler.handle", at=self.process) as slow:
            errors = observe("slow", "--method", "Handler.handle", "-p", self.process.pid, code=3).stderr
            self.assertIn("another profiler is running", errors)
            do(self.process, "monitor 100")
            self.assertGreaterEqual(slow.stop()["slow"]["count"], 2)

    def test_killed_observer_leaves_nothing(self):
        def outputs():
            return subprocess.run(
                ["jcmd", str(self.process.pid), "VM.log", "list"], capture_output=True, text=True, check=True
            ).stdout

        with Looking("slow", "--over", OVER, "--method", "Handler.handle", at=self.process) as slow:
            self.assertIn(".pauses", outputs())
            slow.kill()
            until(lambda: not left(self.process))
        self.assertNotIn(".pauses", outputs())
        # The profiler is free again.
        self.measure(self.process, "monitor", "--method", "Handler.handle", requests=100)

    def test_a_target_that_ends(self):
        words = ["slow", "--over", OVER, "--method", "Handler.handle"]
        with Started(*self.java) as process, Looking(*words, at=process) as slow:
            do(process, "monitor 200")
            process.stdin.close()
            document = slow.rest()
        self.assertTrue(document["target_ended"])
        self.assertAlmostEqual(document["slow"]["count"] + document["fast"]["count"], 200, delta=2)
        self.assertEqual(left(process), [])

    def test_a_target_that_is_killed(self):
        with (
            Started(*self.java) as process,
            Looking("slow", "--over", OVER, "--method", "Handler.handle", at=process) as slow,
        ):
            do(process, "monitor 50")
            process.kill()
            slow.run.communicate(timeout=20)
        self.assertIn(slow.run.returncode, (0, 3))
        self.assertEqual(left(process), [])


class Java17(Java, unittest.TestCase):
    version = "17"

    @needs_the_kernel
    def test_spans_of_native_functions(self):
        document = self.measure(self.process, "sleep", "--from", "libjvm:JVM_Sleep", requests=100)
        self.assertIn("asleep, in Requests.pause <- Requests.sleeps", document["answer"])


@long_test
class Java25(Java, unittest.TestCase):
    version = "25"

    def test_virtual_threads(self):
        document = self.measure(self.process, "virtual", "--method", "Handler.handle", requests=100, wanted=0)
        self.assertIn("100 requests of virtual threads", str(document["skipped"]))
        self.assertRegex(document["answer"], r"^100 requests \(.*Handler.handle\) ran, all on virtual threads")


class Servers(Checks, InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        home = java_versions().get("17")
        if not home:
            raise unittest.SkipTest("there is no JDK 17")
        super().setUpClass()
        # Fetched once, through Maven's cache.
        libraries = os.path.abspath(os.path.join(ROOT, "build/observe/servers"))
        if not os.path.isdir(libraries):
            command = [
                "mvn",
                "-q",
                "-B",
                "-f",
                os.path.join(HERE, "servers/pom.xml"),
                "dependency:copy-dependencies",
                f"-DoutputDirectory={libraries}",
            ]
            if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
                raise unittest.SkipTest("Maven cannot fetch the servers")
        subprocess.run(
            ["javac", "-cp", f"{libraries}/*", "-d", cls.folder.name, os.path.join(HERE, "servers/Web.java")],
            check=True,
        )
        cls.java = [os.path.join(home, "bin/java"), "-cp", f"{cls.folder.name}:{libraries}/*", "Web"]

    def serves(self, server, method, name):
        process = subprocess.Popen(
            [*self.java, server, self.folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with process:
            try:
                while process.stdout.readline().strip() != "ready":
                    self.assertIsNone(process.poll())
                do(process, "ask 1")
                document = self.measure(process, "ask", requests=210)
            finally:
                process.kill()
        self.assertEqual(document["request"], method)
        self.assertIn(f": {name}.", str(document["notes"]))
        # The first requests load classes. Without root, the stack shows Thread.sleep.
        self.check(document, "sleep", "Web.sleeps", "fastPath", requests=210, least=0.5)

    def test_tomcat(self):
        self.serves("tomcat", "org.apache.catalina.connector.CoyoteAdapter.service", "Tomcat")

    def test_jetty(self):
        self.serves("jetty", "org.eclipse.jetty.server.Server.handle", "Jetty")

    def test_undertow(self):
        self.serves("undertow", "io.undertow.server.Connectors.executeRootHandler", "Undertow")


@needs_the_kernel
class Native(Checks, InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = built(cls.folder.name, "requests")
        cls.process = cls.started(cls.program, cls.folder.name)

    def because(self, cause, kind, place, least=0.6):
        document = self.measure(self.process, cause, "--from", "request_begins", "--to", "request_ends")
        # Stacks are large and may fill the buffer on a busy machine. A quick disk causes many waits.
        self.assertEqual(
            [
                skip
                for skip in document["skipped"]
                if "the buffer was full" not in skip and "per second are the limit" not in skip
            ],
            [],
        )
        self.check(document, kind, place, "fast_path", least=least)
        return document

    def test_processor(self):
        self.because("cpu", "on CPU", "computes")

    def test_lock(self):
        document = self.because("lock", "lock", "waits_for_the_lock", 0.8)
        self.assertIn("more waiting for a lock, in waits_for_the_lock <- handle", document["answer"])

    def test_pipe(self):
        self.because("pipe", "network", "asks_the_other", 0.8)

    def test_sleep(self):
        self.because("sleep", "sleep", "sleeps", 0.8)

    def test_file(self):
        self.because("file", "file I/O", "syncs_the_file", 0.2)

    def test_page_faults(self):
        self.because("pages", "page fault", "touches_fresh_pages", 0.4)

    def test_one_function(self):
        document = self.measure(self.process, "sleep", "--from", "handle")
        self.check(document, "sleep", "sleeps", "fast_path", least=0.8)
        self.assertGreater(document["fast"]["p50_ns"], 190_000)

    def test_a_command_from_its_first_request(self):
        command = [
            YUNTI,
            "observe",
            "slow",
            "--json",
            "--from",
            "handle",
            "--over",
            OVER,
            "-s",
            "20",
            "--",
            self.program,
            self.folder.name,
        ]
        run = subprocess.run(command, input="sleep 200\n", capture_output=True, text=True, timeout=30)
        self.assertEqual(run.returncode, 0, run.stderr)
        document = document_in(run.stdout)
        self.assertEqual(document["slow"]["count"] + document["fast"]["count"], 200)


class Wrong(Refusals, unittest.TestCase):
    observer = "slow"

    def test_wrong_arguments(self):
        self.refused(2, "is not a JVM", "-p", os.getpid())
        self.refused(3, "no process 4194999", "-p", "4194999")
        self.refused(2, "names no class", "--method", "total", "-p", "1")
        self.refused(2, "one method", "--method", "Cart.*", "-p", "1")
        self.refused(2, "unit", "--over", "5", "-p", "1")
        self.refused(2, "--from", "--to", "f", "-p", "1")
        self.refused(3, "no function 'surely_no_such_function'", "--from", "surely_no_such_function", "-p", os.getpid())


if __name__ == "__main__":
    twice.main()
