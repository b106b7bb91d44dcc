#!/usr/bin/env python3
"""Runs random queries over random tables on `yunti sql` and compares with DuckDB and SQLite.

    random_queries.py --queries 300 --seed 1      a difference prints the seed of its tables and the query
    random_queries.py --seed 1234 --queries 1     repeats one (add --keep to keep its tables)

For each query: the answer is DuckDB's, and SQLite's where the query has nothing that SQLite lacks; the same bytes come
with other threads and memory; and rows where p, where not p and where p is null together are all rows.
"""

import argparse
import collections
import os
import random
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import answers  # noqa: E402
import engines  # noqa: E402
from generated import columns, known  # noqa: E402
from generated.queries import Writer  # noqa: E402

QUERIES_OF_TABLES = 20
# Share of tables and queries that SQLite can check too.
LITE = 0.3
THREADS = [1, 2, 3, 4]
MEMORIES = [None, None, "16MiB", "32MiB", "64MiB", "256MiB"]


class Sums:
    """Outcomes of the queries, with the failures of the engine in full."""

    def __init__(self):
        self.counts, self.reasons, self.failures = collections.Counter(), collections.Counter(), []

    def fail(self, seed, what, query, detail):
        self.counts[what] += 1
        self.failures.append(f"{what}, seed {seed}: {detail}\n  {query}")


def compare(sums, seed, query, ours, session, peers, paths, limits=None):
    """Runs a query everywhere. Returns nothing; `sums` has the outcome."""
    try:
        mine = session.query(query.text, paths)
    except engines.Broken as broken:
        return sums.fail(seed, "broken", query.text, broken)
    except engines.Refused as refused:
        mine = refused
    checked = False
    for peer in peers:
        if peer.name == "sqlite" and not query.sqlite:
            continue
        try:
            theirs = peer.query(query.text, paths)
        except engines.Refused as refused:
            theirs = refused
        if isinstance(theirs, Exception):
            sums.reasons[f"{peer.name} refuses: {short(theirs)}"] += 1
            continue
        if isinstance(mine, Exception):
            why = known.refusal(str(mine))
            sums.reasons[f"refused: {why or short(mine)}"] += 1
            if why is None:
                return sums.fail(seed, "refused", query.text, mine)
            sums.counts["refused, known"] += 1
            return None
        checked = True
        keys = range(len(theirs.names)) if query.ordered else None
        difference = answers.difference(mine, theirs, keys)
        if difference:
            why = known.difference(query.text, peer.name)
            if why is None:
                return sums.fail(seed, "differs", query.text, f"from {peer.name}: {difference}")
            sums.reasons[f"differs: {why}"] += 1
            sums.counts["differs, known"] += 1
            return None
        sums.counts[f"agrees with {peer.name}"] += 1
    if isinstance(mine, Exception):
        sums.counts["refused by all"] += 1
        return None
    sums.counts["checked" if checked else "not checked"] += 1
    for threads, memory in limits or ():
        other = ours.session(threads, memory)
        try:
            again = other.query(query.text, paths, threads, memory)
        except (engines.Broken, engines.Refused) as error:
            if engines.is_not_native(error):
                sums.counts["not native"] += 1
                sums.reasons[f"not native: {str(error).partition('lacks ')[2][:90]}"] += 1
                continue
            return sums.fail(seed, "fails with other limits", query.text,
                             f"threads {threads}, memory {memory}: {error}")
        finally:
            other.close()
        detail = answers.difference(again, mine)
        # Text, since a NaN is not equal to itself.
        if not detail and ours.stable and not known.unstable(query.text) and repr(again.rows) != repr(mine.rows):
            detail = "only the order of rows, or the last bits of floats"
        if detail:
            return sums.fail(seed, "changes with limits", query.text, f"threads {threads}, memory {memory}: {detail}")
        sums.counts["the same with other limits"] += 1
    if query.parts:
        ternary(sums, seed, query, mine, session, paths)
    return None


def ternary(sums, seed, query, whole, session, paths):
    """Rows where p, where not p, and where p is null are together all rows."""
    try:
        parts = [session.query(part, paths) for part in query.parts]
    except (engines.Broken, engines.Refused) as error:
        if isinstance(error, engines.Broken) or known.refusal(str(error)) is None:
            sums.fail(seed, "a part fails", "\n  ".join(query.parts), error)
        return
    together = engines.Rows(whole.names, [row for part in parts for row in part.rows], whole.approximate, whole.places)
    difference = answers.difference(together, whole)
    if difference:
        sums.fail(seed, "parts differ", "\n  ".join([query.text, *query.parts]), difference)
    else:
        sums.counts["parts add up"] += 1


def short(error):
    return re.sub(r"\d+", "N", str(error))[:90]


def run(seed, count, ours, peers, every=3, keep=False, progress=False):
    """Runs `count` queries, twenty to the tables of a seed. Every third query runs with other limits too."""
    sums, begin = Sums(), time.monotonic()
    for at in range(0, count, QUERIES_OF_TABLES):
        number = seed + at // QUERIES_OF_TABLES
        chooser = random.Random(number)
        folder = tempfile.mkdtemp(prefix="yunti-random-")
        session = ours.session()
        try:
            lite = chooser.random() < LITE
            tables = [columns.table(chooser, f"t{n}", folder, lite) for n in range(3)]
            paths = {table.name: table.path for table in tables}
            writer = Writer(chooser, tables, lite)
            for query_number in range(min(QUERIES_OF_TABLES, count - at)):
                query = writer.query()
                limits = [(chooser.choice(THREADS), chooser.choice(MEMORIES))] if query_number % every == 0 else None
                compare(sums, number, query, ours, session, peers, paths, limits)
        finally:
            session.close()
            if keep:
                print("tables:", folder)
            else:
                shutil.rmtree(folder, ignore_errors=True)
        if progress:
            seconds = time.monotonic() - begin
            line = f"{at + QUERIES_OF_TABLES} of {count}, {len(sums.failures)} failures, {seconds:.0f} s"
            print(line, file=sys.stderr, flush=True)
    return sums


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--queries", type=int, default=300)
    p.add_argument("--every", type=int, default=3, help="run every Nth query with other limits too (default 3)")
    p.add_argument("--keep", action="store_true", help="keep the tables")
    p.add_argument("--progress", action="store_true")
    p.add_argument("--failures", type=int, default=20, help="print this many failures (default 20)")
    a = p.parse_args()
    peers = [engines.DuckDb(), engines.Sqlite()]
    sums = run(a.seed, a.queries, engines.under_test(), peers, a.every, a.keep,
               a.progress)
    for failure in sums.failures[:a.failures]:
        print(failure)
    for name, count in sorted(sums.counts.items()):
        print(f"{count:8} {name}")
    for reason, count in sums.reasons.most_common(30):
        print(f"{count:8} {reason}")
    return 1 if sums.failures else 0


if __name__ == "__main__":
    sys.exit(main())
