"""Tests that the last results of the long suites (tests/results/PART-full.md) vouch for HEAD: none is missing, failed,
or too many commits old.
"""

import glob
import os
import sys
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tools/tests"))

import changed  # noqa: E402
import full  # noqa: E402
import results  # noqa: E402


class LongSuites(unittest.TestCase):
    def check(self, part):
        why = results.no_history()
        if why:
            self.skipTest(why)
        with open(results.page(part)) as file:
            text = file.read()
        names = [suite.name for suite in full.PARTS[part](1)]
        found = results.faults(text, names, changed.INPUTS[part] + changed.PREPARES, began=results.BEGAN)
        if found:
            self.fail("\n".join([f"tests/results/{part}-full.md does not vouch for HEAD: run make test-full-{part} on a "
                                 "commit, and commit the page", *found]))

    def test_engine(self):
        self.check("engine")

    def test_hadoop(self):
        self.check("hadoop")

    def test_namenode(self):
        self.check("namenode")

    def test_observe(self):
        self.check("observe")

    def test_web(self):
        self.check("web")

    def test_each_page_has_a_test(self):
        pages = {os.path.basename(path).removesuffix("-full.md") for path in glob.glob(results.page("*"))}
        self.assertEqual(pages, set(full.PARTS))
        self.assertEqual([part for part in full.PARTS if not hasattr(self, f"test_{part}")], [])


if __name__ == "__main__":
    unittest.main()
