"""Tests of the comparison with stock."""

import sys
import unittest

sys.dont_write_bytecode = True
import compare  # noqa: E402


def run(**results):
    return {"end": "done", "methods": {method: {"result": result} for method, result in results.items()}}


class Compare(unittest.TestCase):
    def check(self, control, runs, worse, another):
        rows = compare.rows(control, runs)
        self.assertEqual([method for method, was, is_ in rows if compare.is_worse(was, is_)], worse)
        self.assertEqual(compare.needs_another(control, runs), another)

    def test_equal_outcomes(self):
        self.check(
            [run(a="passed", b="failed", c="skipped")], [run(a="passed", b="failed", c="skipped")], [], (False, False)
        )

    def test_a_new_failure_is_worse(self):
        self.check([run(a="passed")], [run(a="failed")], ["a"], (True, True))

    def test_a_second_run_may_pass(self):
        self.check([run(a="passed")], [run(a="failed"), run(a="passed")], [], (False, False))

    def test_a_repeated_failure_is_worse(self):
        self.check([run(a="passed")], [run(a="failed")] * 3, ["a"], (True, True))

    def test_a_missing_method_is_worse(self):
        self.check([run(a="passed", b="passed")], [run(a="passed")], ["b"], (True, True))

    def test_a_skip_only_in_the_variant_is_worse(self):
        self.check([run(a="passed")], [run(a="skipped")], ["a"], (True, True))

    def test_a_flaky_control_is_repeated(self):
        self.check([run(a="failed")], [run(a="passed")], [], (True, False))
        self.check([run(a="failed"), run(a="passed")], [run(a="failed")] * 2, ["a"], (True, True))

    def test_a_failed_setup_is_worse(self):
        self.check([run(a="passed")], [run(**{"(class)": "failed"})], ["a", "(class)"], (True, True))

    def test_clean_runs(self):
        self.assertTrue(compare.is_clean([run(a="passed", b="passed")]))
        for runs in (
            [run(a="passed", b="skipped")],
            [run(a="failed"), run(a="passed")],
            [run()],
            [],
            [{**run(a="passed"), "end": "time limit"}],
        ):
            self.assertFalse(compare.is_clean(runs))

    def test_an_empty_run_is_repeated(self):
        self.check([run()], [run()], [], (True, True))


if __name__ == "__main__":
    unittest.main(verbosity=2)
