#!/usr/bin/env python3
"""Hadoop's own tests of the NameNode with our plug-ins: a test that passes on a stock NameNode must pass with them.

    namenode/stock-tests/run.py --quick                      a dozen quick classes with the lock; stock only for a class
                                                             with failures
    namenode/stock-tests/run.py                              the classes of classes.txt that concern the variant;
                                                             earlier results are reused
    namenode/stock-tests/run.py --variant audit --only Audit
    namenode/stock-tests/run.py --markdown table.md          a row for each class; JSON lines are in
                                                             build/namenode/stock-tests/results

Each class runs in its own JVM, once as stock and once with the variant. A method that fails in only one of them is
repeated at the end, when nothing else runs, twice at most. Exit codes: 0 no new failure, 1 new failures, 2 usage,
3 cannot run, 130 stopped."""

import argparse
import concurrent.futures
import contextlib
import json
import os
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
import compare  # noqa: E402
import jvm  # noqa: E402
import layout  # noqa: E402
import prepare  # noqa: E402
import report  # noqa: E402
from failure import Failure  # noqa: E402
from variants import VARIANTS  # noqa: E402

AGAIN_MAX = 2
LIST = os.path.join(layout.SOURCE, "classes.txt")


class Test:
    """Line of classes.txt: `CLASS [quick] [sets:lock] [seconds:N] [enabled:VARIANT]`. Its section is the comment above.

    With a variant for which it is enabled, methods run that Hadoop disabled."""

    def __init__(self, line, section):
        self.name, *words = line.split()
        self.section = section
        self.is_quick = "quick" in words
        self.sets = [word.removeprefix("sets:") for word in words if word.startswith("sets:")]
        self.enabled = [word.removeprefix("enabled:") for word in words if word.startswith("enabled:")]
        self.seconds_max = next(
            (int(word.removeprefix("seconds:")) for word in words if word.startswith("seconds:")), None
        )


def tests(path=LIST):
    found, section = [], ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                section = line.strip("# \n")
            elif line.strip():
                found.append(Test(line.split("#")[0], section))
    return found


class Results:
    """Results of a variant, saved after each class. Results of another plug-in or other properties do not count."""

    def __init__(self, name, is_fresh):
        self.name = name
        variant = VARIANTS[name]
        plugin = prepare.digest_of_package(layout.PLUGIN, variant.plugin) if variant.plugin else ""
        self.key = prepare.digest(prepare.POM) + plugin + json.dumps(variant.properties, sort_keys=True)
        self.path = os.path.join(layout.RESULTS, f"{name}.jsonl")
        self.lock = threading.Lock()
        self.runs = {}
        os.makedirs(layout.RESULTS, exist_ok=True)
        if is_fresh:
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path)
        with contextlib.suppress(FileNotFoundError), open(self.path, encoding="utf-8") as file:
            for line in file:
                # The last line may be incomplete after a kill.
                with contextlib.suppress(json.JSONDecodeError):
                    row = json.loads(line)
                    if row.pop("key") == self.key:
                        self.runs.setdefault(row["class"], []).append(row)

    def of(self, test):
        return self.runs.get(test.name, [])

    def run(self, test, seconds_max):
        is_enabled = self.name in test.enabled
        row = jvm.run_class(self.name, VARIANTS[self.name], test.name, test.seconds_max or seconds_max, is_enabled)
        with self.lock:
            self.runs.setdefault(test.name, []).append(row)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps({"key": self.key, **row}) + "\n")
        return row


def check_active(name):
    """Checks on a running NameNode, not in the configuration, that the variant is active."""
    what, wanted = VARIANTS[name].probe
    found, why = jvm.probe(name, VARIANTS[name])
    if not found:
        raise Failure(f"a NameNode with the variant '{name}' does not start: {why}")
    # A NameNode may have several audit loggers.
    if wanted not in (found.get(what) or "").split():
        raise Failure(f"the variant '{name}' is not active: its {what} is {found.get(what)}, not {wanted}")
    print(f"stock-tests: {name}: {what} is {wanted}", flush=True)


