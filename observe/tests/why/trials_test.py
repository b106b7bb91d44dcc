"""Tests the collections of trials, the judge on answers of known verdicts, and `why` on some of the cases."""

import glob
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trials  # noqa: E402
import twice  # noqa: E402
from cases import Case, find  # noqa: E402  (in a folder that trials has put into the path)

COLLECTIONS = sorted(os.path.dirname(path) for path in glob.glob(os.path.join(trials.HERE, "trials/*/lib")))
SLOW = Case("", "slow-one", "c", "slow", "lock", accept=[["lock", "mutex"], ["flush"]], vague=[["wait"]])
HEALTHY = Case("", "healthy-one", "c", "healthy", "")


class Collections(unittest.TestCase):
    def test_each_case_is_whole(self):
        self.assertTrue(COLLECTIONS)
        for case in (case for collection in COLLECTIONS for case in find(collection)):
            with self.subTest(case.folder):
                self.assertEqual(case.name, os.path.basename(case.folder))
                self.assertIn(case.kind, trials.VERDICTS)
                self.assertEqual(case.kind == "slow", bool(case.accept and case.cause))
                for script in ("build", "run"):
                    self.assertTrue(os.access(os.path.join(case.folder, script), os.X_OK), script)
                for word in (word for words in case.accept + case.vague for word in words):
                    re.compile(word)

    def test_names_are_unique_in_a_collection(self):
        for collection in COLLECTIONS:
            names = [case.name for case in find(collection)]
            self.assertEqual(len(names), len(set(names)))


class Judge(unittest.TestCase):
    def check(self, case, sentence, causes, verdict):
        self.assertEqual(trials.judge(case, {"answer": sentence, "causes": causes}), verdict, sentence)

    def test_verdicts(self):
        self.check(SLOW, "Threads wait for a Mutex that flush holds.", ["x"], "right")
        self.check(SLOW, "Threads wait for a mutex.", ["x"], "vague")
        self.check(SLOW, "Garbage collection.", ["x"], "wrong")
        self.check(SLOW, "Nothing is wrong.", [], "missed")
        self.check(SLOW, "What is known: it sleeps.", [], "vague")
        self.check(HEALTHY, "Nothing is wrong.", [], "right")
        self.check(HEALTHY, "It computes; nothing else holds it up.", ["x"], "right")
        self.check(HEALTHY, "Threads wait for a mutex.", ["x"], "accused")

    def test_bounds(self):
        def of(right, vague, *others):
            return [trials.Trial(SLOW, verdict, "") for verdict in ["right"] * right + ["vague"] * vague + [*others]]
        self.assertEqual(trials.faults(of(14, 3, "wrong", "missed", "missed")), [])
        self.assertRegex(trials.faults(of(13, 3, *["wrong"] * 4))[0], "^13 of 20 .* right; at least 70%$")
        self.assertRegex(trials.faults(of(16, 4))[0], "^4 of 20 .* vague; at most 15%$")
        cured = trials.Trial(SLOW, "right", "", promised=0.9, rates=(100, 150))
        self.assertRegex(trials.faults([cured])[0], "^slow-one: the cause takes 90% .* its cure saves 33%$")
        cured.rates = (100, 200)
        self.assertEqual(trials.faults([cured]), [])
        accused = trials.Trial(HEALTHY, "accused", "")
        self.assertEqual(trials.faults([*of(20, 0), accused]), ["healthy-one: accused"])

    def test_page_has_the_numbers_and_each_sentence(self):
        found = [trials.Trial(SLOW, "vague", f"a | b in {trials.ROOT}/x"), trials.Trial(HEALTHY, "right", "fine")]
        text = trials.page("oak", found, [(HEALTHY, "there is no ruby")], "abc")
        for line in ("* 1 slow: 0 right, 1 vague, 0 wrong, 0 missed, 0 broken",
                     "* 1 healthy: 1 right, 0 accused, 0 broken",
                     "* skipped: healthy-one: there is no ruby", "| slow-one | c | lock | vague | a \\| b in x |  |"):
            self.assertIn(line, text.splitlines())


SECONDS = 4
OUT = os.path.join(trials.ROOT, "build/trials")


class Answers(unittest.TestCase):
    """`yunti observe why` on some cases of the trials."""

    def check(self, collection, name, with_cure=False):
        [case] = find(os.path.join(trials.HERE, "trials", collection), [name])
        if reason := case.missing():
            self.skipTest(reason)
        trial = trials.judged(case, os.path.join(OUT, collection, name), SECONDS, with_cure)
        self.assertEqual(trial.verdict, "right", trial.sentence)
        return trial

    def test_a_channel_whose_taker_waits(self):
        """What is named is tried: the cure saves at least half of the promised share."""
        trial = self.check("alder", "log-shipper", with_cure=True)
        self.assertGreaterEqual(trial.saved(), trials.SAVED_MIN * trial.promised)

    def test_a_file_lock_of_another_process(self):
        self.check("alder", "spool-writer")

    def test_a_file_lock_tried_again(self):
        self.check("cedar", "fare-sync")

    def test_a_program_that_dumps_its_own_threads(self):
        self.check("cedar", "fleet-tracker")

    def test_virtual_threads_that_sleep_are_healthy(self):
        self.check("cedar", "notification-hub")


if __name__ == "__main__":
    twice.main()
