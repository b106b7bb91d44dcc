"""`yunti observe why` on programs of Python: who waits for what, in which function."""

import os
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looking import HERE, Started, answer, container, needs_namespaces, within  # noqa: E402

TARGET = os.path.join(HERE, "targets/python/orders.py")
SECONDS = 3


def is_quiet(document):
    """Returns true if other processes leave processors to the program."""
    return sum(processors for _, processors in document["others"]) < document["processors"] / 2


class Python(unittest.TestCase):
    def why(self, does, before=(), pid=lambda process: process.pid):
        with Started(*before, os.path.realpath(sys.executable), TARGET, does) as process:
            document = answer("why", "-p", pid(process), "-s", SECONDS)
        self.assertFalse([skip for skip in document["skipped"] if "Python" in skip])
        return document

    def causes(self, document, cause):
        found = [it for it in document["causes"] if it["cause"] == cause]
        self.assertTrue(found, document["answer"])
        return found[0]["sentence"]

    def test_lock_of_the_interpreter(self):
        document = self.why("computes")
        # On a busy machine the others wait for a processor first, and for the lock after that.
        self.assertGreater(document["threads"]["waiting for locks"], 0.3)
        if is_quiet(document):
            self.assertIn("Pricer.total python/orders.py:", self.causes(document, "gil"))

    def test_lock_of_the_program(self):
        document = self.why("locks")
        self.assertGreater(document["threads"]["waiting for locks"], 1.5)
        self.assertIn("Store.save python/orders.py:", self.causes(document, "lock"))

    def test_permits(self):
        document = self.why("permits")
        self.assertGreater(document["threads"]["waiting for what others use"], 1.5)
        self.assertIn("Store.borrow python/orders.py:", document["answer"])

    def test_blocked_event_loop(self):
        document = self.why("blocks")
        self.assertGreater(document["threads"]["asleep"], 0.5)
        if is_quiet(document):
            self.assertIn("load python/orders.py:", self.causes(document, "blocked-event-loop"))

    def test_collector(self):
        self.assertIn(" python/orders.py:", self.causes(self.why("collects"), "python-collector"))

    @needs_namespaces
    @unittest.skipUnless(shutil.which("unshare"), "util-linux is absent")
    def test_in_a_container(self):
        document = self.why("locks", container(), within)
        self.assertIn("Store.save python/orders.py:", self.causes(document, "lock"))


if __name__ == "__main__":
    unittest.main()
