"""Outputs in directories by values: every format, read back by pyarrow with the values of the directories."""

import datetime
import glob
import json
import os
import random
import resource

import fastavro
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.ipc as ipc
import pyarrow.orc as po
import pyarrow.parquet as pq

from tables import Scratch, read, yunti

NOTHING = "__HIVE_DEFAULT_PARTITION__"
WORDS = ["", "Rome", "New York", "a/b", "x=1", "50%", "%41", "tab\there", "line\nend", "back\\slash", "\\N", "Zürich 云",
         "10:30", "\"quoted\"", "{a}[b]^c", "~!@$&()+,;<>|`", " blank ", "..", "\x01\x7f"]


def sales(seed, n=2000):
    r = random.Random(seed)
    day = datetime.date(2026, 11, 1)
    maybe = lambda value: None if r.random() < 0.1 else value
    return pa.table({
        "id": list(range(n)),
        "city": [maybe(r.choice(WORDS)) for _ in range(n)],
        "day": pa.array([maybe(day + datetime.timedelta(days=r.randrange(9))) for _ in range(n)], pa.date32()),
        "text": [maybe(r.choice(WORDS)) for _ in range(n)],
        "amount": [maybe(r.random()) for _ in range(n)],
        "n": pa.array([maybe(r.randrange(-3, 3)) for _ in range(n)], pa.int16()),
        "is_open": [maybe(r.random() < 0.5) for _ in range(n)],
    })


def files(out):
    return sorted(glob.glob(os.path.join(glob.escape(out), "**", "part-*"), recursive=True))


def rows_of(path):
    """Returns the rows of a file as dictionaries, by its extension."""
    kind = path.rsplit(".", 1)[-1]
    if kind == "parquet":
        return pq.ParquetFile(path).read().to_pylist()
    if kind == "orc":
        return po.read_table(path).to_pylist()
    if kind == "avro":
        with open(path, "rb") as f:
            return list(fastavro.reader(f))
    opened = ipc.open_file if kind == "arrow" else ipc.open_stream
    with open(path, "rb") as f:
        return opened(f).read_all().to_pylist()


class Partitions(Scratch):
    def by(self, table, columns):
        """Returns the rows of a table without the columns, by the texts of these."""
        found = {}
        for row in table.to_pylist():
            key = tuple("" if row[c] is None else {True: "true", False: "false"}.get(row[c], str(row[c]))
                        if isinstance(row[c], bool) else str(row[c]) for c in columns)
            found.setdefault(key, []).append({name: v for name, v in row.items() if name not in columns})
        return found

    def test_every_format_has_the_rows_of_each_value(self):
        for number, name in enumerate(["parquet", "orc", "avro", "arrow", "arrow-stream"]):
            table, columns = sales(number), [["city"], ["day", "city"], ["n", "is_open"], ["text"], ["city", "n"]][number]
            pq.write_table(table, self.path("in.parquet"), row_group_size=300)
            out = self.path(f"out-{name}")
            yunti("convert", self.path("in.parquet"), out, "--output-format", name, "--partition-by", ",".join(columns),
                  "--threads", str(1 + number % 3), "-q")
            found = {}
            for path in files(out):
                names = os.path.relpath(os.path.dirname(path), out).split("/")
                pairs = [part.split("=", 1) for part in names]
                self.assertEqual([column for column, _ in pairs], columns)
                key = tuple("" if value == NOTHING else unescape(value) for _, value in pairs)
                self.assertNotIn(key, found, "one file a directory")
                found[key] = rows_of(path)
            with self.subTest(format=name):
                self.assertEqual(found, self.by(table, columns))

    def test_pyarrow_reads_the_directories_back(self):
        for seed, columns in enumerate((["city"], ["city", "text"], ["n", "city"])):
            table = sales(100 + seed)
            pq.write_table(table, self.path("in.parquet"))
            out = self.path(f"out{seed}")
            yunti("convert", self.path("in.parquet"), out, "--output-format", "parquet", "--partition-by",
                  ",".join(columns), "-q")
            schema = pa.schema([(c, table.schema.field(c).type) for c in columns])
            back = ds.dataset(out, format="parquet", partitioning=ds.partitioning(schema, flavor="hive")).to_table()
            self.assertEqual(set(back.column_names), set(table.column_names))
            # The empty text is a null in a directory's name.
            blank = lambda row: {name: None if name in columns and v == "" else v for name, v in row.items()}
            wanted = [blank(row) for row in table.to_pylist()]
            found = sorted(back.select(table.column_names).to_pylist(), key=lambda row: row["id"])
            self.assertEqual(found, wanted)

    def test_texts_of_values_are_those_of_csv(self):
        at = datetime.datetime(2026, 11, 25, 17, 3, 59, 500000)
        table = pa.table({
            "v": [1, 2], "f": [2.5, float("nan")], "t": pa.array([at, None], pa.timestamp("ms")),
            "d": pa.array([2, None], pa.decimal128(9, 2)), "s": pa.array([at.time(), None], pa.time32("ms")),
            "z": pa.array([at, None], pa.timestamp("us", "UTC")),
        })
        pq.write_table(table, self.path("in.parquet"))
        yunti("convert", self.path("in.parquet"), self.path("out"), "--output-format", "parquet", "--partition-by",
              "f,t,d,s,z", "-q")
        names = [os.path.relpath(os.path.dirname(path), self.path("out")) for path in files(self.path("out"))]
        self.assertEqual(names, [
            "f=2.5/t=2026-11-25T17%3A03%3A59.500/d=2.00/s=17%3A03%3A59.500/z=2026-11-25T17%3A03%3A59.500Z",
            f"f=NaN/t={NOTHING}/d={NOTHING}/s={NOTHING}/z={NOTHING}",
        ])

    def test_columns_that_name_no_directories(self):
        table = pa.table({
            "b": [b"x"], "l": [[1]], "s": [{"a": 1, "c": b"y"}], "f": pa.array([b"ab"], pa.binary(2)), "v": [1],
            "m": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32()))})
        pq.write_table(table, self.path("in.parquet"))
        for column in ("b", "l", "s", "f", "m"):
            _, error = yunti("convert", self.path("in.parquet"), self.path("out"), "--output-format", "parquet",
                             "--partition-by", column, code=2)
            self.assertIn(f"the column {column} of the type ", error)
            self.assertIn("cannot name directories", error)
            self.assertEqual(error.count("\n"), 1)
        # A member of a struct is a column by its path.
        for column, code in (("s.a", 0), ("s.c", 2)):
            yunti("convert", self.path("in.parquet"), self.path(f"out-{column}"), "--output-format", "parquet", "--columns",
                  f"{column},v", "--partition-by", column, "-q", code=code)
        self.assertEqual(rows_of(files(self.path("out-s.a"))[0]), [{"v": 1}])

    def test_sequence_files_have_the_others_as_values(self):
        with open(self.path("in.csv"), "w", encoding="utf-8") as f:
            f.write("a,b,c\nx,1,2\ny,3,4\nx,5,6\n")
        yunti("convert", self.path("in.csv"), self.path("out"), "--output-format", "sequence", "--partition-by", "a", "-q")
        out, _ = yunti("run", "identity", self.path("out/a=x"), "--key-columns", "value", "-o", "-", "-q")
        self.assertEqual(out, b"1\t2\t\n5\t6\t\n")

    def test_ten_thousand_values_need_little_memory_and_few_files(self):
        n = 100_000
        table = pa.table({"k": [f"v{i * 7919 % 10_000}" for i in range(n)], "n": list(range(n)), "t": ["text"] * n})
        pq.write_table(table, self.path("in.parquet"))
        few = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, few[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, few)
        out = self.path("out")
        yunti("convert", self.path("in.parquet"), out, "--output-format", "parquet", "--partition-by", "k", "--memory",
              "48MiB", "--report", self.path("report.json"), "-q")
        self.assertEqual(len(files(out)), 10_000)
        report = json.loads(read(self.path("report.json")))
        self.assertLess(report["memory"]["peak_resident_bytes"], (48 + 64) << 20)
        for value in random.Random(1).sample(range(10_000), 50):
            found = pq.ParquetFile(files(os.path.join(out, f"k=v{value}"))[0]).read()
            self.assertEqual(found.column("n").to_pylist(), [i for i in range(n) if i * 7919 % 10_000 == value])


