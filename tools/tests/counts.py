"""Readers that count the passed, failed and skipped tests in the output of test programs.

A program that ends without its summary has crashed, and each reader counts the crash as a failure.
"""

import glob
import os
import re
import xml.etree.ElementTree
from dataclasses import dataclass, field

# Reports of Maven's modules.
REPORTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/*/*/surefire-reports")


@dataclass
class Counts:
    passed: int = 0
    failures: list = field(default_factory=list)  # names
    skips: list = field(default_factory=list)  # (name, reason)

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips


def read_cargo(text, code):
    """Reads `cargo test -- --show-output`. A test that prints `skipped: REASON` counts as skipped, not as passed."""
    counts, running, summaries = Counts(), None, 0
    failed_names = list(dict.fromkeys(re.findall(r"^test (\S.*?) \.\.\. FAILED$", text, re.M)))
    failed_total = 0
    for line in text.splitlines():
        begins = re.match(r"\s*Running (?:unittests |benches )?(\S+)|\s*Doc-tests (\S+)", line)
        if begins:
            if running:
                counts.failures.append(f"{running} crashed")
            running = begins[1] or f"doc-tests of {begins[2]}"
        ends = re.match(r"test result: \S+\. (\d+) passed; (\d+) failed; (\d+) ignored", line)
        if ends:
            running, summaries = None, summaries + 1
            counts.passed += int(ends[1])
            failed_total += int(ends[2])
        ignored = re.match(r"test (\S.*?) \.\.\. ignored(?:, (.*))?$", line)
        if ignored:
            counts.skips.append((ignored[1], ignored[2] or "ignored without a reason"))
    if running:
        counts.failures.append(f"{running} crashed")
    for name, output in outputs_of_cargo(text):
        reason = re.search(r"^skipped: (.+)$", output, re.M)
        if reason and name not in failed_names:
            counts.passed -= 1
            counts.skips.append((name, reason[1]))
    counts.failures += failed_names[:failed_total] + [f"a failure without a name ({n + 1})"
                                                      for n in range(failed_total - len(failed_names))]
    if not summaries:
        counts.failures.append("no test was run")
    return with_exit_code(counts, code)


def outputs_of_cargo(text):
    """Returns (name, output) of the tests whose output `cargo test` shows."""
    return re.findall(r"^---- (\S.*?) stdout ----\n(.*?)(?=^---- |^successes:|^failures:|\Z)", text, re.M | re.S)


def read_ctest(text, code):
    """Reads `ctest`."""
    counts, seen = Counts(), 0
    for name, result in re.findall(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) [ .]*(.*?)\s+[\d.]+ sec", text, re.M):
        seen += 1
        if result == "Passed":
            counts.passed += 1
        elif result == "***Skipped":
            counts.skips.append((name, name))
        else:
            counts.failures.append(f"{name} ({result.strip('* ')})")
    total = re.search(r"tests failed out of (\d+)", text)
    if not total or int(total[1]) != seen:
        counts.failures.append("ctest did not finish")
    return with_exit_code(counts, code)


def read_unittest(text, code):
    """Reads `python3 -m unittest -v`, one run or several."""
    counts = Counts()
    ran = sum(int(tests) for tests in re.findall(r"^Ran (\d+) tests? in", text, re.M))
    if not ran:
        counts.failures.append("no test was run")
        return counts
    counts.failures = [f"{m[2]}" for m in re.finditer(r"^(FAIL|ERROR): (.+)$", text, re.M)]
    counts.skips = [(m[1], m[3])
                    for m in re.finditer(r"^(\w+) \(.*\)(\n.*)? \.\.\. skipped ['\"](.*)['\"]$", text, re.M)]
    counts.passed = max(0, ran - len(counts.failures) - len(counts.skips))
    return with_exit_code(counts, code)


