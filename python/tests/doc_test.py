"""Examples in the package's docstrings, and each block of code in the guide."""

import doctest
import importlib
import importlib.util
import os
import pathlib
import re
import unittest

from case import BOOKS, ROOT, Case, without_numpy

import yunti

GUIDE = pathlib.Path(ROOT, "docs/guide/python.md")
PACKAGE = pathlib.Path(yunti.__file__).parent


def load_tests(loader, tests, pattern):
    if without_numpy():
        return unittest.TestSuite()
    for path in sorted([*PACKAGE.glob("*.py"), *PACKAGE.glob("data/*.py")]):
        # `arrow` has no examples, and needs pyarrow.
        if path.stem not in ("__main__", "arrow"):
            name = ".".join(["yunti", *path.relative_to(PACKAGE).with_suffix("").parts]).replace(".__init__", "")
            tests.addTests(doctest.DocTestSuite(importlib.import_module(name)))
    return tests


@unittest.skipUnless(GUIDE.exists(), "the guide is not here")
class Guide(Case):
    def test_each_block_runs(self):
        """Runs the blocks in order as one program, on the data that the guide names."""
        missing = [name for name in ("numpy", "pyarrow", "pandas") if importlib.util.find_spec(name) is None]
        if missing:
            self.skipTest(f"{', '.join(missing)} is not installed")
        blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S)
        self.assertGreater(len(blocks), 8)
        os.symlink(BOOKS, self.path("books"))
        visits = [(f"user{n % 7}", 1000 * (n // 7) + n) for n in range(500)]
        self.file("visits.csv", "user,time\n" + "".join(f"{user},{time}\n" for user, time in visits))
        self.python("\n".join(blocks))


if __name__ == "__main__":
    unittest.main()
