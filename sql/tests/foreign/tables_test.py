"""Tables of all kinds on Yunti's own executor: directories that name columns, files of several ages, empty files.

The general executor answers each query too, and DuckDB where it reads such tables. The native executor must take all,
also with little memory.
"""

import os
import random
import shutil
import tempfile
import unittest
import urllib.parse

import pyarrow as pa
import pyarrow.parquet as pq

import answers
import engines

DAYS = [f"2026-11-{day:02}" for day in range(1, 13)]
# Names that directories write with escapes, a null, and names that sort unlike numbers.
CITIES = ["Oslo", "New York", "a/b=c%d", "Zürich 云", None, "it's", "10", "9"]
LITTLE = "64MiB"


def setUpModule():
    global here, yunti, duckdb
    here = tempfile.mkdtemp(prefix="yunti-tables-")
    unittest.addModuleCleanup(shutil.rmtree, here)
    yunti, duckdb = engines.Yunti(), engines.DuckDb()


def directory(root, pairs):
    """Returns a directory that names columns, as Hive writes it."""
    names = []
    for name, value in pairs:
        text = "__HIVE_DEFAULT_PARTITION__" if value is None else urllib.parse.quote(str(value), safe=" -_.'")
        names.append(f"{name}={text}")
    path = os.path.join(root, *names)
    os.makedirs(path, exist_ok=True)
    return path


def rows_of(seed, count):
    chance = random.Random(seed)
    return {
        "id": list(range(seed * 1000, seed * 1000 + count)),
        "amount": [chance.choice([None, chance.randrange(-50, 1000)]) for _ in range(count)],
        "kind": [chance.choice(["red", "green", "blue", None]) for _ in range(count)],
    }


class Same(unittest.TestCase):
    maxDiff = None

    def native(self, sql, tables, peer=None, **limits):
        """Compares the native executor with the general one, and with a peer's view of the same tables."""
        self.assertIn("native", yunti.explain(sql, tables).splitlines()[0], sql)
        ours = yunti.query(sql, tables, options=["--executor", "native"], **limits)
        general = yunti.query(sql, tables, options=["--executor", "general"])
        self.assertIsNone(answers.difference(ours, general), sql)
        if peer is not None:
            theirs = engines.of_arrow(duckdb.database.sql(peer).to_arrow_table())
            self.assertIsNone(answers.difference(ours, theirs, quotients=True), peer)
        return ours