def read_lines(text, code):
    """Reads one line per test: `ok NAME..`, `FAILED NAME..` or `skip NAME: REASON`."""
    counts = Counts(passed=len(re.findall(r"^ok\b", text, re.M)), failures=re.findall(r"^FAILED (.*)$", text, re.M),
                    skips=re.findall(r"^skip (.*?): (.*)$", text, re.M))
    if not counts.passed and not counts.failures:
        counts.failures.append("no test was run")
    return with_exit_code(counts, code)


def read_trials(text, code):
    """Reads observe/tests/why/trials.py: `right CASE ..`, `skip CASE: REASON`, or `FAILED BOUND` for the whole.

    Other verdicts on a case neither pass nor fail. The page of the collection has them.
    """
    counts = Counts(passed=len(re.findall(r"^right ", text, re.M)), failures=re.findall(r"^FAILED (.*)$", text, re.M),
                    skips=re.findall(r"^skip +(\S+): (.*)$", text, re.M))
    if not re.search(r"^\d+ (slow|healthy): ", text, re.M):
        counts.failures.append("the suite crashed")
    return with_exit_code(counts, code)


def read_conformance(text, code):
    """Reads hadoop/conformance/run: `ok NAME`, `FAIL NAME: ..` or `skip NAME: REASON` per case, and a summary."""
    counts = Counts(
        passed=len(re.findall(r"^ok \S+$", text, re.M)),
        failures=re.findall(r"^FAIL (\S+): ", text, re.M),
        skips=re.findall(r"^skip (\S+): (.*)$", text, re.M),
    )
    summary = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", text, re.M)
    if not summary:
        counts.failures.append("the suite crashed")
    elif [int(n) for n in summary.groups()] != [counts.passed, len(counts.failures), len(counts.skips)]:
        counts.failures.append("the suite's lines and its summary differ")
    return with_exit_code(counts, code)


def read_surefire(text, code, reports=REPORTS):
    """Reads `mvn test` of one module or several. Names and reasons of skipped tests come from Surefire's reports."""
    counts = Counts()
    # These lines are the sums of the modules; lines of single classes have more text after the number.
    found = re.findall(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$", text, re.M)
    if found:
        run, failed, errors, skipped = (sum(int(module[n]) for module in found) for n in range(4))
        counts.passed = run - failed - errors - skipped
        counts.failures += re.findall(r"^\[ERROR\]\s+(\w+\.[\w$]+):\d+", text, re.M)[: failed + errors]
        counts.failures += ["a failure without a name"] * (failed + errors - len(counts.failures))
        for class_name in re.findall(r"Skipped: [1-9]\d*, Time elapsed: .* -- in (\S+)$", text, re.M):
            counts.skips += skips_of_surefire(class_name, reports)
        counts.skips += [("a test of Maven's", "skipped without a reason")] * (skipped - len(counts.skips))
    if not counts.passed and not counts.failures:
        counts.failures.append("no test was run")
    return with_exit_code(counts, code)


def skips_of_surefire(class_name, reports):
    """Returns (name, reason) of each skipped test in the newest report of the class."""
    found = sorted(glob.glob(os.path.join(reports, f"TEST-{class_name}.xml")), key=os.path.getmtime)
    skips = []
    for case in xml.etree.ElementTree.parse(found[-1]).iter("testcase") if found else []:
        skipped = case.find("skipped")
        if skipped is not None:
            reason = (skipped.get("message") or skipped.text or "skipped without a reason").strip().splitlines()[0]
            skips.append((f"{class_name.rpartition('.')[2]}.{case.get('name')}",
                          reason.rpartition("Assumption failed: ")[2]))
    return skips


def read_exit(text, code):
    """Counts the whole program as one test."""
    return with_exit_code(Counts(passed=1 if code == 0 else 0), code)


def with_exit_code(counts, code):
    """Adds a failure if the program ended with an error and no failure was counted."""
    if code != 0 and not counts.failures:
        counts.failures.append(f"ended with {describe(code)}")
    return counts


def describe(code):
    """Returns an exit code or a signal in words."""
    return f"signal {-code}" if code < 0 else f"exit code {code}"
