"""Tests of `yunti capacity what-if`: changes tried on copies of a service, copies that always end, costs of formats.

    python3 capacity/tests/prove_test.py        # 40 s

The service holds a lock while it sleeps, so its peak is 1 / sleep on a machine with any other work.
"""

import contextlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../tools/tests")]
from long_tests import long_test  # noqa: E402
from servers import ROOT, check, free_port, wait_for  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
SCHEMA = os.path.join(ROOT, "docs/formats/what-if.schema.json")
LIMIT = 60  # seconds until something must have happened on a busy machine
NOBODY = pwd.getpwnam("nobody").pw_uid

# Answers with a lock held for some milliseconds; its port comes from a variable.
SERVICE = """
import http.server, os, signal, subprocess, sys, threading, time
lock, hold = threading.Lock(), float(sys.argv[1]) / 1000

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_GET(self):
        with lock:
            time.sleep(hold)
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\\n")
    def log_message(self, *words):
        pass

if "--with-child" in sys.argv:
    subprocess.Popen(["sleep", "600"])
if "--stays" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
http.server.ThreadingHTTPServer.request_queue_size = 128
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["APP_PORT"])), Handler).serve_forever()
"""


def demands(hold_ms):
    """Returns demands of the service: what `yunti observe demands` would print."""
    steps = [["cpu", 0.2], ["acquire", 0], ["wait", 1, hold_ms], ["release", 0]]
    return {"version": 1, "processors": {"count": 2}, "requests": {"count": 1000, "per_second": 5},
            "resources": [{"id": 0, "kind": "lock", "name": "the lock", "parallelism": 1},
                          {"id": 1, "kind": "sleep", "name": "sleep"}],
            "templates": [{"kind": 0, "ms": hold_ms, "steps": steps}] * 200}


