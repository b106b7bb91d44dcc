"""The runner of sqllogictest on files of our own, and what it must find.

    YUNTI_SLT_SQLITE=FOLDER   SQLite's files too, a sample of YUNTI_SLT_SAMPLE records (100000)
    YUNTI_SLT_DUCKDB=FOLDER   DuckDB's files too
"""

import os
import tempfile
import unittest

import engines
from sqllogictest import records, run

OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sqllogictest/own")
SQLITE, DUCKDB = os.environ.get("YUNTI_SLT_SQLITE"), os.environ.get("YUNTI_SLT_DUCKDB")
SAMPLE = os.environ.get("YUNTI_SLT_SAMPLE", "100000")

FAULTY = {
    "another value": "query I nosort\nselect 1\n----\n2\n",
    "another hash": "query I nosort\nselect 1\n----\n1 values hashing to 00000000000000000000000000000000\n",
    "a row less": "query I rowsort\nselect 1 union all select 2\n----\n1\n",
    "another order": "query I nosort\nselect 1 union all select 2 order by 1\n----\n2\n1\n",
    "a column more": "query I nosort\nselect 1, 2\n----\n1\n2\n",
    "a null": "query T nosort\nselect ''\n----\nNULL\n",
    "labels": "query I rowsort x\nselect 1\n----\n1\n\nquery I rowsort x\nselect 2\n----\n2\n",
    "no error": "statement error\nselect 1\n",
    "an error": "query I nosort\nselect no_such_column\n----\n1\n",
}


class Runner(unittest.TestCase):
    def run_text(self, text, suite="sqlite"):
        with tempfile.NamedTemporaryFile("w", suffix=".test") as f:
            f.write(text)
            f.flush()
            known = run.Known()
            known.rules = []
            return run.run_file(f.name, suite, engines.under_test(), known)

    def test_own_files(self):
        for path, name in run.files([OWN], False):
            with self.subTest(file=name):
                outcome = run.run_file(path, "sqlite", engines.under_test(), run.Known())
                self.assertEqual(outcome.unknown, [])
                self.assertGreater(outcome.counts["passed"], 5)

    def test_differences_are_found(self):
        for name, text in FAULTY.items():
            with self.subTest(fault=name):
                self.assertEqual(len(self.run_text(text).unknown), 1)

    def test_loops_and_conditions(self):
        text = "foreach t integer bigint\n\nloop i 0 3\n\n" \
               "query I\nselect cast(${i} as ${t})\n----\n${i}\n\nendloop\n\n" \
               "endloop\n\nonlyif mysql\nquery I\nselect 1\n----\n7\n\nmode skip\n\nquery I\nselect 1\n----\n7\n"
        outcome = self.run_text(text, "duckdb")
        self.assertEqual((outcome.counts["passed"], outcome.counts["skipped"], outcome.unknown), (6, 2, []))
        with self.assertRaises(records.Unsupported):
            records.parse("require json\n")

    # The suites of others are part of the long test, which names their folders.
    if SQLITE:
        def test_sqlite(self):
            self.assertEqual(run.main(["--suite", "sqlite", SQLITE, "--sample", SAMPLE]), 0)

    if DUCKDB:
        def test_duckdb(self):
            self.assertEqual(run.main(["--suite", "duckdb", DUCKDB]), 0)


if __name__ == "__main__":
    unittest.main()
