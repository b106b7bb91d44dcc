#!/usr/bin/env python3
"""Queries on a real cluster, and the same on one machine: TPC-H, a killed task, errors.

    build/sql-environment/bin/python hadoop/tests/sql_test.py

It needs `make hadoop sql stores sql-environment`. YUNTI_SHARED_CLUSTER names the cluster; without it, this test starts
its own. Files of these tests in HDFS lie in /sql. YUNTI_SQL_ON_YARN=all runs each of the 22 queries in both ways.
"""

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import duckdb

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../sql/tests")]

import live_cluster  # noqa: E402
from data import tables  # noqa: E402
from live_cluster import YUNTI  # noqa: E402
from benchmarks.tpch_test import text  # noqa: E402

SCALE = 0.01
ALL = os.environ.get("YUNTI_SQL_ON_YARN") == "all"
# Small tables everywhere and one reduce task, as for tables of this size; or all tables split, and two reduce tasks.
NEAR = []
FAR = ["-D", "yunti.sql.small.bytes=20000", "-D", "mapreduce.job.reduces=2",
       "-D", "mapreduce.input.fileinputformat.split.maxsize=1000000"]
NEAR_QUERIES = range(1, 23) if ALL else (2, 11, 13, 16, 18)
FAR_QUERIES = range(1, 23) if ALL else (1, 12)


def setUpModule():
    global cluster, here
    here = tables.tpch(SCALE)
    cluster = live_cluster.shared("cluster-sql")
    unittest.addModuleCleanup(cluster.down)
    cluster.ok("hadoop", "fs", "-mkdir", "-p", "/sql/tpch")
    cluster.ok("hadoop", "fs", "-put", "-f", *here.values(), "/sql/tpch/")


def named(paths):
    return [word for name, path in paths.items() for word in ("--table", f"{name}={path}")]


def there():
    return {name: f"/sql/tpch/{os.path.basename(path)}" for name, path in here.items()}


