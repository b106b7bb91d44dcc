"""Jobs over columns (select, filter, aggregate) on Parquet: blocks of typed columns against records of text, and
aggregates against pyarrow.
"""

import datetime
import decimal
import glob
import math
import os
import random

import fastavro
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc
import pyarrow.orc as po
import pyarrow.parquet as pq

from tables import ROOT, Scratch, cell, random_table, yunti

CORPUS = os.path.join(ROOT, "../shared/data/parquet/data")
MARKED = ("-D", "columns.mark.nulls=true", "-o", "-", "--quiet")


def lines(*arguments):
    return yunti("run", *arguments, *MARKED)[0].split(b"\n")[:-1]


class Blocks(Scratch):
    def test_rows_of_blocks_are_the_records_of_text(self):
        for seed in range(40):
            table = random_table(seed)
            path = self.path(f"{seed}.parquet")
            pq.write_table(table, path, row_group_size=random.Random(seed).choice([7, 100, 10_000]))
            with self.subTest(seed=seed, schema=table.schema):
                blocks, records = lines("filter", path, "--where", "true"), lines("identity", path)
                # A single column is a key alone, and with a value that is empty.
                self.assertEqual([line.rstrip(b"\t") for line in blocks], [line.rstrip(b"\t") for line in records])

    def test_rows_of_other_formats(self):
        for seed in range(8):
            table = random_table(seed)
            parquet = self.path(f"{seed}.parquet")
            pq.write_table(table, parquet, row_group_size=100)
            for name in ("arrow", "arrow-stream", "avro", "orc"):
                out = self.path(f"{seed}-{name}")
                yunti("convert", parquet, out, "--output-format", name)
                if table.num_rows == 0:
                    continue
                path = glob.glob(os.path.join(out, "part-*"))[0]
                with self.subTest(seed=seed, format=name, schema=table.schema):
                    blocks, records = lines("filter", path, "--where", "true"), lines("identity", path)
                    self.assertEqual([line.rstrip(b"\t") for line in blocks], [line.rstrip(b"\t") for line in records])

    def test_rows_of_the_corpus_too(self):
        paths = glob.glob(os.path.join(CORPUS, "*.parquet"))
        if not paths:
            self.skipTest("the corpus is not beside the checkout")
        seen = 0
        for path in sorted(paths):
            if os.path.getsize(path) > 2 << 20 or "large_string" in path:
                continue
            with self.subTest(path=os.path.basename(path)):
                try:
                    records = lines("identity", path)
                except AssertionError:
                    continue
                self.assertEqual([line.rstrip(b"\t") for line in lines("filter", path, "--where", "true")],
                                 [line.rstrip(b"\t") for line in records])
                seen += 1
        self.assertGreater(seen, 20)


