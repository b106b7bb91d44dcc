"""ORC as jobs read and write it, against pyarrow: random tables both ways, stripes, zones, damaged files, statistics."""

import datetime
import decimal
import functools
import json
import os
import random
import resource
import subprocess
import unittest

import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq

import tables
from tables import YUNTI, SECONDS, expected, read, yunti

CODECS = ["uncompressed", "zlib", "snappy", "lz4", "zstd"]


rows = functools.partial(tables.rows, format="orc")


class Scratch(tables.Scratch):
    def compare(self, path, table, *more):
        super().compare(path, table, *more, format="orc")


def random_table(seed, nested=True):
    """Returns a table of random columns of every type that pyarrow writes to ORC, with nulls, runs and repeats."""
    r = random.Random(seed)
    n = r.choice([0, 1, 7, 500, 3000, 20000])
    epoch = datetime.datetime(1970, 1, 1)
    words = ["", "a", "tab\there", "line\nend", "back\\slash", "\\N", "ünïcode", "x" * 300]

    def ints(bits):
        kind = r.choice(["any", "small", "steps", "same", "outliers"])
        state = [r.randrange(-2**(bits - 1), 2**(bits - 1))]

        def one():
            if kind == "any":
                return r.randrange(-2**(bits - 1), 2**(bits - 1))
            if kind == "small" or (kind == "outliers" and r.random() < 0.97):
                return r.randrange(-3, 90)
            if kind == "steps":
                state[0] = (state[0] + r.choice([1, 1, 1, 3]) + 2**(bits - 1)) % 2**bits - 2**(bits - 1)
            elif kind == "outliers" or r.random() < 0.01:
                state[0] = r.randrange(-2**(bits - 1), 2**(bits - 1))
            return state[0]
        return one

    makers = {
        pa.bool_(): lambda: r.random() < 0.5,
        pa.int8(): ints(8), pa.int16(): ints(16), pa.int32(): ints(32), pa.int64(): ints(64),
        pa.float32(): lambda: r.choice([0.0, -0.5, 1e30, float("inf"), float("nan"), r.random()]),
        pa.float64(): lambda: r.choice([0.0, -0.5, 1e300, float("-inf"), float("nan"), r.random()]),
        pa.string(): r.choice([lambda: r.choice(words), lambda: f"row {r.random()}"]),
        pa.binary(): lambda: r.randbytes(r.randrange(20)),
        pa.decimal128(9, 2): lambda: decimal.Decimal(r.randrange(-10**9 + 1, 10**9)).scaleb(-2),
        pa.decimal128(38, 10): lambda: decimal.Decimal(r.randrange(-10**37, 10**37)).scaleb(-10, decimal.Context(40)),
        pa.date32(): lambda: (epoch + datetime.timedelta(days=r.randrange(-30000, 30000))).date(),
        pa.timestamp("ns"): lambda: epoch + datetime.timedelta(microseconds=r.randrange(1, 9 * 10**15)),
        pa.timestamp("ns", "UTC"): lambda: epoch - datetime.timedelta(seconds=r.randrange(1, 9 * 10**9)),
    }
    if nested:
        makers |= {
            pa.list_(pa.int32()): lambda: [r.randrange(9) if r.random() < 0.8 else None for _ in range(r.randrange(4))],
            pa.struct([("a", pa.int64()), ("b", pa.string())]): lambda: {"a": r.randrange(9), "b": r.choice(words)},
            pa.map_(pa.string(), pa.int32()): lambda: [(str(k), r.randrange(9)) for k in range(r.randrange(3))],
            pa.list_(pa.struct([("a", pa.list_(pa.string()))])):
                lambda: [{"a": r.choices(words, k=r.randrange(3))} if r.random() < 0.8 else None for _ in range(2)],
        }
    arrays, names = [], []
    for number, kind in enumerate(r.sample(list(makers), r.randrange(1, 9))):
        nulls = r.choice([0.0, 0.2, 1.0])
        arrays.append(pa.array([None if r.random() < nulls else makers[kind]() for _ in range(n)], kind))
        names.append(f"c{number}")
    return pa.table(arrays, names)


