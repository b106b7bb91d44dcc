#!/usr/bin/env python3
"""Tests that take too long for every change. `make test` leaves them out, `make test-full-PART` runs them:

    @long_test
    def test_each_collector(self):  # 40 s

    long_tests.py FOLDER ..    runs the marked tests of the files in these folders; the last lines are those of unittest

A file of tests that is run by hand runs all of its tests.
"""

import glob
import os
import re
import subprocess
import sys
import unittest

LEFT_OUT = "YUNTI_WITHOUT_LONG_TESTS"


def long_test(test):
    """Marks a test or a class of tests. Where long tests are left out, its name is no test, so that none is skipped."""
    if os.environ.get(LEFT_OUT):
        return None
    test.is_long = True
    return test


def marked(suite):
    """Yields the marked tests of a suite."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from marked(test)
        elif "is_long" in vars(type(test)) or hasattr(getattr(test, test.id().rpartition(".")[2], None), "is_long"):
            yield test


def is_marked(path):
    with open(path, encoding="utf-8") as file:
        return bool(re.search(r"^ *@(\w+\.)?long_test$", file.read(), re.M))


def run(path, folder):
    """Runs the marked tests of one file; False if one fails. Modules are found beside it and in the folder of all."""
    sys.path[:0] = [os.path.dirname(os.path.abspath(path)), os.path.abspath(folder)]
    tests = unittest.defaultTestLoader.loadTestsFromName(os.path.basename(path).removesuffix(".py"))
    done = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(marked(tests)))
    return done.wasSuccessful() and done.testsRun > 0


def main(arguments):
    if arguments[:1] == ["--file"]:
        return 0 if run(*arguments[1:]) else 1
    found = [(path, folder) for folder in arguments for path in glob.glob(f"{folder}/**/*_test.py", recursive=True)]
    files = sorted((path, folder) for path, folder in found if is_marked(path))
    if not files:
        sys.exit(f"long_tests.py: no test is marked in {', '.join(arguments)}")
    # Folders of tests have modules of equal names: each file is a process.
    codes = [subprocess.run([sys.executable, "-B", __file__, "--file", *one], check=False).returncode for one in files]
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
