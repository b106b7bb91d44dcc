"""Functions that are not the executor's own, within native plans: the answers are those of the general executor.

Each expression is one column of a query over tables with dictionaries, plain texts, nulls, and no rows at all. The
native executor must take all; an expression that fails must fail in both.
"""

import datetime
import decimal
import os
import random
import shutil
import tempfile
import unittest

import pyarrow as pa
import pyarrow.parquet as pq

import answers
import engines

ROWS = 3000
# Columns: few and many texts, a number, a float, a decimal, a date, times, a boolean, bytes; t2 is null throughout.
EXPRESSIONS = """
regexp_replace(few, '^https?://(?:www\\.)?([^/]+)/.*$', '\\1')
regexp_replace(many, '[0-9]+', '#', 'g')
regexp_replace(many, substr(many, 1, 2), 'x')
regexp_count(many, '[aeiou]')
regexp_like(few, 'w+\\.')
few ~ '[0-9]'
few !~* 'HTTP'
array_to_string(regexp_match(many, '([a-z])([0-9])'), '-')
lpad(few, 12, '*')
rpad(many, abs(n), 'ab')
replace(many, '1', 'one')
translate(few, 'abc', 'xy')
reverse(many)
left(many, 3) || right(few, 2)
repeat(few, 3)
initcap(few)
md5(many)
encode(sha256(many), 'hex')
strpos(few, '/')
split_part(few, '/', 3)
ascii(many)
chr(n + 64)
to_hex(n)
bit_length(few)
octet_length(many)
concat_ws('-', few, many, t2)
levenshtein(few, many)
few like many
few like '%' || right(few, 1)
few ilike '%A%' or many like few
few similar to '(http|ftp)%'
greatest(n, 3, m)
least(x, 1.5)
nvl2(t2, few, many)
ln(abs(x) + 1)
exp(x / 100)
power(n, 2)
sin(x) + cos(x)
atan2(x, 2)
log(2, abs(n) + 1)
trunc(x)
round(x, 1)
signum(x)
gcd(n, m)
factorial(least(abs(n), 10))
n & 7 | m
n << 2
m >> 1
date_part('epoch', ts)
date_part('week', d)
date_part('millisecond', ts)
extract(second from ts)
date_bin(interval '15 minutes', ts, timestamp '2020-01-01')
date_trunc('week', ts)
to_timestamp(m)
to_timestamp(cast(d as varchar), '%Y-%m-%d')
to_date(cast(d as varchar))
to_char(d, '%d.%m.%Y')
make_date(2000 + abs(n) % 20, 1 + abs(n) % 12, 1)
to_unixtime(ts)
from_unixtime(m)
d + interval '1 month'
d - interval '3 days'
ts + interval '1 hour' + interval '1 minute' - interval '2 days'
d + n
date_part('day', ts - timestamp '2020-01-01')
cast(d as timestamp) at time zone 'Europe/Paris'
cast(date_trunc('day', ts) at time zone 'Europe/Paris' as varchar)
date_trunc('day', ts at time zone 'America/New_York')
date_part('hour', ts at time zone 'Asia/Kolkata')
cast(to_timestamp_micros(m) at time zone 'Europe/Berlin' as date)
cast(cast(d as timestamp) as varchar)
cast(p as double) / 3
cast(p as decimal(38, 6)) * 2
cast(few as bytea)
encode(b, 'base64')
length(encode(b, 'hex'))
case when n > 0 then regexp_replace(few, 'a', 'b') when m = 3 then many else 'none' end
case when n = 0 then 'zero' else chr(100 / n + 150) end
coalesce(t2, lpad(many, 8, '.'), few)
nullif(reverse(few), reverse(many))
array_length(string_to_array(few, '/'))
array_to_string(array_sort(string_to_array(many, '1')), '+')
(string_to_array(few, '/'))[1]
cardinality(make_array(n, m))
array_has(make_array('a', few), many)
array_has(make_array(1, 2, 3), n)
struct(n, few)['c1']
named_struct('a', many, 'b', n)['a']
arrow_typeof(few)
is_true_of(flag)
not (few ~ 'a' and n / 1 > 2)
n in (m, 3, abs(m))
lpad(few, 4) in ('http', 'ftp:')
few is distinct from many
isnan(x / x)
iszero(n)
uuid() is null
random() < 2
"""
# The program has no such function, or the values differ from call to call.
NOT_NATIVE = ("is_true_of", "uuid()", "random()")


