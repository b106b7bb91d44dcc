"""yunti capacity messages on a server of known messages, on JDK 17 and 25.

    YUNTI=dist/bin/yunti python3 capacity/tests/messages_test.py [JDK17.test_..]

The server (messages/Shop.java) writes and reads JSON by Jackson, and other messages by Java serialisation.
"""

import glob
import http.client
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools/tests"))
sys.path[:0] = [HERE, os.path.join(HERE, "messages")]
import jdks  # noqa: E402
import schema  # noqa: E402
from servers import free_port  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
DIST = os.path.dirname(os.path.dirname(os.path.abspath(YUNTI)))
PROGRAM = os.path.join(DIST, "libexec/yunti-capacity")
JARS = os.path.join(DIST, "lib/yunti/messages")
JDKS = jdks.find(["17", "25"])
# Jackson as the service has it: without modules that generate code.
JACKSON = ("core", "databind", "annotations", "datatype-jsr310", "datatype-jdk8")
PATIENCE = 60  # seconds until something must happen
FOLDERS = os.path.join(tempfile.gettempdir(), "yunti-messages-*")


def until(what, holds):
    """Waits until a condition holds, and returns its value."""
    end = time.time() + PATIENCE
    while time.time() < end:
        value = holds()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {PATIENCE} s")


