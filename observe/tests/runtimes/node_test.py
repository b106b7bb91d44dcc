"""`yunti observe why` and `flame` on Node.js: names of JavaScript, causes, and an inspector that is closed again."""

import os
import shutil
import socket
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looking import HERE, Started, answer, stacks, until  # noqa: E402
import twice  # noqa: E402  (looking.py knows where it is)

NODE = shutil.which("node")
SERVICE = os.path.join(HERE, "targets/node/service.js")
SECONDS = 3


def is_open():
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", 9229)) == 0


@unittest.skipUnless(NODE, "node is not installed")
@unittest.skipIf(is_open(), "another program has the inspector's port")
class Services(unittest.TestCase):
    def measure(self, does, *options, more=()):
        with Started(NODE, SERVICE, does, *more) as process:
            document = answer("why", "-p", process.pid, "-s", SECONDS, *options)
            self.signals = self.reply(process)
            until(lambda: not is_open())
        return document

    def reply(self, process):
        """Returns the number of signals that the program has caught. Lines of the inspector come before it."""
        process.stdin.write("go\n")
        process.stdin.flush()
        while not (line := process.stdout.readline()).startswith("done"):
            self.assertTrue(line, "the program has ended")
        return int(line.split()[1])

    def causes(self, document):
        return [found["cause"] for found in document["causes"]]

    def test_a_hot_function(self):
        document = self.measure("hot")
        self.assertEqual(document["hottest"]["function"], "distance service.js:6", document["answer"])
        ways = [[name for name, kind in way if kind == "javascript"] for _, way in stacks(document)]
        self.assertTrue(any("handle service.js:21" in way and way[-1] == "distance service.js:6" for way in ways))
        self.assertIn("hot-method", self.causes(document), document["answer"])
        self.assertTrue(document["event_loop"]["inspector_was_opened"])
        self.assertGreater(document["event_loop"]["heap"]["limit_bytes"], 1 << 20)

    def test_a_synchronous_call(self):
        document = self.measure("sync")
        self.assertEqual(self.causes(document)[:1], ["sync-call"], document["answer"])
        self.assertIn("execSync", document["answer"])
        self.assertIn("service.js:14", document["answer"])

    def test_a_paced_service_is_healthy(self):
        self.assertNotIn("event-loop", self.causes(self.measure("paced")))

    def test_a_program_that_catches_the_signal_gets_none(self):
        document = self.measure("paced", more=["handles"])
        self.assertEqual(self.signals, 0)
        self.assertTrue(any("catches SIGUSR1 itself" in skip for skip in document["skipped"]), document["skipped"])

    def test_no_inspector(self):
        document = self.measure("hot", "--no-inspector")
        self.assertFalse(document["event_loop"]["inspector_was_opened"])
        self.assertTrue(any("--no-inspector" in skip for skip in document["skipped"]), document["skipped"])


if __name__ == "__main__":
    twice.main()
