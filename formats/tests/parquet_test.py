"""Parquet as jobs read and write it, against pyarrow: values one by one, random tables, damaged files, memory.

The corpus of parquet-testing lies beside the checkout, in shared/data/parquet; its tests are skipped without it.
"""

import datetime
import decimal
import glob
import json
import math
import os
import random
import shutil
import subprocess
import tempfile
import unittest

import pyarrow as pa
import pyarrow.parquet as pq

import texts

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
CORPUS = os.path.join(ROOT, "../shared/data/parquet")
SECONDS = 120

# Files of the corpus that pyarrow reads, or refuses, and Yunti does not treat the same. Each has its reason.
REFUSED = {
    "dict-page-offset-zero.parquet": "its statistics are lists of another type than the standard says",
    "nation.dict-malformed.parquet": "the header of its dictionary page is malformed",
    "datapage_v1-corrupt-checksum.parquet": "checksums of pages are compared",
    "rle-dict-uncompressed-corrupt-checksum.parquet": "checksums of pages are compared",
    "int96_from_spark.parquet": "a timestamp lies in the year 290000, beyond the calendar",
}
# Values of a string of 1 GB each; test_large_strings_stay_in_the_budget reads it.
LARGE = "large_string_map.brotli.parquet"


def yunti(*arguments, code=0):
    """Runs the command and returns (standard output, standard error); fails unless it ends with `code`."""
    done = subprocess.run([YUNTI, *arguments], capture_output=True, timeout=SECONDS, check=False)
    error = done.stderr.decode("utf-8", "replace")
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}, not {code}: {error[-500:]}")
    return done.stdout, error


def rows(path, *more, columns=0):
    """Returns the rows of a file: lists of bytes, None for a null, all columns in the order of the file."""
    out, _ = yunti("run", "identity", path, "--input-format", "parquet", "-o", "-", "--quiet", "--split-size", "1000",
                   "-D", "columns.mark.nulls=true", *more)
    found = [[cell(c) for c in line.split(b"\t")] for line in out.split(b"\n")[:-1]]
    # A single column is the key, before an empty value.
    if not more and all(len(row) == 2 and row[1] == b"" for row in found) and columns == 1:
        return [row[:1] for row in found]
    return found


def read(path):
    with open(path, "rb") as f:
        return f.read()


def cell(escaped):
    if escaped == b"\\N":
        return None
    plain, parts = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}, escaped.split(b"\\")
    out, at = [parts[0]], 1
    while at < len(parts):
        if parts[at] == b"":  # an escaped backslash
            out.append(b"\\" + (parts[at + 1] if at + 1 < len(parts) else b""))
            at += 2
        else:
            out.append(plain[parts[at][:1]] + parts[at][1:])
            at += 1
    return b"".join(out)


def expected(table):
    """Returns the rows of a table as Yunti writes them."""
    columns = []
    for name, column in zip(table.column_names, table.columns):
        kind = column.type
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
            # Python's times have no nanoseconds.
            number = pa.int32() if pa.types.is_time32(kind) else pa.int64()
            scale = texts.NANOSECONDS[kind.unit]
            values = [v if v is None else v * scale for v in column.cast(number).to_pylist()]
        else:
            values = ["beyond"] * len(column) if pa.types.is_nested(kind) and not leaf_is_plain(kind) else column.to_pylist()
        columns.append([v if v == "beyond" else texts.text(v, kind) for v in values])
    return [list(row) for row in zip(*columns)] if columns else []


def same(a, b):
    """Compares two cells; a number that pyarrow has as a float is compared by value."""
    if isinstance(b, texts.Float) and a is not None:
        return b.equals(float(a))
    return b is texts.BEYOND_PYTHON or a == b


def leaf_is_plain(kind):
    """Nested floats, dates and times are not compared: their texts in JSON depend on the writer."""
    if pa.types.is_nested(kind):
        return all(leaf_is_plain(kind.field(i).type) for i in range(kind.num_fields))
    return (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_boolean(kind)
            or pa.types.is_binary(kind))


