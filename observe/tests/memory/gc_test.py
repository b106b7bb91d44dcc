"""`yunti observe gc` on logs of a program that allocates: its pauses equal the JVM's own by JFR."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looking import InAFolder, Refusals, answer, compiled, java_versions, observe  # noqa: E402

SECONDS = 2
# JFR and the log agree to this part of the sum, and to this time for each pause: their timers begin and end at other
# places. With Serial, the log's pauses are longer by some 0.2 ms.
AGREEMENT = 0.001
PAUSE_MS = 0.4
# Part of the pauses that may lie before the recording.
EARLIER = 0.02
# The log's own line of a pause.
PAUSE = re.compile(r"\[gc *\] GC\(\d+\) Pause .* ([\d.]+)ms$", re.M)

# Version, options, shape of the program, and the collector that the log names.
RUNS = {
    "17 Serial": ("-XX:+UseSerialGC", "cache", "Serial"),
    "17 Parallel": ("-XX:+UseParallelGC", "leak", "Parallel"),
    "17 G1": ("-XX:+UseG1GC", "humongous", "G1"),
    "17 Z": ("-XX:+UseZGC", "cache", "ZGC"),
    "17 Shenandoah": ("-XX:+UseShenandoahGC", "cache", "Shenandoah"),
    "25 Serial": ("-XX:+UseSerialGC", "system", "Serial"),
    "25 Parallel": ("-XX:+UseParallelGC", "cache", "Parallel"),
    "25 G1": ("-XX:+UseG1GC", "classes", "G1"),
    "25 Z": ("-XX:+UseZGC", "cache", "generational ZGC"),
    "25 Shenandoah": ("-XX:+UseShenandoahGC", "cache", "Shenandoah"),
    "25 generational Shenandoah": (
        "-XX:+UseShenandoahGC -XX:ShenandoahGCMode=generational", "cache", "generational Shenandoah",
    ),
}

SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.GCPhasePause"><setting name="enabled">true</setting><setting name="threshold">0 ms</setting></event>
</configuration>
"""


