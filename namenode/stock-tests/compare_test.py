"""What counts as worse than stock."""

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

    def test_same(self):
        self.check([run(a="passed", b="failed", c="skipped")], [run(a="passed", b="failed", c="skipped")], [], (False, False))

    def test_new_failure(self):
        self.check([run(a="passed")], [run(a="failed")], ["a"], (True, True))

    def test_it_passes_the_second_time(self):
        self.check([run(a="passed")], [run(a="failed"), run(a="passed")], [], (False, False))

    def test_it_never_passes(self):
        self.check([run(a="passed")], [run(a="failed")] * 3, ["a"], (True, True))

    def test_it_does_not_end(self):
        self.check([run(a="passed", b="passed")], [run(a="passed")], ["b"], (True, True))

    def test_it_is_skipped_in_the_variant_alone(self):
        self.check([run(a="passed")], [run(a="skipped")], ["a"], (True, True))

    def test_stock_fails_by_chance(self):
        self.check([run(a="failed")], [run(a="passed")], [], (True, False))
        self.check([run(a="failed"), run(a="passed")], [run(a="failed")] * 2, ["a"], (True, True))

    def test_the_class_is_not_begun(self):
        self.check([run(a="passed")], [run(**{"(class)": "failed"})], ["a", "(class)"], (True, True))

    def test_clean(self):
        self.assertTrue(compare.is_clean([run(a="passed", b="passed")]))
        for runs in ([run(a="passed", b="skipped")], [run(a="failed"), run(a="passed")], [run()], [], [{**run(a="passed"), "end": "time limit"}]):
            self.assertFalse(compare.is_clean(runs))

    def test_nothing_ran(self):
        self.check([run()], [run()], [], (True, True))


if __name__ == "__main__":
    unittest.main(verbosity=2)