class Members(Scratch):
    """Members of structs as columns of expressions, with the types that they have in the file."""

    FORMATS = ("parquet", "arrow", "arrow-stream", "avro", "orc")

    def setUp(self):
        super().setUp()
        at = datetime.datetime(2026, 11, 25, 10)
        users = [
            {"age": 9, "at": at, "home": {"zip": "00100", "rent": decimal.Decimal("10.50")}},
            {"age": 10, "at": at + datetime.timedelta(days=1), "home": None},
            None,
            {"age": None, "at": None, "home": {"zip": None, "rent": decimal.Decimal("-0.25")}},
            {"age": -3, "at": at, "home": {"zip": "75001", "rent": None}},
        ]
        home = pa.struct([("zip", pa.string()), ("rent", pa.decimal128(9, 2))])
        user = pa.struct([("age", pa.int32()), ("at", pa.timestamp("us")), ("home", home)])
        # A column of just this name comes first.
        self.table = pa.table({"user": pa.array(users, user), "user.age": pa.array([1, 1, 1, 1, 1], pa.int64()),
                               "id": pa.array([0, 1, 2, 3, 4], pa.int64())})

    def write(self, format, table):
        path = self.path(f"members-{format}")
        if format == "avro":
            return self.write_avro(path, table)
        if format == "parquet":
            pq.write_table(table, path)
        elif format == "orc":
            po.write_table(table, path)
        else:
            make = ipc.new_file if format == "arrow" else ipc.new_stream
            with make(path, table.schema) as writer:
                writer.write_table(table)
        return path

    def write_avro(self, path, table):
        amount = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
        moment = {"type": "long", "logicalType": "local-timestamp-micros"}
        record = lambda name, **fields: {"type": "record", "name": name, "fields": [
            {"name": field, "type": ["null", kind]} for field, kind in fields.items()]}
        home = record("home", zip="string", rent=amount)
        schema = record("row", user=record("user", age="int", at=moment, home=home), id="long")
        with open(path, "wb") as f:
            fastavro.writer(f, schema, table.to_pylist())
        return path

    def test_members_have_their_types_in_every_format(self):
        table = self.table.drop_columns("user.age")
        for format in self.FORMATS:
            given = [self.write(format, table), "--input-format", format]
            with self.subTest(format=format):
                agg = "sum(user.age), min(user.age), max(user.age), sum(user.home.rent), max(user.home.zip), count(user.at)"
                self.assertEqual(lines("aggregate", *given, "--agg", agg), [b"16\t-3\t10\t10.25\t75001\t3"])
                where = "user.age < 10 and user.at >= timestamp '2026-11-25 10:00:00' and user.home.rent is null"
                self.assertEqual(lines("select", *given, "--columns", "id, hour(user.at)", "--where", where), [b"4\t10"])
                found = lines("select", *given, "--columns", "user.home.zip, user.age + 1")
                self.assertEqual(found, [b"00100\t10", b"\\N\t11", b"\\N\t\\N", b"\\N\t\\N", b"75001\t-2"])

    def test_a_column_with_a_point_in_its_name_comes_first(self):
        for format in self.FORMATS:
            if format == "avro":  # Names of Avro have no points.
                continue
            given = [self.write(format, self.table), "--input-format", format]
            with self.subTest(format=format):
                self.assertEqual(lines("aggregate", *given, "--agg", "sum(user.age)"), [b"5"])

    def test_members_that_are_not_there_are_refused(self):
        for format in self.FORMATS:
            given = [self.write(format, self.table.drop_columns("user.age")), "--input-format", format]
            for name in ("user.size", "user.home.age", "user.age.years", "id.age"):
                with self.subTest(format=format, name=name):
                    _, error = yunti("run", "aggregate", *given, "--agg", f"sum({name})", *MARKED, code=2)
                    self.assertIn(name, error)
                    self.assertEqual(error.count("\n"), 1)


