"""Hive's dialect: examples of Hive's documentation, and its rules for nulls."""

import json
import os
import subprocess
import tempfile
import unittest

import pyarrow as pa
import pyarrow.parquet as pq

import engines

#: Expression of Hive, and its value as text.
VALUES = [
    ("7 / 2", "3.5"), ("7 div 2", "3"), ("-7 div 2", "-3"), ("1 / 0", None), ("5 % 0", None), ("5 % 3", "2"),
    ("'it\\'s'", "it's"), ('"say \\"hi\\""', 'say "hi"'), ("nvl(null, 'x')", "x"), ("if(1 > 2, 'a', 'b')", "b"),
    ("if(null, 'a', 'b')", "b"), ("isnull(null)", "true"), ("isnotnull(1)", "true"),
    ("concat('a', null)", None), ("concat('a', 'b', 'c')", "abc"), ("concat_ws('-', 'a', 'b')", "a-b"),
    ("concat_ws(',', split('a:b', ':'))", "a,b"), ("concat_ws(',', array('x', 'y'))", "x,y"),
    ("size(array(1, 2, 3))", "3"), ("size(split('a|b', '\\\\|'))", "2"), ("split('a,b', ',')[1]", None),
    ("instr('facebook', 'boo')", "5"), ("instr('facebook', 'x')", "0"), ("locate('boo', 'facebook')", "5"),
    ("substr('facebook', 5)", "book"), ("substr('facebook', -4)", "book"), ("substr('facebook', 5, 1)", "b"),
    ("regexp_extract('foothebar', 'foo(.*?)(bar)', 2)", "bar"),
    ("regexp_extract('foothebar', 'foo(.*?)(bar)', 1)", "the"),
    ("regexp_extract('foothebar', 'foo(.*?)(bar)', 0)", "foothebar"), ("regexp_extract('x', 'y(z)', 1)", ""),
    ("regexp_extract(null, 'y(z)', 1)", None), ("regexp_replace('foobar', 'oo|ar', '')", "fb"),
    ("'foobar' rlike '^f.*r$'", "true"), ("'foobar' not rlike 'x'", "true"), ("1 <=> null", "false"),
    ("null <=> null", "true"),
    ("date_add('2008-12-31', 1)", "2009-01-01"), ("date_sub('2008-12-31', 1)", "2008-12-30"),
    ("datediff('2009-03-01', '2009-02-27')", "2"), ("to_date('1970-01-01 00:00:00')", "1970-01-01"),
    ("year('1970-01-01 00:00:00')", "1970"), ("month('1970-11-01')", "11"), ("day('1970-11-01')", "1"),
    ("hour('2009-07-30 12:58:59')", "12"), ("second('2009-07-30 12:58:59')", "59"), ("weekofyear('1970-11-01')", "44"),
    ("year('no day')", None), ("quarter('2015-04-08')", "2"), ("last_day('2016-02-10')", "2016-02-29"),
    ("add_months('2016-08-31', 1)", "2016-09-30"), ("date_format('2015-04-08', 'yyyy')", "2015"),
    ("date_format('2015-04-08', 'dd/MM/yyyy')", "08/04/2015"), ("from_unixtime(0)", "1970-01-01 00:00:00"),
    ("from_unixtime(86400, 'yyyy-MM-dd')", "1970-01-02"), ("unix_timestamp('1970-01-02 00:00:00')", "86400"),
    ("unix_timestamp('1970-01-02', 'yyyy-MM-dd')", "86400"),
    ("get_json_object('{\"a\":{\"b\":[1,2]}}', '$.a.b[1]')", "2"), ("get_json_object('{\"a\":null}', '$.a')", None),
    ("cast('x' as int)", None), ("cast('12' as int)", "12"), ("cast(2.7 as int)", "2"), ("cast('abc' as string)", "abc"), ("pmod(-7, 3)", "2"),
    ("array_contains(array(1, 2), 2)", "true"), ("sort_array(array(3, 1, 2))", "[1, 2, 3]"), ("ucase('a')", "A"),
    ("space(3)", "   "), ("pow(2, 3)", "8.0"), ("`a`.x", "1"), ("2 between 1 and 3", "true"),
]


