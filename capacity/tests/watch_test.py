"""yunti watch: histories that are imported, measurements of a small service, and what must not go wrong.

    YUNTI=dist/bin/yunti python3 capacity/tests/watch_test.py [Reports.test_..]
"""

import http.server
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(HERE, "watch"), os.path.join(ROOT, "tools/tests")]
import histories  # noqa: E402
import service  # noqa: E402
from long_tests import long_test  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
LIBEXEC = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(YUNTI))), "libexec")
PATIENCE = 120  # seconds until a command must end


class Case(unittest.TestCase):
    """Store of its own in a folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="yunti-watch-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.program = os.path.join(LIBEXEC, "yunti-watch")
        self.store = os.path.join(self.folder, "store")
        self.env = dict(os.environ, YUNTI_WATCH_DIR=self.store, TMPDIR=self.folder)

    def start(self, *words, **more):
        return subprocess.Popen([self.program, *words], env=self.env, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **more)

    def watch(self, *words, code=0, **more):
        done = subprocess.run([self.program, *words], env=self.env, capture_output=True, text=True, timeout=PATIENCE,
                              check=False, **more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def add(self, *flags, name="shop", pid_of="no such program [0-9]"):
        self.watch("add", name, "--pid-of", pid_of, *flags)

    def file(self, records):
        path = os.path.join(self.folder, f"{random.getrandbits(32):x}.jsonl")
        with open(path, "w") as f:
            f.writelines(json.dumps(record) + "\n" for record in records)
        return path

    def history(self, records, name="shop"):
        self.add(name=name)
        self.watch("import", name, self.file(records))

    def records(self, name="shop"):
        return [json.loads(line) for line in self.watch("export", name).stdout.splitlines()]

    def report(self, *flags, code=0):
        return json.loads(self.watch("report", "shop", "--json", *flags, code=code).stdout)


class Reports(Case):
    """Reports of imported histories."""

    def test_a_regression_is_found_named_and_fails_the_build(self):
        self.history(histories.days(14) + histories.days(1, label="v2", grown=0.05, first=14))
        page, junit = (os.path.join(self.folder, name) for name in ("page.html", "junit.xml"))
        found = self.report("--fail", "-o", page, "--junit", junit, code=9)
        self.assertEqual((found["verdict"], found["compared_with"]["days"]), ("worse", 14), found)
        self.assertEqual(found["functions"][0]["function"], histories.PLANTED, found["functions"])
        self.assertIn("com.shop.Page.render", found["functions"][0]["callers"])
        self.assertEqual(found["measurement"]["label"], "v2")
        suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite")
        failed = {case.get("name") for case in suite if case.find("failure") is not None}
        self.assertIn(f"function {histories.PLANTED}", failed)
        self.assertEqual(int(suite.get("failures")), len(failed))
        with open(page) as f:
            html = f.read()
        self.assertIn("<svg", html)
        self.assertIn("Functions that cost more", html)
        self.assertNotRegex(html, r"(src|href)=|@import|url\(")
        xml.etree.ElementTree.fromstring(html.split("\n", 1)[1])
        text = self.watch("report", "shop").stdout
        self.assertRegex(text, r"shop \(v2\) is worse.*Rank\.score")

    def test_equal_days_are_quiet(self):
        self.history(histories.days(15))
        found = self.report("--fail")
        self.assertEqual((found["verdict"], found["functions"], found["moved"]), ("same", [], []))
        schema = os.path.join(ROOT, "docs/formats/watch.schema.json")
        with open(schema) as f:
            members = json.load(f)["properties"]
        self.assertEqual(set(found), set(members), "docs/formats/watch.schema.json names all members")

    def test_a_new_level_has_its_day_and_release(self):
        self.history(histories.days(14) + histories.days(8, label="v2", grown=0.2, first=14))
        steps = self.report()["steps"]
        self.assertEqual([(step["figure"], step["sequence"], step["label"], step["is_new_label"]) for step in steps],
                         [("cpu_per_request", 15, "v2", True)])
        self.assertEqual(self.report("--of", "15", "--fail", code=9)["verdict"], "worse")
        # Five days later it is the level to compare with; the old release still is a choice.
        self.assertEqual(self.report("--fail")["verdict"], "same")
        self.assertEqual(self.report("--against", "v1", "--fail", code=9)["compared_with"]["days"], 14)
        day = time.strftime("%Y-%m-%d", time.localtime(histories.BEGIN_MS / 1000 + 3 * 86400))
        self.assertEqual(self.report("--against", day)["compared_with"]["days"], 1)
        self.assertIn("such as v2", self.watch("report", "shop", "--against", "v9", code=3).stderr)

    def test_partial_and_missing_days_do_not_count(self):
        odd = histories.days(4, first=14, grown=3.0)
        for record, state in zip(odd, ("partial", "missing", "partial", "missing")):
            record["state"] = state
        self.history(histories.days(14) + odd + histories.days(1, first=18))
        found = self.report("--fail")
        self.assertEqual((found["verdict"], found["compared_with"]["days"]), ("same", 14))

    def test_without_history_nothing_is_said(self):
        self.add()
        self.assertIn("no measurement yet", self.watch("report", "shop", code=3).stderr)
        self.watch("import", "shop", self.file(histories.days(2)))
        self.assertEqual(self.report("--fail")["verdict"], "unknown")


class Stores(Case):
    """What happens to the store."""

    def test_export_and_import_are_inverse(self):
        self.history(histories.days(3))
        self.add(name="copy")
        self.watch("import", "copy", "-", input=self.watch("export", "shop").stdout)
        self.assertEqual(self.records(), self.records("copy"))
        bad = self.file(histories.days(1) + [{"format": "yunti-watch/9"}])
        self.assertIn("line 2", self.watch("import", "copy", bad, code=4).stderr)
        self.assertEqual(len(self.records("copy")), 3, "nothing of a bad file is added")
        self.watch("remove", "copy")
        self.assertEqual([one["name"] for one in json.loads(self.watch("list", "--json").stdout)["watches"]], ["shop"])

    def test_kill_at_any_moment_leaves_whole_records(self):
        self.add()
        path = self.file(histories.days(60))
        before = 0
        for _ in range(12):
            importer = self.start("import", "shop", path)
            time.sleep(random.uniform(0.01, 0.25))
            importer.kill()
            importer.communicate()
            sequences = [record["sequence"] for record in self.records()]
            self.assertEqual(sequences, list(range(1, len(sequences) + 1)))
            self.assertGreaterEqual(len(sequences), before)
            before = len(sequences)
        self.assertIn("no damage", self.watch("repair", "shop").stdout)
        self.watch("import", "shop", path)
        self.assertEqual(len(self.records()), before + 60)

    def test_writers_at_once_lose_nothing(self):
        self.add()
        writers = [self.start("import", "shop", self.file(histories.days(20, label=f"w{n}"))) for n in range(3)]
        for writer in writers:
            writer.communicate()
            self.assertEqual(writer.returncode, 0)
        records = self.records()
        self.assertEqual([record["sequence"] for record in records], list(range(1, 61)))
        self.assertEqual({label: sum(r["label"] == label for r in records) for label in ("w0", "w1", "w2")},
                         {"w0": 20, "w1": 20, "w2": 20})

    def test_a_full_disk_is_one_line_and_keeps_the_rest(self):
        self.history(histories.days(4))
        before = self.records()

        def small_files():
            import resource
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))

        failed = self.watch("import", "shop", self.file(histories.days(1)), code=5, preexec_fn=small_files)
        self.assertEqual(len(failed.stderr.splitlines()), 1, failed.stderr)
        self.assertIn("cannot write a record", failed.stderr)
        self.assertEqual(self.records(), before)
        self.assertEqual([name for name in os.listdir(f"{self.store}/shop") if name.endswith(".tmp")], [])

    def test_damage_is_found_and_repaired(self):
        self.history(histories.days(15))
        path = f"{self.store}/shop/0000000007.record"
        with open(path, "r+b") as f:
            f.seek(400)
            byte = f.read(1)[0]
            f.seek(400)
            f.write(bytes([byte ^ 16]))
        failed = self.watch("report", "shop", code=4)
        self.assertRegex(failed.stderr, r"^yunti: a record is damaged: .*0000000007\.record: `yunti watch repair shop`")
        self.assertIn("set 7 aside", self.watch("repair", "shop").stdout)
        self.assertEqual(self.report()["compared_with"]["days"], 13)
        with open(f"{self.store}/shop/watch.json", "w") as f:
            f.write("{")
        self.assertIn("--replace", self.watch("run", "shop", code=4).stderr)
        self.add("--replace")
        self.assertEqual(len(self.records()), 14)

    def test_bad_flags_are_one_line(self):
        for words, hint in [
            (["add", "a/b", "--pid-of", "x"], "letters"),
            (["add", "a", "--pid-of", "("], "regular expression"),
            (["add", "a", "--pid-of", ".*"], "every process"),
            (["add", "a", "--pid-of", "x", "--daily", "25:00"], "03:00"),
            (["add", "a", "--pid-of", "x", "--hook", "ftp://host/"], "--hook"),
            (["add", "a", "--pid-of", "x", "--keep", "0d"], "400d"),
            (["add", "a", "--pid-of", "x", "--url", "http://127.0.0.1:1/", "--load-seconds", "5"], "--load-seconds"),
        ]:
            failed = self.watch(*words, code=2)
            self.assertEqual(len(failed.stderr.splitlines()), 1, failed.stderr)
            self.assertIn(hint, failed.stderr)
        self.assertIn("there is no watch", self.watch("run", "nothing", code=3).stderr)
        self.assertFalse(os.path.exists(self.store))


class Measurements(Case):
    """Measurements with stand-ins for the other programs: `observe` samples nothing, `capacity` answers at once."""

    def setUp(self):
        super().setUp()
        libexec = os.path.join(self.folder, "libexec")
        os.mkdir(libexec)
        self.program = shutil.copy(self.program, libexec)
        self.script("observe", "exec sleep 600")
        self.script("capacity", f"cat {self.folder}/answer.json; exit 0")
        with open(f"{self.folder}/answer.json", "w") as f:
            json.dump({"run": {"done": 500, "errors": 0, "done_per_second": 50,
                               "latency": {"p50_ms": 5, "p99_ms": 20}}}, f)
        self.subject = subprocess.Popen(["sleep", f"3{random.randrange(10**6)}.5"])
        self.addCleanup(lambda: (self.subject.kill(), self.subject.wait()))
        self.pattern = "^" + " ".join(self.subject.args) + "$"

    def script(self, part, text):
        path = os.path.join(self.folder, "libexec", f"yunti-{part}")
        with open(path, "w") as f:
            f.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)

    def begin(self):
        """Starts a measurement, and waits until the stand-in samples."""
        run = self.start("run", "shop")
        end = time.time() + PATIENCE
        while not self.samplers() and time.time() < end and run.poll() is None:
            time.sleep(0.02)
        self.assertTrue(self.samplers(), "the measurement has begun")
        return run

    def samplers(self):
        listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
        program = f"{self.folder}/libexec/yunti-observe"
        return [line for line in listed.splitlines() if "supervise" in line and program in line]

    def test_no_process_is_a_record_and_several_are_an_error(self):
        self.add()
        self.assertIn("no process matches", self.watch("run", "shop", "--label", "v1", code=3).stderr)
        twin = subprocess.Popen(self.subject.args)
        self.addCleanup(lambda: (twin.kill(), twin.wait()))
        self.add("--replace", pid_of=self.pattern)
        self.assertRegex(self.watch("run", "shop", code=3).stderr, r"2 processes match .*narrower")
        self.assertEqual([(r["state"], r["label"]) for r in self.records()], [("missing", "v1"), ("missing", "")])

    def test_a_process_that_ends_makes_a_partial_record(self):
        self.add("--label-cmd", "echo ' v7 '; echo more", pid_of=self.pattern)
        run = self.begin()
        self.subject.kill()
        self.subject.wait()
        run.communicate(timeout=PATIENCE)
        [record] = self.records()
        self.assertEqual((record["state"], record["label"]), ("partial", "v7"), record)
        self.assertIn("ended or restarted", " ".join(record["notes"]))

    def test_a_killed_measurement_leaves_nothing_running(self):
        self.add(pid_of=self.pattern)
        for number in (signal.SIGKILL, signal.SIGINT):
            run = self.begin()
            self.watch("run", "shop", code=8)
            run.send_signal(number)
            run.communicate(timeout=PATIENCE)
            end = time.time() + PATIENCE
            while self.samplers() and time.time() < end:
                time.sleep(0.1)
            self.assertEqual(self.samplers(), [])
            self.assertEqual(self.records(), [])
        self.assertEqual(run.returncode, 130)

    def test_documents_of_capacity_are_kept(self):
        self.script("observe", "exit 3")
        self.add("--url", "http://127.0.0.1:1/", "--windows", "3", "--window-seconds", "1", pid_of=self.pattern)
        self.watch("run", "shop", code=3)
        [record] = self.records()
        self.assertEqual((record["load"]["p99_ms"], record["load_run"]["run"]["done_per_second"]), (20, 50), record)
        self.assertIn("0 of 3 windows", " ".join(record["notes"]))

    def test_a_service_that_fails_is_worse_and_not_compared(self):
        with open(f"{self.folder}/answer.json", "w") as f:
            json.dump({"run": {"done": 300, "errors": 100, "done_per_second": 5, "latency": {"p99_ms": 1}}}, f)
        self.history(histories.days(14))
        self.add("--replace", "--url", "http://127.0.0.1:1/", "--windows", "3", "--window-seconds", "1",
                 pid_of=self.pattern)
        self.script("observe", "exit 3")
        self.assertIn("25.0 % of the requests fail", self.watch("run", "shop", "--fail", code=9).stdout)
        junit = os.path.join(self.folder, "junit.xml")
        found = self.report("--of", "15", "--fail", "--junit", junit, code=9)
        self.assertEqual((found["verdict"], found["failing"]["now"]), ("worse", 0.25), found["failing"])
        self.assertEqual({rule["verdict"] for rule in found["rules"]}, {"unknown"})
        with open(junit) as f:
            self.assertIn("25.0 % of the requests fail", f.read())
        # A server that answers nothing at all.
        self.script("capacity", "echo '{\"error\": {\"message\": \"refused\"}}'; exit 3")
        self.assertIn("the load run failed: refused", self.watch("run", "shop").stdout)
        self.assertEqual(self.report("--of", "16", "--fail", code=9)["failing"]["now"], 1.0)

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small disk needs root")
    def test_a_full_disk_for_files_is_one_line(self):
        small = os.path.join(self.folder, "small")
        os.mkdir(small)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], check=False)
        if mounted.returncode:
            self.skipTest("no right to mount")
        self.addCleanup(subprocess.run, ["umount", small], check=False)
        self.add(pid_of=self.pattern)
        self.env["TMPDIR"] = small
        failed = self.watch("run", "shop", code=5)
        self.assertRegex(failed.stderr.splitlines()[-1], r"^yunti: a measurement needs 16 MiB .*set TMPDIR")
        self.assertEqual(os.listdir(small), [])
        self.assertEqual([record["state"] for record in self.records()], ["missing"])

    def test_the_daemon_measures_once_a_day(self):
        self.script("observe", "exit 3")
        self.add("--daily", "00:00", pid_of=self.pattern)
        self.watch("daemon", "--once")
        self.assertEqual(self.records(), [], "a watch of today is due tomorrow")
        settings = f"{self.store}/shop/watch.json"
        with open(settings) as f:
            text = f.read()
        with open(settings, "w") as f:
            f.write(re.sub(r'"created_ms": \d+', '"created_ms": 0', text))
        self.assertIn("missing: shop", self.watch("daemon", "--once").stderr)
        self.assertEqual(self.watch("daemon", "--once").stderr, "")
        self.assertEqual([r["due"] for r in self.records()], [time.strftime("%Y-%m-%d")])
        daemon = self.start("serve")
        time.sleep(1)
        daemon.terminate()
        daemon.communicate(timeout=PATIENCE)
        self.assertEqual(daemon.returncode, 0)

    def test_the_hook_gets_the_verdict_and_its_address_stays_secret(self):
        got = []

        class Hook(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                got.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(200 if "good" in self.path else 403)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}"
        self.add("--hook", f"{url}/good-secret")
        self.watch("run", "shop", code=3)
        self.assertEqual([(one["format"], one["watch"], one["verdict"]) for one in got],
                         [("yunti-watch-verdict/1", "shop", "unknown")])
        self.add("--replace", "--hook", f"{url}/bad-secret")
        failed = self.watch("run", "shop", code=3).stderr
        self.assertIn("status 403", failed)
        self.assertNotIn("secret", failed + self.watch("list", "--json").stdout)


@unittest.skipUnless(os.path.exists(os.path.join(LIBEXEC, "yunti-observe")), "yunti observe is not built")
class Services(Case):
    """A small service of a JVM under traffic."""

    def test_a_measurement_has_costs_and_functions(self):
        with service.Shop(self.folder) as shop, service.Clients(shop.port, rate=60):
            self.add("--windows", "3", "--window-seconds", "2", pid_of=f"java .*Shop {shop.port} ")
            found = json.loads(self.watch("run", "shop", "--label", "v1", "--json").stdout)
        self.assertEqual((found["measurement"]["state"], found["measurement"]["windows"]), ("complete", 3), found)
        self.assertRegex(found["measurement"]["host"]["runtime"], r"^Java \d")
        rate = found["measurement"]["requests_per_second"]
        self.assertTrue(30 < rate < 130, found["measurement"])
        [record] = self.records()
        functions = {function["name"]: function for function in record["functions"]}
        # The compiler decides where `spin` is inlined: the method around it then has its time.
        works = [name for name in functions if re.search(r"\bShop\.(spin|rank|price|render)$", name)]
        self.assertGreater(len(works), 1, list(functions))
        own = sum(sum(functions[name]["self_ms"]) for name in works)
        self.assertGreater(own, 0.1 * sum(record["sampled_ms"]), functions)
        self.assertTrue(all(0.2 < w["cpu_ms"] / w["requests"] < 200 for w in record["windows"]), record["windows"])
        self.assertTrue(all(w["calibration_ms"] > 0 for w in record["windows"]))
        # What the JVM compiles is no cost of a request.
        self.assertTrue(all("compiler_ms" in w and "others_ms" in w for w in record["windows"]), record["windows"])
        self.assertEqual([name for name in functions if "compiler_thread" in name.lower()], [])

    @long_test
    def test_the_model_is_measured_under_load_of_our_own(self):
        with service.Shop(self.folder, steps=50) as shop:
            self.add("--url", f"http://127.0.0.1:{shop.port}/", "--windows", "3", "--window-seconds", "2",
                     pid_of=f"java .*Shop {shop.port} ")
            self.watch("run", "shop")
        [record] = self.records()
        self.assertEqual((record["state"], record["load"]["failed"]), ("complete", 0), record["notes"])
        self.assertGreater(record["model"]["requests"]["per_second"], 20, record["notes"])
        self.assertGreater(record["model"]["curve"]["peak"]["value"], 50)


if __name__ == "__main__":
    unittest.main(verbosity=2)