class Aggregates(Scratch):
    def table(self, seed, rows):
        draw = random.Random(seed)
        maybe = lambda make: [None if draw.random() < 0.1 else make() for _ in range(rows)]
        return pa.table({
            "city": pa.array(maybe(lambda: draw.choice(["Paris", "Rome", "", "Oslo\tnorth"]))),
            "code": pa.array(maybe(lambda: draw.randrange(-3, 3)), pa.int16()),
            "big": pa.array(maybe(lambda: draw.randrange(-2**62, 2**62)), pa.int64()),
            "x": pa.array(maybe(lambda: draw.choice([0.0, -0.0, 1.5, -2.25, 1e300, draw.random()])), pa.float64()),
            "price": pa.array(maybe(lambda: round(draw.randrange(-10**6, 10**6) / 100, 2)), pa.float64()).cast(
                pa.decimal128(12, 2)),
            "day": pa.array(maybe(lambda: draw.randrange(-1000, 20_000)), pa.int32()).cast(pa.date32()),
            "at": pa.array(maybe(lambda: draw.randrange(-10**15, 10**15)), pa.timestamp("us", "UTC")),
            "ok": pa.array(maybe(lambda: draw.random() < 0.5)),
            "name": pa.array(maybe(lambda: f"name {draw.randrange(200)}")),
        })

    def aggregate(self, table, keys, *more, where=None):
        path = self.path("table.parquet")
        pq.write_table(table, path, row_group_size=500, use_dictionary=["city", "name"])
        columns = [name for name in table.column_names if name not in keys]
        number = [name for name in columns if name in ("big", "x", "price", "code")]
        agg = ["count"] + [f"count({c}), min({c}), max({c}), count(distinct {c})" for c in columns] + [f"sum({c})" for c in number]
        arguments = ["aggregate", path, "--agg", ", ".join(agg), *more]
        arguments += ["--by", ",".join(keys)] if keys else []
        arguments += ["--where", where] if where else []
        found = {}
        for line in lines(*arguments):
            cells = [cell(c) for c in line.split(b"\t")]
            found[tuple(cells[:len(keys)])] = cells[len(keys):]
        return columns, number, found

    def check(self, table, keys, *more, where=None, kept=None):
        columns, number, found = self.aggregate(table, keys, *more, where=where)
        table = table if kept is None else table.filter(kept)
        groups = {}
        rows = table.to_pylist()
        texts = dict(zip(table.column_names, [self.texts(table, name) for name in table.column_names]))
        for number_of_row in range(len(rows)):
            groups.setdefault(tuple(texts[key][number_of_row] for key in keys), []).append(number_of_row)
        self.assertEqual(set(found), set(groups))
        for key, members in groups.items():
            expect = [str(len(members)).encode()]
            for name in columns:
                values = [(rows[n][name], texts[name][n]) for n in members if rows[n][name] is not None]
                smallest = min(values, key=lambda v: self.order(v[0]))[1] if values else None
                largest = max(values, key=lambda v: self.order(v[0]))[1] if values else None
                distinct = len({self.order(value) for value, _ in values})
                expect += [str(len(values)).encode(), smallest, largest, str(distinct).encode()]
            got = found[key][:len(expect)]
            self.assertEqual([self.plain(c) for c in got], [self.plain(c) for c in expect], key)
            for name, total in zip(number, found[key][len(expect):]):
                values = [rows[n][name] for n in members if rows[n][name] is not None]
                if not values:
                    self.assertIsNone(total)
                elif name == "x":
                    self.assertEqual(float(total), math.fsum(values))
                else:
                    self.assertEqual(total.decode(), f"{sum(values):f}" if name == "price" else str(sum(values)))

    @staticmethod
    def order(value):
        return value.encode() if isinstance(value, str) else value

    @staticmethod
    def plain(text):
        return b"0.0" if text == b"-0.0" else text

    def texts(self, table, name):
        """The texts of a column, as a job of records gives them."""
        path = self.path("one.parquet")
        pq.write_table(table.select([name]), path)
        return [cell(line.rstrip(b"\t")) for line in lines("identity", path)]

    def test_groups_by_columns_of_each_type(self):
        table = self.table(1, 3000)
        for keys in (["city"], ["code"], ["ok"], ["price"], ["day"], ["at"], ["city", "code"], ["ok", "name", "code"], []):
            with self.subTest(keys=keys):
                self.check(table, keys)
                self.check(table, keys, "--threads", "3", "--split-size", "1000", "--memory", "64MiB")

    def test_conditions_leave_rows_out(self):
        table = self.table(2, 3000)
        for where, kept in (
            ("code > 0", pc.greater(table["code"], 0)),
            ("code > 0 and city = 'Rome'", pc.and_kleene(pc.greater(table["code"], 0), pc.equal(table["city"], "Rome"))),
            ("price between 10 and 5000.5", pc.and_(pc.greater_equal(table["price"], 10), pc.less_equal(table["price"], 5000.5))),
            ("name like '%7' or name is null", pc.or_kleene(pc.ends_with(table["name"], "7"), pc.is_null(table["name"]))),
            ("day >= '1990-01-01' and day < '2000-01-01'",
             pc.and_(pc.greater_equal(table["day"].cast(pa.int32()), 7305), pc.less(table["day"].cast(pa.int32()), 10957))),
            ("big > 4611686018427387904", pc.greater(table["big"], 2**62)),
        ):
            with self.subTest(where=where):
                self.check(table, ["city"], where=where, kept=kept)

    def test_only_needed_columns_are_read(self):
        table = self.table(3, 20_000)
        path = self.path("table.parquet")
        pq.write_table(table, path)
        _, error = yunti("run", "aggregate", path, "--by", "city", "--agg", "count", "-o", self.path("out"))
        self.assertRegex(error, r"read .* of ")

    def test_output_has_the_types_of_the_columns(self):
        table = self.table(4, 2000)
        path, out = self.path("table.parquet"), self.path("out")
        pq.write_table(table, path)
        yunti("run", "aggregate", path, "--by", "city,day", "--agg", "sum(price) as total, max(at) as last, count, mean(x)",
              "-o", out, "--output-format", "parquet", "--quiet")
        written = pq.read_table(glob.glob(os.path.join(out, "part-*"))[0])
        self.assertEqual(written.column_names, ["city", "day", "total", "last", "count", "mean(x)"])
        self.assertEqual([str(field.type) for field in written.schema],
                         ["string", "date32[day]", "decimal128(38, 2)", "timestamp[us, tz=+00:00]", "int64", "double"])
        self.assertEqual(sum(written["count"].to_pylist()), 2000)