class Service:
    """The server, with requests to some of its paths all the time."""

    def __init__(self, java, class_path, paths):
        self.port = free_port()
        options = ["-Xmx256m", "-XX:+UseSerialGC", "--add-opens=java.base/java.lang=ALL-UNNAMED"]
        self.process = subprocess.Popen([java, *options, "-cp", class_path, "Shop", str(self.port)],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.process.stdout.readline()
        self.failed = 0
        self.answered = 0
        self.is_ended = False
        self.load = threading.Thread(target=self.send, args=(paths,), daemon=True)
        self.load.start()

    def send(self, paths):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        while not self.is_ended:
            for path in paths:
                try:
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    answer.read()
                    self.failed += answer.status != 200
                    self.answered += 1
                except (OSError, http.client.HTTPException):
                    self.failed += not self.is_ended
                    connection.close()
        connection.close()

    def ask(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def threads(self, java):
        jcmd = os.path.join(os.path.dirname(java), "jcmd")
        return subprocess.run([jcmd, str(self.process.pid), "Thread.print"], capture_output=True, text=True,
                              timeout=PATIENCE, check=True).stdout

    def end(self):
        self.is_ended = True
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.load.join(PATIENCE)


class Case(unittest.TestCase):
    version = None
    paths = ("/orders", "/session", "/hard", "/users")

    @classmethod
    def setUpClass(cls):
        if cls.version is None or cls.version not in JDKS:
            raise unittest.SkipTest(f"there is no JDK {cls.version}")
        home = JDKS[cls.version][1]
        cls.java = os.path.join(home, "bin/java")
        cls.work = tempfile.mkdtemp(prefix="yunti-shop-")
        cls.addClassCleanup(shutil.rmtree, cls.work)
        for name in JACKSON:
            shutil.copy(glob.glob(f"{JARS}/jackson-{name}-*.jar")[0], cls.work)
        class_path = f"{cls.work}:{cls.work}/*"
        subprocess.run([f"{home}/bin/javac", "--release", "17", "-cp", class_path, "-d", cls.work,
                        os.path.join(HERE, "messages/Shop.java")], check=True)
        cls.service = Service(cls.java, class_path, cls.paths)
        cls.addClassCleanup(cls.service.end)
        cls.before = set(glob.glob(FOLDERS))

    def words(self, *words):
        seconds = () if "-s" in words else ("-s", "1")
        return [PROGRAM, "messages", "-p", str(self.service.process.pid), *seconds, *words]

    def messages(self, *words, code=0):
        done = subprocess.run(self.words("--json", *words), capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        with open(os.path.join(ROOT, "docs/formats/messages.schema.json")) as f:
            wanted = json.load(f)
        self.assertEqual(schema.errors(report, wanted, wanted), [])
        self.assertTrue(schema.errors(dict(report, pid="1"), wanted, wanted))
        return report

    def assert_as_before(self):
        """The service has no changed method, no thread of ours, no folder, and has answered all requests."""
        until("the end of the agent's thread", lambda: "yunti-messages" not in self.service.threads(self.java))
        self.assertIn(self.service.ask("/hooked"), ("0", "none"))
        until("the removal of the folder", lambda: not self.folders())
        self.assertEqual(self.service.failed, 0)
        self.assertIsNone(self.service.process.poll())

    def folders(self):
        return sorted(set(glob.glob(FOLDERS)) - self.before)

    def results(self, report, name, of_type, library):
        """Returns the result of a library for a type of the service's library."""
        one, = [one for one in report["trial"]["alternatives"]
                if (one["name"], one["library"]) == (name, library) and one["is_baseline"] == (name == library)]
        self.assertIsNone(one["error"])
        result, = [result for result in one["results"] if result["type"] == of_type]
        return result


class Captures(Case):
    """Tests that run on each JDK."""

    def test_captures_and_tries_the_services_own_objects(self):
        report = self.messages("--capture=80", "--capture-seconds", "4", "--keep", "--forks", "1", "--trial-seconds",
                               "6", "--types", "8", "--tries", "fastjson2,kryo-registered,java,protobuf-derived,gson,avro")
        trial = report["trial"]
        folder = trial["folder"]
        self.addCleanup(shutil.rmtree, folder, True)
        type(self).before.add(folder)
        self.assert_as_before()
        self.assertTrue({"Shop$Order[]", "Shop$Session", "Shop$Hard", "java.util.Collection<Shop$Order>"}
                        <= {group["type"] for group in trial["groups"]}, trial["groups"])

        orders = self.results(report, "jackson", "java.util.Collection<Shop$Order>", "jackson")
        group, = [group for group in trial["groups"] if group["type"] == "java.util.Collection<Shop$Order>"]
        self.assertEqual(orders["bytes"], group["bytes"], "Jackson writes what it wrote in the service")
        self.assertGreater(orders["write"]["ns"], 0)
        for name in ("fastjson2", "kryo-registered", "protobuf-derived", "avro"):
            result = self.results(report, name, "Shop$Order[]", "jackson")
            self.assertIsNone(result["refused"], name)
            self.assertGreater(result["read"]["ns"], 0)
        refused = self.results(report, "java", "Shop$Order[]", "jackson")["refused"]
        self.assertIn("NotSerializableException", refused)

        # The hard case has no accessors, and refers to itself.
        self.assertIsNone(self.results(report, "java", "Shop$Hard", "java")["refused"])
        self.assertIsNone(self.results(report, "kryo-registered", "Shop$Hard", "java")["refused"])
        self.assertIn("refers to itself", self.results(report, "protobuf-derived", "Shop$Hard", "java")["refused"])
        self.assertIn("reads another message", self.results(report, "gson", "Shop$Hard", "java")["refused"])
        self.assertTrue(any("Shop$Hard.secret" in gap and "lambda" in gap for gap in trial["gaps"]), trial["gaps"])

        self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        self.assertEqual(os.listdir(folder), ["messages.jsonl"])
        path = os.path.join(folder, "messages.jsonl")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with open(path) as f:
            text = f.read()
        for private in ("Jane", "Customer", "jane.doe", "example", "129.95", "2026-01-31"):
            self.assertNotIn(private, text)
        self.assertIn("Shop$Order", text)

        # A published comparison of user records: protobuf costs a third of Java serialisation.
        users = {name: self.results(report, name, "java.util.Collection<Shop$User>", "java")
                 for name in ("java", "protobuf-derived")}
        cost = {name: result["write"]["ns"] + result["read"]["ns"] for name, result in users.items()}
        print(f"users: protobuf {cost['protobuf-derived'] / cost['java']:.2f} of Java serialisation", file=sys.stderr)
        self.assertLess(cost["protobuf-derived"], 0.6 * cost["java"], cost)
        self.assertLess(users["protobuf-derived"]["bytes"], users["java"]["bytes"])

    def test_a_kill_during_the_capture_leaves_the_service_as_it_was(self):
        ours = subprocess.Popen(self.words("--capture=1000", "--capture-seconds", "60"), stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        try:
            until("a capture", lambda: glob.glob(FOLDERS + "/messages.jsonl"))
            until("a changed method", lambda: self.service.ask("/hooked") not in ("0", "none"))
        finally:
            ours.send_signal(signal.SIGKILL)
            ours.wait()
        until("the end of the capture", lambda: self.service.ask("/hooked") == "0")
        self.assert_as_before()


class JDK17(Captures):
    version = "17"

    def test_shares_have_their_library_direction_and_call_site(self):
        # A busy machine leaves the service few samples, so that the profile becomes longer.
        for seconds in ("2", "6", "20"):
            report = self.messages("-s", seconds)
            if report["cpu_samples"] > 50:
                break
        libraries = {(row["library"], row["direction"]) for row in report["libraries"]}
        self.assertTrue({("jackson", "read"), ("jackson", "write"), ("java", "read"), ("java", "write")} <= libraries,
                        libraries)
        sites = {(row["library"], row["call_site"]) for row in report["places"]}
        self.assertTrue({("jackson", "Shop.json"), ("java", "Shop.java")} <= sites, sites)
        share, error = (report["all"]["alloc"][key] for key in ("share", "error"))
        self.assertGreater(share, 0.2)
        self.assertLess(share + error, 1.05)
        requests = report["requests"]
        self.assertGreater(requests["cpu_ms"], 0)
        self.assertAlmostEqual(report["all"]["ms_per_request"], report["all"]["cpu"]["share"] * requests["cpu_ms"])

    def test_a_kill_during_the_trials_removes_the_messages(self):
        ours = subprocess.Popen(self.words("--capture=20", "--capture-seconds", "2"), stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        try:
            until("a trial", lambda: glob.glob(FOLDERS + "/trial.out"))
            self.assertEqual(len(self.folders()), 1)
        finally:
            ours.send_signal(signal.SIGKILL)
            ours.wait()
        self.assert_as_before()

    def test_wrong_words_fail_in_one_line(self):
        mine = str(os.getpid())
        for words, code, text in [
            (("-p", "4194304"), 3, "there is no process"),
            (("-p", mine), 3, "is no JVM"),
            (("-p", mine, "--keep"), 2, "--capture"),
            (("-p", str(self.service.process.pid), "--capture", "--tries", "jaxson"), 2, "jackson-blackbird"),
        ]:
            done = subprocess.run([PROGRAM, "messages", *words], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class JDK25(Captures):
    version = "25"


del Case, Captures

if __name__ == "__main__":
    unittest.main(verbosity=2)