def processes(words):
    """Returns the numbers of the processes whose command line has all of these words."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
            if all(word in line for word in words):
                found.append(int(pid))
    return found


def may_run_as_nobody(python):
    with contextlib.suppress(OSError):
        return subprocess.run([python, "-c", ""], user="nobody", cwd="/", check=False).returncode == 0
    return False


def until(what, is_done):
    end = time.time() + LIMIT
    while not (value := is_done()):
        if time.time() > end:
            raise AssertionError(f"not in {LIMIT} s: {what}")
        time.sleep(0.05)
    return value


class Prove(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="yunti-prove-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        os.chmod(self.folder, 0o755)
        self.script = self.write("service.py", SERVICE)
        self.demands = self.write("demands.json", json.dumps(demands(20)))
        self.python = os.path.realpath(sys.executable)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        pathlib.Path(path).write_text(text, encoding="utf-8")
        return path

    def command(self, hold, *more):
        """Returns the command of a copy, as a user writes it."""
        return " ".join([f"APP_PORT={{port}} exec {self.python} {self.script} {hold}", *more])

    def words(self, *more):
        """Returns a command that tries a change with saved demands."""
        return [YUNTI, "capacity", "what-if", "--demands", self.demands, "lock x0.5", "--prove", "--step-seconds", "1",
                "--load", "http://127.0.0.1:9/", *more]

    def started(self, *words):
        run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        return run

    def refused(self, code, *words):
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def copies_end(self):
        until("the copies have ended", lambda: not processes([self.script]))

    @long_test
    def test_predicted_beside_measured(self):
        done = subprocess.run(self.words("--unchanged", self.command(20), "--copy", self.command(10), "--json"),
                              capture_output=True, text=True, timeout=180, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        document = json.loads(done.stdout)
        schema = json.loads(pathlib.Path(SCHEMA).read_text(encoding="utf-8"))
        check(document, schema, schema["$defs"], "$")
        proof = document["proof"]
        self.assertEqual((proof["changes"], proof["by_user"]), (["lock x0.5"], ["lock x0.5"]))
        for copy, peak in (("unchanged", 50), ("changed", 100)):
            self.assertAlmostEqual(proof[copy]["peak"]["value"], peak, delta=0.25 * peak, msg=proof)
            self.assertEqual(proof[copy]["addresses"], ["127.0.0.1"])
        self.assertAlmostEqual(proof["measured"]["value"], 2, delta=0.4)
        self.assertAlmostEqual(proof["error"]["value"], proof["predicted"]["value"] / proof["measured"]["value"] - 1, 6)
        self.copies_end()

    def test_copies_end_when_the_run_is_killed(self):
        # A copy that ignores SIGTERM, with a child of its own.
        words = self.words("--unchanged", self.command(20, "--with-child", "--stays"), "--copy", self.command(10))
        run = self.started(*words)
        [copy] = until("a copy runs", lambda: processes([self.script, "--stays"]))
        child = until("its child runs", lambda: pathlib.Path(f"/proc/{copy}/task/{copy}/children").read_text())
        run.kill()
        self.copies_end()
        until("its child has ended", lambda: not os.path.exists(f"/proc/{int(child)}"))

    def test_copies_end_with_ctrl_c_and_with_their_keeper(self):
        words = self.words("--unchanged", self.command(20), "--copy", self.command(10))
        run = self.started(*words)
        until("a copy runs", lambda: processes([self.script]))
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(LIMIT), 130)
        self.copies_end()
        run = self.started(*words)
        until("a copy runs", lambda: processes([self.script]))
        [keeper] = until("its keeper runs", lambda: processes(["keep"]))
        os.kill(keeper, signal.SIGKILL)
        self.copies_end()
        self.assertEqual(run.wait(LIMIT), 3)

    @unittest.skipUnless(os.geteuid() == 0, "another user needs root")
    def test_a_copy_is_like_its_original(self):
        python = next(filter(may_run_as_nobody, ("/usr/bin/python3", self.python)), None)
        if not python:
            self.skipTest("no Python that another user may run")
        port = free_port()
        environment = {"APP_PORT": str(port), "PEER": f"db:{port}", "PATH": os.environ["PATH"]}
        original = subprocess.Popen([python, self.script, "20"], env=environment, cwd=self.folder, user="nobody")
        self.addCleanup(original.communicate)
        self.addCleanup(original.kill)
        wait_for(port)
        url = f"http://127.0.0.1:{port}/"
        run = self.started(YUNTI, "capacity", "what-if", "-p", str(original.pid), "-s", "1", "cpu 1", "--prove", "--load",
                           url)
        copy = until("a copy runs", lambda: set(processes([self.script, "20"])) - {original.pid}
                     - set(processes(["keep"])) - set(processes(["launch"])) or run.poll() is not None)
        self.assertIsNone(run.poll())
        [pid] = copy

        def read(name, of=pid):
            return pathlib.Path(f"/proc/{of}/{name}").read_bytes()

        variables = dict(word.split(b"=", 1) for word in read("environ").rstrip(b"\0").split(b"\0"))
        moved = int(variables[b"APP_PORT"])
        self.assertNotEqual(moved, port)
        self.assertEqual(variables[b"PEER"], f"db:{port}".encode())
        self.assertEqual(read("cmdline"), read("cmdline", original.pid))
        self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), os.path.realpath(self.folder))
        self.assertEqual(os.stat(f"/proc/{pid}").st_uid, NOBODY)
        wait_for(moved)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(LIMIT), 130)
        until("the copy has ended", lambda: processes([self.script]) == [original.pid])
        with urllib.request.urlopen(url) as answer:
            self.assertEqual(answer.read(), b"ok\n")

    def test_wrong_input(self):
        own = str(os.getpid())
        for code, words, expect in [
            (2, ["-p", own, "lock x0.5"], "--copy"),
            (2, ["-p", own, "cpu +5000", "--copy", "run {port}"], "this machine has"),
            (3, ["-p", own, "cpu 1"], "does not listen on port 9"),
            (2, ["--demands", self.demands, "cpu 1"], "there is no process to copy"),
            (2, ["--demands", self.demands, "cpu 1", "--copy", "run"], "has no {port}"),
            (3, ["--demands", self.demands, "cpu 1", "--copy", "echo not today {port} >&2; exit 7"],
             "exit code 7: not today"),
            (3, ["-p", "4000000", "cpu 1"], "there is no process"),
        ]:
            with self.subTest(words):
                error = self.refused(code, YUNTI, "capacity", "what-if", *words, "--prove", "--load",
                                     "http://127.0.0.1:9/")
                self.assertIn(expect, error)
        self.assertIn("--load needs --prove", self.refused(
            2, YUNTI, "capacity", "what-if", "--demands", self.demands, "cpu 1", "--load", "http://127.0.0.1:9/"))


def messages():
    """Returns an answer of `yunti capacity messages`: half of the time is Jackson's, and protobuf takes a quarter."""
    def share(value):
        return {"share": value, "error": 0.01}

    def alternative(name, ns):
        timing = {"ns": ns, "ns_min": ns, "ns_max": ns, "allocated_bytes": ns}
        result = {"type": "Order", "write": timing, "read": timing, "bytes": 1, "refused": None, "note": None}
        return {"library": "jackson", "name": name, "version": "2", "is_baseline": name == "jackson", "is_json": True,
                "is_estimate": False, "results": [result], "error": None}

    return {"format": "yunti-messages/1",
            "libraries": [{"kind": "json", "library": "jackson", "direction": way, "cpu": share(0.25), "alloc": share(0.2)}
                          for way in ("read", "write")],
            "trial": {"captured": 9, "capture_seconds": 1, "is_redacted": True, "folder": None, "gaps": [],
                      "groups": [{"library": "jackson", "type": "Order", "written": 5, "read": 4, "calls_written": 50,
                                  "calls_read": 40, "bytes": 1}],
                      "alternatives": [alternative("jackson", 400), alternative("protobuf-derived", 100)]}}


