"""Reports of a class and of all classes, as text and as Markdown."""

import collections

import compare
from variants import VARIANTS


def _counts(runs):
    names = compare.methods(runs)
    count = collections.Counter(compare.outcome(runs, name) for name in names if name != compare.CLASS)
    counts = ", ".join(
        f"{count[what]} {what}"
        for what in (compare.PASSED, compare.FLAKY, compare.SKIPPED, compare.FAILED, compare.MISSING)
        if count[what]
    )
    ends = {run["end"] for run in runs} - {"done"}
    return (counts or "nothing ran") + "".join(f" ({end})" for end in sorted(ends))


def _worse(test, control, variant):
    rows = compare.rows(control.of(test), variant.of(test))
    return [(method, was, is_) for method, was, is_ in rows if compare.is_worse(was, is_)]


def _is_alone(test, control, variant):
    return not control.of(test) and compare.is_clean(variant.of(test))


def _is_empty(test, control, variant):
    """Returns True if nothing passed in the control, so that nothing was compared."""
    if _is_alone(test, control, variant):
        return False
    rows = compare.rows(control.of(test), variant.of(test))
    return not any(compare.is_good(was) and method != compare.CLASS for method, was, _ in rows)


def verdict(test, control, variant):
    worse = _worse(test, control, variant)
    if worse:
        return "NEW FAILURE: " + ", ".join(method for method, _, _ in worse)
    if _is_alone(test, control, variant):
        return "all pass, control not run"
    if _is_empty(test, control, variant):
        return "nothing compared: the class fails in the control"
    return "same as the control"


def plugin(test, variant):
    """Returns whether the plug-in was active, or the reason."""
    if any(run["reached"] for run in variant.of(test)):
        return "active"
    what = VARIANTS[variant.name].probe[0] if VARIANTS[variant.name].probe else "plug-in"
    return f"the test sets the {what} itself" if what in test.sets else "not reached"


def short(test):
    return test.name.rsplit(".", 1)[-1]


def _seconds(runs):
    return f"{runs[0]['seconds']:.0f} s" if runs else ""


def line(test, control, variant):
    runs = variant.of(test)
    outcome = f"{_counts(runs)}; plug-in {plugin(test, variant)}; {verdict(test, control, variant)}"
    return f"{short(test)} {_seconds(runs)}: {outcome}"


class Summary:
    def __init__(self, tests, wanted, control, variant):
        self.tests, self.wanted, self.control, self.variant = tests, wanted, control, variant

    def is_worse(self):
        """Returns True after a new failure, or without any class."""
        return not self.tests or any(_worse(test, self.control, self.variant) for test in self.tests)

    def _totals(self):
        count = collections.Counter()
        for test in self.tests:
            is_active = plugin(test, self.variant) == "active"
            count["active"] += is_active
            count["empty"] += _is_empty(test, self.control, self.variant)
            for method, was, is_ in compare.rows(self.control.of(test), self.variant.of(test)):
                if method == compare.CLASS:
                    continue
                count["methods"] += 1
                count["reaching"] += is_active
                if _is_alone(test, self.control, self.variant):
                    count["alone"] += 1
                    continue
                count["both pass"] += was in (compare.PASSED, compare.FLAKY) and is_ in (compare.PASSED, compare.FLAKY)
                count["both skip"] += was == is_ == compare.SKIPPED
                count["flaky"] += compare.FLAKY in (was, is_)
                count["control fails"] += not compare.is_good(was)
                count["worse"] += compare.is_worse(was, is_)
        return count

    def _flaky(self):
        """Yields a line for each flaky method: a lock that changes the outcome of a race shows here first."""
        for test in self.tests:
            for method, was, is_ in compare.rows(self.control.of(test), self.variant.of(test)):
                if compare.FLAKY in (was, is_):
                    of = [compare.passed_of(results.of(test), method) for results in (self.control, self.variant)]
                    yield (
                        f"flaky: {short(test)}.{method} passed {of[0][0]} of {of[0][1]} times in "
                        f"{self.control.name}, {of[1][0]} of {of[1][1]} in "
                        f"{self.variant.name}"
                    )

    def text(self):
        count = self._totals()
        lines = [
            f"{short(test)}.{method}: {was} in {self.control.name}, {is_} in {self.variant.name}\n"
            + self._why(test, method)
            for test in self.tests
            for method, was, is_ in _worse(test, self.control, self.variant)
        ]
        head = (
            f"{self.variant.name} against {self.control.name}: {len(self.tests)} of {self.wanted} classes, "
            f"{count['methods']} methods "
            f"({count['reaching']} of the {count['active']} classes that reach the plug-in): {count['both pass']} "
            f"pass in both, {count['both skip']} "
            f"skipped in both, {count['control fails']} fail in {self.control.name}, {count['flaky']} passed only "
            f"in a repeated run, "
            f"{count['worse']} NEW FAILURES"
        )
        if count["alone"]:
            head += f"; {count['alone']} pass where {self.control.name} was not run"
        if count["empty"]:
            head += f"; nothing was compared in {count['empty']} classes"
        return "\n".join([*lines, *self._flaky(), head])

    def _why(self, test, method):
        reasons = [run["methods"][method]["why"] for run in self.variant.of(test) if method in run["methods"]]
        return "".join(
            f"    {line}\n"
            for line in (reasons[-1] if reasons else "it did not end; see the output in its work folder").splitlines()[
                :6
            ]
        )

    def markdown(self):
        """Returns a table with a row for each class."""
        lines = [
            self.text().splitlines()[-1] + ".",
            "",
            f"| class | {self.control.name} | {self.variant.name} | plug-in | verdict |",
            "|---|---|---|---|---|",
        ]
        for test in self.tests:
            cells = [
                short(test),
                *(
                    f"{_counts(results.of(test))}; {_seconds(results.of(test))}"
                    for results in (self.control, self.variant)
                ),
                plugin(test, self.variant),
                verdict(test, self.control, self.variant),
            ]
            lines.append("| " + " | ".join(cells) + " |")
        flaky = [f"* {line}" for line in self._flaky()]
        return "\n".join(lines + ([""] + flaky if flaky else [])) + "\n"