class Logs(InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not java_versions():
            raise unittest.SkipTest("there is no JDK 17 or 25")
        super().setUpClass()
        compiled(cls.folder.name, "Churn")
        with open(os.path.join(cls.folder.name, "gc.jfc"), "w") as f:
            f.write(SETTINGS)

    def churn(self, version, options, shape, log="gc*,safepoint:file=gc.log"):
        """Runs the program. Returns the path of its log."""
        home = java_versions().get(version)
        if not home:
            self.skipTest(f"there is no JDK {version}")
        command = [os.path.join(home, "bin/java"), *options.split(), "-Xmx64m", f"-Xlog:{log}",
                   "-XX:StartFlightRecording=filename=gc.jfr,settings=gc.jfc", "-cp", ".", "Churn", shape, str(SECONDS)]
        run = subprocess.run(command, cwd=self.folder.name, capture_output=True, text=True, timeout=60)
        if "not supported" in run.stderr + run.stdout or "Unrecognized" in run.stderr:
            self.skipTest(f"this JDK has no such collector: {run.stderr.strip()}")
        self.assertEqual(run.returncode, 0, run.stderr)
        return os.path.join(self.folder.name, "gc.log")

    def recorded(self, version):
        """Returns the pauses that JFR recorded: pairs of the collection's number and milliseconds."""
        home = java_versions()[version]
        run = subprocess.run([os.path.join(home, "bin/jfr"), "print", "--json", "--events", "GCPhasePause", "gc.jfr"],
                             cwd=self.folder.name, capture_output=True, text=True, timeout=60, check=True)
        events = [event["values"] for event in json.loads(run.stdout)["recording"]["events"]]
        ms = [float(re.fullmatch(r"PT(?:(\d+)M)?([\d.]+)S", event["duration"])[2]) * 1000 for event in events]
        return [(event["gcId"], duration) for event, duration in zip(events, ms)]

    def agree(self, name):
        version = name.split()[0]
        options, shape, collector = RUNS[name]
        log = self.churn(version, options, shape)
        document = answer("gc", log)
        self.assertEqual(document["collector"], collector)
        self.assertEqual((document["lines_foreign"], document["lines_damaged"]), (0, 0))
        recorded = self.recorded(version)
        # The recording begins after the log, and the first pauses may lie before it.
        numbers = [number for number, _ in recorded]
        events = [e for e in document["events"] if min(numbers) <= e["gc"] <= max(numbers)]
        self.assertEqual(document["events_omitted"], 0)
        self.assertGreater(len(events), 0.8 * document["pauses"]["count"])
        self.assertAlmostEqual(len(events), len(recorded), delta=1 + EARLIER * len(events))
        ours, theirs = sum(e["pause_ms"] for e in events), sum(ms for _, ms in recorded)
        self.assertAlmostEqual(ours, theirs, delta=AGREEMENT * theirs + PAUSE_MS * len(events))
        with open(log) as f:
            lines = [float(ms) for ms in PAUSE.findall(f.read())]
        # ZGC has its pauses among the phases.
        if "Z" not in collector:
            self.assertAlmostEqual(sum(e["pause_ms"] for e in document["events"]), sum(lines), delta=0.001)
        return document

    def test_one_sentence_comes_first(self):
        log = self.churn("17" if "17" in java_versions() else "25", "-XX:+UseParallelGC -Xmn4m", "cache")
        text = observe("gc", log).stdout
        self.assertRegex(text, r"^.*gc\.log: (pauses take|nothing is wrong)")
        self.assertIn("Pauses by kind", text)
        page = os.path.join(self.folder.name, "gc.html")
        document = json.loads(observe("gc", log, "--json", "-o", page).stdout)
        # The eden of four megabytes is small for this heap.
        self.assertIn("young too small", [finding["rule"] for finding in document["findings"]])
        with open(page) as f:
            html = f.read()
        self.assertIn("class=\"timeline\"", html)
        self.assertIn("docs/guide/gc.md", html)
        self.compare(log)
        self.rotated(log)

    def compare(self, log):
        again = shutil.copy(log, os.path.join(self.folder.name, "again.log"))
        document = answer("gc", "--compare", log, again)
        self.assertTrue(all(row["before"] == row["after"] for row in document["compared"]))
        self.assertEqual(document["before"]["pauses"], document["after"]["pauses"])

    def rotated(self, log):
        """Rotated files in any order, one of them compressed, give the answer of the whole log."""
        whole = answer("gc", log)
        with open(log) as f:
            lines = f.readlines()
        half = len(lines) // 2
        newer, older = os.path.join(self.folder.name, "cut.log"), os.path.join(self.folder.name, "cut.log.0")
        with open(newer, "w") as f:
            f.writelines(lines[half:])
        with gzip.open(older, "wt") as f:
            f.writelines(lines[:half])
        parts = answer("gc", newer, older)
        self.assertEqual((parts["pauses"], parts["runs"]), (whole["pauses"], 1))
        run = subprocess.run([os.environ.get("YUNTI", "yunti"), "observe", "gc", "--json", "-"], input="".join(lines),
                             capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(json.loads(run.stdout)["pauses"], whole["pauses"])

    def test_system_gc_is_named(self):
        document = self.agree("25 Serial")
        self.assertIn("System.gc()", [finding["rule"] for finding in document["findings"]])

    def test_humongous_objects_are_counted(self):
        document = self.agree("17 G1")
        before = [event["humongous"]["before"] for event in document["events"] if "humongous" in event]
        self.assertGreater(max(before), 1 << 20)


def agreement(name):
    def test(self):
        self.agree(name)

    return test


for run in RUNS:
    if run not in ("25 Serial", "17 G1"):
        setattr(Logs, f"test_pauses_of_{run.replace(' ', '_')}_equal_those_of_jfr", agreement(run))


def advised(version, folder, options, *words):
    """Runs the program with a log in a folder. Returns the answer about it."""
    log = os.path.join(folder, "advised.log")
    command = [os.path.join(java_versions()[version], "bin/java"), *options, "-Xlog:gc*,safepoint,gc+age=trace:file="
               + log, "-cp", folder, "Churn", *words]
    subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return answer("gc", log)


class Promises(InAFolder, unittest.TestCase):
    """The advice of a log, taken, brings what the answer promised: collections become rarer, pauses not longer."""

    def test_a_larger_young_generation(self):
        versions = java_versions()
        if not versions:
            self.skipTest("there is no JDK 17 or 25")
        version = min(versions)
        compiled(self.folder.name, "Churn")
        heap = ["-XX:+UseParallelGC", "-Xms512m", "-Xmx512m", "-XX:-UseAdaptiveSizePolicy", "-XX:+AlwaysPreTouch"]
        before = advised(version, self.folder.name, [*heap, "-Xmn8m"], "short", "4")
        advice = next(f["cure"] for f in before["findings"] if f["rule"] == "young too small")
        size = re.search(r"-Xmn\d+m", advice)[0]
        after = advised(version, self.folder.name, [*heap, size], "short", "4")
        # Counts and bytes, not times: the machine may be slow in one of the runs.
        each = [run["young"]["eden_bytes"] for run in (before, after)]
        young = [sum(kind["count"] for kind in run["by_kind"] if kind["kind"] == "young") for run in (before, after)]
        allocated = [count * eden for count, eden in zip(young, each)]
        promised = before["young"]["predictions"][-1]
        larger = each[1] / each[0]
        self.assertGreater(larger, 2)
        # Collections of a byte fall as the eden grows, within a quarter.
        rarer = (young[0] / allocated[0]) / (young[1] / allocated[1])
        self.assertAlmostEqual(rarer / larger, 1, delta=0.25)
        self.assertAlmostEqual(promised["factor"], promised["eden_bytes"] / each[0], delta=0.01)
        # Nothing survives, so a pause does not grow with the eden; time lost a byte falls far.
        lost = [run["pauses"]["total_ms"] / bytes for run, bytes in zip((before, after), allocated)]
        self.assertLess(lost[1], 0.6 * lost[0], (size, young, lost))


class Live(InAFolder, unittest.TestCase):
    """A JVM that runs: the same answer as of its log, and nothing is left behind."""

    @classmethod
    def setUpClass(cls):
        if not java_versions():
            raise unittest.SkipTest("there is no JDK 17 or 25")
        super().setUpClass()
        compiled(cls.folder.name, "Churn")

    def started(self, version, *options, log=True):
        home = java_versions().get(version)
        if not home:
            self.skipTest(f"there is no JDK {version}")
        own = os.path.join(self.folder.name, "own.log")
        # Its own log has the same lines, to compare with.
        logs = [f"-Xlog:gc*,safepoint:file={own}:uptime,tags"] if log else []
        command = [os.path.join(home, "bin/java"), *options, "-Xmx64m", *logs, "-cp", self.folder.name, "Churn", "cache",
                   "60"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, own

    def check_live(self, version, collector, *options):
        process, own = self.started(version, *options)
        time.sleep(2)
        document = answer("gc", process.pid, "-s", "2", "--requests-per-second", "1000")
        self.assertEqual([name for name in os.listdir("/tmp") if name.startswith(f".yunti-observe-{process.pid}-")], [])
        self.assertIsNone(process.poll())
        self.assertEqual((document["collector"], document["settings"]["heap_max"]), (collector, 64 << 20))
        self.assertEqual((document["lines_foreign"], document["lines_damaged"]), (0, 0))
        self.assertAlmostEqual(document["log_seconds"], 2, delta=1)
        process.kill()
        process.wait()
        # Each pause of the answer is in the log that the JVM writes anyway, with the same duration.
        def pauses(events):
            return {(event["gc"], round(event["pause_ms"], 3), round(event["start_s"], 2)) for event in events}

        ours, theirs = pauses(document["events"]), pauses(answer("gc", own)["events"])
        self.assertGreater(len(ours), 3)
        self.assertEqual(sorted(ours - theirs)[:5], [])
        begin, end = min(start for *_, start in ours), max(start for *_, start in ours)
        missing = [pause for pause in theirs - ours if begin < pause[2] < end]
        self.assertEqual(missing[:5], [])
        self.assertGreater(document["a_request"]["pause_ms"], 0)
        return document

    def test_g1(self):
        document = self.check_live("17", "G1", "-XX:+UseG1GC")
        self.assertGreater(document["a_request"]["allocated_bytes"], 1000)
        self.assertTrue(document["phases"] and document["stops"])

    def test_generational_z(self):
        self.check_live("25", "generational ZGC", "-XX:+UseZGC")

    def test_parallel(self):
        document = self.check_live("25", "Parallel", "-XX:+UseParallelGC")
        self.assertGreater(document["allocation_bytes_per_s"], 1 << 20)

    def test_counters(self):
        """Counters name the same collections as the log, without an attach."""
        version = min(java_versions())
        process, own = self.started(version, "-XX:+UseParallelGC", "-XX:+DisableAttachMechanism", "-XX:+UsePerfData")
        time.sleep(2)
        document = answer("gc", process.pid, "-s", "2", "--counters")
        process.kill()
        process.wait()
        self.assertEqual(document["collector"], "Parallel")
        began = {e["gc"]: e for e in answer("gc", own)["events"]}
        count, total = document["pauses"]["count"], document["pauses"]["total_ms"]
        self.assertGreater(count, 3)
        self.assertLess(count, len(began))
        mean = sum(e["pause_ms"] for e in began.values()) / len(began)
        # Counters have the time of each collection; a single one may be much longer than the mean.
        self.assertLess(0.1 * mean, total / count)
        self.assertLess(total / count, 10 * mean)

    def test_an_observer_that_is_killed_leaves_nothing(self):
        process, _ = self.started(min(java_versions()), "-XX:+UseSerialGC", log=False)
        time.sleep(2)
        observer = subprocess.Popen([os.environ.get("YUNTI", "yunti"), "observe", "gc", str(process.pid), "-s", "60"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        files = lambda: [n for n in os.listdir("/tmp") if n.startswith(f".yunti-observe-{process.pid}-")]  # noqa: E731
        self.until(files)
        observer.kill()
        observer.wait()
        self.until(lambda: not files())

    def until(self, is_true):
        end = time.monotonic() + 30
        while not is_true() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertTrue(is_true())


class Errors(Refusals, InAFolder, unittest.TestCase):
    observer = "gc"

    def test_errors_are_one_line(self):
        path = os.path.join(self.folder.name, "other.log")
        with open(path, "w") as f:
            f.write("2026-01-01 INFO started\n")
        self.refused(3, "no line of a garbage collection log", path)
        self.refused(3, "No such file", os.path.join(self.folder.name, "none.log"))
        self.refused(3, "no process", "no-such-program-of-anybody")
        self.refused(2, "is not a JVM", os.getpid())
        self.refused(2, "--seconds is for a live JVM", path, "-s", "3")
        self.refused(2, "not a number of requests", path, "--requests-per-second", "x")
        self.refused(3, "cannot read the log", self.folder.name)
        self.refused(2, "FILE")
        self.refused(2, "--compare", "--compare", path)


if __name__ == "__main__":
    unittest.main()
