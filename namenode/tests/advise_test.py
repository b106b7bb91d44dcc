"""Tests of `yunti nn advise` on stock NameNodes with bad and good settings, and on other servers."""

import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from urllib.request import urlopen

sys.dont_write_bytecode = True
from stock import ROOT, NameNode, _written, free_ports  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "tools/tests"))
import twice  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))


def advise(*words, code=0):
    run = subprocess.run([YUNTI, "nn", "advise", *map(str, words)], capture_output=True, text=True, timeout=120)
    assert run.returncode == code, (run.returncode, run.stdout, run.stderr)
    return run


class Loaded:
    """A load that runs within the context; the signal of Ctrl-C ends it."""

    def __init__(self, namenode, *words):
        self.words = [YUNTI, "nn", "load", namenode.address, "-s", "100", "--files", "2000", *map(str, words)]

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # After 5 s the files exist and the warm-up is over.
        time.sleep(5)
        assert self.process.poll() is None, self.process.stderr.read()
        return self

    def __exit__(self, *_):
        self.process.send_signal(2)
        try:
            self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()


class Advise(unittest.TestCase):
    def measure(self, namenode, *words):
        return json.loads(advise(f"http://127.0.0.1:{namenode.web}/", "--json", *words).stdout)

    def check(self, document, certainly, perhaps):
        """Checks the names of the advice; `perhaps` has the names that depend on the machine's speed and load."""
        by_name = {row["name"]: row for row in document["advice"]}
        self.assertLessEqual(certainly, set(by_name), document)
        self.assertLessEqual(set(by_name), certainly | perhaps, document)
        for row in by_name.values():
            self.assertTrue(row["seen"] and row["why"] and row["brings"], row)
            self.assertRegex(" ".join(row["seen"]), r"\d", row)
        self.assertEqual("readers" in by_name, document["calls_per_second"] >= 2000)
        return {name: [line["line"] for line in row["lines"]] for name, row in by_name.items()}

    def test_handlers_that_wait_for_the_disk(self):
        """Ten handlers, one reader, edits written by the handlers, a heap of 64 MB."""
        bad = {
            "dfs.namenode.handler.count": 10,
            "ipc.server.read.threadpool.size": 1,
            "dfs.namenode.edits.asynclogging": "false",
        }
        with NameNode(bad, heap="64m") as namenode, Loaded(namenode, "-c", 100, "-m", "getFileInfo=50,mkdirs=50"):
            lines = self.check(
                self.measure(namenode),
                {"handlers", "async-edits"},
                {"readers", "heap", "slow-journal", "lock-phased", "lock-unfair"},
            )
            self.assertEqual(
                lines["async-edits"],
                ["<property><name>dfs.namenode.edits.asynclogging</name><value>true</value></property>"],
            )
            # The settings of a folder replace those of /conf.
            folder = os.path.join(namenode.folder, "other")
            os.mkdir(folder)
            _written(
                f"{folder}/hdfs-site.xml",
                {
                    "dfs.namenode.http-address": f"127.0.0.1:{namenode.web}",
                    "dfs.namenode.handler.count": 200,
                    "dfs.namenode.fslock.fair": "false",
                    "ipc.server.read.threadpool.size": 8,
                },
            )
            others = {row["name"] for row in json.loads(advise("--conf", folder, "--json").stdout)["advice"]}
            self.assertFalse(others & {"lock-unfair", "handlers", "async-edits", "readers"}, others)

    def test_a_fair_lock(self):
        """A hundred handlers that read and write."""
        with NameNode({"dfs.namenode.handler.count": 100, "ipc.server.read.threadpool.size": 1}) as namenode, \
                Loaded(namenode, "-c", 300, "-m", "getFileInfo=80,mkdirs=20"):
            document = self.measure(namenode)
            lines = self.check(
                document, {"lock-phased", "lock-unfair"}, {"readers", "heap", "slow-journal", "lock-held"}
            )
            self.assertEqual(
                lines["lock-unfair"], ["<property><name>dfs.namenode.fslock.fair</name><value>false</value></property>"]
            )
            # Stock shows the operations that hold the lock only with a setting.
            self.assertIn("dfs.namenode.lock.detailed-metrics.enabled", " ".join(document["not_checked"]))
            self.assertRegex(
                advise(f"127.0.0.1:{namenode.web}").stdout,
                r"\n1\. Use the lock of yunti-namenode.jar.*\(likely\)\n   seen    on average \d+\.\d threads waited",
            )

    def test_begun_together_with_the_load(self):
        """The rate is between two updates of the metrics. The last update before the load is eight seconds old, so that
        the next one comes two seconds after its begin."""
        with NameNode({"dfs.namenode.fslock.fair": "false"}) as namenode:
            # The files exist already. Two requests more than ten seconds apart: the second one makes an update.
            subprocess.run(
                [YUNTI, "nn", "load", namenode.address, "-m", "getFileInfo", "-s", "1", "--files", "2000"],
                check=True, capture_output=True,
            )
            for pause in (11, 8):
                with urlopen(f"http://127.0.0.1:{namenode.web}/jmx", timeout=20) as answer:
                    answer.read()
                time.sleep(pause)
            words = [YUNTI, "nn", "load", namenode.address, "-m", "getFileInfo", "-r", "500", "-c", "20", "-s", "60"]
            run = subprocess.Popen([*words, "--warm-up", "0", "--files", "2000"], stdout=subprocess.DEVNULL)
            try:
                document = self.measure(namenode)
            finally:
                run.send_signal(2)
                run.wait(timeout=30)
            self.assertAlmostEqual(document["calls_per_second"], 500, delta=50)
            self.assertAlmostEqual(document["interval_seconds"], 10, delta=1)

    def test_good_settings(self):
        """500 calls a second without contention: no advice. Idle: the report says that there was no load."""
        with NameNode({"dfs.namenode.fslock.fair": "false"}) as namenode:
            with Loaded(namenode, "-c", 20, "-r", 500, "-m", "getFileInfo=90,mkdirs=10"):
                # A new JVM compiles at first.
                time.sleep(5)
                document = self.measure(namenode)
                self.assertEqual((document["advice"], document["not_checked"]), ([], []))
                self.assertAlmostEqual(document["calls_per_second"], 500, delta=300)
            time.sleep(11)
            document = self.measure(namenode)
            self.assertEqual((document["advice"], document["not_checked"]), ([], ["advice on load: there was no load"]))
            self.assertEqual(len(advise(f"127.0.0.1:{namenode.port}", code=3).stderr.strip().splitlines()), 1)


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status, text = self.server.answer
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


