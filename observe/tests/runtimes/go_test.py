"""`yunti observe why` on programs of Go: goroutines read from outside, with symbols and without."""

import os
import shutil
import socket
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looking import HERE, InAFolder, Started, answer  # noqa: E402

SOURCE = os.path.join(HERE, "targets/go/units.go")


@unittest.skipUnless(shutil.which("go"), "there is no Go")
class Goroutines(InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plain = cls.built("plain")
        cls.stripped = cls.built("stripped", "-ldflags=-s -w")

    @classmethod
    def built(cls, name, *flags):
        program = os.path.join(cls.folder.name, name)
        environment = {
            **os.environ, "GOCACHE": os.path.join(cls.folder.name, "cache"), "GOFLAGS": "", "GO111MODULE": "off",
            "CGO_ENABLED": "0", "GOTOOLCHAIN": "local",
        }
        subprocess.run(["go", "build", *flags, "-o", program, SOURCE], check=True, env=environment)
        return program

    def look(self, program, *words, before=()):
        with Started("env", "GOMAXPROCS=1", "GOGC=50", program, *words) as process:
            return answer("why", "-s", "2", "-p", process.pid, before=before)

    def check(self, document, workers):
        go, threads = document["go"], document["threads"]
        self.assertTrue(go["version"].startswith("go1."), go)
        self.assertEqual(go["gc_percent"], 50)
        # Main, 4 that take the lock, 2 that sleep, 2 that compute.
        self.assertAlmostEqual(go["goroutines"], workers + 9, delta=workers * 0.1 + 0.5)
        self.assertAlmostEqual(go["runnable"] + go["running"], 2, delta=0.7)
        self.assertAlmostEqual(threads["waiting for locks"], 3, delta=0.6)
        self.assertAlmostEqual(threads["asleep"], 3, delta=0.6)

    def test_goroutines_with_symbols(self):
        document = self.look(self.plain, "3")
        self.check(document, 3)
        self.assertEqual(document["go"]["gomaxprocs"], 1)
        self.assertFalse([skip for skip in document["skipped"] if "goroutines" in skip])

    def test_goroutines_of_a_stripped_program(self):
        document = self.look(self.stripped, "3")
        self.check(document, 3)
        self.assertIn("main.spins", str(document["tree"]["names"]))

    def test_ten_thousand_goroutines(self):
        with Started(self.plain, "10000") as process:
            document = answer("why", "-s", "3", "-p", process.pid)
        self.assertAlmostEqual(document["go"]["goroutines"], 10009, delta=1000)

    def test_peers(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            peer = f"127.0.0.1:{server.getsockname()[1]}"
            document = self.look(self.stripped, "1", peer)
            self.assertEqual(document["peers"][0][0], peer)
            self.assertAlmostEqual(document["peers"][0][1], 3 * 2, delta=2)

    def test_a_program_that_is_started(self):
        document = answer("why", "-s", "2", "--", self.plain, "3")
        self.assertAlmostEqual(document["go"]["goroutines"], 12, delta=2)


if __name__ == "__main__":
    unittest.main()