def unescape(text):
    out, rest = b"", text.encode()
    while rest:
        if rest[:1] == b"%":
            out, rest = out + bytes([int(rest[1:3], 16)]), rest[3:]
        else:
            out, rest = out + rest[:1], rest[1:]
    return out.decode()


class Empty(Scratch):
    FORMATS = ["parquet", "orc", "avro", "arrow", "arrow-stream", "sequence"]
    EXTENSIONS = ["parquet", "orc", "avro", "arrow", "arrows", "seq"]

    def test_a_table_without_rows_is_a_file_with_its_columns(self):
        schema = pa.schema([("a", pa.int32()), ("d", pa.date32()), ("s", pa.string())])
        pq.write_table(schema.empty_table(), self.path("in.parquet"))
        with open(self.path("in.csv"), "w", encoding="utf-8") as f:
            f.write("a,d,s\n")
        for name in self.FORMATS:
            for source in ("in.parquet", "in.csv"):
                out = self.path(f"out-{name}-{source}")
                yunti("convert", self.path(source), out, "--output-format", name, "-q")
                (path,) = files(out)
                described = json.loads(yunti("inspect", path, "--json")[0])["file"]
                self.assertEqual(described["rows"], 0)
                if name == "sequence":
                    continue
                self.assertEqual([field["name"] for field in described["fields"]], ["a", "d", "s"])
                self.assertEqual(rows_of(path), [])
                if source == "in.parquet":
                    self.assertEqual([field["text_type"] for field in described["fields"]], ["Int32", "Date32", "Utf8"])
                self.assertEqual(yunti("convert", path, "-", "--output-format", "csv", "-q")[0], b"a,d,s\n")

    def test_an_empty_file_is_a_table_without_rows_in_every_format(self):
        for name, extension in zip(self.FORMATS, self.EXTENSIONS):
            with self.subTest(format=name):
                folder = self.path(name)
                os.mkdir(folder)
                empty, full = os.path.join(folder, f"a.{extension}"), os.path.join(folder, f"b.{extension}")
                with open(empty, "wb"):
                    pass
                self.assertEqual(yunti("run", "identity", empty, "-o", "-", "-q")[0], b"")
                self.assertEqual(yunti("run", "identity", empty, "--input-format", name, "-o", "-", "-q")[0], b"")
                for words in (("inspect", empty, "--input-format", name),
                              ("convert", empty, self.path("out"), "--output-format", "csv"),
                              ("run", "aggregate", empty, "--agg", "count")):
                    _, error = yunti(*words, code=3)
                    self.assertIn("the file is empty, so it has no columns", error)
                    self.assertEqual(error.count("\n"), 1)
                # Beside files with rows it counts for nothing.
                with open(self.path("in.csv"), "w", encoding="utf-8") as f:
                    f.write("key,value\na,1\nb,2\n")
                yunti("convert", self.path("in.csv"), self.path(f"{name}.out"), "--output-format", name, "-q")
                os.rename(files(self.path(f"{name}.out"))[0], full)
                self.assertEqual(yunti("convert", folder, "-", "--output-format", "csv", "-q")[0],
                                 b"key,value\na,1\nb,2\n")