class Dialect(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="yunti-dialect-")
        cls.t = os.path.join(cls.folder.name, "t.parquet")
        pq.write_table(pa.table({"k": [1, 2, 3, None], "s": ["a,b", "c", None, ""], "x": [3.0, None, 1.0, 2.0],
                                 "j": ['{"p":1,"q":"z"}', "{}", None, "no"]}), cls.t)
        cls.l = os.path.join(cls.folder.name, "l.parquet")
        pq.write_table(pa.table({"id": [1, 2, 3], "l": [[10, 20], [], None]}), cls.l)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def answers(self, queries):
        words = [engines.YUNTI, "sql", "--dialect", "hive", "--quiet", "--statements",
                 "--table", f"t={self.t}", "--table", f"l={self.l}"]
        done = subprocess.run(words, input="".join(json.dumps(query) + "\n" for query in queries), capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def rows(self, query):
        (answer,) = self.answers([query])
        self.assertIn("rows", answer, f"{query}: {answer.get('error')}")
        return [tuple(row) for row in answer["rows"]]

    def test_values(self):
        values = [(text, expect) for text, expect in VALUES if not text.startswith("split(")]
        answers = self.answers([f"select {text} as v from (select 1 as x) a" for text, _ in values])
        wrong = []
        for (text, expect), answer in zip(values, answers):
            got = answer["rows"][0][0] if "rows" in answer else f"error: {answer['error']}"
            if got != expect:
                wrong.append(f"{text}: {got!r} instead of {expect!r}")
        self.assertEqual(wrong, [])

    def test_lateral_views(self):
        self.assertEqual(self.rows("select k, w from t lateral view explode(split(s, ',')) v as w order by k, w"),
                         [(None, ""), ("1", "a"), ("1", "b"), ("2", "c")])
        self.assertEqual(self.rows("select t.k, v.w from t lateral view outer explode(split(s, ',')) v as w "
                                   "where t.k > 1 order by t.k"), [("2", "c"), ("3", None)])
        self.assertEqual(self.rows("select id, p, c from l lateral view posexplode(l) v as p, c order by id, p"),
                         [("1", "0", "10"), ("1", "1", "20")])
        self.assertEqual(self.rows("select l.id, v.c from l lateral view outer explode(l) v as c order by id, c"),
                         [("1", "10"), ("1", "20"), ("2", None), ("3", None)])
        self.assertEqual(self.rows("select w, count(*) as n from t lateral view explode(split(s, ',')) v as w "
                                   "group by w having count(*) > 0 order by w limit 2"), [("", "1"), ("a", "1")])
        self.assertEqual(self.rows("select a, b from t lateral view json_tuple(j, 'p', 'q') v as a, b where k = 1"),
                         [("1", "z")])
        self.assertEqual(self.rows("select v.a, w.b from l lateral view explode(l) v as a "
                                   "lateral view explode(array(v.a, 0)) w as b order by a, b"),
                         [("10", "0"), ("10", "10"), ("20", "0"), ("20", "20")])

    def test_orders(self):
        ascending = [(None,), ("1.0",), ("2.0",), ("3.0",)]
        for clause in ("order by x", "sort by x", "cluster by x", "distribute by k sort by x"):
            self.assertEqual(self.rows(f"select x from t {clause}"), ascending, clause)
        self.assertEqual(self.rows("select x from t order by x desc"), ascending[::-1])

    def test_aggregates(self):
        self.assertEqual(self.rows("select concat_ws(',', sort_array(collect_list(s))), size(collect_set(s)) from t"),
                         [(",a,b,c", "3")])
        self.assertEqual(self.rows("select percentile(x, 0.5), avg(x) from t"), [("2.0", "2.0")])

    def test_names_of_columns(self):
        (answer,) = self.answers(["select k, k + 1, count(*) from t group by k limit 1"])
        self.assertEqual([column["name"] for column in answer["columns"]], ["k", "_c1", "_c2"])

    def test_writes(self):
        out = os.path.join(self.folder.name, "out")
        (answer,) = self.answers([f"insert overwrite directory '{out}' stored as parquet select k / 2 as h from t"])
        self.assertEqual(answer.get("written"), 4, answer)
        self.assertEqual(sorted(pq.read_table(out)["h"].to_pylist(), key=str), [0.5, 1.0, 1.5, None])

    def test_what_is_not_supported_is_said(self):
        for query, part in [("select 1 from t a, t b lateral view explode(a.s) v as c", "over several tables"),
                            ("select 1 from t lateral view stack(2, 1, 2) v as c", "of stack is not supported"),
                            ("select split(s, '[0-9]+') from t", "split")]:
            (answer,) = self.answers([query])
            self.assertIn(part, answer.get("error", ""), query)


if __name__ == "__main__":
    unittest.main()
