"""Applications on tables: joins, hash joins, top, distinct and samples by typed columns, against plain Python."""

import collections
import datetime
import decimal
import glob
import json
import math
import os
import random
import unittest

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.ipc as ipc
import pyarrow.orc as po
import pyarrow.parquet as pq

from tables import Scratch, yunti

SEEDS = 60
EPOCH = datetime.datetime(2020, 1, 1)
NUMBERS = ["int16", "int32", "int64", "uint64", "float64", "decimal"]
# Types of a group can be compared with each other.
GROUPS = [NUMBERS, NUMBERS, ["date", "ms", "us"], ["text"], ["bool"]]
TYPES = {"float64": pa.float64(), "decimal": pa.decimal128(12, 2), "date": pa.date32(), "ms": pa.timestamp("ms"),
         "us": pa.timestamp("us"), "text": pa.string(), "bool": pa.bool_()}


def column(draw, kind, rows, spread):
    share = draw.choice([0, 0.1, 0.3])

    def value():
        n = draw.randrange(-spread, spread)
        if kind in ("date", "ms", "us"):
            moment = EPOCH + datetime.timedelta(days=n, seconds=0 if kind == "date" else draw.choice([0, 0, 1]))
            return moment.date() if kind == "date" else moment
        return {"float64": lambda: draw.choice([float(n), n + 0.5, -0.0, math.nan if draw.random() < 0.1 else 0.0]),
                "decimal": lambda: decimal.Decimal(n * 100 + draw.choice([0, 0, 50])) / 100,
                "uint64": lambda: abs(n), "bool": lambda: n > 0,
                "text": lambda: draw.choice(["", "a", "b\t", 'c\n"x",', "é\\N", f"d{n}"])}.get(kind, lambda: n)()

    values = [None if draw.random() < share else value() for _ in range(rows)]
    return pa.array(values, TYPES.get(kind) or getattr(pa, kind)())


