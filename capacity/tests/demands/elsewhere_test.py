"""`yunti observe demands` on servers that answer requests on another thread than they began on, with known costs.

    python3 capacity/tests/demands/elsewhere_test.py          # about 35 seconds; all servers at the same time

Each server has three kinds of requests (elsewhere/com/acme/elsewhere/Costs.java). At low load the measured kinds, their
number and their necessary time must be the known ones.
"""

import contextlib
import http.client
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../services"))
import services  # noqa: E402
from holds import Holds  # noqa: E402
from long_tests import long_test  # noqa: E402  (services.py knows where it is)

SOURCE = os.path.join(HERE, "elsewhere")
BUILD = os.path.join(services.ROOT, "build/capacity/elsewhere")
CLASSES = f"{BUILD}/classes:{BUILD}/lib/*"
RATE = 24
SECONDS = 8
CONNECTIONS = 8
# Tries of all servers: a machine that tests have is shared.
TRIES = 2
# Necessary milliseconds of each kind without what the server itself adds.
COSTS = {"here": 2, "pool": 1 + 2 + 10, "timer": 1 + 15 + 1}
# Milliseconds that a server adds at most, on a shared machine: parsing, writing, waking threads.
SERVER = 1.2


def build():
    """Fetches the libraries with Maven and compiles, if something is not there or older than its source."""
    lib, classes = f"{BUILD}/lib", f"{BUILD}/classes"
    if services.is_stale(lib, f"{SOURCE}/pom.xml"):
        shutil.rmtree(lib, ignore_errors=True)
        services.run("mvn", "-q", "-B", "-f", f"{SOURCE}/pom.xml", "dependency:copy-dependencies",
                     f"-DoutputDirectory={lib}")
        os.utime(lib)
    if services.is_stale(classes, f"{SOURCE}/com"):
        shutil.rmtree(classes, ignore_errors=True)
        files = [os.path.join(at, name) for at, _, names in os.walk(f"{SOURCE}/com") for name in names]
        services.run(f"{services.JDKS['17']}/bin/javac", "-g", "-cp", f"{lib}/*", "-d", classes, *files)


class Load(threading.Thread):
    """Requests of all kinds in turn at a steady rate, over a few connections."""

    def __init__(self, port):
        super().__init__()
        self.port, self.failures = port, []
        self.has_answer, self.ended = threading.Event(), threading.Event()

    def connection(self, number, begin):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            for at in itertools.count(number, CONNECTIONS):
                if self.ended.wait(max(0, begin + at / RATE - time.monotonic())):
                    break
                client.request("GET", f"/{list(COSTS)[at % len(COSTS)]}/{at}?secret={at}")
                answer = client.getresponse()
                if answer.status != 200 or answer.read() != b"answer\n":
                    self.failures.append(answer.status)
                self.has_answer.set()
        except (OSError, http.client.HTTPException) as e:
            self.failures.append(e)
        finally:
            client.close()

    def run(self):
        begin = time.monotonic()
        connections = [threading.Thread(target=self.connection, args=(at, begin)) for at in range(CONNECTIONS)]
        for connection in connections:
            connection.start()
        for connection in connections:
            connection.join()


class Server:
    """Running server under load, and its demands."""

    def __init__(self, name):
        self.name = name
        self.process = subprocess.Popen([f"{services.JDKS['17']}/bin/java", "-Xmx200m", "-cp", CLASSES,
                                         f"com.acme.elsewhere.{name}"],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        preexec_fn=services.tie)
        self.load = self.demands = None

    def start_load(self):
        line = self.process.stdout.readline().split()
        assert line[:1] == ["ready"], f"{self.name}: {line}"
        self.port = int(line[1])
        if self.name == "GrpcServer":
            self.load = subprocess.Popen([f"{services.JDKS['17']}/bin/java", "-Xmx100m", "-cp", CLASSES,
                                          f"com.acme.elsewhere.{self.name}", "client", str(self.port), str(RATE)],
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                         preexec_fn=services.tie_ahead)
            assert self.load.stdout.readline() == "ready\n", self.name
        else:
            self.load = Load(self.port)
            self.load.start()
            assert self.load.has_answer.wait(20), f"{self.name}: {self.load.failures}"

    def measure(self):
        done = subprocess.run([services.YUNTI, "observe", "demands", "-p", str(self.process.pid), "-s", str(SECONDS)],
                              capture_output=True, text=True, timeout=100, check=False)
        self.demands = json.loads(done.stdout) if done.returncode == 0 else done.stderr

    def stop(self):
        if isinstance(self.load, subprocess.Popen):
            services.end(self.load)
        elif self.load:
            self.load.ended.set()
            self.load.join()
        services.end(self.process)


@unittest.skipUnless(os.geteuid() == 0, "programs in the kernel are not allowed")
@unittest.skipUnless("17" in services.JDKS, "no JDK 17")
class Elsewhere(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build()
        cls.measure_all()

    @classmethod
    def measure_all(cls):
        cls.servers = {name: Server(name) for name in ("TomcatServer", "JettyServer", "NettyServer", "GrpcServer")}
        with contextlib.ExitStack() as stack:
            for server in cls.servers.values():
                stack.callback(server.stop)
            for server in cls.servers.values():
                server.start_load()
            time.sleep(1.5)
            threads = [threading.Thread(target=server.measure) for server in cls.servers.values()]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def check(self, name, kinds):
        for left in reversed(range(TRIES)):
            try:
                return self.check_once(name, kinds)
            except AssertionError:
                if not left:
                    raise
                self.measure_all()

    def check_once(self, name, kinds):
        """Checks the kinds of a server: the names, their number, and the necessary time of each."""
        demands = self.servers[name].demands
        self.assertIsInstance(demands, dict, demands)
        found = demands["requests"]["kinds"]
        print(name, demands["requests"]["count"], found, flush=True)
        # A thread that a busy machine stops for a while counts as one outlier.
        times = Holds(demands).kinds
        middle = {kind["name"]: statistics.median(times[at]) for at, kind in enumerate(found) if at in times}
        print(name, middle, [resource["name"] for resource in demands["resources"]], flush=True)
        self.assertEqual(sorted(kind["name"] for kind in found), sorted(kinds.values()))
        self.assertAlmostEqual(demands["requests"]["per_second"] / RATE, 1, delta=0.1)
        for kind in found:
            self.assertAlmostEqual(kind["count"] / demands["requests"]["count"], 1 / 3, delta=0.05)
            self.assertGreater(kind["allocated_bytes"], 500)
        for kind, ms in COSTS.items():
            self.assertGreater(middle[kinds[kind]], ms * 0.95, kind)
            self.assertLess(middle[kinds[kind]], ms * 1.1 + SERVER, kind)
        pool = [one for one in demands["resources"] if one["name"] == "pool-of"]
        self.assertEqual([one.get("parallelism") for one in pool], [6])
        self.assertIsNone(demands.get("workers"), "no thread is held until the answer")
        self.assertNotIn("secret", json.dumps(demands))

    def test_tomcat(self):
        self.check("TomcatServer", {kind: f"GET /{kind}/*" for kind in COSTS})

    @long_test
    def test_jetty(self):
        self.check("JettyServer", {kind: f"GET /{kind}/*" for kind in COSTS})

    def test_netty(self):
        self.check("NettyServer", {kind: f"GET /{kind}/*" for kind in COSTS})

    @long_test
    def test_grpc(self):
        self.check("GrpcServer", {kind: f"acme.Answers/{kind.capitalize()}" for kind in COSTS})


if __name__ == "__main__":
    unittest.main()
