#!/usr/bin/env python3
"""What takes too long for every change: the engine's tests under sanitizers, and every fuzz target for some minutes.

    full_engine.py [--minutes N] [--only NAME,..]     N minutes a fuzz target

The compiler's unstable flags are reached through RUSTC_BOOTSTRAP=1. Writes tests/results/engine-full.md, unless --only is given.
The last line is `N passed, N failed, N skipped`.
"""

import argparse
import glob
import os
import platform
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import counts  # noqa: E402
import run  # noqa: E402
from suites import BUILD, ROOT, Suite  # noqa: E402

HOST = next(line.split()[1] for line in subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout.splitlines()
            if line.startswith("host:"))
RESULT = os.path.join(ROOT, "tests/results/engine-full.md")
COVERAGE = ("-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters "
            "-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1")


def sanitized(name, flags, environment, target_folder):
    # With --target, build scripts and macros are compiled without these flags.
    env = {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": flags, "CARGO_TARGET_DIR": os.path.join(BUILD, target_folder)} | environment
    command = ["cargo", "test", "--locked", "-p", "yunti-engine", "--lib", "--tests", "--target", HOST, "--no-fail-fast", "--", "--show-output"]
    return Suite("full", name, [command], counts.of_cargo, env, minutes=90)


def fuzzing(target, minutes):
    folder = os.path.join(BUILD, "full-fuzz")
    env = {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": f"--cfg fuzzing -Zsanitizer=address -Cdebug-assertions {COVERAGE}", "CARGO_TARGET_DIR": folder}
    corpus, found = os.path.join(ROOT, "fuzz/corpus", target), os.path.join(BUILD, "fuzz-found", target)
    for path in (corpus, found):
        os.makedirs(path, exist_ok=True)
    program = os.path.join(folder, HOST, "release", target)
    # New inputs go to the first folder; the committed corpus is read.
    fuzz = [program, found, corpus, f"-max_total_time={int(minutes * 60)}", "-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1",
            f"-artifact_prefix={found}/"]
    build = ["cargo", "build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--bin", target, "--target", HOST]
    return Suite("full", f"fuzz {target}, {minutes:g} minutes", [build, fuzz], counts.of_exit, env, minutes=minutes + 30)


def suites(minutes):
    found = [
        sanitized("address sanitizer", "-Zsanitizer=address", {"ASAN_OPTIONS": "detect_leaks=1"}, "full-address"),
        sanitized("careful: debug assertions of the optimised build", "-Copt-level=3 -Cdebug-assertions -Coverflow-checks", {}, "full-careful"),
    ]
    targets = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(ROOT, "fuzz/fuzz_targets/*.rs")))
    return found + [fuzzing(target, minutes) for target in targets]


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="minutes a fuzz target (default 10)")
    parser.add_argument("--only", default="", help="suites whose names begin so, separated by commas")
    options = parser.parse_args()
    only = tuple(n for n in options.only.split(",") if n)
    total, rows = counts.Counts(), []
    for suite in suites(options.minutes):
        if only and not suite.name.startswith(only):
            continue
        print(f"{suite.name} ..", flush=True)
        begin = time.monotonic()
        found = run.run(suite)
        total.add(found)
        rows.append(f"| {suite.name} | {found.passed} | {len(found.failures)} | {len(found.skips)} | {time.monotonic() - begin:.0f} |")
        for failure in found.failures:
            print(f"  failed: {failure} ({suite.log})\n{run.tail(suite.log)}", flush=True)
    line = f"{total.passed} passed, {len(total.failures)} failed, {len(total.skips)} skipped"
    if not only:
        commit = git("rev-parse", "HEAD") + (" with changes that were not committed" if git("status", "--porcelain") else "")
        head = ["# The engine's long tests, last run", "", f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, commit {commit},",
                f"{platform.machine()}, {os.cpu_count()} cores, {subprocess.run(['rustc', '--version'], capture_output=True, text=True).stdout.strip()}.",
                "", "| suite | passed | failed | skipped | seconds |", "|---|---|---|---|---|"]
        with open(RESULT, "w") as f:
            f.write("\n".join(head + rows + ["", line] + [f"* failed: {name}" for name in total.failures]) + "\n")
    print(line, flush=True)
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
