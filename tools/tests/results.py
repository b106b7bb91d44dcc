"""Pages tests/results/PART-full.md: the last result of each long suite, with the commit that it ran on.

full.py writes them. The tests of the house fail on a result that says too little about HEAD: see `faults`.
"""

import fcntl
import os
import platform
import re
import subprocess
import time
from dataclasses import dataclass

from suites import BUILD, ROOT

# Commits that touch an input of the part. A full run of the part hadoop takes a night (Hadoop's own tests alone two to
# five hours), and a working day of several people has 60 commits: a run a week.
LIMIT_COMMITS = 400
# The commit that began to count. A result before it, or none, counts as one of this commit: it fails the same number of
# commits later.
BEGAN = "4cdb407"
NEEDS_HISTORY = "the age of results needs the whole history of git"


@dataclass
class Row:
    """Last result of one suite."""

    suite: str
    passed: int
    failed: int
    skipped: int
    seconds: str
    commit: str  # with + if the checkout had uncommitted changes
    when: str

    def line(self):
        return (f"| {self.suite} | {self.passed} | {self.failed} | {self.skipped} | {self.seconds} | {self.commit} | "
                f"{self.when} |")


def read(text):
    """Returns the rows of a page by the names of their suites."""
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| .* \| [0-9]", line)]
    return {row[0]: Row(row[0], *(int(n) for n in row[1:4]), *row[4:]) for row in cells}


def page(part):
    return os.path.join(ROOT, f"tests/results/{part}-full.md")


# ---- age ----

def no_history(root=ROOT):
    """Returns the reason why nothing is known about the age of a commit here, or None."""
    top = _git(root, "rev-parse", "--show-toplevel")
    # An unpacked archive may lie within another repository.
    if top.returncode != 0 or not os.path.samefile(top.stdout.strip(), root):
        return f"{NEEDS_HISTORY}, and this is no checkout"
    shallow = _git(root, "rev-parse", "--is-shallow-repository").stdout.strip() == "true"
    return f"{NEEDS_HISTORY}, and this clone is shallow" if shallow else None


def faults(text, names, inputs, root=ROOT, limit=LIMIT_COMMITS, began=None):
    """Returns one line for each suite of `names` whose result in the page does not vouch for HEAD.

    Such a suite never ran, failed, ran with uncommitted changes or on a commit outside HEAD's history, or more than
    `limit` commits since then touch one of the `inputs`. `began`: the commit that began to count; what is older, or
    never ran, has the same number of commits from there.
    """
    rows = read(text)
    found = ((name, _fault(rows.get(name), inputs, root, limit, began)) for name in names)
    return [f"{name}: {fault}" for name, fault in found if fault]


def _fault(row, inputs, root, limit, began):
    fault, commit = _place(row, root)
    # Before the rule began, or nowhere in the history: the count starts where the rule did.
    grace = began and (commit is None or _git(root, "merge-base", "--is-ancestor", commit, began).returncode == 0)
    if not grace:
        if fault or row.failed:
            return fault or f"{row.failed} failed at {row.commit}"
    elif _git(root, "merge-base", "--is-ancestor", began, "HEAD").returncode == 0:
        commit = began
    age = int(_git(root, "rev-list", "--count", "--no-merges", f"{commit}..HEAD", "--", *inputs).stdout)
    if age <= limit:
        return None
    if grace and (fault or row.failed):
        return f"{fault or f'{row.failed} failed at {row.commit}'}, and no run in {age} commits (limit {limit})"
    return f"ran {age} commits ago on {row.commit} (limit {limit})"


def _place(row, root):
    """Returns why the result belongs to no commit of HEAD's history (or None), and its commit, if git knows it."""
    if row is None:
        return "never run", None
    commit = row.commit.rstrip("+")
    if _git(root, "merge-base", "--is-ancestor", commit, "HEAD").returncode != 0:
        return f"ran on {commit}, which is no ancestor of HEAD", None
    return f"ran with uncommitted changes on {commit}" if row.commit != commit else None, commit


def _git(root, *words):
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)


# ---- writing ----

def state():
    """Returns the short name of HEAD, with + if a file outside tests/results/ has uncommitted changes."""
    changes = _git(ROOT, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!tests/results").stdout
    return _git(ROOT, "rev-parse", "--short", "HEAD").stdout.strip() + ("+" if changes.strip() else "")


def keep(part, *result):
    """Replaces the last result of one suite in tests/results/. The page also lists suites that never ran."""
    os.makedirs(BUILD, exist_ok=True)
    # Two of these programs may run at once, with different suites.
    with open(os.path.join(BUILD, f"{part}-full.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        put(page(part), part, *result)


def put(path, part, suite, found, seconds, commit, names):
    rows, failures = {}, []
    if os.path.exists(path):
        with open(path) as f:
            text = f.read()
        rows = read(text)
        failures = [line for line in text.splitlines() if line.startswith("* ")
                    and not line.startswith(f"* {suite.name}: ")]
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    rows[suite.name] = Row(suite.name, found.passed, len(found.failures), len(found.skips), seconds, commit, when)
    failures = [line for line in failures if line[2:].split(": failed")[0] in names and ": failed" in line]
    failures += [f"* {suite.name}: failed: {name}" for name in found.failures]
    kept = [rows[name] for name in names if name in rows]
    passed, failed, skipped = (sum(getattr(row, of) for row in kept) for of in ("passed", "failed", "skipped"))
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    head = [f"# Long tests of the part {part}, last results", "",
            f"{platform.machine()}, {os.cpu_count()} cores, {rustc}. A commit with + had uncommitted changes.",
            "", "| suite | passed | failed | skipped | seconds | commit | UTC |", "|---|---|---|---|---|---|---|"]
    tail = ["", f"{passed} passed, {failed} failed, {skipped} skipped", *failures,
            *(f"* {name}: never run" for name in names if name not in rows)]
    with open(path, "w") as f:
        f.write("\n".join(head + [row.line() for row in kept] + tail) + "\n")