class Directories(Same):
    QUERIES = """
        select count(*), count(day), count(city), min(day), max(day), min(city), max(city) from t
        select day, count(*), sum(amount) from t group by day order by day
        select city, count(*), sum(amount), count(distinct day) from t group by city order by city
        select day, city, kind, count(*) from t group by all order by all
        select count(*), sum(id) from t where day = '2026-11-03'
        select count(*), sum(id) from t where day > date '2026-11-03' and day <= '2026-11-07' and amount > 500
        select count(*), sum(id) from t where city in ('New York', 'a/b=c%d') or city is null
        select count(*), sum(id) from t where city is null and kind = 'red'
        select count(*), sum(id) from t where city like 'Z%' and extract(day from day) % 2 = 1
        select count(*), sum(id) from t where day = (select max(day) from t)
        select count(*), sum(id) from t where day = '2020-01-01'
        select city, day from t where id = 3001
        select id, day, city from t where kind = 'blue' and amount > 900 order by id limit 20
        select a.day, count(*) from t a join t b on a.day = b.day and a.id = b.id group by 1 order by 1
        select c.n, count(*), sum(t.amount) from t join c on t.city = c.city group by 1 order by 1
        select c.n, count(t.id) from c left join t on t.city = c.city and t.day = date '2026-11-02' group by 1 order by 1
        select city, sum(amount) over (partition by city order by id) as s, id from t where day < '2026-11-03' order by id
        select coalesce(city, 'none') || '/' || cast(day as varchar) as label, max(id) from t group by 1 order by 1
        select distinct day from t where city = 'Oslo' order by 1
        select day, city from t order by day desc, city nulls first, id limit 7
        """

    @classmethod
    def setUpClass(cls):
        cls.root = os.path.join(here, "days")
        number = 0
        for day in DAYS:
            for city in CITIES:
                path = directory(cls.root, [("day", day), ("city", city)])
                pq.write_table(pa.table(rows_of(number, 40 + number % 7)), os.path.join(path, "part-0.parquet"))
                number += 1
        small = os.path.join(here, "c.parquet")
        pq.write_table(pa.table({"city": CITIES[:6], "n": list(range(6))}), small)
        cls.tables = {"t": cls.root, "c": small}
        duckdb.database.execute(f"create or replace view t as select * exclude (day), cast(day as date) as day from "
                                f"read_parquet('{cls.root}/*/*/*.parquet', hive_partitioning = true)")
        duckdb.database.execute(f"create or replace view c as select * from '{small}'")

    def queries(self):
        return [line.strip() for line in self.QUERIES.strip().splitlines()]

    def test_queries(self):
        for sql in self.queries():
            with self.subTest(sql=sql):
                self.native(sql, self.tables, sql)

    def test_with_little_memory(self):
        for sql in self.queries():
            with self.subTest(sql=sql):
                self.native(sql, self.tables, memory=LITTLE, threads=2)

    def test_a_condition_leaves_out_files(self):
        for condition, files in [("day = '2026-11-03'", 8), ("city is null", 12), ("day < '2026-11-02' and id > 5", 8),
                                 ("city = 'New York' and day >= '2026-11-11'", 2), ("day = '2020-01-01'", 0)]:
            with self.subTest(condition=condition):
                plan = yunti.explain(f"select count(*) from t where {condition}", self.tables)
                self.assertIn(f", {files} of 96 files", plan)

    def test_other_files_are_not_read(self):
        """Damage in the middle of a file fails each query that reads its rows."""
        root = os.path.join(here, "damaged")
        for day in DAYS[:3]:
            path = os.path.join(directory(root, [("day", day)]), "x.parquet")
            pq.write_table(pa.table({"v": [f"{day} {n}" for n in range(20000)]}), path, compression="snappy")
            if day != DAYS[1]:
                with open(path, "r+b") as file:
                    file.seek(os.path.getsize(path) // 3)
                    file.write(b"\xff" * 4000)
        tables = {"t": root, "d": os.path.join(here, "d.parquet")}
        pq.write_table(pa.table({"day": pa.array([DAYS[1]]).cast(pa.date32())}), tables["d"])
        for sql in [f"select count(v) as n from t where day = '{DAYS[1]}'",
                    f"select count(v) as n from t where day = (select max(day) from d)",
                    "select count(v) as n from t join d on t.day = d.day"]:
            with self.subTest(sql=sql):
                self.assertEqual(yunti.query(sql, tables, options=["--executor", "native"]).rows, [(20000,)])
        with self.assertRaises(engines.Refused):
            yunti.query("select count(v) as n from t", tables, options=["--executor", "native"])

    def test_types_of_directories(self):
        root = os.path.join(here, "numbers")
        for hour in [None, 0, 7, 23]:
            for code in ["01", "1", "x"]:
                path = directory(root, [("hour", hour), ("code", code)])
                pq.write_table(pa.table({"v": [1, 2, 3]}), os.path.join(path, "f.parquet"))
        for sql in ["select hour, code, sum(v) from t group by all order by all",
                    "select sum(hour), min(code), count(hour) from t where code <> '1'",
                    "select hour + 1 as h, count(*) from t where hour between 5 and 30 group by 1 order by 1",
                    "select hour, hour / 2 as half, v from t where v = 2 and code = 'x' order by hour"]:
            with self.subTest(sql=sql):
                self.native(sql, {"t": root})

    def test_one_directory_by_its_path(self):
        path = os.path.join(self.root, "day=2026-11-02")
        ours = self.native("select day, city, count(*) as n from t group by all order by all", {"t": path})
        self.assertEqual(len(ours.rows), len(CITIES))


class Ages(Same):
    """Files whose columns differ, and files without rows or bytes."""

    def test_columns_that_some_files_lack(self):
        root = os.path.join(here, "ages")
        os.makedirs(root)
        for n in range(14):
            table = {"id": [n * 10 + k for k in range(5)]}
            if n % 2:
                table["name"] = [f"n{n}", None, "x", "y", "z"]
            if n > 9:
                table = {"extra": [n + 0.5] * 5} | table
            pq.write_table(pa.table(table), os.path.join(root, f"f{n:02}.parquet"))
        peer = f"(select * from read_parquet('{root}/*.parquet', union_by_name = true))"
        for sql in ["select count(*), count(name), count(extra), sum(id), sum(extra) from {t}",
                    "select name, count(*) from {t} group by 1 order by 1",
                    "select id, extra from {t} where name = 'x' order by id",
                    "select id from {t} where extra is null and name is not null order by id",
                    "select count(*) from {t} where extra > 12"]:
            with self.subTest(sql=sql):
                self.native(sql.format(t="t"), {"t": root}, sql.format(t=peer), memory=LITTLE)

    def test_empty_files(self):
        root = os.path.join(here, "empty")
        for day in DAYS[:3]:
            path = directory(root, [("day", day)])
            pq.write_table(pa.table({"v": pa.array([] if day == DAYS[1] else [1, 2], pa.int64())}), f"{path}/a.parquet")
            open(f"{path}/b.parquet", "w").close()
        self.native("select day, sum(v), count(*) from t group by 1 order by 1", {"t": root})
        with self.assertRaisesRegex(engines.Refused, "the file is empty"):
            yunti.query("select * from t", {"t": f"{root}/day={DAYS[0]}/b.parquet"})

    def test_types_that_differ_are_one_line(self):
        root = os.path.join(here, "types")
        os.makedirs(root)
        pq.write_table(pa.table({"v": [1]}), f"{root}/a.parquet")
        pq.write_table(pa.table({"v": ["x"]}), f"{root}/b.parquet")
        with self.assertRaises(engines.Refused):
            yunti.query("select v from t", {"t": root})

    def test_many_files(self):
        root = os.path.join(here, "many")
        for n in range(1500):
            path = directory(root, [("n", n)])
            pq.write_table(pa.table({"v": [n, n + 1]}), f"{path}/x.parquet")
        peer = f"read_parquet('{root}/*/*.parquet', hive_partitioning = true)"
        for sql in ["select count(*), sum(v), sum(n), count(distinct n) from {t}",
                    "select n % 10 as d, sum(v) from {t} where n >= 700 group by 1 order by 1"]:
            with self.subTest(sql=sql):
                self.native(sql.format(t="t"), {"t": root}, sql.format(t=peer), memory=LITTLE)


if __name__ == "__main__":
    unittest.main()