class Formats(unittest.TestCase):
    """Changes of formats: their costs come from an answer of `yunti capacity messages`."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="yunti-what-if-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, document):
        path = os.path.join(self.folder, name)
        pathlib.Path(path).write_text(json.dumps(document), encoding="utf-8")
        return path

    def what_if(self, *words, code=0):
        by_cpu = {"version": 1, "processors": {"count": 2}, "requests": {"count": 1000, "per_second": 5},
                  "templates": [{"kind": 0, "ms": 10, "steps": [["cpu", 10]]}] * 200}
        done = subprocess.run([YUNTI, "capacity", "what-if", "--demands", self.write("demands.json", by_cpu), "--json",
                               *words], capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_the_gain_of_another_format(self):
        saved = self.write("messages.json", messages())
        changes = ["json -> protobuf", "Jackson -> protobuf-derived", "json -> fory x2"]
        answers = self.what_if("--messages", saved, *changes)["answers"]
        # Amdahl's law: 1 / (1 - 0.5 x 3/4) with the measured speed, 1 / (1 - 0.5 x 1/2) with the user's.
        for answer, gain in zip(answers, (0.6, 0.6, 1 / 3)):
            self.assertAlmostEqual(answer["gain"]["value"], gain, delta=0.03, msg=answer["changes"])

    def test_what_is_missing_is_one_line(self):
        other = self.write("other.json", {"format": "x"})
        shares = self.write("shares.json", messages() | {"trial": None})
        for code, words, expect in [
            (2, ["json -> protobuf"], "--messages FILE"),
            (2, ["json -> turbo"], "protobuf-derived"),
            (4, ["json -> protobuf", "--messages", other], "yunti capacity messages -p PID"),
            (3, ["json -> protobuf", "--messages", "/none"], "cannot read"),
            (2, ["json -> protobuf", "--messages", shares], "json -> ANY xN"),
            (2, ["xml -> protobuf", "--messages", shares], "no such pair of formats"),
        ]:
            with self.subTest(words):
                error = self.what_if(*words, code=code)["error"]
                self.assertIn(expect, f"{error['message']} {error['hint']}")


if __name__ == "__main__":
    unittest.main()
