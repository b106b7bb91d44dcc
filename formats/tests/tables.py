"""What the tests of all formats share: the command, rows of files as it reads them, random tables, damaged files."""

import datetime
import decimal
import math
import os
import random
import shutil
import subprocess
import tempfile
import unittest

import pyarrow as pa

import texts

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
SECONDS = 120
# Damaged files of each kind; YUNTI_TEST_ALL=1 tries every one.
DAMAGED_CASES = 50
# Exit codes of a job on a damaged file: nothing was found, its kind, its bytes, its memory.
CODES = (0, 3, 4, 7)


def yunti(*arguments, code=0):
    """Runs the command and returns (standard output, standard error); fails unless it ends with `code`."""
    done = subprocess.run([YUNTI, *arguments], capture_output=True, timeout=SECONDS, check=False)
    error = done.stderr.decode("utf-8", "replace")
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}, not {code}: {error[-500:]}")
    return done.stdout, error


def rows(path, *more, columns=0, format="parquet"):
    """Returns the rows of a file: lists of bytes, None for a null, all columns in the order of the file."""
    out, _ = yunti("run", "identity", path, "--input-format", format, "-o", "-", "--quiet", "--split-size", "1000",
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
        self.dir = tempfile.mkdtemp(prefix="yunti-formats-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def compare(self, path, table, *more, format="parquet"):
        found, wanted = rows(path, *more, columns=table.num_columns, format=format), expected(table)
        self.assertEqual(len(found), len(wanted), path)
        kinds = [column.type for column in table.columns]
        for number, (a, b) in enumerate(zip(found, wanted)):
            self.assertEqual(len(a), len(b), f"{path}, row {number}")
            for name, kind, x, y in zip(table.column_names, kinds, a, b):
                if not pa.types.is_nested(kind) or leaf_is_plain(kind):
                    self.assertTrue(same(x, y), f"{path}, row {number}, column {name}: {x!r}, not {y!r}")

    def damage(self, whole, format, memory="64MiB", job=("identity",), end=None):
        """Changes bytes of a file up to `end`, and cuts it: the job ends with rows, or with one line and its code."""
        path = self.path("damaged")
        end = end or len(whole)
        cases = [whole[:n] for n in range(end)]
        cases += [whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1:] for at in range(end) for flip in (1, 0x80)]
        # Runs of the largest numbers, where lengths may be.
        cases += [whole[:at] + b"\xff" * 8 + whole[at + 8:] for at in range(0, end - 8, 3)]
        if not os.environ.get("YUNTI_TEST_ALL"):
            cases = random.Random(len(whole)).sample(cases, min(DAMAGED_CASES, len(cases)))
        refused = 0
        for number, case in enumerate(cases):
            with open(path, "wb") as f:
                f.write(case)
            done = subprocess.run([YUNTI, "run", job[0], path, *job[1:], "--input-format", format, "-o", "-", "--quiet",
                                   "--memory", memory], capture_output=True, timeout=SECONDS, check=False)
            with self.subTest(format=format, case=number):
                self.assertIn(done.returncode, CODES, done.stderr)
                if done.returncode:
                    refused += 1
                    self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
                    self.assertIn(b"damaged", done.stderr)
        return refused, len(cases)


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