class Tables(Scratch):
    def test_random_tables_of_every_type_codec_and_version(self):
        for seed in range(80):
            r = random.Random(-seed)
            table, path = random_table(seed), self.path("t.orc")
            codec, version = r.choice(CODECS), r.choice(["0.11", "0.12"])
            po.write_table(table, path, compression=codec, file_version=version, stripe_size=r.choice([1000, 1 << 26]),
                           batch_size=r.choice([64, 1024]), compression_block_size=r.choice([1 << 16, 1 << 18]),
                           dictionary_key_size_threshold=r.choice([0, 1.0]), row_index_stride=r.choice([1000, 10000]))
            with self.subTest(seed=seed, codec=codec, version=version):
                self.compare(path, table)

    def test_a_job_gives_the_bytes_that_it_gives_over_csv(self):
        n = 5000
        table = pa.table({"user": [f"u{i * 7 % 97}" for i in range(n)], "id": list(range(n)),
                          "text": [f"word{i % 11} and {i % 3}" for i in range(n)]})
        # The content decides, not the name.
        po.write_table(table, self.path("t"), stripe_size=5000, batch_size=100, dictionary_key_size_threshold=1.0)
        self.assertGreater(po.ORCFile(self.path("t")).nstripes, 2)
        with open(self.path("t.csv"), "w", encoding="utf-8") as f:
            f.write("user,id,text\n" + "".join(f"{r['user']},{r['id']},{r['text']}\n" for r in table.to_pylist()))
        for job in (["distinct", "--key-columns", "user"], ["wordcount", "--value-columns", "text"],
                    ["sort", "--key-columns", "text,id"], ["top", "--value-columns", "id,text", "-D", "column=1"]):
            outputs = []
            for name in ("t", "t.csv"):
                more = ["--input-format", "csv"] if name.endswith("csv") else []
                out, _ = yunti("run", job[0], self.path(name), *job[1:], *more, "-o", "-", "--quiet")
                outputs.append(out)
            with self.subTest(job[0]):
                self.assertEqual(outputs[0], outputs[1])
                self.assertTrue(outputs[0])

    def test_only_the_columns_of_the_job_are_read(self):
        n = 50000
        table = pa.table({"small": [i % 5 for i in range(n)], "large": [f"{i * i}" * 9 for i in range(n)]})
        po.write_table(table, self.path("t.orc"), compression="uncompressed")
        _, error = yunti("run", "distinct", self.path("t.orc"), "--key-columns", "small", "-o", self.path("out"))
        self.assertGreater(os.path.getsize(self.path("t.orc")), 1_000_000)
        self.assertRegex(error, r"distinct: read [\d.]+ kB of [\d.]+ MB in ")
        with open(self.path("out/part-r-00000"), "rb") as f:
            self.assertEqual(f.read(), b"0\n1\n2\n3\n4\n")

    def test_members_of_structs_are_columns_by_their_path(self):
        kind = pa.struct([("name", pa.string()), ("at", pa.struct([("zip", pa.int32())]))])
        values = [{"name": "ann", "at": {"zip": 7}}, {"name": None, "at": None}, None]
        po.write_table(pa.table({"id": [1, 2, 3], "user": pa.array(values, kind)}), self.path("t.orc"))
        found = rows(self.path("t.orc"), "--key-columns", "user.at.zip", "--value-columns", "user.name,id")
        self.assertEqual(found, [[b"7", b"ann", b"1"], [None, None, b"2"], [None, None, b"3"]])
        _, error = yunti("run", "identity", self.path("t.orc"), "--key-columns", "user.no", "-o", "-", code=3)
        self.assertIn("no column 'user.no': it has id, user", error)

    def test_unions_are_the_values_of_their_members(self):
        kinds, values = pa.array([0, 1, 0, 1], pa.int8()), [pa.array([5, None, 7, None]), pa.array(["", "a\"b", "", "c"])]
        union = pa.UnionArray.from_sparse(kinds, values)
        po.write_table(pa.table({"u": union, "l": pa.array([[1], None, [], [2]])}), self.path("t.orc"))
        out, _ = yunti("run", "identity", self.path("t.orc"), "-o", "-", "--quiet")
        self.assertEqual(out, b'5\t[1]\na"b\t\n7\t[]\nc\t[2]\n')

    def test_an_empty_file_has_no_row(self):
        open(self.path("e.orc"), "wb").close()
        self.assertEqual(yunti("run", "identity", self.path("e.orc"), "--input-format", "orc", "-o", "-", "--quiet")[0], b"")

    def test_text_that_begins_alike_stays_text(self):
        for name, text in (("a.txt", "ORCHARD\n"), ("b", "ORC\n"), ("c.txt", "ORC and more ORC\n")):
            with open(self.path(name), "w", encoding="utf-8") as f:
                f.write(text)
            self.assertEqual(yunti("run", "sort", self.path(name), "-o", "-", "--quiet")[0].decode().strip(), text.strip())
            self.assertIn("text", yunti("inspect", self.path(name))[0].decode())


