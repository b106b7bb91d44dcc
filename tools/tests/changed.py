"""Parts of the tests whose inputs differ from a base commit, by the content of files, dependencies included."""

import subprocess

from suites import PARTS, ROOT

# Rust crates that every program stands on.
GROUND = ("base/", "Cargo.toml", "Cargo.lock", ".cargo/")
CORE = (*GROUND, "engine/", "cli/", "machine/doctor/", "machine/settings/", "machine/ext4/")
# The inputs of a part: folders and files whose change can change its result.
INPUTS = {
    "engine": (*CORE, "hadoop/native/", "machine/crash/", "fuzz/", "tests/class_libraries/", "tests/races/", "api/", "tools/tests/", "deny.toml",
               "docs/formats/"),
    "api": (*CORE, "api/", "examples/", "tests/examples/"),
    "formats": (*CORE, "api/rust/", "formats/"),
    "conformance": (*CORE, "api/", "examples/", "tests/conformance/"),
    "benches": (*CORE, "api/", "examples/", "python/", "observe/", "machine/", "probe/", "benches/"),
    "hadoop": (*CORE, "api/", "examples/", "hadoop/", "namenode/stock-tests/", "python/src/",
               "tests/class_libraries/"),
    "observe": (*CORE, "probe/", "observe/", "machine/", "fuzz/"),
    "machine": (*CORE, "probe/", "observe/tests/looking.py", "machine/"),
    "stores": (*CORE, "stores/", "engine/src/env/stores/", "hadoop/cluster/"),
    "sql": (*CORE, "api/rust/", "formats/", "sql/", "table/"),
    "namenode": (*CORE, "namenode/", "hadoop/cluster/"),
    "table": (*CORE, "table/", "api/include/yunti/", "python/native/", "python/src/yunti/", "python/tests/shapes.py"),
    "warmup": (*CORE, "warmup/"),
    "capacity": (*CORE, "probe/", "observe/", "capacity/"),
    "python": (*CORE, "python/", "table/", "docs/guide/python.md", "docs/guide/tables.md"),
    "web": ("web/",),
}
# What prepares every test is an input of all.
PREPARES = ("Makefile", "tools/setup")
# Pages, names and words: any file is an input.
ALWAYS = ("house",)


def of_files(files):
    """The parts that have one of these files as an input, in the order of PARTS."""
    hit = {part for part, inputs in INPUTS.items() if any(file.startswith(inputs) for file in files)}
    if any(file.startswith(PREPARES) for file in files):
        hit = set(INPUTS)
    return [part for part in PARTS if part in hit or part in ALWAYS]


def files_since(base):
    """Files that differ from the merge base with `base`: committed, not committed, and not tracked."""
    def git(*words):
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"test-changed: cannot compare with {base}: {done.stderr.strip()}: name a commit with BASE=")
        return done.stdout.split("\n")

    start = git("merge-base", base, "HEAD")[0]
    found = git("diff", "--name-only", start) + git("ls-files", "--others", "--exclude-standard")
    return sorted({file for file in found if file})


def base_of_checkout():
    """The branch that changes are compared with: main as it was fetched, else the local main, else the last commit."""
    for name in ("origin/main", "main", "HEAD"):
        if subprocess.run(["git", "rev-parse", "--verify", "-q", name], cwd=ROOT, capture_output=True, check=False).returncode == 0:
            return name
    raise SystemExit("test-changed: this is no git checkout; use make test")
