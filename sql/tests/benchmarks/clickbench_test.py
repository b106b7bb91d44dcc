"""The 43 queries of ClickBench against DuckDB, on a generated table.

    YUNTI_SQL_HITS=100000   rows (the long test: 10000000)

Many of these queries end in a limit, and which rows of equal keys stay is free: the sequence of keys must be the same,
and each row must be one of the query without its limit.
"""

import collections
import dataclasses
import os
import re
import unittest

import answers
import engines
from data import hits, wheels

ROWS = int(os.environ.get("YUNTI_SQL_HITS", "100000"))
LIMIT = re.compile(r" LIMIT (\d+)(?: OFFSET (\d+))?$")
# Queries that the executor of Yunti runs; the goal is all.
NATIVE = int(os.environ.get("YUNTI_SQL_HITS_NATIVE", "43"))
SETTINGS = [(1, None), (4, "64MiB")]


def items(sql):
    """Returns the expressions and the names of a select list."""
    text, depth, found, begin = sql[len("SELECT "):sql.index(" FROM hits")], 0, [], 0
    for at, c in enumerate(text + ","):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
    return [re.split(r" AS ", item)[::-1] for item in found]


def order(sql):
    """Returns the numbers of the columns that order the rows, () if nothing does, None if it is none of the columns."""
    found = re.search(r" ORDER BY (.*?)(?: LIMIT| OFFSET|$)", sql)
    if not found:
        return ()
    keys = [re.sub(r" (DESC|ASC)$", "", key.strip()) for key in re.split(r",(?![^(]*\))", found[1])]
    columns = [[word.strip('"') for word in names] for names in items(sql)]
    numbers = [next((at for at, names in enumerate(columns) if key.strip('"') in names), None) for key in keys]
    return None if None in numbers else tuple(numbers)


def difference(sql, ours, peer, paths):
    theirs = peer.query(sql, paths)
    limit, keys = LIMIT.search(sql), order(sql)
    if sql.startswith("SELECT *") or keys is None:
        # Times are unique, so the order is total.
        return answers.difference(ours, theirs, range(len(theirs.names)))
    if not limit:
        return answers.difference(ours, theirs, keys)
    if len(ours.rows) != len(theirs.rows):
        return f"{len(ours.rows)} rows, not {len(theirs.rows)}"
    only = [dataclasses.replace(answer, names=[answer.names[at] for at in keys],
                                rows=[tuple(row[at] for at in keys) for row in answer.rows],
                                approximate=[answer.approximate[at] for at in keys],
                                places=[answer.places[at] for at in keys]) for answer in (ours, theirs)]
    of_keys = answers.difference(*only, range(len(keys))) if keys else None
    return of_keys or not_among(ours, peer.query(LIMIT.sub("", sql), paths))


def not_among(ours, whole):
    """Returns the first row of ours that the whole answer lacks, or has less often."""
    exact = [at for at, loose in enumerate(whole.approximate) if not loose and not ours.approximate[at]]
    have = collections.Counter(tuple(row[at] for at in exact) for row in answers.plain(whole.rows))
    for row in answers.plain(ours.rows):
        key = tuple(row[at] for at in exact)
        have[key] -= 1
        if have[key] < 0:
            return f"{row} is no row of the query without its limit"
    kept = {tuple(row[at] for at in exact) for row in answers.plain(ours.rows)}
    chosen = [row for row in whole.rows if tuple(answers.plain([row])[0][at] for at in exact) in kept]
    return answers.difference(ours, dataclasses.replace(whole, rows=chosen)) if len(chosen) == len(ours.rows) else None


class Queries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.queries = [hits.scaled(sql, ROWS) for sql in hits.queries()]
        except wheels.Missing as reason:
            raise unittest.SkipTest(str(reason))
        cls.paths = {"hits": hits.path(ROWS)}
        cls.engine, cls.peer = engines.under_test(), engines.DuckDb()

    def test_there_are_43_over_105_columns(self):
        self.assertEqual((len(self.queries), len(hits.columns())), (43, 105))

    def test_answers_are_those_of_duckdb(self):
        empty = []
        for number, sql in enumerate(self.queries, 1):
            with self.subTest(query=number, sql=sql[:200]):
                ours = self.engine.query(sql, self.paths)
                self.assertIsNone(difference(sql, ours, self.peer, self.paths))
                empty += [] if ours.rows else [number]
        self.assertLessEqual(len(empty), 2, f"too small a table: no rows of {empty}")

    def test_share_of_native_plans(self):
        if not isinstance(self.engine, engines.Yunti):
            self.skipTest("plans are explained by the program alone")
        lines = [engines.first_line(self.engine.explain(sql, self.paths)) for sql in self.queries]
        others = [f"{number}: {line}" for number, line in enumerate(lines, 1) if "native" not in line]
        print(f"\n{len(lines) - len(others)} of {len(lines)} native", *others, sep="\n  ")
        self.assertGreaterEqual(len(lines) - len(others), NATIVE)

    @engines.long_test
    def test_answers_do_not_depend_on_threads_and_memory(self):
        for number, sql in enumerate(self.queries, 1):
            # Another engine is free to leave other groups of a limit without order.
            if not self.engine.stable and not order(sql):
                continue
            first = self.engine.query(sql, self.paths)
            for threads, memory in SETTINGS:
                with self.subTest(query=number, threads=threads, memory=memory):
                    try:
                        again = self.engine.query(sql, self.paths, threads, memory)
                    except engines.Refused as refused:
                        if not engines.is_not_native(refused):
                            raise
                        continue
                    if self.engine.stable:
                        self.assertEqual(first.rows, again.rows)
                    else:
                        self.assertIsNone(difference(sql, again, self.peer, self.paths))


if __name__ == "__main__":
    unittest.main()