def local(sql, tables=None):
    done = subprocess.run([YUNTI, "sql", *named(here if tables is None else tables), "--", sql], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def left_over():
    """Returns what queries have left in the user's home."""
    return cluster.execute("hadoop", "fs", "-ls", "-R", ".yunti-sql").stdout.splitlines()[1:]


class Remote(unittest.TestCase):
    maxDiff = None

    def remote(self, sql, *options, code=0, tables=None):
        tables = named(there() if tables is None else tables)
        done = cluster.execute("in-cluster", YUNTI, "sql", "--on", "yarn", *options, *tables, "--", sql)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done


class Queries(Remote):
    def same(self, number, *options):
        sql = text(number, SCALE)
        done = self.remote(sql, *options)
        ours, want = done.stdout.splitlines(), local(sql).splitlines()
        if "order by" not in sql:
            ours[1:], want[1:] = sorted(ours[1:]), sorted(want[1:])
        self.assertEqual(ours, want)

    def test_one_stage_where_tables_are_small(self):
        for number in NEAR_QUERIES:
            with self.subTest(query=number):
                self.same(number, *NEAR)

    def test_stages_and_several_reduces(self):
        for number in FAR_QUERIES:
            with self.subTest(query=number):
                self.same(number, *FAR)

    def test_a_killed_task_is_tried_again(self):
        for kind in "mr":
            with self.subTest(kind=kind):
                sql = text(1, SCALE)
                words = ["in-cluster", YUNTI, "sql", "--on", "yarn", *FAR, *named(there()), "--", sql]
                job = cluster.begin(*words)
                task = job.task(kind, 0)
                task.signal(signal.SIGKILL)
                code, printed = job.end()
                self.assertEqual(code, 0, printed)
                rows = [line for line in printed.splitlines() if not line.startswith("yunti: ")]
                self.assertEqual(rows, local(sql).splitlines())

    def test_windows(self):
        for sql in [
            "select o_orderkey, row_number() over (partition by o_custkey order by o_orderdate, o_orderkey) as n, "
            "sum(o_totalprice) over (partition by o_custkey order by o_orderkey) as s from orders order by 1",
            "select * from (select l_orderkey, l_linenumber, rank() over (order by l_extendedprice desc, l_orderkey, "
            "l_linenumber) as r, lag(l_tax) over (partition by l_suppkey order by l_orderkey, l_linenumber) as t "
            "from lineitem) where r < 50 order by r",
            "select o_orderpriority, count(*), max(n) from (select o_orderpriority, count(*) over (partition by "
            "o_orderpriority, o_orderdate) as n from orders) group by 1 order by 1",
        ]:
            with self.subTest(sql=sql):
                ours = self.remote(sql, *FAR).stdout.splitlines()
                self.assertEqual(ours, local(sql).splitlines())

    def test_explain_prints_stages(self):
        printed = self.remote(text(3, SCALE), *FAR, "--explain").stdout
        self.assertRegex(printed, r"stage 1 of \d: 2 reduces")
        self.assertIn("map tasks over hdfs:///sql/tpch/lineitem.parquet", printed)

    def test_errors_are_one_line_and_leave_nothing(self):
        for sql, code, what in [
            ("select 1", 2, "without rows of a table"),
            ("select count(*) from '/sql/none.parquet'", 3, "no such file"),
            ("select cast(l_comment as int) from lineitem", 9, ""),
            ("select array_agg(l_tax) from lineitem", 2, "cannot run on a cluster"),
        ]:
            with self.subTest(sql=sql):
                done = self.remote(sql, "-D", "mapreduce.map.maxattempts=1", code=code)
                last = done.stderr.splitlines()[-1]
                self.assertTrue(last.startswith("yunti: "), done.stderr)
                self.assertIn(what, last)
        self.assertEqual(left_over(), [])

    def test_without_a_cluster_there_is_one_line(self):
        done = subprocess.run([YUNTI, "sql", "--on", "yarn", "select 1"], capture_output=True, text=True, timeout=60,
                              env=os.environ | {"PATH": "/usr/bin:/bin"})
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("there is no hadoop in PATH", done.stderr)

    def test_ctrl_c_kills_the_job_and_leaves_nothing(self):
        job = cluster.begin("in-cluster", YUNTI, "sql", "--on", "yarn", *FAR, *named(there()), "--", text(9, SCALE))
        job.task("m", 0)
        job.client.send_signal(signal.SIGINT)
        code, printed = job.end()
        self.assertEqual(code, 130, printed)
        self.assertEqual(left_over(), [])
        running = cluster.ok("mapred", "job", "-list")
        self.assertRegex(running, re.compile(r"Total jobs:0", re.I))


class Tables(Remote):
    """Tables whose directories name columns, of Parquet, CSV and JSON lines, small and large."""

    QUERIES = [
        "select day, city, count(*), sum(v), min(t) from t group by day, city order by 1, 2",
        "select count(*), sum(v) from t where day = date '2026-11-02'",
        "select city, v, t from t where v % 100 = 7 and city is not null order by 1, 2",
        "select count(*) from t",
        "select a.city, count(*) from t a join t b on a.v = b.v and a.day = b.day group by 1 order by 1",
        "select count(*) from t where day = (select max(day) from t)",
    ]
    FAR = ["-D", "yunti.sql.small.bytes=100", "-D", "mapreduce.job.reduces=2"]
    KINDS = ("parquet", "csv", "csv.gz", "jsonl")

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="yunti-sql-on-yarn-")
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cities = ["New York", "a%2Fb", "__HIVE_DEFAULT_PARTITION__"]
        for kind in cls.KINDS:
            for day, city in itertools.product(range(1, 3), cities):
                folder = os.path.join(cls.root, kind, f"day=2026-11-{day:02}", f"city={city}")
                os.makedirs(folder)
                first = day * 1000 + cities.index(city) * 200
                rows = f"select v, 'text, ' || (v % 7) as t from range({first}, {first + 150}) t(v)"
                duckdb.sql(rows).write_parquet(f"{folder}/x.parquet") if kind == "parquet" else \
                    duckdb.sql(f"copy ({rows}) to '{folder}/x.{kind}' (format {'json' if kind == 'jsonl' else 'csv'})")
        cluster.ok("hadoop", "fs", "-put", "-f", cls.root, "/sql/kinds")

    def test_kinds(self):
        for kind in self.KINDS:
            count = 1 if kind != "parquet" else len(self.QUERIES) if ALL else 2
            far = self.QUERIES[:count:4] if ALL or kind in ("parquet", "csv") else []
            for options, queries in ((NEAR, self.QUERIES[:count]), (self.FAR, far)):
                for sql in queries:
                    with self.subTest(kind=kind, sql=sql, options=options):
                        ours = self.remote(sql, *options, tables={"t": f"/sql/kinds/{kind}"}).stdout
                        self.assertEqual(ours, local(sql, {"t": os.path.join(self.root, kind)}))

    def test_a_condition_leaves_out_files(self):
        sql = "select sum(v) from t where day = date '2026-11-02' and city = 'New York'"
        plan = self.remote(sql, *self.FAR, "--explain", tables={"t": "/sql/kinds/parquet"}).stdout
        self.assertEqual(plan.count("x.parquet"), 1, plan)
        self.assertIn("day=2026-11-02/city=New York/x.parquet", plan)

    def test_a_wrong_record_is_one_line(self):
        path = os.path.join(self.root, "wrong.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("a,b\n" + "1,2\n" * 20000 + "1,x\n")
        cluster.ok("hadoop", "fs", "-put", "-f", path, "/sql/wrong.csv")
        done = self.remote("select sum(b) from t", "-D", "mapreduce.map.maxattempts=1", *self.FAR, code=4,
                           tables={"t": "/sql/wrong.csv"})
        self.assertRegex(done.stderr.splitlines()[-1], "^yunti: .*'x' as type .*wrong.csv")


class SharedTables(Remote):
    """Tables with an index (.ytab): looked up in each task, scanned in parts."""

    USERS = 30_000
    # Users have three parts, and orders two splits.
    OPTIONS = ["-D", "yunti.sql.small.bytes=1000", "-D", "mapreduce.job.reduces=2",
               "-D", "mapreduce.input.fileinputformat.split.maxsize=300000"]
    QUERIES = [
        ("select u.city, count(*), sum(u.score), min(o.id) from orders o join users u on o.user_id = u.user_id "
         "group by 1 order by 1", ["look-up by the key of users", "map tasks over hdfs:///sql/shared/orders"]),
        ("select count(*), sum(user_id), max(name) from users where score > 20",
         ["map tasks over nowhere: one task", "part 1 of"]),
        ("select o.town, count(u.name), count(*) from orders o left join users u on o.user_id = u.user_id "
         "and u.score > 5 group by 1 order by 1", ["look-up by the key of users"]),
        ("select count(*), sum(id) from orders o where not exists (select 1 from users u where u.user_id = o.user_id)",
         ["look-up by the key of users"]),
        ("select name, city from users where user_id in (7, 14, 15, 700007) order by 1", ["look up 4 keys in users"]),
        ("select u.name, o.id from users u left join orders o on o.user_id = u.user_id where u.score < 9 order by 1, 2",
         ["part 1 of", "Left join"]),
        ("select count(*), count(u.name), sum(o.id) from orders o full join users u on o.user_id = u.user_id", []),
    ]

    @classmethod
    def setUpClass(cls):
        root = tempfile.mkdtemp(prefix="yunti-sql-shared-")
        cls.addClassCleanup(shutil.rmtree, root)
        users = "select i * 7 as user_id, 'user ' || i as name, 'city ' || (i % 9) as city, " \
                f"if(i % 5 = 0, null, i % 1000 / 8) as score from range({cls.USERS}) t(i)"
        orders = f"select i as id, if(i % 11 = 0, null, (i * 13) % {cls.USERS * 8}) as user_id, " \
                 "'town ' || (i % 4) as town from range(25000) t(i)"
        cls.database = duckdb.connect()
        for name, rows in (("users", users), ("orders", orders)):
            cls.database.execute(f"create table {name} as {rows}")
            cls.database.execute(f"copy {name} to '{root}/{name}.csv' (header)")
        subprocess.run([YUNTI, "table", "build", f"{root}/users.csv", "--key", "user_id:i64", "--columns",
                        "name,city:dict,score:f64?", "-o", f"{root}/users.ytab", "-q"], check=True)
        cls.database.execute(f"copy orders to '{root}/orders.parquet' (row_group_size 5000)")
        cls.here = {"users": f"{root}/users.ytab", "orders": f"{root}/orders.parquet"}
        cluster.ok("hadoop", "fs", "-mkdir", "-p", "/sql/shared")
        with open(cls.here["users"], "rb") as file:
            whole = bytearray(file.read())
        whole[40] ^= 1
        with open(f"{root}/damaged.ytab", "wb") as file:
            file.write(whole)
        cluster.ok("hadoop", "fs", "-put", "-f", *cls.here.values(), f"{root}/damaged.ytab", "/sql/shared/")
        cls.there = {"users": "/sql/shared/users.ytab", "orders": "/sql/shared/orders.parquet"}

    def test_answers_are_those_of_one_machine_and_of_duckdb(self):
        for sql, how in self.QUERIES if ALL else self.QUERIES[:3]:
            with self.subTest(sql=sql):
                plan = self.remote(sql, *self.OPTIONS, "--explain", tables=self.there).stdout
                for words in how:
                    self.assertIn(words, plan)
                ours = self.remote(sql, *self.OPTIONS, tables=self.there).stdout
                self.assertEqual(ours, local(sql, self.here))
                rows = [tuple(line.split(",")) for line in ours.splitlines()[1:]]
                want = self.database.execute(sql).fetchall()
                self.assertEqual(len(rows), len(want))
                for row, expected in zip(rows, want):
                    for value, wanted in zip(row, expected):
                        if isinstance(wanted, float):
                            self.assertAlmostEqual(float(value), wanted)
                        else:
                            self.assertEqual(value, "" if wanted is None else str(wanted))

    def test_scans_are_divided_into_parts(self):
        plan = self.remote(self.QUERIES[1][0], *self.OPTIONS, "--explain", tables=self.there).stdout
        bytes_ = os.path.getsize(self.here["users"])
        count = -(-bytes_ // 300_000)
        self.assertGreater(count, 1)
        self.assertEqual(re.findall(r"scan users.*, part (\d) of (\d)", plan),
                         [(str(part + 1), str(count)) for part in range(count)], plan)

    def test_wrong_tables_are_one_line(self):
        for path, code, what in (("/sql/shared/damaged.ytab", 4, "the table is damaged"),
                                 ("/sql/shared/none.ytab", 3, "no such file")):
            done = self.remote("select count(*) from users", code=code, tables={"users": path})
            last = done.stderr.splitlines()[-1]
            self.assertRegex(last, f"^yunti: .*{what}")
            self.assertIn(path, last)


if __name__ == "__main__":
    unittest.main()