class Wrong(unittest.TestCase):
    def refused(self, code, expected, *words):
        run = advise(*words, code=code)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        self.assertIn(expected, run.stderr)
        self.assertEqual(run.stdout, "")

    def test_no_response(self):
        port, = free_ports(1)
        self.refused(3, "does not respond", f"127.0.0.1:{port}")
        self.refused(3, "does not respond", "no-such-host.invalid")

    def test_other_servers(self):
        for (status, text), expected in {
            (200, "<html>"): "this is not a NameNode's /jmx",
            (200, '{"beans":[{"name":"Hadoop:service=DataNode,name=DataNodeInfo"}]}'): "this is not a NameNode",
            (401, ""): "Kerberos",
            (403, ""): "Kerberos",
            (404, ""): "status 404",
        }.items():
            with self.subTest(status=status, text=text), http.server.HTTPServer(("127.0.0.1", 0), Page) as server:
                server.answer = status, text
                thread = threading.Thread(target=server.serve_forever)
                thread.start()
                try:
                    self.refused(3, expected, f"127.0.0.1:{server.server_port}")
                finally:
                    server.shutdown()
                    thread.join()

    def test_a_broken_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/hdfs-site.xml", "w") as f:
                f.write("<configuration><property><name>dfs.namenode.handler.count</name>")
            self.refused(3, "the Hadoop configuration is incomplete: <property> is not closed", "--conf", folder)

    def test_flags(self):
        self.refused(2, "HTTPS is not supported", "https://nn1:9871")
        self.refused(2, "the port is not a number from 1 to 65535", "nn1:99999")
        self.refused(2, "the host is missing", "http://")
        self.refused(2, "invalid value", "-s", "5")
        self.refused(3, "has neither core-site.xml nor hdfs-site.xml", "--conf", ROOT)


class Hangs(unittest.TestCase):
    """Takes half a minute, so it is not part of make test; the unit tests cover it with shorter times."""

    def test_a_port_that_hangs(self):
        """A silent server, and one that sends single bytes."""
        with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_server(("127.0.0.1", 0)) as dripping:
            def drip():
                one, _ = dripping.accept()
                try:
                    one.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    while True:
                        one.sendall(b" ")
                        time.sleep(0.2)
                except OSError:
                    one.close()
            thread = threading.Thread(target=drip, daemon=True)
            thread.start()
            runs = [
                subprocess.Popen(
                    [YUNTI, "nn", "advise", f"127.0.0.1:{of.getsockname()[1]}"], stderr=subprocess.PIPE, text=True
                )
                for of in (silent, dripping)
            ]
            for run, seconds in zip(runs, (10, 20)):
                error = run.communicate(timeout=60)[1]
                self.assertEqual(run.returncode, 3)
                self.assertRegex(
                    error,
                    "^yunti: the NameNode's web server does not respond: "
                    f"no complete response within {seconds} s[^\n]*\n$",
                )
            thread.join()


if __name__ == "__main__":
    twice.main()
