"""Second runs of tests that failed beside others, at the end and alone. A machine of two processors that other
programs share delays a test that measures times; a defect fails both times.

The result of the whole counts the second run, and names each test that needed one: such a test is to be mended.
"""

import dataclasses
import re

import counts

# Failed tests of one suite, and of a run, that a busy machine may explain. With more, none runs again.
SUITE_MAX = 3
RUN_MAX = 8
# Seconds: a suite whose single tests cannot be named runs whole, unless it is longer than this.
WHOLE_MAX = 300
# Minutes of the run after which nothing runs again.
LATEST = 80


def chosen(rows, minutes):
    """Yields (row, suite) for the suites to run again, given the rows (suite, found, seconds) of a run."""
    failed = [row for row in rows if row[1].failures]
    if minutes > LATEST or sum(len(found.failures) for _, found, _ in failed) > RUN_MAX:
        return
    for row in failed:
        suite, found, seconds = row
        if len(found.failures) > SUITE_MAX or not suite.steps:
            continue
        step = narrowed(suite, found.failures)
        if step or seconds < WHOLE_MAX:
            yield row, dataclasses.replace(suite, name=f"{suite.name}, again", steps=[*suite.steps[:-1], step or suite.steps[-1]])


def narrowed(suite, failures):
    """Returns the last step of a suite for the failed tests alone; None if they cannot be named to it."""
    step = suite.steps[-1]
    if suite.read is counts.read_cargo and "--" in step and all(re.fullmatch(r"[\w:]+", name) for name in failures):
        return [*step, *failures]
    if suite.read is counts.read_unittest and step[-1].endswith("_test.py"):
        # `test_a (__main__.Class.test_a)`; a class of tests that failed as a whole is `setUpClass (__main__.Class)`.
        names = [re.fullmatch(r"\w+ \(__main__\.([\w.]+)\)(?: .*)?", name) for name in failures]
        return [*step, *sorted({name[1] for name in names})] if all(names) else None
    return None


def merge(found, second):
    """Puts the second result of the failed tests into the first. Returns their names if all passed now."""
    if second.failures:
        return []
    passed, found.failures = found.failures, []
    found.passed += len(passed)
    return passed
