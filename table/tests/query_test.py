"""Tables from files of columns and from queries, which yunti sql reads.

    make table sql && YUNTI=dist/bin/yunti python3 table/tests/query_test.py
"""

import json
import os
import subprocess
import unittest

from table_test import YUNTI, Case

ROWS = ("select * from (values (1, 'Ada', 0.5e0, true, date '2020-02-03'), (2, 'Li, Wei', null, false, null), "
        "(-3, 'Ödön \"x\"', -1e3, null, date '1970-01-01')) as t(id, name, score, is_new, day)")


class Queries(Case):
    def sql(self, query):
        subprocess.run([YUNTI, "sql", query], cwd=self.folder, check=True, capture_output=True, timeout=120)

    def rows(self, *keys, name="a.ytab"):
        return [json.loads(line) for line in self.table("get", name, "--json", *keys).splitlines()]

    def test_a_file_of_parquet(self):
        self.sql(f"copy ({ROWS}) to 'users, all.parquet'")
        self.table("build", "users, all.parquet", "--key", "id", "-o", "a.ytab")
        columns = json.loads(self.table("info", "a.ytab", "--json"))["columns"]
        self.assertEqual([(column["name"], column["type"], column["nullable"]) for column in columns],
                         [("id", "i64", False), ("name", "utf8", False), ("score", "f64", True),
                          ("is_new", "bool", True), ("day", "utf8", True)])
        self.assertEqual(self.rows("2", "-3"), [
            {"id": 2, "name": "Li, Wei", "score": None, "is_new": False, "day": None},
            {"id": -3, "name": 'Ödön "x"', "score": -1000.0, "is_new": None, "day": "1970-01-01"}])
        self.table("build", "users, all.parquet", "--key", "name", "--columns", "id:i32", "-o", "b.ytab", "--sorted")
        self.assertEqual(self.table("range", "b.ytab", "--to", "Li"), "name=Ada\tid=1\n")

    def test_the_rows_of_a_query(self):
        self.sql(f"copy ({ROWS}) to 'users.parquet'")
        query = "select id % 2 as odd, count(*) as n from 'users.parquet' group by 1"
        self.table("build", query, "--from", "sql", "--key", "odd", "-o", "a.ytab")
        self.assertEqual(self.rows("0"), [{"odd": 0, "n": 1}])

    def test_wrong_input_leaves_nothing(self):
        for words, what in ((["none.parquet"], "none.parquet"), (["select x", "--from", "sql"], "x")):
            error = self.table("build", *words, "--key", "id", "-o", "a.ytab", code=3)
            self.assertIn(what, error)
        self.sql(f"copy ({ROWS}) to 'users.parquet'")
        self.assertIn("--from parquet", self.table("build", "users.parquet", "--from", "csv", "--key", "id", "-o", "a.ytab",
                                                   code=3))
        self.table("build", "users.parquet", "--key", "nothing", "-o", "a.ytab", code=3)
        self.assertEqual(os.listdir(self.folder), ["users.parquet"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
