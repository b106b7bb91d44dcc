"""The services with known costs, their remote peers and their clients: what the truth of the capacity tests rests on.

    python3 capacity/tests/services_test.py        # 40 s with the build
"""

import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "services"))
import services  # noqa: E402
import sweep  # noqa: E402

# A program that starts a service, prints the pids, and waits to be killed.
PARENT = """
import sys, time
sys.path.insert(0, sys.argv[1])
import services
with services.running("count") as service:
    print(*(process.pid for process in service.processes), flush=True)
    time.sleep(60)
"""


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def curve(*rates):
    return [{"clients": 2**at, "rate": rate} for at, rate in enumerate(rates)]


class Table(unittest.TestCase):
    """services.json."""

    def test_services_are_complete(self):
        self.assertEqual(len(services.SERVICES), 24)
        languages = [service["language"] for service in services.SERVICES.values()]
        self.assertEqual(languages.count("java"), 20)
        self.assertEqual(len(set(languages)), 5)
        for name, service in services.SERVICES.items():
            with self.subTest(name):
                self.assertAlmostEqual(sum(url["share"] for url in service["urls"]), 1)
                self.assertEqual(service["levels"], sorted(set(service["levels"])))
                self.assertTrue(service["bottleneck"])
                text = " ".join(service["start"])
                for peer in service["peers_ms"]:
                    self.assertIn("{peer:%s}" % peer, text)

    def test_knee(self):
        for rates, level, between in [
                ((100, 200, 300, 300), 4, 3.7),
                ((100, 100, 100), 1, 0.95),
                ((100, 200, 100), 2, 1.9),
                ((100, 290, 280, 300), 2, 2.0),  # 285, the mean of both, is 95 % of 300
        ]:
            self.assertEqual(sweep.least(curve(*rates)), (level, between))

    def test_level_between(self):
        for rates, level in [((100, 200, 300, 300), 3), ((100, 200, 200), None), ((100, 100), None)]:
            self.assertEqual(sweep.gap(curve(*rates)), level)

    def test_summary_takes_the_middle(self):
        one = {"clients": 1, "rate": 100.0, "others_cpu": 0.1}
        truth = sweep.summary({1: [one, one | {"rate": 110.0}], 2: [one | {"clients": 2, "rate": 50.0}]})
        self.assertEqual((truth["peak"], truth["peak_clients"], truth["threads_95_level"]), (105, 1, 1))
        self.assertAlmostEqual(truth["spread"], 10 / 105, 4)


class Running(unittest.TestCase):
    """Services, peers and clients that run."""

    @classmethod
    def setUpClass(cls):
        services.build()

    def start(self, name, threads):
        try:
            service = services.Service(name, threads)
            self.addCleanup(service.stop)
            return service.start()
        except services.Skip as skip:
            self.skipTest(str(skip))

    def load(self, service, clients, is_enough, **more):
        """Returns what the clients measured, the first time that it is enough: the machine may have other work."""
        for _ in range(6):
            found = service.load(clients, 2, **more)
            if is_enough(found):
                break
        return found

    def test_closed_loop(self):
        service = self.start("count", 4)
        found = self.load(service, 4, lambda found: abs(found["rate"] * found["mean_ms"] / 1000 - 4) < 0.4)
        self.assertEqual(found["errors"], 0)
        # A peer never answers early: 10 ms and the work are the least.
        self.assertGreater(found["mean_ms"], 10)
        # Little's law: clients = rate x time in a closed loop.
        self.assertAlmostEqual(found["rate"] * found["mean_ms"] / 1000, 4, delta=0.4)
        self.assertEqual(len(found["watched_cpu"]), 2)

    def test_open_loop(self):
        service = self.start("count", 4)
        found = self.load(service, 64, lambda found: abs(found["rate"] - 100) < 35, rate=100)
        self.assertEqual(found["errors"], 0)
        self.assertAlmostEqual(found["rate"], 100, delta=35)

    def test_shares_of_urls(self):
        service = self.start("shop", 8)
        found = self.load(service, 8, lambda found: found["requests"] > 300, warm=1)
        self.assertEqual(found["errors"], 0)
        counts = [url["requests"] for url in found["urls"]]
        for count, url in zip(counts, service.facts["urls"], strict=True):
            self.assertAlmostEqual(count / sum(counts), url["share"], delta=0.12)

    def test_each_language_answers(self):
        for name in ("stock", "render", "invoice", "resize", "count", "ticket", "profile", "rate"):
            with self.subTest(name):
                found = self.load(self.start(name, 4), 2, lambda found: found["requests"] > 0)
                self.assertEqual(found["errors"], 0)
                self.assertGreater(found["requests"], 0)

    def test_all_ends_with_the_parent(self):
        parent = subprocess.Popen([sys.executable, "-c", PARENT, os.path.join(HERE, "services")],
                                  stdout=subprocess.PIPE, text=True)
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        self.assertEqual(len(pids), 2)
        self.assertTrue(all(map(is_alive, pids)))
        parent.kill()
        parent.communicate()
        end = time.time() + 10
        while any(map(is_alive, pids)) and time.time() < end:
            time.sleep(0.05)
        self.assertFalse([pid for pid in pids if is_alive(pid)])

    def test_bad_options(self):
        for command in (["clients"], ["clients", "--port", "0", "--url", "/"], ["peer"], ["peer", "x=1"]):
            done = subprocess.run([f"{services.BUILD}/bin/{command[0]}", *command[1:]], capture_output=True, text=True,
                                  timeout=10)
            self.assertEqual(done.returncode, 2, command)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
