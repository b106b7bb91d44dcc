"""`unittest.main` for tests of figures of time, on a machine that is loaded by others too: what fails is tried once more. A defect fails twice.

What failed once is told (`first try: FAIL: ..`), with its reason."""

import io
import re
import sys
import unittest

# More than these are no chance.
FAILURES_MAX = 3


def main():
    program = unittest.main(testRunner=Runner, exit=False, verbosity=2)
    sys.exit(not program.result.wasSuccessful())


class Held(io.StringIO):
    """What is said of each test goes on at once; what is said at the end is held back."""

    def __init__(self, out):
        super().__init__()
        self.out = out
        self.is_end = False

    def write(self, text):
        self.is_end |= text.startswith((unittest.TextTestResult.separator1, unittest.TextTestResult.separator2))
        return super().write(text) if self.is_end else self.out.write(text)

    def flush(self):
        self.out.flush()


class Runner(unittest.TextTestRunner):
    def run(self, test):
        first, result = self.held(super().run, test)
        failed = list({case.id(): case for case in map(case_of, result.failures + result.errors)}.values())
        if 0 < len(failed) <= FAILURES_MAX and all(isinstance(case, unittest.TestCase) for case in failed):
            second, again = self.held(super().run, unittest.TestSuite(failed))
            if again.wasSuccessful():
                first, result = re.sub(r"^(FAIL|ERROR|FAILED)\b", r"first try: \1", first, flags=re.M), again
            else:
                first += re.sub(r"^", "second try: ", second, flags=re.M)
        self.stream.write(first)
        self.stream.flush()
        return result

    def held(self, run, test):
        out = self.stream
        held = Held(out)
        self.stream = type(out)(held)
        try:
            result = run(test)
            return held.getvalue(), result
        finally:
            self.stream = out


def case_of(failure):
    """That of a sub-test is the test."""
    return getattr(failure[0], "test_case", failure[0])
