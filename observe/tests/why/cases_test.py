"""`yunti observe why` on some cases of the trials, one for each rule that they led to, and on healthy ones."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import trials  # noqa: E402
import cases  # noqa: E402  (in a folder that trials has put into the path)
import twice  # noqa: E402

SECONDS = 4
OUT = os.path.join(trials.ROOT, "build/trials")


class Cases(unittest.TestCase):
    def check(self, collection, name):
        [case] = cases.find(os.path.join(trials.HERE, "trials", collection), [name])
        if reason := case.missing():
            self.skipTest(reason)
        trial = trials.judged(case, os.path.join(OUT, collection, name), SECONDS)
        self.assertEqual(trial.verdict, "right", trial.sentence)

    def test_a_channel_whose_taker_waits(self):
        self.check("alder", "log-shipper")

    def test_a_file_lock_of_another_process(self):
        self.check("alder", "spool-writer")

    def test_a_file_lock_tried_again(self):
        self.check("cedar", "fare-sync")

    def test_the_common_pool_whose_workers_wait(self):
        self.check("alder", "feed-enricher")

    def test_the_pool_of_libuv(self):
        self.check("alder", "scan-archive")

    def test_a_thread_for_each_task(self):
        self.check("alder", "noise-filter")

    def test_a_program_that_dumps_its_own_threads(self):
        self.check("cedar", "fleet-tracker")

    def test_virtual_threads_that_sleep_are_healthy(self):
        self.check("cedar", "notification-hub")


if __name__ == "__main__":
    twice.main()
