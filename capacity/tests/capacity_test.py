"""Tests of `yunti capacity` on services with known costs: what bounds them, and what they carry when it is tried.

    python3 capacity/tests/capacity_test.py          # about 4 minutes

The truth of each service is measured in the same test: a closed loop with more clients than it needs. The sweep of all
24 services is no test of `make test`: capacity/tests/services/sweep.py.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "services")]
import services  # noqa: E402
from long_tests import long_test  # noqa: E402  (services.py knows where it is)
from servers import PROGRAM, Server  # noqa: E402

SECONDS = 8
# Seconds of load beside a measurement, which begins, samples and settles before it counts.
BESIDE = SECONDS + 25
LOW = 0.3
# Tries of a service: a machine that tests have is shared.
TRIES = 2
# Difference of the predicted peak from the measured one.
PEAK = 0.2


def capacity(*words, code=0):
    """Runs the command and returns its output; standard error if it must fail."""
    done = subprocess.run([services.YUNTI, "capacity", *map(str, words)], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == code, f"{words}: exit {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def bottleneck(answer):
    first = answer["curve"]["bottleneck"]["first"]
    return f"{first['kind']} {first['name']}" if first else "none"


@unittest.skipUnless(os.geteuid() == 0, "programs in the kernel are not allowed")
class Services(unittest.TestCase):
    """Services whose bottlenecks are of different kinds."""

    @classmethod
    def setUpClass(cls):
        services.build()

    def answered(self, name, clients):
        """Returns the measured peak, and the answer from traffic of 30 % of it."""
        with services.running(name) as service:
            service.warm_up(4)
            peak = service.load(clients, 3)["rate"]
            load = service.load_beside(64, BESIDE, rate=LOW * peak)
            try:
                answer = json.loads(capacity("-p", service.pid, "-s", SECONDS, "--json"))
                self.leaves_nothing(service)
            finally:
                load.terminate()
                load.communicate()
        return peak, answer

    def leaves_nothing(self, service):
        """The agent's thread has ended, and its files are gone."""
        threads = [pathlib.Path(f"/proc/{service.pid}/task/{tid}/comm").read_text(encoding="utf-8")
                   for tid in os.listdir(f"/proc/{service.pid}/task")]
        self.assertFalse([thread for thread in threads if "yunti" in thread])
        self.assertFalse([file for file in os.listdir("/tmp") if file.startswith(f".yunti-observe-{service.pid}-")])

    def check(self, name, clients, expected):
        for left in reversed(range(TRIES)):
            peak, answer = self.answered(name, clients)
            found, predicted = bottleneck(answer), answer["curve"]["peak_now"]["value"]
            text = f"{name}: bounded by {found}, {predicted:.0f} requests a second predicted, {peak:.0f} measured"
            print(text, flush=True)
            if abs(predicted / peak - 1) <= PEAK and expected in found:
                return
            self.assertTrue(left, text)

    def test_a_monitor(self):
        self.check("stock", 12, "lock com.acme.locks.Stock")

    @long_test
    def test_a_pool_of_connections(self):
        self.check("warehouse", 24, "pool ArrayBlockingQueue in com.acme.pools.Connections")

    @long_test
    def test_a_mutex_of_a_c_program(self):
        self.check("count", 12, "lock table_mutex")


class OwnLoad(unittest.TestCase):
    def test_a_heap_dump_is_taken_once(self):
        demands = {"version": 1, "processors": {"count": 2}, "requests": {"count": 1000, "per_second": 50},
                   "templates": [{"kind": 0, "ms": 10, "steps": [["cpu", 10]]}] * 200}
        server = Server(lambda path: (200, b"hello"))
        self.addCleanup(server.stop)
        with tempfile.TemporaryDirectory() as folder:
            words = pathlib.Path(folder, "words")
            libexec = pathlib.Path(folder, "libexec")
            libexec.mkdir()
            shutil.copy(PROGRAM, libexec)
            # A stand-in whose dump fails.
            observe = libexec / "yunti-observe"
            observe.write_text(f"""#!/bin/sh
echo "$*" >> {words}
case "$*" in *--held*) echo '{{"error": {{"message": "no room for a dump"}}}}'; exit 3 ;; esac
echo '{json.dumps(demands)}'
""", encoding="utf-8")
            observe.chmod(0o755)
            done = subprocess.run([libexec / "yunti-capacity", "-p", "1", "--load", server.url, "--held", "--pause-max",
                                   "2"], capture_output=True, text=True, timeout=180, check=False)
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertIn("no room for a dump", done.stderr)
            first, second = words.read_text(encoding="utf-8").splitlines()
        self.assertNotIn("--held", first)
        self.assertIn("--held --pause-max 2", second)


class WrongInput(unittest.TestCase):
    def test_a_missing_process(self):
        self.assertIn("there is no process", capacity("-p", 4_000_000, code=3))

    def test_no_process(self):
        self.assertIn("no process is named", capacity(code=2))

    def test_a_change_that_is_none(self):
        self.assertIn("turbo", capacity("what-if", "-p", os.getpid(), "turbo x9", code=2))

    @unittest.skipUnless(os.geteuid() == 0, "programs in the kernel are not allowed")
    def test_no_traffic(self):
        error = capacity("-p", os.getpid(), "-s", 1, code=3)
        self.assertIn("no request was measured: measure while there is traffic", error)

    def test_damaged_demands(self):
        self.assertIn("demands", capacity("--demands", os.path.abspath(__file__), code=3))


if __name__ == "__main__":
    unittest.main()