class Session:
    def __init__(self, arguments):
        self.arguments = arguments
        self.variant = Results(arguments.variant, arguments.fresh)
        self.control = Results(VARIANTS[arguments.variant].control, arguments.fresh)
        self.begun = time.monotonic()
        self.done = 0

    def one(self, test, count):
        """Runs a class as variant and control."""
        for results in (self.variant, self.control):
            if not results.of(test) and not self.is_alone(test):
                results.run(test, self.arguments.limit)
        self.done += 1
        print(
            f"[{self.done}/{count} {self.seconds():5.0f} s] {report.line(test, self.control, self.variant)}", flush=True
        )

    def again(self, test):
        """Repeats a class until it is decided. Nothing else runs then, since many tests depend on timing."""
        is_new = False
        while not self.is_over() and not self.is_alone(test):
            needed = compare.needs_another(self.control.of(test), self.variant.of(test))
            left = [
                results
                for results, is_needed in zip((self.control, self.variant), needed)
                if is_needed and len(results.of(test)) <= AGAIN_MAX
            ]
            if not left:
                break
            for results in left:
                results.run(test, self.arguments.limit)
            is_new = True
        if is_new:
            print(f"[again {self.seconds():5.0f} s] {report.line(test, self.control, self.variant)}", flush=True)

    def seconds(self):
        return time.monotonic() - self.begun

    def is_over(self):
        return bool(self.arguments.minutes) and self.seconds() > self.arguments.minutes * 60

    def is_alone(self, test):
        return self.arguments.control == "needed" and compare.is_clean(self.variant.of(test))

    def all(self, chosen):
        """Runs all classes that fit into the time."""
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
            def work(test):
                if not self.is_over():
                    self.one(test, len(chosen))
            try:
                for future in [pool.submit(work, test) for test in chosen]:
                    future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                jvm.kill_all()
                raise
        for test in chosen:
            if self.variant.of(test):
                self.again(test)


def run(arguments):
    chosen = [test for test in tests() if not arguments.quick or test.is_quick]
    if not arguments.quick:
        chosen = [test for test in chosen if test.section.startswith(VARIANTS[arguments.variant].sections)]
    if arguments.only:
        chosen = [test for test in chosen if any(word in test.name for word in arguments.only)]
    if not chosen:
        raise Failure(f"no class of {os.path.relpath(LIST)} has {' or '.join(arguments.only)} in its name")
    prepare.prepare(is_plugin_needed=bool(VARIANTS[arguments.variant].plugin))
    for name in (VARIANTS[arguments.variant].control, arguments.variant):
        if VARIANTS[name].probe:
            check_active(name)
    session = Session(arguments)
    if not arguments.report:
        session.all(chosen)
    finished = [
        test for test in chosen if session.variant.of(test) and (session.control.of(test) or session.is_alone(test))
    ]
    summary = report.Summary(finished, len(chosen), session.control, session.variant)
    if arguments.markdown:
        with open(arguments.markdown, "w", encoding="utf-8") as file:
            file.write(summary.markdown())
    print(summary.text())
    return 1 if summary.is_worse() else 0


def parse(words, description):
    variants = [name for name, variant in VARIANTS.items() if variant.control]
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--variant",
        default=variants[0],
        choices=variants,
        help=f"test this variant; default: {variants[0]}",
    )
    parser.add_argument("--quick", action="store_true", help="run only the quick classes")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PART",
        help="run only classes with PART in their name; may be repeated",
    )
    parser.add_argument("--fresh", action="store_true", help="discard earlier results")
    parser.add_argument("--report", action="store_true", help="run nothing; report earlier results")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="run N JVMs at once, of 1 GB each; default: 2")
    parser.add_argument(
        "--limit",
        type=int,
        default=300,
        metavar="SECONDS",
        help="limit classes without a limit of their own; default: 300",
    )
    parser.add_argument("--minutes", type=float, metavar="N", help="start no class after N minutes")
    parser.add_argument("--markdown", metavar="FILE", help="write a table with a row for each class")
    parser.add_argument(
        "--control",
        choices=["all", "needed"],
        help="run all classes in the control, or only those with failures; default: all, needed with --quick",
    )
    arguments = parser.parse_args(words)
    arguments.control = arguments.control or ("needed" if arguments.quick else "all")
    return arguments


def main(words, description=__doc__):
    arguments = parse(words, description)

    def stop(*_):
        jvm.kill_all()
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, stop)
    try:
        return run(arguments)
    except Failure as failure:
        print(f"stock-tests: {failure}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        jvm.kill_all()
        print("stock-tests: stopped; the results so far are kept", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
