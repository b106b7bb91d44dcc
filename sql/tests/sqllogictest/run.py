#!/usr/bin/env python3
"""Runs files of sqllogictest against `yunti sql` and reports the share that passes, by file.

    run.py --suite sqlite FOLDER-OR-FILE ..            all records
    run.py --suite sqlite FOLDER --sample 100000 --seed 7   about this number, chosen by the seed
    run.py --suite duckdb FOLDER ..                    DuckDB's own files
    run.py .. --results tests/results/sqllogictest.md  adds a line with the shares to this page

DuckDB runs the statements that make tables; a query reads them as files of Parquet. So the program needs no tables of
its own. A difference or a refusal that no line of differences.txt names fails the run.
"""

import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.dont_write_bytecode = True

import duckdb  # noqa: E402

import engines  # noqa: E402
from sqllogictest import records, values  # noqa: E402

DIFFERENCES = os.path.join(HERE, "differences.txt")
LEFT_OUT = ("dialect:", "suite:")
QUERY = re.compile(r"\s*(\(\s*)*(select|with|values|from)\b", re.I)
# Order of nulls in DuckDB's files, unless they set another. Ours is PostgreSQL's otherwise.
NULLS_LAST = "nulls_last"
SET_NULLS = re.compile(r"\s*(?:set|pragma)\s+default_null_order\s*=\s*'?(nulls[ _](?:first|last))'?", re.I)


class Known:
    """Lines of differences.txt: kind (differs, refused, accepted, broken), pattern of the query or of the error, reason."""

    def __init__(self, path=DIFFERENCES):
        self.rules = []
        with open(path) as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    kind, pattern, reason = line.rstrip("\n").split("\t")
                    self.rules.append((kind, re.compile(pattern, re.I | re.S), reason))

    def reason(self, kind, text):
        return next((reason for of, pattern, reason in self.rules if of == kind and pattern.search(text)), None)


class Outcome:
    def __init__(self):
        self.counts = collections.Counter()
        self.reasons = collections.Counter()
        self.unknown = []  # (kind, file and line, detail, query)

    def add(self, other):
        self.counts += other.counts
        self.reasons += other.reasons
        self.unknown += other.unknown


