"""Flat columns of Parquet, which jobs over columns read from their pages: every encoding, codec, version and size of
pages, with conditions that leave rows out, against the same table as an Arrow file, which has no pages.
"""

import datetime
import decimal
import glob
import os
import random
import re

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from columns_test import CORPUS, lines
from tables import Scratch, read, yunti

KINDS = {
    "small": pa.int32(), "wide": pa.int64(), "unsigned": pa.uint32(), "day": pa.date32(),
    "at": pa.timestamp("us"), "price": pa.decimal128(9, 2), "sum": pa.decimal128(18, 4), "huge": pa.decimal128(30, 3),
    "x": pa.float64(), "y": pa.float32(), "word": pa.string(), "bytes": pa.binary(), "flag": pa.bool_(),
}
INTEGERS = ("DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT", "PLAIN")
ENCODINGS = {
    **dict.fromkeys(("small", "wide", "unsigned", "day", "at"), INTEGERS),
    "x": ("BYTE_STREAM_SPLIT", "PLAIN"), "y": ("BYTE_STREAM_SPLIT", "PLAIN"),
    "huge": ("BYTE_STREAM_SPLIT", "DELTA_BYTE_ARRAY", "PLAIN"),
    "word": ("DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "PLAIN"),
    "bytes": ("DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "PLAIN"),
    "flag": ("RLE", "PLAIN"),
}
DAY = datetime.date(2020, 2, 28)


def value(name, number):
    """Returns a value that grows with a number."""
    if name in ("price", "sum", "huge"):
        factor = 10**20 + 1 if name == "huge" else 1
        return decimal.Decimal(number * factor).scaleb(-KINDS[name].scale)
    return {
        "small": lambda n: n, "wide": lambda n: n * (2**40 + 1), "unsigned": lambda n: n + 2**31,
        "day": lambda n: DAY + datetime.timedelta(days=n),
        "at": lambda n: datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=n, microseconds=7),
        "x": lambda n: n / 4, "y": lambda n: n / 4,
        "word": lambda n: f"wörd {n:+06d}", "bytes": lambda n: b"\xff%06d" % (n + 10**5), "flag": lambda n: n % 2 == 0,
    }[name](number)


def literal(name, number):
    found = value(name, number)
    if name in ("word", "day", "at"):
        return f"'{found}'"
    return str(found)


def table(chance):
    rows = chance.choice([0, 1, 9, 1000, 5000, 30_000])
    columns = {}
    for name in chance.sample(list(KINDS), chance.randint(1, 6)):
        distinct = chance.choice([1, 3, 200, 20_000])
        numbers = [chance.randrange(distinct) - distinct // 2 for _ in range(rows)]
        if chance.random() < 0.4:
            numbers.sort()
        if chance.random() < 0.3:
            # Runs, and with them the other kind of packing.
            numbers = [numbers[row // 50 * 50] for row in range(rows)]
        nulls = chance.choice([0, 0, 0.1, 0.9, 1])
        values = [None if chance.random() < nulls else value(name, n) for n in numbers]
        if name == "bytes" or name == "unsigned":
            values = [v if v is None or name == "bytes" else abs(v) for v in values]
        columns[name] = pa.array(values, KINDS[name])
    return pa.table(columns)


def condition(names, chance):
    """Returns comparisons of columns with constants, most of which a source can use."""
    able = [name for name in names if name not in ("flag", "bytes")]
    parts = []
    for name in chance.sample(able, min(len(able), chance.randint(1, 3))):
        number = chance.choice([0, 0, 1, -1, 50, -80, 5000])
        operator = chance.choice(["=", "<", "<=", ">", ">=", "<>"])
        parts.append(f"{name} {operator} {literal(name, number)}")
        if chance.random() < 0.3:
            parts.append(f"{name} >= {literal(name, number - chance.choice([0, 3, 400]))}")
    return f" {chance.choice(['and', 'and', 'and', 'or'])} ".join(parts) or "true"


def options(names, chance):
    encoded = {name: chance.choice(ENCODINGS[name]) for name in names if name in ENCODINGS and chance.random() < 0.5}
    plain = chance.random() < 0.5
    more = {"column_encoding": encoded, "use_dictionary": False} if encoded and plain else {
        "use_dictionary": chance.choice([True, False, names[:1]]),
        "dictionary_pagesize_limit": chance.choice([100, 2000, 1 << 20])}
    return {
        **more,
        "compression": chance.choice(["none", "snappy", "zstd", "gzip", "lz4", "brotli"]),
        "version": chance.choice(["1.0", "2.6"]),
        "data_page_version": chance.choice(["1.0", "2.0"]),
        "data_page_size": chance.choice([100, 3000, 1 << 20]),
        "write_batch_size": chance.choice([10, 300, 1024]),
        "row_group_size": chance.choice([100, 7000, 1 << 20]),
        "write_page_index": chance.random() < 0.6,
        "store_decimal_as_integer": chance.random() < 0.5,
    }


class Pages(Scratch):
    def test_rows_of_pages_are_the_rows_of_arrow(self):
        for seed in range(60):
            chance = random.Random(seed)
            made = table(chance)
            if "unsigned" in made.column_names and chance.random() < 0.5:
                made = made.drop_columns(["unsigned"])
            if not made.num_columns:
                continue
            path, arrow = self.path(f"{seed}.parquet"), self.path(f"{seed}.arrow")
            chosen = options(made.column_names, chance)
            if chosen["version"] == "1.0" and "unsigned" in made.column_names:
                # The old version stores them as wider numbers.
                chosen["version"] = "2.6"
            pq.write_table(made, path, **chosen)
            with ipc.new_file(arrow, made.schema) as writer:
                writer.write_table(made)
            for where in ("true", condition(made.column_names, chance), condition(made.column_names, chance)):
                with self.subTest(seed=seed, where=where, options=chosen, schema=str(made.schema)):
                    self.assertEqual(lines("filter", path, "--where", where), lines("filter", arrow, "--where", where))

    def test_pages_without_a_row_are_not_decompressed(self):
        rows = 200_000
        made = pa.table({"n": pa.array(range(rows)), "text": [f"{n * 7919 % rows}" * 5 for n in range(rows)]})
        path = self.path("sorted.parquet")
        pq.write_table(made, path, data_page_size=8000, write_page_index=True, compression="snappy",
                       use_dictionary=False)
        wanted = [f"{n}\t{n * 7919 % rows}".encode() + f"{n * 7919 % rows}".encode() * 4 for n in range(77_000, 77_003)]
        where = ("--where", "n >= 77000 and n < 77003")
        self.assertEqual(lines("filter", path, *where), wanted)
        # Pages far from the rows may be damaged: nobody looks at them.
        data = bytearray(read(path))
        chunk = pq.ParquetFile(path).metadata.row_group(0).column(1)
        start, end = chunk.data_page_offset, chunk.data_page_offset + chunk.total_compressed_size
        data[end - (end - start) // 4: end - (end - start) // 5] = b"\xee" * (
            (end - start) // 4 - (end - start) // 5)
        with open(path, "wb") as f:
            f.write(data)
        # Headers of the pages behind them are not needed either.
        self.assertEqual(lines("filter", path, *where), wanted)
        yunti("run", "filter", path, "--where", "n >= 0", "-o", "-", "--quiet", code=4)

    def test_bloom_filters_exclude_row_groups(self):
        path = os.path.join(CORPUS, "data_index_bloom_encoding_stats.parquet")
        if not os.path.exists(path):
            self.skipTest("the corpus is not beside the checkout")
        column = pq.ParquetFile(path).schema_arrow.names[0]
        values = [v for v in pq.read_table(path)[column].to_pylist() if v is not None]
        self.assertIn("Hello", values)
        for text, expect in (("Hello", values.count("Hello")), ("I", 0)):
            out = self.path(f"out-{text}")
            yunti("run", "aggregate", path, "--agg", "count", "--where", f"\"{column}\" = '{text}'", "-o", out)
            counted = b"".join(read(part) for part in glob.glob(os.path.join(out, "part-*")))
            self.assertEqual(int(counted), expect)
            report = yunti("report", out)[0].decode()
            # The absent one lies between the least and the largest value, too.
            self.assertTrue(min(values) <= text <= max(values))
            self.assertEqual(bool(re.search(r"ROWS +\d", report)), expect > 0, report)

    def test_damaged_pages_end_in_one_line(self):
        made = pa.table({"n": pa.array([7, None, 9] * 50, pa.int32()), "word": ["a", "bb", "ccc"] * 50})
        path = self.path("small.parquet")
        for dictionary in (True, False):
            pq.write_table(made, path, compression="none", use_dictionary=dictionary, write_statistics=False)
            whole = read(path)
            foot = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
            refused, _ = self.damage(whole, "parquet", job=("filter", "--where", "n > 0"), end=foot)
            self.assertGreater(refused, 0)
