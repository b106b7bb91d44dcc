"""Random tables: every type, nulls, duplicates, skew, none or one row, in Parquet of many shapes or in CSV.

Doubles are quarters, so that sums are exact in any order.
"""

import datetime
import decimal
import glob
import os
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

WORDS = [
    "a",
    "b",
    "B",
    "ab",
    "abc",
    "abd",
    "a b",
    " a",
    "a ",
    "zz",
    "Z",
    "_",
    "%",
    "a%b",
    "a_b",
    "it's",
    "é",
    "É",
    "日本",
    "😀",
    "x" * 40,
    "x" * 39 + "y",
    "0",
    "1",
    "12",
    "-1",
    "null",
    "true",
]
ROWS = [0, 1, 2, 10, 60, 60, 300, 300, 1500]
LITE = ("int", "big", "float", "str")
EPOCH = datetime.date(1970, 1, 1)


@dataclass
class Column:
    name: str
    kind: str  # int, big, float, dec, str, bool, date, time: what expressions may do with it
    type: pa.DataType


@dataclass
class Table:
    name: str
    path: str
    columns: list
    rows: int


# Kind, types of Arrow. `big` columns have extremes, and take no part in arithmetic.
TYPES = [
    ("int", [pa.int32(), pa.int64(),
             pa.int16(), pa.int8(), pa.uint8(),
             pa.uint16(), pa.uint32()]),
    ("int", [pa.int32(), pa.int64()]),
    ("big", [pa.int64(), pa.int32()]),
    ("float", [pa.float64(), pa.float64(), pa.float32()]),
    ("dec", [
        pa.decimal128(5, 2),
        pa.decimal128(15, 2),
        pa.decimal128(18, 4),
        pa.decimal128(38, 10),
        pa.decimal128(9, 0)
    ]),
    ("str", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]),
    ("bool", [pa.bool_()]),
    ("date", [pa.date32()]),
    ("time", [pa.timestamp("us"), pa.timestamp("ms")]),
]


def values(random, kind, type):
    """Returns a function that draws one value. The values of a column are few or many, even or skewed."""
    few = random.choice([1, 2, 3, 7, 40, 1000])
    if kind == "int":
        least, most = (0, 100) if "uint" in str(type) else (-100, 100)
        pool = [random.randint(least, most) for _ in range(few)]
    elif kind == "big":
        bits = type.bit_width - 1
        pool = [
            random.choice([0, 1, -1, 2**bits - 1, -2**bits,
                           random.randint(-2**bits, 2**bits - 1)]) for _ in range(few)
        ]
    elif kind == "float":
        pool = [random.randint(-400, 400) / 4 for _ in range(few)]
    elif kind == "dec":
        unit = decimal.Decimal(1).scaleb(-type.scale)
        most = 10 ** min(type.precision, type.scale + 3) - 1
        pool = [random.randint(-most, most) * unit for _ in range(few)]
    elif kind == "str":
        pool = [random.choice(WORDS) + random.choice(["", "", "", str(random.randint(0, 99))]) for _ in range(few)]
        pool += [""] * random.choice([0, 0, 1])
    elif kind == "bool":
        pool = random.choice([[True, False], [True], [False], [True, False, False, False]])
    elif kind == "date":
        pool = [
            EPOCH + datetime.timedelta(days=random.choice([random.randint(-1000, 20000),
                                                           random.randint(9000, 9100)])) for _ in range(few)
        ]
    else:
        pool = [datetime.datetime(1999, 12, 31) + datetime.timedelta(milliseconds=random.randint(-10**10, 10**10))
                for _ in range(few)]
    skew = random.choice([1, 1, 3])
    return lambda: pool[int(len(pool) * random.random() ** skew)]


def table(random, name, folder, lite=False):
    """Writes a random table and returns its description. `lite`: with kinds that SQLite has, alone."""
    rows, csv = random.choice(ROWS), random.random() < 0.1
    rows = max(rows, 2) if csv else rows
    columns = [Column("id", "int", pa.int64())]
    kinds = [TYPES[0], random.choice(TYPES), random.choice(TYPES)] + random.sample(TYPES, random.randint(2, len(TYPES)))
    kinds = [entry for entry in kinds if entry[0] in LITE or not lite]
    arrays = [pa.array(random.sample(range(rows), rows), pa.int64())]
    for number, (kind, types) in enumerate(kinds):
        if csv and kind not in ("int", "float"):
            continue
        type = random.choice([pa.int64()] if csv and kind == "int" else [pa.float64()] if csv else types)
        draw, nulls = values(random, kind, type), random.choice(
            [0, 0, 0.1, 0.5, 1 if random.random() < 0.1 else 0.1])
        nulls = 0 if csv else nulls
        cells = [None if random.random() < nulls else draw() for _ in range(rows)]
        if random.random() < 0.2:  # runs
            cells.sort(key=lambda cell: (cell is None, cell if cell is not None else 0))
        if csv and kind == "float":
            cells[0] = 0.25  # else a reader may take the column for integers
        columns.append(Column(f"{kind[0]}{number}", kind, type))
        plain = type.value_type if pa.types.is_dictionary(type) else type
        array = pa.array(cells, plain)
        arrays.append(array.dictionary_encode() if plain is not type else array)
    made = pa.Table.from_arrays(arrays, [column.name for column in columns])
    path = os.path.join(folder, f"{name}.csv" if csv else f"{name}.parquet")
    if csv:
        pc.write_csv(made, path)
    else:
        path = write(random, made, folder, name)
    return Table(name, path, columns, rows)


def write(random, made, folder, name):
    """Writes a table as one file of Parquet or as several, and returns its path or pattern."""
    options = dict(
        row_group_size=random.choice([1, 3, 100, 10**6]) if made.num_rows < 100 else random.choice([17, 200, 10**6]),
        compression=random.choice(["snappy", "zstd", "none", "gzip", "lz4"]),
        use_dictionary=random.choice([True, True, False]),
        data_page_version=random.choice(["1.0", "2.0"]),
        write_statistics=random.choice([True, True, False]),
        data_page_size=random.choice([64, 1000, 10**6]),
        write_page_index=random.choice([True, False]))
    if made.num_rows > 1 and random.random() < 0.2:
        os.makedirs(os.path.join(folder, name))
        cut = random.randint(1, made.num_rows - 1)
        for number, part in enumerate((made.slice(0, cut), made.slice(cut))):
            pq.write_table(part, os.path.join(folder, name, f"{number}.parquet"), **options)
        return os.path.join(folder, name, "*.parquet")
    path = os.path.join(folder, f"{name}.parquet")
    pq.write_table(made, path, **options)
    return path


def read(path):
    """Returns the table of a path or pattern, for peers that read no files."""
    if path.endswith(".csv"):
        return pc.read_csv(path)
    return pa.concat_tables([pq.ParquetFile(file).read() for file in sorted(glob.glob(path))])
