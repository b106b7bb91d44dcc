"""`unittest.main` with one retry, for timing tests on a shared machine. A defect fails both times.

The output keeps the first failure with its reason, as `first try: FAIL: ..`.
"""

import io
import re
import sys
import unittest

# Tests; more failures than this are not retried, because chance does not explain them.
FAILURES_MAX = 3


def main():
    program = unittest.main(testRunner=Runner, exit=False, verbosity=2)
    sys.exit(not program.result.wasSuccessful())


class SummaryBuffer(io.StringIO):
    """Stream that passes the lines of single tests on at once and holds the summary back."""

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
        held = SummaryBuffer(out)
        self.stream = type(out)(held)
        try:
            result = run(test)
            return held.getvalue(), result
        finally:
            self.stream = out


def case_of(failure):
    """Returns the failed test case; for a sub-test, the test that contains it."""
    return getattr(failure[0], "test_case", failure[0])