class Tables:
    """Tables that DuckDB makes, as files."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="yunti-slt-")
        self.database = duckdb.connect(config={"threads": 1})
        self.version, self.dirty, self.paths, self.names = 0, True, {}, []

    def statement(self, sql):
        self.dirty = True
        try:
            self.database.execute(sql).fetchall()
        except duckdb.Error as error:
            if "ransaction is aborted" in str(error):
                self.database.execute("rollback")
            raise

    def files(self, sql):
        """Returns the paths of the tables and views that the text may name, as they are now."""
        if self.dirty:
            try:
                self.database.execute("select 1").fetchall()
            except duckdb.Error:  # a transaction that failed
                self.database.execute("rollback")
            self.names = self.database.execute("select table_name from information_schema.tables where table_schema = "
                                               "'main' or table_type = 'LOCAL TEMPORARY'").fetchall()
            for path in self.paths.values():
                os.remove(path)
            self.version, self.dirty, self.paths = self.version + 1, False, {}
        lower = sql.lower()
        for (name, ) in self.names:
            if name not in self.paths and name.lower() in lower:
                path = os.path.join(self.folder, f"{self.version}-{len(self.paths)}.parquet")
                try:
                    self.database.execute(f"""copy (select * from "{name}") to '{path}' (format parquet)""")
                    self.paths[name] = path
                except duckdb.Error:
                    pass  # a type that Parquet lacks: a query of this table is refused
        return self.paths

    def close(self):
        self.database.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def run_file(path, suite, engine, known, chosen=None, name=None):
    """Returns the outcome of a file. `chosen`: a function that picks records, or None for all."""
    outcome, name = Outcome(), name or os.path.basename(path)
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        text = f.read()
    try:
        parsed = records.parse(text)
    except records.Unsupported as reason:
        outcome.counts["files left out"] += 1
        outcome.reasons[f"file left out: {str(reason).split(':')[0]}"] += 1
        return outcome
    tables, labels, session = Tables(), {}, session_of(engine, suite, NULLS_LAST)
    try:
        for record in parsed:
            order = SET_NULLS.match(record.sql)
            if order:
                session.close()
                session = session_of(engine, suite, order[1].lower().replace(" ", "_"))
            run_record(record, f"{name}:{record.line}", suite, tables, session, known, labels, outcome, chosen)
    finally:
        session.close()
        tables.close()
    return outcome


def session_of(engine, suite, nulls):
    """Returns a session with the order of nulls that the files of a suite expect."""
    if suite != "duckdb" or engine.name != "yunti":
        return engine.session()
    return engine.session(options=["-D", f"sql_parser.default_null_ordering={nulls}"])


def run_record(record, where, suite, tables, session, known, labels, outcome, chosen):
    is_query = QUERY.match(record.sql) and not re.search(r"\binto\b\s+\w+\s*\(", record.sql, re.I)
    if record.skip:
        outcome.counts["skipped"] += 1
        return
    if not is_query:
        if record.kind == "query":
            outcome.counts["skipped"] += 1
            outcome.reasons["skipped: not a select"] += 1
            return
        try:
            tables.statement(record.sql)
        except duckdb.Error:
            if record.expect == "ok":
                outcome.reasons["statement that DuckDB refuses"] += 1
        return
    if chosen and not chosen():
        return
    try:
        answer = session.query(record.sql, tables.files(record.sql))
        problem = None
    except engines.Refused as refused:
        answer, problem = None, str(refused)
    except engines.Broken as broken:
        outcome.counts["broken"] += 1
        reason = known.reason("broken", record.sql)
        outcome.reasons[f"broken: {reason or 'UNKNOWN'}"] += 1
        if reason is None:
            outcome.unknown.append(("broken", where, str(broken), record.sql))
        return
    if record.expect in ("error", "maybe"):
        passed = record.expect == "maybe" or problem is not None
        detail, kind = (None if passed else "an answer, not an error"), "accepted"
    elif problem is not None:
        detail, kind = problem, "refused"
    else:
        detail, kind = None, "differs"
        if record.kind == "query" and record.has_result:
            detail = values.difference(record, answer, suite)
        if record.label and detail is None and record.kind == "query":
            rows = sorted(values.texts(record, answer, suite) or [])
            detail = None if labels.setdefault(record.label,
                                               rows) == rows else f"not the answer of label {record.label}"
        elif detail and suite == "duckdb" and values.only_nulls_move(record, answer, suite):
            outcome.counts["passed but for the order of nulls"] += 1
            return
    if detail is None:
        outcome.counts["passed"] += 1
        return
    reason = known.reason(kind, detail if kind == "refused" else record.sql)
    # DuckDB's own syntax and functions, and tables that the runner cannot make, are in no share.
    outcome.counts["left out by a reason" if (reason or "").startswith(LEFT_OUT) else kind] += 1
    outcome.reasons[f"{kind}: {reason or 'UNKNOWN'}"] += 1
    if reason is None:
        outcome.unknown.append((kind, where, detail, record.sql))


def files(paths, slow):
    for path in paths:
        if os.path.isfile(path):
            yield path, os.path.basename(path)
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".test", ".slt", ".test_slow") if slow else (".test", ".slt")):
                    yield os.path.join(folder, name), os.path.relpath(os.path.join(folder, name), path)


def queries_in(path):
    with open(path, "rb") as f:
        return sum(line.startswith(b"query ") for line in f)


def main(arguments=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("paths", nargs="+")
    p.add_argument("--suite", choices=("sqlite", "duckdb"), default="sqlite")
    p.add_argument("--sample", type=int, help="run about this many queries")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--unknown", type=int, default=40, help="print this many unexplained records (default 40)")
    p.add_argument("--slow", action="store_true", help="with DuckDB's files that end in .test_slow")
    p.add_argument("--by-file", action="store_true", help="print a line for each file")
    p.add_argument("--results", help="page of results to which a line is added")
    a = p.parse_args(arguments)
    found, known, engine = list(files(a.paths, a.slow)), Known(), engines.under_test()
    chooser, chosen = random.Random(a.seed), None
    if a.sample:
        share = a.sample / max(1, sum(queries_in(path) for path, _ in found))
        chosen = lambda: chooser.random() < share
    total, begin = Outcome(), time.monotonic()
    for path, name in found:
        outcome = run_file(path, a.suite, engine, known, chosen, name)
        total.add(outcome)
        if a.by_file:
            print(line_of(name, outcome), flush=True)
    if a.results:
        add_result(a, len(found), total)
    for kind, where, detail, sql in total.unknown[:a.unknown]:
        print(f"{kind} {where}: {detail[:300]}\n  {' '.join(sql.split())[:400]}")
    print(line_of(f"{len(found)} files, seed {a.seed}, {time.monotonic() - begin:.0f} s", total))
    for reason, count in total.reasons.most_common():
        print(f"{count:8} {reason}")
    return 1 if total.unknown else 0


def add_result(arguments, files, total):
    """Adds a line to the page of results."""
    classes = collections.Counter()
    for reason, count in total.reasons.items():
        classes[reason.partition(": ")[2].partition(":")[0]] += count
    passed, ran = total.counts["passed"], sum(total.counts[kind] for kind in PARTS)
    git = lambda *words: subprocess.run(["git", "-C", HERE, *words], capture_output=True, text=True, check=False).stdout
    changes = git("status", "--porcelain", "--untracked-files=no", "--", ":/", ":!/tests/results").strip()
    commit = git("rev-parse", "--short=7", "HEAD").strip() + ("+" if changes else "")
    suite = {"sqlite": "SQLite", "duckdb": "DuckDB"}[arguments.suite]
    if arguments.sample:
        suite += f", sample of {arguments.sample} by seed {arguments.seed}"
    share = 100 * passed / max(1, ran)
    cells = [
        suite, files, ran, passed, f"{share:.2f} %", classes["lack"], classes["WRONG"],
        len(total.unknown), total.counts["left out by a reason"], commit,
        time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    ]
    with open(arguments.results, "a") as page:
        page.write("| " + " | ".join(map(str, cells)) + " |\n")


PARTS = ("passed", "passed but for the order of nulls", "differs", "refused", "accepted", "broken")


def line_of(name, outcome):
    ran = sum(outcome.counts[kind] for kind in PARTS)
    share = f"{100 * outcome.counts['passed'] / ran:.2f} %" if ran else "-"
    rest = ", ".join(f"{count} {kind}" for kind, count in sorted(outcome.counts.items()) if kind != "passed")
    return f"{name}: {outcome.counts['passed']} of {ran} passed ({share})" + (f"; {rest}" if rest else "")


if __name__ == "__main__":
    sys.exit(main())