class Scratch(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="yunti-parquet-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def compare(self, path, table, *more):
        found, wanted = rows(path, *more, columns=table.num_columns), expected(table)
        self.assertEqual(len(found), len(wanted), path)
        kinds = [column.type for column in table.columns]
        for number, (a, b) in enumerate(zip(found, wanted)):
            self.assertEqual(len(a), len(b), f"{path}, row {number}")
            for name, kind, x, y in zip(table.column_names, kinds, a, b):
                if not pa.types.is_nested(kind) or leaf_is_plain(kind):
                    self.assertTrue(same(x, y), f"{path}, row {number}, column {name}: {x!r}, not {y!r}")


@unittest.skipUnless(os.path.isdir(CORPUS), f"there is no {CORPUS}")
class Corpus(Scratch):
    def files(self, folder):
        found = sorted(glob.glob(os.path.join(CORPUS, folder, "*.parquet")))
        self.assertTrue(found)
        return found

    def test_files_of_many_writers_have_the_values_that_pyarrow_reads(self):
        compared = 0
        for path in self.files("data"):
            name = os.path.basename(path)
            if name == LARGE:
                continue
            with self.subTest(name):
                if name in REFUSED:
                    code = 3 if name.startswith("int96") else 4
                    _, error = yunti("run", "identity", path, "-o", "-", code=code)
                    self.assertEqual(error.count("\n"), 1, error)
                    continue
                try:
                    table = pq.read_table(path, coerce_int96_timestamp_unit="us")
                except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                    self.assertIsNotNone(rows(path))  # Yunti reads more
                    continue
                if len(set(table.column_names)) == len(table.column_names):
                    self.compare(path, table)
                    compared += 1
        self.assertGreater(compared, 50)

    def test_encrypted_files_are_refused_in_one_line(self):
        for path in sorted(glob.glob(os.path.join(CORPUS, "data/*.encrypted"))):
            with self.subTest(os.path.basename(path)):
                _, error = yunti("run", "identity", path, "--input-format", "parquet", "-o", "-", code=3)
                self.assertEqual(error.count("\n"), 1, error)
                self.assertIn("encrypted", error)

    def test_damaged_files_end_with_one_line(self):
        for path in self.files("bad_data"):
            out = self.path(os.path.basename(path))
            with self.subTest(os.path.basename(path)):
                done = subprocess.run([YUNTI, "run", "identity", path, "--input-format", "parquet", "-o",
                                       out, "--memory", "64MiB"],
                                      capture_output=True, text=True, timeout=SECONDS, check=False)
                self.assertIn(done.returncode, (0, 4), done.stderr)
                if done.returncode:
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                    self.assertFalse(os.path.exists(out))
                    self.assertIn(path, done.stderr)


class Damage(Scratch):
    def test_bytes_that_change_anywhere_end_in_one_line_or_in_the_same_rows(self):
        """One byte of a small file changes: the job ends with a message, or it reads as many rows as before."""
        path, seed = self.path("a.parquet"), random.Random(7)
        names = [f"user{i % 9}" for i in range(300)]
        pq.write_table(pa.table({"n": list(range(300)), "name": names, "x": [i / 3 for i in range(300)]}), path,
                       row_group_size=100, compression="zstd", write_page_checksum=True)
        whole = read(path)
        for _ in range(60):
            at = seed.randrange(len(whole))
            bytes_ = bytearray(whole)
            bytes_[at] ^= 1 << seed.randrange(8)
            with open(self.path("b.parquet"), "wb") as f:
                f.write(bytes_)
            done = subprocess.run([YUNTI, "run", "identity", self.path("b.parquet"), "--input-format", "parquet",
                                   "-o", "-", "--quiet", "--memory", "64MiB"], capture_output=True, timeout=SECONDS,
                                  check=False)
            with self.subTest(at=at):
                self.assertIn(done.returncode, (0, 3, 4, 7), done.stderr)
                if done.returncode:
                    self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)

    def test_a_file_that_was_cut_is_named(self):
        path = self.path("a.parquet")
        pq.write_table(pa.table({"n": list(range(1000))}), path)
        whole = read(path)
        for n in (0, 3, 12, len(whole) // 2, len(whole) - 1):
            with open(path, "wb") as f:
                f.write(whole[:n])
            _, error = yunti("run", "identity", path, "--input-format", "parquet", "-o", "-", code=4)
            self.assertIn(path, error)
            self.assertEqual(error.count("\n"), 1)


def random_table(seed):
    """Returns a table of random columns of every type that pyarrow writes to Parquet, with nulls."""
    r = random.Random(seed)
    n = r.choice([0, 1, 7, 500, 3000])
    epoch = datetime.datetime(1970, 1, 1)
    words = ["", "a", "tab\there", "line\nend", "back\\slash", "\\N", "ünïcode", "x" * 300]
    makers = {
        pa.bool_(): lambda: r.random() < 0.5,
        pa.int8(): lambda: r.randrange(-128, 128), pa.int16(): lambda: r.randrange(-2**15, 2**15),
        pa.int32(): lambda: r.randrange(-2**31, 2**31), pa.int64(): lambda: r.randrange(-2**63, 2**63),
        pa.uint8(): lambda: r.randrange(2**8), pa.uint16(): lambda: r.randrange(2**16),
        pa.uint32(): lambda: r.randrange(2**32), pa.uint64(): lambda: r.randrange(2**64),
        pa.float32(): lambda: r.choice([0.0, -0.5, 1e30, math.inf, math.nan, r.random()]),
        pa.float64(): lambda: r.choice([0.0, -0.5, 1e300, -math.inf, math.nan, r.random()]),
        pa.string(): lambda: r.choice(words), pa.binary(): lambda: r.randbytes(r.randrange(20)),
        pa.binary(5): lambda: r.randbytes(5),
        pa.decimal128(9, 2): lambda: decimal.Decimal(r.randrange(-10**9 + 1, 10**9)).scaleb(-2),
        pa.decimal128(30, 10): lambda: decimal.Decimal(r.randrange(-10**18, 10**18)).scaleb(-10),
        pa.date32(): lambda: (epoch + datetime.timedelta(days=r.randrange(-30000, 30000))).date(),
        pa.timestamp("ms"): lambda: epoch + datetime.timedelta(milliseconds=r.randrange(-10**12, 9 * 10**12)),
        pa.timestamp("us", "UTC"): lambda: epoch + datetime.timedelta(microseconds=r.randrange(-10**15, 9 * 10**15)),
        pa.timestamp("us", "Europe/Berlin"): lambda: epoch + datetime.timedelta(microseconds=r.randrange(10**15)),
        pa.time32("ms"): lambda: datetime.time(r.randrange(24), r.randrange(60), r.randrange(60), 1000 * r.randrange(1000)),
        pa.list_(pa.int32()): lambda: [r.randrange(9) if r.random() < 0.8 else None for _ in range(r.randrange(4))],
        pa.struct([("a", pa.int64()), ("b", pa.string())]): lambda: {"a": r.randrange(9), "b": r.choice(words)},
        pa.map_(pa.string(), pa.int32()): lambda: [(str(k), r.randrange(9)) for k in range(r.randrange(3))],
    }
    arrays, names = [], []
    for number, kind in enumerate(r.sample(list(makers), r.randrange(1, 9))):
        nulls = r.choice([0.0, 0.2, 1.0])
        arrays.append(pa.array([None if r.random() < nulls else makers[kind]() for _ in range(n)], kind))
        names.append(f"c{number}")
    return pa.table(arrays, names)


class Tables(Scratch):
    def test_random_tables_of_every_type_codec_and_encoding(self):
        for seed in range(60):
            r = random.Random(-seed)
            table, path = random_table(seed), self.path("t.parquet")
            codec = r.choice(["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
            pq.write_table(table, path, compression=codec, row_group_size=r.choice([100, 1000]),
                           use_dictionary=r.random() < 0.5, data_page_version=r.choice(["1.0", "2.0"]),
                           data_page_size=r.choice([1, 1000, 1 << 20]), write_page_index=r.random() < 0.5)
            with self.subTest(seed=seed, codec=codec):
                self.compare(path, table)

    def test_a_job_gives_the_bytes_that_it_gives_over_csv(self):
        n = 5000
        table = pa.table({"user": [f"u{i * 7 % 97}" for i in range(n)], "id": list(range(n)),
                          "text": [f"word{i % 11} and {i % 3}" for i in range(n)]})
        pq.write_table(table, self.path("t.parquet"), row_group_size=700)
        with open(self.path("t.csv"), "w", encoding="utf-8") as f:
            f.write("user,id,text\n" + "".join(f"{r['user']},{r['id']},{r['text']}\n" for r in table.to_pylist()))
        for job in (["distinct", "--key-columns", "user"], ["wordcount", "--value-columns", "text"],
                    ["sort", "--key-columns", "text,id"], ["top", "--value-columns", "id,text", "-D", "column=1"]):
            outputs = []
            for name in ("t.parquet", "t.csv"):
                more = ["--input-format", "csv"] if name.endswith("csv") else []
                out, _ = yunti("run", job[0], self.path(name), *job[1:], *more, "-o", "-", "--quiet")
                outputs.append(out)
            with self.subTest(job[0]):
                self.assertEqual(outputs[0], outputs[1])
                self.assertTrue(outputs[0])

    def test_only_the_columns_of_the_job_are_read(self):
        n = 50000
        table = pa.table({"small": [i % 5 for i in range(n)], "large": [f"{i * i}" * 9 for i in range(n)]})
        pq.write_table(table, self.path("t.parquet"), compression="none")
        out, error = yunti("run", "distinct", self.path("t.parquet"), "--key-columns", "small", "-o", self.path("out"))
        size = os.path.getsize(self.path("t.parquet"))
        self.assertGreater(size, 1_000_000)
        self.assertRegex(error, r"distinct: read [\d.]+ kB of [\d.]+ MB in ")
        with open(self.path("out/part-r-00000"), "rb") as f:
            self.assertEqual(f.read(), b"0\n1\n2\n3\n4\n")

    def test_distinct_finds_values_that_have_codes_and_values_that_have_none(self):
        """A dictionary that grows too large ends in plain pages: values of both must arrive."""
        values = [f"value {i % 40000}" if i > 3000 else f"first {i % 3}" for i in range(100_000)]
        for limit in (1 << 20, 4000):
            pq.write_table(pa.table({"k": values}), self.path("t.parquet"), dictionary_pagesize_limit=limit,
                           data_page_size=2000, row_group_size=30_000)
            out, _ = yunti("run", "distinct", self.path("t.parquet"), "--key-columns", "k", "-o", "-", "--quiet")
            self.assertEqual(out.decode().splitlines(), sorted(set(values)))

    def test_members_of_structs_are_columns_by_their_path(self):
        kind = pa.struct([("name", pa.string()), ("at", pa.struct([("zip", pa.int32())]))])
        values = [{"name": "ann", "at": {"zip": 7}}, {"name": None, "at": None}, None]
        pq.write_table(pa.table({"id": [1, 2, 3], "user": pa.array(values, kind)}), self.path("t.parquet"))
        found = rows(self.path("t.parquet"), "--key-columns", "user.at.zip", "--value-columns", "user.name,id")
        self.assertEqual(found, [[b"7", b"ann", b"1"], [None, None, b"2"], [None, None, b"3"]])
        _, error = yunti("run", "identity", self.path("t.parquet"), "--key-columns", "user.no", "-o", "-", code=3)
        self.assertIn("no column 'user.no': it has id, user", error)


class Written(Scratch):
    def test_output_has_the_types_of_the_job(self):
        with open(self.path("a.txt"), "w", encoding="utf-8") as f:
            f.write("b a b\n" * 10)
        yunti("run", "wordcount", self.path("a.txt"), "-o", self.path("out"), "--output-format", "parquet",
              "--output-key-columns", "word", "--output-value-columns", "n")
        table = pq.read_table(self.path("out/part-r-00000.parquet"))
        self.assertEqual(table.to_pydict(), {"word": ["a", "b"], "n": [10, 20]})
        self.assertEqual([f.type for f in table.schema], [pa.string(), pa.int64()])
        self.assertTrue(os.path.exists(self.path("out/_SUCCESS")))

    def test_an_empty_output_is_a_file_with_a_schema(self):
        open(self.path("a.txt"), "w", encoding="utf-8").close()
        yunti("run", "wordcount", self.path("a.txt"), "-o", self.path("out"), "--output-format", "parquet")
        self.assertEqual(pq.read_table(self.path("out/part-r-00000.parquet")).num_rows, 0)

    def test_parquet_to_parquet_keeps_every_value_and_type(self):
        flat = [seed for seed in range(60) if not any(pa.types.is_nested(f.type) for f in random_table(seed).schema)]
        self.assertGreater(len(flat), 10)
        for seed in flat:
            table = random_table(seed)
            if table.num_rows == 0:
                continue
            pq.write_table(table, self.path("t.parquet"))
            yunti("convert", self.path("t.parquet"), self.path("out"), "--output-format", "parquet", "--overwrite")
            back = pq.read_table(self.path("out"))
            with self.subTest(seed=seed):
                self.assertEqual(back.column_names, table.column_names)
                wanted, found = expected(table), expected(back)
                self.assertEqual(found, wanted)

    def test_csv_to_parquet_infers_types(self):
        with open(self.path("a.csv"), "w", encoding="utf-8") as f:
            f.write("id,name,amount,day,code\n1,ann,2.5,2026-11-25,007\n2,,3,2026-11-26,8\n3,\"b,c\",,,9\n")
        yunti("convert", self.path("a.csv"), self.path("out"), "--output-format", "parquet", "--type", "id=Int32")
        table = pq.read_table(self.path("out"))
        day = datetime.date
        self.assertEqual(table.to_pydict(), {
            "id": [1, 2, 3], "name": ["ann", "", "b,c"], "amount": [2.5, 3.0, None],
            "day": [day(2026, 11, 25), day(2026, 11, 26), None], "code": ["007", "8", "9"]})
        self.assertEqual(table.schema.field("id").type, pa.int32())

    def test_a_text_that_is_no_value_of_its_type_leaves_no_output(self):
        with open(self.path("a.csv"), "w", encoding="utf-8") as f:
            f.write("id\n1\nx\n")
        _, error = yunti("convert", self.path("a.csv"), self.path("out"), "--output-format", "parquet",
                         "--type", "id=Int64", code=6)
        self.assertIn("'x'", error)
        self.assertFalse(os.path.exists(self.path("out")))


class Json(Scratch):
    def test_numbers_and_nested_values_of_parquet_are_json_values(self):
        table = pa.table({"n": [1, None, -3], "x": [0.5, math.nan, 2.0], "s": ["1", "a\tb", None],
                          "l": [[1, 2], None, []], "d": [datetime.date(2026, 11, 25), None, None],
                          "o": [{"a": "q\"\\"}, None, {"a": None}]})
        pq.write_table(table, self.path("t.parquet"))
        out, _ = yunti("convert", self.path("t.parquet"), "-", "--output-format", "json", "--quiet")
        self.assertEqual([json.loads(line) for line in out.splitlines()], [
            {"n": 1, "x": 0.5, "s": "1", "l": [1, 2], "d": "2026-11-25", "o": {"a": "q\"\\"}},
            {"n": None, "x": "NaN", "s": "a\tb", "l": None, "d": "", "o": None},
            {"n": -3, "x": 2.0, "s": "", "l": [], "d": "", "o": {"a": None}}])


class Inspected(Scratch):
    def test_inspect_shows_columns_schema_and_statistics(self):
        pq.write_table(pa.table({"n": [3, None, 5], "s": ["b", "a", "c"]}), self.path("t.parquet"))
        out, _ = yunti("inspect", self.path("t.parquet"), "--schema", "--statistics")
        for text in ("3 rows in 1 row group, 2 columns", "OPTIONAL INT64 n;", "snappy", "OPTIONAL BYTE_ARRAY s (STRING)"):
            self.assertIn(text, out.decode())


if __name__ == "__main__":
    unittest.main()