def plain(value):
    """A value in one form for all types that can be compared."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, float):
        return "nan" if math.isnan(value) else decimal.Decimal(repr(value)).normalize() + 0
    if isinstance(value, (int, decimal.Decimal)):
        return decimal.Decimal(value).normalize() + 0
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return datetime.datetime(value.year, value.month, value.day)


def plain_rows(table):
    return [tuple(plain(value) for value in row) for row in zip(*(table[n].to_pylist() for n in range(table.num_columns)))]


def joined(left, right, width, kind):
    """Rows of a join whose keys are the first columns."""
    partners = collections.defaultdict(list)
    for row in right:
        if None not in row[:width]:
            partners[row[:width]].append(row[width:])
    met, out = set(), []
    for row in left:
        found = partners.get(row[:width], []) if None not in row[:width] else []
        met.add(row[:width])
        if kind in ("semi", "anti"):
            out += [row] if bool(found) == (kind == "semi") else []
            continue
        out += [row + other for other in found]
        if not found and kind in ("left", "full"):
            out.append(row + (None,) * (len(right[0]) - width if right else 0))
    if kind in ("right", "full"):
        nulls = (None,) * (len(left[0]) - width if left else 0)
        out += [row[:width] + nulls + row[width:] for row in right if None in row[:width] or row[:width] not in met]
    return out


class Tables(Scratch):
    def write(self, draw, table, name):
        kinds = {str(field.type) for field in table.schema}
        format = draw.choice(["parquet", "arrow"] if "uint64" in kinds else ["parquet", "arrow", "orc"])
        path = self.path(f"{name}.{format}")
        if format == "parquet":
            pq.write_table(table, path, row_group_size=draw.choice([1, 40, 1000]))
        elif format == "orc":
            po.write_table(table, path)
        else:
            with ipc.new_file(path, table.schema) as writer:
                writer.write_table(table, max_chunksize=draw.choice([30, 1000]))
        return path

    def run_typed(self, *arguments):
        out = self.path("out")
        yunti("run", *arguments, "-o", out, "--output-format", "parquet", "--overwrite", "--quiet")
        return pa.concat_tables(pq.read_table(path) for path in sorted(glob.glob(os.path.join(out, "part-*"))))


class Joins(Tables):
    def test_random_tables_of_all_types_and_formats(self):
        for seed in range(SEEDS):
            draw = random.Random(seed)
            rows, spread, width = [draw.choice([1, 30, 200]) for _ in range(2)], draw.choice([3, 30]), draw.randrange(1, 4)
            groups = [draw.choice(GROUPS) for _ in range(width)]
            names = [[f"k{n}" for n in range(width)], [draw.choice([f"k{n}", f"j{n}"]) for n in range(width)]]
            tables = []
            for side in range(2):
                columns = {name: column(draw, draw.choice(group), rows[side], spread)
                           for name, group in zip(names[side], groups)}
                for n in range(draw.randrange(3)):
                    columns[f"v{n}"] = column(draw, draw.choice(NUMBERS + ["text", "date", "bool"]), rows[side], spread)
                tables.append(pa.table(columns))
            paths = [self.write(draw, table, f"{seed}-{n}") for n, table in enumerate(tables)]
            left, right = map(plain_rows, tables)
            keys = ",".join(a if a == b else f"{a}={b}" for a, b in zip(*names))
            for kind in ("inner", "left", "right", "full", "semi", "anti"):
                more = draw.choice([[], ["--memory", "16MiB"], ["--threads", "3", "--split-size", "1000"]])
                jobs = [["join", *paths], ["hash-join", paths[0], "--side-file", paths[1]]]
                for job in jobs[:1] if kind in ("right", "full") else jobs:
                    with self.subTest(seed=seed, kind=kind, job=job[0], left=tables[0].schema, right=tables[1].schema):
                        found = self.run_typed(*job, "--key-columns", keys, "-D", f"join.kind={kind}", *more)
                        self.assertEqual(collections.Counter(plain_rows(found)),
                                         collections.Counter(joined(left, right, width, kind)))

    def test_a_csv_file_and_json_lines(self):
        people = pa.table({"id": [1, 2, 3], "code": ["007", "08", ""], "name": ["ann", "bob", "eve"]})
        pc.write_csv(people, self.path("people.csv"))
        with open(self.path("visits.json"), "w", encoding="utf-8") as f:
            for visit in [{"user": {"id": 2}, "pages": 7, "name": "x"}, {"user": {"id": 2.0}, "pages": 1}, {"pages": 3}]:
                f.write(json.dumps(visit) + "\n")
        out, _ = yunti("run", "join", self.path("people.csv"), self.path("visits.json"), "--key-columns", "id=user.id",
                       "--columns", "id,code,pages,name_right", "-D", "join.kind=left", "-o", "-", "--quiet",
                       "--output-format", "csv")
        self.assertEqual(out, b"id,code,pages,name_right\n1.0,007,,\n2.0,08,7,x\n2.0,08,1,\n3.0,,,\n")

    def test_types_of_the_output(self):
        left = pa.table({"id": pa.array([1, 2], pa.int32()), "price": pa.array([decimal.Decimal("1.50"), None])})
        right = pa.table({"id": pa.array([2, 3], pa.int64()), "day": pa.array([datetime.date(2026, 11, 26), None])})
        pq.write_table(left, self.path("left.parquet"))
        pq.write_table(right, self.path("right.parquet"))
        found = self.run_typed("join", self.path("left.parquet"), self.path("right.parquet"), "--key-columns", "id",
                               "-D", "join.kind=full")
        self.assertEqual([str(field.type) for field in found.schema], ["int64", "decimal128(3, 2)", "date32[day]"])
        self.assertEqual(found.to_pylist(), [
            {"id": 1, "price": decimal.Decimal("1.50"), "day": None},
            {"id": 2, "price": None, "day": datetime.date(2026, 11, 26)}, {"id": 3, "price": None, "day": None}])
        out, _ = yunti("run", "join", self.path("left.parquet"), self.path("right.parquet"), "--key-columns", "id",
                       "-D", "join.kind=left", "-o", "-", "--quiet", "--output-format", "json")
        self.assertEqual(out, b'{"id":1,"price":1.50,"day":null}\n{"id":2,"price":null,"day":"2026-11-26"}\n')

    def test_a_table_that_does_not_fit_is_sorted(self):
        draw = random.Random(7)
        left = pa.table({"id": column(draw, "int64", 3000, 1000), "l": column(draw, "text", 3000, 9)})
        right = pa.table({"id": column(draw, "int32", 120_000, 40_000),
                          "r": pa.array([f"row {n} " + "x" * (n % 90) for n in range(120_000)])})
        paths = [self.path("left.parquet"), self.path("right.parquet")]
        pq.write_table(left, paths[0])
        pq.write_table(right, paths[1])
        ways = {}
        for memory in ("12MiB", "256MiB"):
            for kind in ("inner", "left"):
                found = self.run_typed("hash-join", *paths, "--key-columns", "id", "--memory", memory, "-D", f"join.kind={kind}")
                expect = joined(plain_rows(left), plain_rows(right), 1, kind)
                self.assertEqual(collections.Counter(plain_rows(found)), collections.Counter(expect), (memory, kind))
                ways[memory] = os.path.basename(glob.glob(self.path("out/part-*"))[0])[:6]
        self.assertEqual(ways, {"12MiB": "part-r", "256MiB": "part-m"})

    def test_wrong_jobs_are_refused_in_one_line(self):
        table = pa.table({"id": [1], "name": ["x"]})
        path = self.path("t.parquet")
        pq.write_table(table, path)
        for arguments, what in (
            (["join", path, path, "--key-columns", "nobody"], "there is no column nobody"),
            (["join", path, path, "--key-columns", "id=name"], "cannot be compared"),
            (["join", path, "--key-columns", "id"], "two tables"),
            (["join", path, path, "--key-columns", "id", "-D", "join.kind=outer"], "join.kind"),
            (["join", path, path, "--key-columns", "id", "--columns", "age"], "no column age"),
            (["join", path, path, "--key-columns", "id", "--where", "id > 0"], "no condition"),
            (["hash-join", path, path, "--key-columns", "id", "-D", "join.kind=full"], "hash join"),
            (["hash-join", path, "--key-columns", "id"], "small table"),
            (["top", path, "--key-columns", "age"], "no column age"),
            (["top", path, "-D", "column=id"], "--key-columns"),
            (["top", path, "--key-columns", "id", "-D", "top.k=0"], "top.k"),
            (["distinct", path, "--key-columns", "age"], "no column age"),
            (["sample", path, "--where", "id > 0"], "no condition"),
        ):
            with self.subTest(arguments=arguments):
                _, error = yunti("run", *arguments, "-o", "-", "--quiet", code=2)
                self.assertIn(what, error)
                self.assertEqual(error.count("\n"), 1)


class Rows(Tables):
    def table(self, draw, rows):
        kinds = draw.sample(NUMBERS + ["date", "us", "text", "bool"], 4)
        return pa.table({f"c{n}": column(draw, kind, rows, draw.choice([3, 1000])) for n, kind in enumerate(kinds)})

    @staticmethod
    def rank(value):
        """Values in their order, NaN above all numbers."""
        if value == "nan":
            return (1, 0)
        return (0, value.encode() if isinstance(value, str) else value)

    def test_top_rows_in_the_order_of_types(self):
        for seed in range(SEEDS):
            draw = random.Random(seed)
            table = self.table(draw, draw.choice([0, 1, 50, 700]))
            path = self.write(draw, table, str(seed))
            names = draw.sample(table.column_names, draw.randrange(1, 3))
            ways = [draw.choice(["asc", "desc"]) for _ in names]
            k = draw.choice([1, 5, 100, 1000])
            more = draw.choice([[], ["--memory", "16MiB"], ["--threads", "3", "--split-size", "1000"]])
            expect = plain_rows(table)
            # Stable: the last column first. Nulls are last in both directions.
            for name, way in reversed(list(zip(names, ways))):
                at = table.column_names.index(name)
                nulls = [row for row in expect if row[at] is None]
                rest = [row for row in expect if row[at] is not None]
                expect = sorted(rest, key=lambda row: self.rank(row[at]), reverse=way == "desc") + nulls
            with self.subTest(seed=seed, names=names, ways=ways, k=k, schema=table.schema):
                order = ",".join(f"{name} {way}" for name, way in zip(names, ways))
                found = self.run_typed("top", path, "--key-columns", order, "-D", f"top.k={k}", *more)
                self.assertEqual(plain_rows(found), expect[:k])
                self.assertEqual(found.column_names, table.column_names)

    def test_largest_and_smallest_with_expressions(self):
        table = pa.table({"city": ["a", "b", "c", "d"], "amount": pa.array([9, 10, None, -1])})
        path = self.path("t.parquet")
        pq.write_table(table, path)
        for more, expect in (
            ([], b"b\t10\na\t9\n"),
            (["-D", "top.smallest=true"], b"d\t-1\na\t9\n"),
            (["--columns", "amount * 2 as twice", "--where", "amount < 10"], b"18\n-2\n"),
            (["--value-columns", "city"], b"b\na\n"),
        ):
            out, _ = yunti("run", "top", path, "--key-columns", "amount", "-D", "top.k=2", "-o", "-", "--quiet", *more)
            self.assertEqual(out, expect)

    def test_distinct_rows(self):
        for seed in range(SEEDS):
            draw = random.Random(seed)
            table = self.table(draw, draw.choice([0, 1, 50, 700]))
            path = self.write(draw, table, str(seed))
            names = draw.sample(table.column_names, draw.randrange(1, 5))
            more = draw.choice([[], ["--memory", "16MiB"], ["--threads", "3", "--split-size", "1000"]])
            with self.subTest(seed=seed, names=names, schema=table.schema):
                found = plain_rows(self.run_typed("distinct", path, "--key-columns", ",".join(names), *more))
                rank = lambda row: [(value is not None, self.rank(value) if value is not None else 0) for value in row]
                self.assertEqual(found, sorted(set(plain_rows(table.select(names))), key=rank))
                if table.num_rows:
                    whole = plain_rows(self.run_typed("distinct", path))
                    self.assertEqual(whole, sorted(set(plain_rows(table)), key=rank))

    def test_a_sample_keeps_the_format_and_the_types(self):
        draw = random.Random(3)
        table = pa.table({"id": list(range(20_000)), "price": column(draw, "decimal", 20_000, 90),
                          "day": column(draw, "date", 20_000, 90), "name": column(draw, "text", 20_000, 90)})
        path = self.path("t.parquet")
        pq.write_table(table, path, row_group_size=1500)
        samples = []
        for more in ([], ["--threads", "3", "--split-size", "2000"], ["--memory", "16MiB"]):
            out = self.path("sample")
            yunti("run", "sample", path, "-D", "sample.fraction=0.1", "-o", out, "--overwrite", "--quiet", *more)
            samples.append(pa.concat_tables(pq.read_table(part) for part in sorted(glob.glob(out + "/part-*.parquet"))))
        found = samples[0]
        self.assertEqual(samples[1:], [found, found])
        self.assertEqual(found.schema.names, table.schema.names)
        self.assertEqual([str(field.type) for field in found.schema], [str(field.type) for field in table.schema])
        chosen = found["id"].to_pylist()
        self.assertEqual(found.to_pylist(), table.take(chosen).to_pylist())
        # Each row group, and each place within one, has its share.
        self.assertLess(abs(len(chosen) - 2000), 4 * math.sqrt(2000))
        places = collections.Counter(n % 1500 for n in chosen)
        self.assertLess(max(places.values()), 10)
        self.assertGreater(len(places), 900)

    def test_a_sample_of_csv_keeps_its_header(self):
        pc.write_csv(pa.table({"id": list(range(1000)), "t": ["a,b"] * 1000}), self.path("t.csv"))
        out = self.path("sample")
        yunti("run", "sample", self.path("t.csv"), "--input-format", "csv", "-D", "sample.fraction=0.1", "-o", out, "--quiet")
        with open(glob.glob(out + "/part-*")[0], encoding="utf-8") as f:
            lines = f.read().splitlines()
        self.assertEqual(lines[0], "id,t")
        self.assertLess(abs(len(lines) - 101), 60)
        self.assertTrue(all(line.endswith(',"a,b"') for line in lines[1:]))


if __name__ == "__main__":
    unittest.main()
