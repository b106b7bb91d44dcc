"""`yunti observe why` on programs with a known cause: some in each `make test`, all in `why/all_test.py`."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "why"))
import looking  # noqa: E402
import twice  # noqa: E402  (looking.py knows where it is)
import programs as known  # noqa: E402

SECONDS = 3
# One program per kind of cause, and two healthy ones.
SOME = [
    "customer-dedup",
    "ledger-import",
    "feed-converter",
    "segment-ingest",
    "account-service",
    "checkout-service",
    "index-builder",
    "status-page",
    "file-survey",
]


def java_home():
    homes = looking.java_versions()
    return homes.get("17") or next(iter(homes.values()), None)


def answer_for(program, folder, seconds=SECONDS, collection=known):
    """Returns the answer of `why` for a program of a collection."""
    with collection.started(program, folder, java_home(), seconds=90) as process:
        return looking.answer("why", "-p", process.pid, "-s", seconds)


def causes(document):
    return [found["cause"] for found in document["causes"]]


class Some(looking.InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        known.build([known.named(name) for name in SOME], cls.folder.name, java_home())


def named(name):
    def test(self):
        program = known.named(name)
        if reason := known.missing(program):
            self.skipTest(reason)
        document = answer_for(program, self.folder.name)
        # Other busy processes of the machine do not count, unless the program is about them.
        found = [cause for cause in causes(document) if cause in program["causes"] or cause != "cpu-neighbour"]
        self.assertEqual(found[:1], program["causes"], document["causes"])

    return test


for _name in SOME:
    setattr(Some, f"test_{_name.replace('-', '_')}", named(_name))


class Answers(unittest.TestCase):
    def test_a_command_that_ends_early(self):
        """The counters up to the end are reported, although the process is gone."""
        with tempfile.TemporaryDirectory() as folder:
            document = looking.answer("why", "-s", 20, "--", looking.built(folder, "hot"), 2)
        self.assertEqual(causes(document), ["hot-method"], document["answer"])
        self.assertTrue(document["target_ended"])
        self.assertAlmostEqual(document["cpu_seconds"] + document["queued_seconds"], 2, delta=0.5)

    def test_a_page_and_text(self):
        with tempfile.TemporaryDirectory() as folder:
            program = known.named("status-page")
            known.build([program], folder, java_home())
            with known.started(program, folder, java_home(), seconds=30) as process:
                page = os.path.join(folder, "why.html")
                text = looking.observe("why", "-p", process.pid, "-s", 1, "-o", page).stdout
            self.assertIn("nothing is wrong", text)
            self.assertIn("nothing is wrong", looking.text_of(page))

    def test_a_missing_process(self):
        self.assertIn("there is no process", looking.observe("why", "-p", 4_000_000, code=3).stderr)

    def test_a_process_that_ends(self):
        self.assertTrue(looking.answer("why", "-s", 5, "--", "sleep", "1")["target_ended"])


if __name__ == "__main__":
    twice.main()
