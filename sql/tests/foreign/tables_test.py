"""Tables of all kinds on Yunti's own executor: directories that name columns, files of several ages, empty files, CSV
and JSON lines.

The general executor answers each query too, and DuckDB where it reads such tables. The native executor must take all,
also with little memory.
"""

import bz2
import gzip
import json
import lzma
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


class Texts(Same):
    """CSV and JSON lines, compressed and not."""

    ROWS = 12000
    QUERIES = """
        select count(*), sum(id), sum(amount), count(kind), min(note), max(note), count(flag), min(day) from t
        select kind, count(*), sum(amount), avg(price) from t group by kind order by kind
        select id, note from t where note like '%new%' order by id limit 50
        select day, sum(price) from t where flag and amount > 10 group by day order by day
        select a.kind, count(*) from t a join t b on a.id = b.id + 1 group by 1 order by 1
        select id, amount from t order by amount desc nulls last, id limit 20
        select kind, id, row_number() over (partition by kind order by id desc) as n from t where id < 200 order by id
        select count(*) from t
        """

    @classmethod
    def setUpClass(cls):
        cls.root = os.path.join(here, "texts")
        os.makedirs(cls.root)
        chance = random.Random(5)
        notes = ["plain", "a, b", 'say ""no""', "two\nlines, new", "", "Zürich 云", "x" * 300]
        cls.records = []
        for n in range(cls.ROWS):
            cls.records.append({
                "id": n, "amount": chance.choice([None, chance.randrange(-99, 999)]),
                "price": round(chance.uniform(-5, 500), 2), "kind": chance.choice(["red", "green", None]),
                "flag": chance.choice([True, False]), "day": chance.choice(DAYS), "note": chance.choice(notes)})

    def csv(self, records, delimiter=",", header=True):
        def cell(value):
            text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
            return f'"{text}"' if any(mark in text for mark in (delimiter, '"', "\n")) else text
        lines = [delimiter.join(records[0])] if header else []
        lines += [delimiter.join(map(cell, record.values())) for record in records]
        return ("\n".join(lines) + "\n").encode()

    def json(self, records):
        plain = [{key: value for key, value in record.items() if value is not None} for record in records]
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in plain).encode()

    def write(self, name, data):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        opener = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(os.path.splitext(name)[1], open)
        with opener(path, "wb") as file:
            file.write(data)
        return path

    def each_query(self, path, memory=LITTLE, count=None):
        for sql in self.QUERIES.strip().splitlines()[:count]:
            with self.subTest(sql=sql.strip(), path=path):
                self.native(sql.strip(), {"t": path}, memory=memory)

    def test_csv(self):
        path = self.write("plain/a.csv", self.csv(self.records))
        duckdb.database.execute(f"create or replace view texts as select * from read_csv('{path}', quote='\"')")
        for sql in ["select count(*), sum(id), sum(amount), count(kind), sum(price) from t",
                    "select kind, count(*), sum(amount) from t group by kind order by kind"]:
            self.native(sql, {"t": path}, sql.replace("from t", "from texts"))
        self.each_query(path)

    def test_csv_compressed(self):
        for end in ("gz", "bz2", "xz"):
            path = self.write(f"packed/{end}/a.csv.{end}", self.csv(self.records[:4000]))
            self.each_query(path, "160MiB" if end == "xz" else LITTLE, count=3)

    def test_other_delimiters(self):
        self.each_query(self.write("tabs/a.tsv", self.csv(self.records[:4000], "\t")), count=3)
        path = self.write("bars/a.txt", self.csv(self.records[:4000], "|", header=False))
        self.native("select column_1, count(*) from t group by 1 order by 1",
                    {"t": f"{path},format=csv,header=false,delimiter=|"})

    def test_json_lines(self):
        path = self.write("lines/a.jsonl", self.json(self.records))
        self.each_query(path)
        self.each_query(self.write("lines/gz/a.jsonl.gz", self.json(self.records[:4000])), count=3)

    def test_json_of_several_morsels(self):
        records = [record | {"long": f"{number:06}" * 150} for number, record in enumerate(self.records * 4)]
        path = self.write("large/a.jsonl", self.json(records))
        self.assertGreater(os.path.getsize(path), 2 << 24)
        sql = "select count(*), count(distinct id), sum(id), min(long), max(long) from t"
        expect = self.native(sql, {"t": path}, memory=LITTLE, threads=3)
        ours = yunti.query(sql, {"t": path}, memory=LITTLE, threads=1, options=["--executor", "native"])
        self.assertEqual(ours.rows, expect.rows)

    def test_json_with_other_line_ends(self):
        data = b'{"a": 1, "b": "x"}\n\n  {"a": 2}\r\n{"b": null, "a": 3}\r\n{"b": "y"}'
        path = self.write("loose/a.json", data)
        self.native("select a, b from t order by a nulls last", {"t": path})
        self.native("select count(*) from t", {"t": path})

    def test_directories_of_texts(self):
        for number, day in enumerate(DAYS[:4]):
            for kind, data in (("csv", self.csv), ("jsonl", self.json)):
                folder = directory(os.path.join(self.root, f"days-{kind}"), [("hour", number), ("at", day)])
                name = os.path.relpath(folder, self.root)
                rows = [{"id": record["id"], "amount": record["amount"]} for record in self.records]
                self.write(f"{name}/a.{kind}", data(rows[number * 100:number * 100 + 50]))
                self.write(f"{name}/b.{kind}", data(rows[number * 100 + 50:number * 100 + 90]))
        for kind in ("csv", "jsonl"):
            tables = {"t": os.path.join(self.root, f"days-{kind}")}
            for sql in ["select hour, at, count(*), sum(amount), min(id) from t group by all order by all",
                        "select sum(id) from t where at = '2026-11-03'",
                        "select count(*) from t where hour > 1 and amount is not null"]:
                with self.subTest(sql=sql, kind=kind):
                    self.native(sql, tables, memory=LITTLE)
            plan = yunti.explain("select sum(id) from t where at = '2026-11-03'", tables)
            self.assertIn(", 2 of 8 files", plan)

    def test_empty_files_and_columns(self):
        self.write("holes/a.csv", b"a,b,c\n1,,x\n2,,\n")
        self.write("holes/b.csv", b"a,b,c\n")
        self.native("select a, b, c from t order by a", {"t": os.path.join(self.root, "holes")})
        self.native("select count(*), count(b), max(c) from t", {"t": os.path.join(self.root, "holes")})
        self.write("gaps/a.jsonl", b'{"a": 1}\n')
        self.write("gaps/b.jsonl", b"")
        self.write("gaps/c.jsonl", b'{"b": [1, 2], "a": null}\n')
        self.native("select a from t order by a", {"t": os.path.join(self.root, "gaps")})

    def test_errors_name_the_file_and_the_line(self):
        many = b"".join(b"%d,%d\n" % (n, n) for n in range(20000))
        for name, data, what in [
            # Arrow's reader counts the lines of values from 0, and those of fields from 1.
            ("wrong/type.csv", b"a,b\n" + many + b"1,x\n" + many, "line 20001"),
            ("wrong/fields.csv", b"a,b\n" + many + b"1,2,3\n" + many, "line 20002"),
            ("wrong/syntax.jsonl", b'{"a": 1}\n' * 20000 + b'{"a": }\n' + b'{"a": 1}\n' * 20000, "line 20001"),
            ("wrong/kind.jsonl", b'{"a": 1}\n' * 20000 + b'{"a": "x"}\n' + b'{"a": 1}\n' * 90, "line 20001"),
            ("wrong/cut.jsonl", b'{"a": 1}\n' * 20000 + b'{"a": 1', "line 20001"),
            ("wrong/late.jsonl", b'{"a": 1, "b": "%s"}\n' % (b"x" * 900) * 40000 + b'{"a": }\n', "line 40001"),
        ]:
            path = self.write(name, data)
            column = "b" if name.endswith(".csv") else "a"
            with self.subTest(name=name):
                with self.assertRaises(engines.Refused) as caught:
                    yunti.query(f"select sum({column}) from t", {"t": path}, options=["--executor", "native"])
                self.assertIn(what, str(caught.exception))
                self.assertIn(os.path.basename(name), str(caught.exception))

    def test_a_record_larger_than_the_memory_is_one_line(self):
        path = self.write("huge/a.jsonl", b'{"a": 1, "b": "z"}\n' * 20000 + b'{"b": "%s"}\n' % (b"y" * (40 << 20)))
        with self.assertRaisesRegex(engines.Refused, "--memory"):
            yunti.query("select count(b) from t", {"t": path}, memory="32MiB", options=["--executor", "native"])


if __name__ == "__main__":
    unittest.main()
