"""Tests attempts that are killed while they sleep, compute, catch all, or wait for each other for ever."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from probe import ProbeTest  # noqa: E402

KINDS = ("sleeps", "computes", "catches", "deadlocks")


class Stopped(ProbeTest):
    PROGRAM = "Stopped"

    def check(self, kinds, *options):
        marks = os.path.join(self.home, "marks")
        self.input = os.path.join(self.__class__.input, "0.txt")
        done = self.run_probe(",".join(kinds), f"-Dstopped.marks={marks}", "-Dyunti.hadoop.slots=16", *options)
        ends = os.listdir(marks)
        for name in [f"{kind}.{api}.{phase}" for kind in kinds for api in ("new", "old") for phase in ("map", "reduce")]:
            self.assertIn(f"job {name} SUCCEEDED\n", done.stdout)
            self.assertEqual(len(self.lines(f"{self.out}/{name}")), 200, name)
            # Each task ended once: what a killed attempt does at its end did not happen.
            number = {which: "1" if name.endswith(which) else "0" for which in ("map", "reduce")}
            found = sorted(mark.rsplit("_", 3)[1:] for mark in ends if mark.startswith(f"ends.{name}."))
            self.assertEqual(found, [["m", "000000", number["map"]], ["r", "000000", number["reduce"]]], name)
        return done

    def test_killed_threads_do_not_clean_up(self):
        self.check(KINDS)

    def test_killed_jvms_do_not_clean_up(self):
        self.check(KINDS[:1], "-Dyunti.hadoop.isolation=jvms")


if __name__ == "__main__":
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