class Damage(Scratch):
    def damaged(self, path):
        done = subprocess.run([YUNTI, "run", "identity", path, "--input-format", "orc", "-o", self.path("out"),
                               "--quiet", "--overwrite", "--memory", "64MiB"], capture_output=True, timeout=SECONDS,
                              check=False)
        self.assertIn(done.returncode, (0, 3, 4, 7), done.stderr)
        if done.returncode:
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)

    def test_bytes_that_change_anywhere_end_in_one_line_or_in_values(self):
        """All bytes of a file are changed in formats/src/orc; here a job reads some, within its memory."""
        seed = random.Random(7)
        for codec in ("uncompressed", "zlib", "zstd"):
            po.write_table(random_table(3), self.path("a.orc"), compression=codec, stripe_size=1000)
            whole = read(self.path("a.orc"))
            for _ in range(40):
                at = max(seed.randrange(len(whole)), len(whole) - seed.choice([1 << 40, 400]))
                bytes_ = bytearray(whole)
                bytes_[at] ^= 1 << seed.randrange(8)
                with open(self.path("b.orc"), "wb") as f:
                    f.write(bytes_)
                with self.subTest(at=at, codec=codec):
                    self.damaged(self.path("b.orc"))
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 400 << 10)

    def test_a_file_that_was_cut_is_named(self):
        path = self.path("a.orc")
        po.write_table(pa.table({"n": list(range(1000))}), path)
        whole = read(path)
        for n in (3, 12, len(whole) // 2, len(whole) - 1):
            with open(path, "wb") as f:
                f.write(whole[:n])
            _, error = yunti("run", "identity", path, "--input-format", "orc", "-o", "-", code=4)
            self.assertIn(path, error)
            self.assertEqual(error.count("\n"), 1)


class Written(Scratch):
    def test_orc_to_orc_and_parquet_to_orc_keep_every_value_and_type(self):
        for seed in range(60):
            r = random.Random(-seed)
            table = random_table(seed, nested=False)
            if table.num_rows == 0:
                continue
            codec = r.choice(["zstd", "none", "zlib", "snappy", "lz4"])
            write, name = r.choice([(po.write_table, "t.orc"), (pq.write_table, "t.parquet")])
            write(table, self.path(name))
            more = ["--codec", codec, "--output-format", "orc"]
            with self.subTest(seed=seed, codec=codec, source=name):
                yunti("convert", self.path(name), self.path("out"), "--overwrite", *more)
                parts = sorted(p for p in os.listdir(self.path("out")) if p.endswith(".orc"))
                file = po.ORCFile(self.path("out/" + parts[0]))
                self.assertEqual(file.compression, "UNCOMPRESSED" if codec == "none" else codec.upper())
                back = pa.concat_tables([po.ORCFile(self.path("out/" + part)).read() for part in parts])
                self.assertEqual(back.schema, table.schema)
                self.assertEqual(expected(back), expected(table))
                self.compare(self.path("out/" + parts[0]), file.read())

    def test_stripes_end_where_the_setting_says(self):
        with open(self.path("a.txt"), "w", encoding="utf-8") as f:
            f.write("".join(f"line {i} of many\n" for i in range(60000)))
        yunti("run", "sort", self.path("a.txt"), "-o", self.path("out"), "--output-format", "orc",
              "--output-key-columns", "line", "-D", "orc.stripe.bytes=200000", "-D", "orc.compression=none", "-r", "1")
        file = po.ORCFile(self.path("out/part-r-00000.orc"))
        self.assertGreater(file.nstripes, 3)
        self.assertEqual(file.read().column("line").to_pylist(), sorted(f"line {i} of many" for i in range(60000)))

    def test_output_has_the_types_of_the_job(self):
        with open(self.path("a.txt"), "w", encoding="utf-8") as f:
            f.write("b a b\n" * 10)
        yunti("run", "wordcount", self.path("a.txt"), "-o", self.path("out"), "--output-format", "orc",
              "--output-key-columns", "word", "--output-value-columns", "n")
        table = po.read_table(self.path("out/part-r-00000.orc"))
        self.assertEqual(table.to_pydict(), {"word": ["a", "b"], "n": [10, 20]})
        self.assertEqual([f.type for f in table.schema], [pa.string(), pa.int64()])

    def test_an_empty_output_is_a_file_with_a_schema(self):
        open(self.path("a.txt"), "w", encoding="utf-8").close()
        yunti("run", "wordcount", self.path("a.txt"), "-o", self.path("out"), "--output-format", "orc")
        self.assertEqual(po.read_table(self.path("out/part-r-00000.orc")).num_rows, 0)

    def test_what_cannot_be_kept_leaves_no_output(self):
        with open(self.path("a.csv"), "w", encoding="utf-8") as f:
            f.write("id,at\n1,1969-12-31T23:59:59.5\n")
        for kind, text in (("id=Duration(Second)", "no type"), ("at=Timestamp(Nanosecond, None)", "last second"),
                           ("at=Int64", "1969")):
            _, error = yunti("convert", self.path("a.csv"), self.path("out"), "--output-format", "orc", "--type", kind,
                             code=6)
            self.assertIn(text, error)
            self.assertEqual(error.count("\n"), 1, error)
            self.assertFalse(os.path.exists(self.path("out")))
        _, error = yunti("convert", self.path("a.csv"), self.path("out"), "--output-format", "orc", "--codec", "lzo", code=6)
        self.assertIn("use zstd, none, zlib, snappy or lz4", error)


class Inspected(Scratch):
    def test_inspect_shows_columns_schema_and_statistics(self):
        po.write_table(pa.table({"n": [3, None, 5], "s": ["b", "a", "c"]}), self.path("t.orc"), compression="snappy")
        out, _ = yunti("inspect", self.path("t.orc"), "--schema", "--statistics")
        for text in ("an ORC file", "3 rows in 1 stripe, 2 columns", "n: bigint", "snappy", "DIRECT_V2"):
            self.assertIn(text, out.decode())
        columns = json.loads(yunti("inspect", self.path("t.orc"), "--json")[0])["file"]["columns"]
        self.assertEqual([(c["nulls"], c["min"], c["max"]) for c in columns], [(1, "3", "5"), (0, "a", "c")])

    def test_statistics_of_written_files_are_those_of_the_values(self):
        table = pa.table({"n": [3, None, -5], "x": [0.5, 2.0, None], "s": ["b", "", "c"], "b": [True, None, True],
                          "d": [datetime.date(2026, 11, 25)] * 3, "m": [decimal.Decimal("-1.50"), decimal.Decimal("2.25"), None],
                          "t": pa.array([0, 1500, None], pa.timestamp("ms"))})
        pq.write_table(table, self.path("t.parquet"))
        yunti("convert", self.path("t.parquet"), self.path("out"), "--output-format", "orc")
        columns = json.loads(yunti("inspect", self.path("out/part-m-00000.orc"), "--json")[0])["file"]["columns"]
        self.assertEqual([(c["nulls"], c["min"], c["max"]) for c in columns], [
            (1, "-5", "3"), (1, "0.5", "2"), (0, "", "c"), (1, None, None), (0, "2026-11-25", "2026-11-25"),
            (1, "-1.50", "2.25"), (1, "1970-01-01T00:00:00", "1970-01-01T00:00:01.500")])


if __name__ == "__main__":
    unittest.main()