def folder_of_tables(folder):
    """Writes the tables and returns their paths: a dictionary of few texts, plain texts, and a table without rows."""
    r = random.Random(7)
    sites = ["http://www.a.org/x/1", "https://bb.com/", "ftp://c", "", "abc/abc", "ünïcode/ß", "%_", "[0-9", "a\\b"]
    start = datetime.datetime(2019, 12, 31, 22)

    def some(f, share=0.1):
        return [None if r.random() < share else f() for _ in range(ROWS)]

    micros = some(lambda: start + datetime.timedelta(seconds=r.randint(-10**7, 10**8), microseconds=r.randint(0, 999)))
    columns = {
        "few": pa.array(some(lambda: r.choice(sites)), pa.string()),
        "many": pa.array(some(lambda: r.choice("abxyz") + str(r.randint(0, 10**5))), pa.string()),
        "t2": pa.array([None] * ROWS, pa.string()),
        "n": pa.array(some(lambda: r.randint(-20, 20)), pa.int64()),
        "m": pa.array([r.randint(0, 9) for _ in range(ROWS)], pa.int32()),
        "x": pa.array(some(lambda: r.uniform(-50, 50)), pa.float64()),
        "p": pa.array(some(lambda: decimal.Decimal(r.randint(-10**9, 10**9)) / 100), pa.decimal128(15, 2)),
        "d": pa.array(some(lambda: (start + datetime.timedelta(days=r.randint(-9000, 9000))).date()), pa.date32()),
        "ts": pa.array(micros, pa.timestamp("us")),
        "flag": pa.array(some(lambda: r.random() < 0.5), pa.bool_()),
        "b": pa.array(some(lambda: r.randbytes(r.randint(0, 9))), pa.binary()),
    }
    table = pa.table(columns)
    made = {"coded": (table, True), "plain": (table, False), "none": (table.slice(0, 0), True),
            "one": (table.slice(5, 1), False)}
    paths = {}
    for name, (rows, is_coded) in made.items():
        paths[name] = os.path.join(folder, f"{name}.parquet")
        pq.write_table(rows, paths[name], use_dictionary=is_coded, row_group_size=1100)
    return paths


class Functions(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="yunti-foreign-")
        cls.paths = folder_of_tables(cls.folder)
        cls.engine = engines.under_test()
        if not isinstance(cls.engine, engines.Yunti):
            raise unittest.SkipTest("executors are chosen by the program alone")
        cls.native = engines.Session(cls.engine, options=("--executor", "native"))
        cls.general = engines.Session(cls.engine, options=("--executor", "general"))

    @classmethod
    def tearDownClass(cls):
        for session in (getattr(cls, "native", None), getattr(cls, "general", None)):
            if session:
                session.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def of(self, session, sql):
        try:
            return session.query(sql, self.paths)
        except engines.Refused as refused:
            return refused

    def same(self, sql, filters=False):
        """Returns the rows of both executors, or None if both refuse the query. A filter may spare ours the values
        that have no result."""
        ours, theirs = self.of(self.native, sql), self.of(self.general, sql)
        if isinstance(theirs, engines.Refused):
            self.assertNotIn("own executor lacks", str(ours))
            if not filters:
                self.assertIsInstance(ours, engines.Refused, sql)
            return None
        self.assertIsInstance(ours, engines.Rows, f"{sql}: {ours}")
        keys = range(len(theirs.names)) if " order by " in sql else None
        self.assertIsNone(answers.difference(ours, theirs, keys), sql)
        return ours

    @engines.long_test
    def test_answers_are_those_of_the_general_executor(self):
        refused = []
        for expression in EXPRESSIONS.strip().splitlines():
            for name in self.paths:
                with self.subTest(expression=expression, table=name):
                    if expression.startswith(NOT_NATIVE):
                        self.assertIsInstance(self.of(self.native, f"select {expression} from {name}"), engines.Refused)
                        continue
                    rows = self.same(f"select many, n, m, {expression} as e from {name}")
                    refused += [expression] if rows is None and name == "plain" else []
                    if name == "plain":
                        self.same(f"select {expression} as e, count(*), min(n) from {name} group by 1")
                        self.same(f"select count(*), sum(m) from {name} where ({expression}) is not null and n > 3", True)
                        self.same(f"select m, max(e) from (select m, {expression} as e from {name}) group by m")
        # What fails for a value fails in both; nothing here may.
        self.assertEqual(refused, [])

    def test_limits_do_not_change_answers(self):
        for expression in EXPRESSIONS.strip().splitlines()[::5]:
            if expression.startswith(NOT_NATIVE):
                continue
            sql = f"select {expression} as e, count(*) as c from coded group by 1 order by 1"
            first = self.engine.query(sql, self.paths)
            for threads, memory in [(1, "32MiB"), (4, "16MiB")]:
                with self.subTest(sql=sql, threads=threads, memory=memory):
                    self.assertEqual(first.rows, self.engine.query(sql, self.paths, threads, memory).rows)

    def test_errors_name_the_function(self):
        cases = [
            ("select regexp_replace(many, few, 'x') from plain", "regexp_replace"),
            ("select cast(many as int) + length(reverse(few)) from plain", "x|a|b|y|z"),
            ("select factorial(n + 100) from plain where n > 0", "factorial"),
            ("select rpad(many, n, 'a') from plain", "rpad: the function has no result"),
            ("select chr(n - 1000000) from plain where n is not null", "chr"),
        ]
        for sql, words in cases:
            with self.subTest(sql=sql):
                refused = self.of(self.native, sql)
                self.assertIsInstance(refused, engines.Refused)
                self.assertRegex(str(refused), words)

    def test_texts_keep_to_the_memory(self):
        sql = "select sum(length(repeat(many, 200000))) from plain"
        with self.assertRaisesRegex(engines.Refused, "repeat: the memory budget"):
            self.engine.query(sql, self.paths, 2, "64MiB")
        rows = self.engine.query("select sum(length(repeat(many, 2000))) from plain", self.paths, 2, "128MiB").rows
        self.assertEqual(rows, self.of(self.general, "select sum(length(many)) * 2000 from plain").rows)

    def test_nested_calls_are_planned_in_linear_time(self):
        nested = "many"
        for _ in range(40):
            nested = f"reverse({nested}) || array_to_string(string_to_array({nested[:0]}many, '1'), '')"
        self.same(f"select length({nested}) from one")
        days = "ts" + " + interval '1 day'" * 60
        self.same(f"select {days} from plain")


if __name__ == "__main__":
    unittest.main()
