"""`yunti capacity load` against small servers: what it sends, measures, refuses and survives.

    python3 capacity/tests/load_test.py [Load.test_..]        about 50 seconds
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from servers import (DELAYS, LIMIT, PROGRAM, Server, compiled, free_port, load, report, running,  # noqa: E402
                     true_latency, wait_for)

OK = (200, b"hello")


def tries(n, what):
    """Calls a check up to n times: a busy machine may spoil times."""
    for left in reversed(range(n)):
        try:
            return what()
        except AssertionError:
            if not left:
                raise
    return None


class Case(unittest.TestCase):
    def server(self, answer=lambda path: OK):
        server = Server(answer)
        self.addCleanup(server.stop)
        return server

    def folder(self):
        folder = tempfile.mkdtemp(prefix="yunti-load-test-")
        self.addCleanup(shutil.rmtree, folder)
        return folder


class Load(Case):
    def test_open_loop(self):
        server = self.server(lambda path: (404, b"") if len(server.seen) % 10 == 0 else OK)
        run = report(server.url + "/search?q=1", "-r", 100, "-s", 2, "--arrivals", "even")["run"]
        self.assertEqual((run["loop"], run["offered"], run["done"], run["errors"]), ("open", 200, 200, 0))
        self.assertEqual(run["classes"], {"2xx": 180, "4xx": 20})
        self.assertEqual({path for _, _, path, _ in server.seen}, {"/search?q=1"})
        self.assertEqual(sum(second["offered"] for second in run["series"]), 200)
        self.assertEqual(run["series"][0]["offered"], 100)
        self.assertEqual(run["bytes_in"], 180 * 42 + 20 * 37)
        self.assertGreaterEqual(run["latency"]["p50_ms"], run["service"]["p50_ms"] * 0.99)
        self.assertGreater(run["cpu_seconds"], 0)

    def test_text(self):
        server = self.server()
        run = load(server.url, "-s", 1)
        self.assertEqual(run.returncode, 0, run.stderr)
        for word in ("requests/s answered", "statuses 200", "latency", "service", "client late", "p99.9"):
            self.assertIn(word, run.stdout)
        self.assertEqual(run.stderr, "")

    def test_requests(self):
        server, folder = self.server(), self.folder()
        body = os.path.join(folder, "body")
        with open(body, "wb") as file:
            file.write(b"x" * 300_000)
        run = report(server.url + "/p", "--body", body, "-s", 1, "-r", 20, "-H", "X-A: b", "--arrivals", "even")["run"]
        self.assertEqual((run["done"], run["errors"]), (20, 0))
        self.assertEqual({(m, p, n) for _, m, p, n in server.seen}, {("POST", "/p", 300_000)})
        server.seen.clear()
        run = report(server.url, "-X", "HEAD", "-s", 1, "--no-keep-alive")["run"]
        self.assertEqual((run["errors"], {m for _, m, _, _ in server.seen}), (0, {"HEAD"}))
        self.assertEqual(run["connects"], run["sent"])

    def test_closed_loop_and_sweep(self):
        def answer(_):
            time.sleep(0.01)
            return OK

        server = self.server(answer)
        run = report(server.url, "--closed", "-c", 4, "-s", 1, "--threads", 2)["run"]
        self.assertEqual((run["loop"], run["connections"], run["errors"]), ("closed", 4, 0))
        self.assertGreaterEqual(run["latency"]["p50_ms"], 10)
        # Four clients, 10 ms each.
        self.assertLessEqual(run["done_per_second"], 401)

        def grows():
            points = report(server.url, "--sweep", "1,4,16", "-s", 1)["sweep"]
            self.assertEqual([point["clients"] for point in points], [1, 4, 16])
            one, four, _ = (point["report"]["done_per_second"] for point in points)
            self.assertLessEqual(one, 101)
            self.assertGreater(four, 2 * one)
        tries(3, grows)

    def test_steps_find_the_knee(self):
        lock = threading.Lock()

        def answer(_):
            with lock:
                time.sleep(0.01)
            return OK

        server = self.server(answer)

        def climbs():
            steps = report(server.url, "--steps", "--from", 20, "--factor", 1.6, "-s", 1.5)["steps"]
            self.assertTrue(steps["is_limit_found"])
            # One request at a time, 10 ms each: a hundred a second.
            self.assertLessEqual(steps["peak_per_second"], 105)
            self.assertLessEqual(steps["knee_per_second"], 105)
            self.assertGreaterEqual(steps["knee_per_second"], 20)
            self.assertIsNotNone(steps["steps"][-1]["sign"])
        tries(3, climbs)

    def test_bad_input_is_one_line(self):
        url = f"http://127.0.0.1:{free_port()}/"
        for arguments, code in [
            (["127.0.0.1:80"], 2), (["ftp://h/"], 2), (["http://127.0.0.1:99999/"], 2), (["http://192.0.2.1/"], 2),
            ([url, "-r", "0"], 2), ([url, "-r", "-5"], 2), ([url, "-r", "nan"], 2), ([url, "-r", "1e99"], 2),
            ([url, "-s", "0"], 2), ([url, "-c", "0"], 2), ([url, "--sweep", "0"], 2), ([url, "--sweep", "x"], 2),
            ([url, "--closed", "-r", "5"], 2), ([url, "--speed", "2"], 2), ([url, "-H", "x"], 2),
            ([url, "-X", "get"], 2), ([url, "--urls", "/none"], 3), ([url, "--body", "/none"], 3),
            ([url, "--ca", "/none"], 3), ([url.replace("http:", "https:"), "--ca", "/none"], 2),
            ([url], 3), ([url, "--steps"], 3), ([url, "--http2"], 3),
        ]:
            run = load(*arguments)
            self.assertEqual((run.returncode, run.stdout), (code, ""), f"{arguments}: {run.stderr}")
            self.assertRegex(run.stderr, r"\Ayunti: [^\n]+\n\Z", arguments)
        run = load(url, "--json")
        self.assertEqual((run.returncode, json.loads(run.stdout)["error"]["code"]), (3, "input"))


class Trouble(Case):
    def test_ctrl_c_reports_until_then(self):
        server = self.server()
        process = subprocess.Popen([PROGRAM, "load", server.url, "-s", "600", "--json"], stdout=subprocess.PIPE)
        end = time.time() + LIMIT
        while len(server.seen) < 60 and time.time() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT)
        run = json.loads(out)["run"]
        self.assertEqual((process.returncode, run["end"]), (130, "cancelled"))
        self.assertGreaterEqual(run["done"], 59)

    def test_errors_stop_the_run(self):
        server = self.server(lambda path: (503, b""))
        begun = time.monotonic()
        run = report(server.url, "-r", 50, "-s", 100, code=3)["run"]
        self.assertEqual((run["end"], run["is_halved"], run["done"]), ("errors", True, 0))
        self.assertLess(time.monotonic() - begun, 60)
        self.assertEqual(run["statuses"], {"503": run["errors"]})

    def test_a_server_that_restarts(self):
        server = self.server()

        def restart():
            time.sleep(1)
            server.stop()
            time.sleep(0.5)
            server.start()

        thread = threading.Thread(target=restart)
        thread.start()
        run = report(server.url, "-r", 100, "-s", 4, "--arrivals", "even", "--stop-errors", 100)["run"]
        thread.join()
        self.assertEqual((run["end"], run["done"] + run["errors"]), ("complete", 400))
        self.assertGreater(run["errors"], 10)
        self.assertLessEqual(set(run["failures"]), {"connect", "closed"})
        self.assertGreater(run["series"][3]["done"], 80)

    def test_a_stall_shows_in_the_percentiles(self):
        program = compiled("delays")
        if not program:
            self.skipTest("there is no compiler of C")
        rate, seconds, at_ms, stall_ms = 200, 4, 1500, 500
        latency = true_latency(rate, seconds, at_ms, stall_ms)
        true = {name: latency[name] for name in ("p50_ms", "p90_ms", "p99_ms", "max_ms")}

        def matches(connections):
            # Nothing sends a request before, so the stall counts from the first of the run.
            with running(program, at_ms, stall_ms, *DELAYS) as url:
                run = report(url, "-r", rate, "-s", seconds, "--arrivals", "even", "-c", connections)["run"]
            self.assertEqual((run["done"], run["errors"]), (rate * seconds, 0))
            for name, value in true.items():
                if connections < 100 and name == "p90_ms":
                    # The requests of the stall leave one after the other, which delays the ones behind them.
                    continue
                self.assertAlmostEqual(run["latency"][name], value, delta=5 + value * 0.1, msg=name)
            if connections < 100:
                # The requests of the stall waited for a connection: the service time hides them.
                self.assertLess(run["service"]["p90_ms"], true["p90_ms"] / 2)
        tries(4, lambda: matches(256))
        tries(4, lambda: matches(20))


class Logs(Case):
    def test_a_log_at_its_own_pace(self):
        server, folder = self.server(), self.folder()
        log = os.path.join(folder, "access.log")
        with open(log, "w") as file:
            for n in range(60):
                method = "POST" if n % 6 == 5 else "GET"
                file.write(f'1.2.3.4 - - [10/Oct/2000:13:55:{36 + n // 20:02d} +0000] "{method} /item/{n}?x=1 HTTP/1.1" '
                           f'200 5 "-" "agent"\n')
            file.write("a line that is none\n")
        document = report(server.url, "--urls", log, "--speed", 2)
        self.assertEqual(document["log"], {"requests": 50, "seconds": 3, "other_methods": 10, "unreadable": 1})
        run = document["run"]
        self.assertEqual((run["arrivals"], run["offered"], run["done"]), ("log", 50, 50))
        self.assertEqual([path for _, _, path, _ in sorted(server.seen)][:3], ["/item/0?x=1", "/item/1?x=1", "/item/2?x=1"])
        span = server.seen[-1][0] - server.seen[0][0]
        self.assertGreater(span, 1.2)
        self.assertEqual(run["patterns"], [])
        run = report(server.url, "--urls", log, "-r", 100, "-s", 1, "--arrivals", "even")["run"]
        self.assertEqual((run["arrivals"], run["offered"]), ("even", 100))

    def test_paths_one_a_line(self):
        server, folder = self.server(), self.folder()
        paths = os.path.join(folder, "paths")
        with open(paths, "w") as file:
            file.write("/a?b=1\n# comment\nGET /c\nHEAD /d/12345\n")
        run = report(server.url, "--urls", paths, "--closed", "-c", 1, "-s", 0.5)["run"]
        self.assertEqual([(m, p) for _, m, p, _ in server.seen][:4],
                         [("GET", "/a?b=1"), ("GET", "/c"), ("HEAD", "/d/12345"), ("GET", "/a?b=1")])
        self.assertEqual({row["pattern"] for row in run["patterns"]}, {"/a?b", "/c", "/d/*"})
        self.assertEqual(load(server.url, "--urls", paths, "--speed", 2).returncode, 2)
        self.assertEqual(load(server.url + "/x", "--urls", paths).returncode, 2)


NODE = """
const http2 = require('http2'), fs = require('fs');
const on = (request, response) => {
    let bytes = 0;
    request.on('data', piece => bytes += piece.length);
    request.on('end', () => {
        response.writeHead(request.url == '/bad' ? 503 : 200, {'x-bytes': bytes});
        response.end('hello');
    });
};
const tls = {key: fs.readFileSync('key.pem'), cert: fs.readFileSync('cert.pem'), allowHTTP1: true};
http2.createSecureServer(tls, on).listen(+process.argv[2], '127.0.0.1');
http2.createServer(on).listen(+process.argv[3], '127.0.0.1');
"""


@unittest.skipUnless(shutil.which("node") and shutil.which("openssl"), "there is no node or openssl")
class Encrypted(Case):
    def test_tls_and_http2(self):
        folder = self.folder()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1"], cwd=folder, check=True, capture_output=True)
        with open(os.path.join(folder, "server.js"), "w") as file:
            file.write(NODE)
        tls, plain = free_port(), free_port()
        node = subprocess.Popen(["node", "server.js", str(tls), str(plain)], cwd=folder)
        self.addCleanup(node.wait)
        self.addCleanup(node.kill)
        wait_for(tls)
        wait_for(plain)
        secure, certificate = f"https://localhost:{tls}/", os.path.join(folder, "cert.pem")
        flags = ["-s", 1, "-r", 50, "--arrivals", "even"]
        for arguments, http in [
            ([secure, "--ca", certificate], "1.1"), ([secure, "--insecure"], "1.1"),
            ([secure, "--ca", certificate, "--no-keep-alive"], "1.1"), ([secure, "--insecure", "--http2"], "2"),
            ([f"http://127.0.0.1:{plain}/", "--http2"], "2"),
            ([f"http://127.0.0.1:{plain}/", "--http2", "--body", certificate], "2"),
        ]:
            def answers(arguments=arguments, http=http):
                run = report(*arguments, *flags)["run"]
                self.assertEqual((run["http"], run["done"], run["errors"], run["statuses"]), (http, 50, 0, {"200": 50}),
                                 arguments)
            tries(3, answers)
        run = report(f"http://127.0.0.1:{plain}/", "--http2", "--closed", "-c", 6, "--streams", 3, "-s", 1)["run"]
        self.assertEqual((run["connects"], run["errors"]), (2, 0))
        run = report(f"http://127.0.0.1:{plain}/bad", "--http2", *flags, code=3)["run"]
        self.assertEqual((run["statuses"], run["failures"]), ({"503": 50}, {"status": 50}))
        refused = load(secure, "-s", 1)
        self.assertEqual((refused.returncode, refused.stdout), (3, ""))
        self.assertRegex(refused.stderr, r"\Ayunti: cannot connect [^\n]*certificate[^\n]*--insecure\n\Z")
        self.assertEqual(load(f"https://localhost:{plain}/", "--insecure", "-s", 1).returncode, 3)


if __name__ == "__main__":
    unittest.main()
