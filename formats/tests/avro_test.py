"""Avro files as jobs read and write them, against fastavro: random tables, every type and codec, damaged files."""

import datetime
import decimal
import json
import os
import random
import unittest
import uuid

import fastavro
import pyarrow as pa
import pyarrow.ipc as ipc

from tables import Scratch, random_table, read, rows, yunti

CODECS = ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"]
EPOCH = datetime.datetime(1970, 1, 1)
UTC = datetime.timezone.utc


def number(value, digits):
    """Returns the text of a fraction of seconds: nothing, or 3, 6 or 9 digits."""
    if value == 0:
        return ""
    text = f"{value:0{digits}}"
    while len(text) > 3 and text.endswith("000"):
        text = text[:-3]
    return "." + text


def makers(r):
    """Returns makers of (type, value, text) for all types; a nested text is JSON."""
    words = ["", "a", "tab\there", "line\nend", "back\\slash", "\\N", "ünïcode", "x" * 300]

    def whole(kind, bits):
        value = r.choice([0, 1, -1, 2**(bits - 1) - 1, -2**(bits - 1), r.randrange(-2**(bits - 1), 2**(bits - 1))])
        return kind, value, str(value)

    def string():
        value = r.choice(words)
        return "string", value, value

    def bytes_():
        value = r.randbytes(r.randrange(20))
        return "bytes", value, value

    def boolean():
        value = r.random() < 0.5
        return "boolean", value, "true" if value else "false"

    def double():
        value = r.choice([0.5, -1.0, 1e300, 12345.678])
        return "double", value, repr(value).replace("e+", "e")

    def float_():
        value = r.choice([0.5, -1.0, 2.25])
        return "float", value, repr(value)

    def date():
        value = (EPOCH + datetime.timedelta(days=r.randrange(-30000, 30000))).date()
        return {"type": "int", "logicalType": "date"}, value, value.isoformat()

    def time(unit):
        digits, base = (3, "int") if unit == "millis" else (6, "long")
        value = datetime.time(r.randrange(24), r.randrange(60), r.randrange(60), r.choice([0, 5000, 123000]))
        return ({"type": base, "logicalType": f"time-{unit}"}, value,
                value.strftime("%H:%M:%S") + number(value.microsecond // 10**(6 - digits), digits))

    def timestamp(unit, local):
        step = 1000 if unit == "millis" else 1
        value = EPOCH + datetime.timedelta(microseconds=r.randrange(-10**15, 9 * 10**15) // step * step)
        text = value.replace(microsecond=0).isoformat() + number(value.microsecond, 6) + ("" if local else "Z")
        kind = {"type": "long", "logicalType": ("local-" if local else "") + f"timestamp-{unit}"}
        return kind, value if local else value.replace(tzinfo=UTC), text

    def dec(precision, scale, fixed=None):
        value = decimal.Decimal(r.randrange(-10**precision + 1, 10**precision)).scaleb(-scale, decimal.Context(prec=80))
        kind = {"logicalType": "decimal", "precision": precision, "scale": scale}
        kind |= {"type": "fixed", "size": fixed, "name": f"D{precision}"} if fixed else {"type": "bytes"}
        return kind, value, format(value, "f")

    def uuid_():
        value = uuid.UUID(int=r.getrandbits(128))
        return {"type": "string", "logicalType": "uuid"}, value, str(value)

    def enum():
        value = r.choice(["RED", "GREEN", "BLUE"])
        return {"type": "enum", "name": "Color", "symbols": ["RED", "GREEN", "BLUE"]}, value, value

    def fixed():
        value = r.randbytes(5)
        return {"type": "fixed", "name": "Five", "size": 5}, value, value

    def array():
        value = [r.randrange(-5, 5) for _ in range(r.randrange(4))]
        return {"type": "array", "items": "long"}, value, json.dumps(value, separators=(",", ":"))

    def map_():
        value = {r.choice(words[:5]): r.choice([None, 3]) for _ in range(r.randrange(3))}
        return ({"type": "map", "values": ["null", "int"]}, value,
                json.dumps(value, separators=(",", ":"), ensure_ascii=False))

    def record():
        value = {"a": r.randrange(9), "b": r.choice(words), "c": [{"d": r.random() < 0.5}]}
        inner = {"type": "record", "name": "Inner", "fields": [{"name": "d", "type": "boolean"}]}
        kind = {"type": "record", "name": "Pair", "fields": [
            {"name": "a", "type": "int"}, {"name": "b", "type": "string"}, {"name": "c", "type": {"type": "array", "items": inner}}]}
        return kind, value, json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    def union():
        value, text = r.choice([(None, None), (7, "7"), ("s\t", "s\t"), ([1, 2], "[1,2]"), (True, "true")])
        return ["null", "int", "string", {"type": "array", "items": "int"}, "boolean"], value, text

    def list_of_itself():
        value = None
        for i in range(r.randrange(1, 5)):
            value = {"value": i, "next": value}
        kind = {"type": "record", "name": "Chain", "fields": [
            {"name": "value", "type": "int"}, {"name": "next", "type": ["null", "Chain"]}]}
        return kind, value, json.dumps(value, separators=(",", ":"))

    return [lambda: whole("int", 32), lambda: whole("long", 64), string, bytes_, boolean, double, float_, date,
            lambda: time("millis"), lambda: time("micros"), lambda: timestamp("millis", False),
            lambda: timestamp("micros", False), lambda: timestamp("millis", True), lambda: timestamp("micros", True),
            lambda: dec(9, 2), lambda: dec(38, 10), lambda: dec(60, 20), lambda: dec(18, 4, 9), uuid_, enum, fixed, array,
            map_, record, union, list_of_itself, lambda: ("null", None, None)]


def random_file(seed, path):
    """Writes a file of random columns, and returns its rows as Yunti writes them."""
    r = random.Random(seed)
    all_ = makers(r)
    picked = r.sample(all_, r.randrange(1, 9)) if seed else all_
    n, nulls = r.choice([0, 1, 50, 3000]) if seed else 200, r.choice([0.0, 0.3])
    columns = [make()[0] for make in picked]
    # A union cannot stand in a union.
    nullable = [not isinstance(kind, list) and kind != "null" and r.random() < 0.5 for kind in columns]
    orders = [r.random() < 0.5 for _ in columns]
    fields = [{"name": f"c{i}", "type": (["null", kind] if first else [kind, "null"]) if nulled else kind}
              for i, (kind, nulled, first) in enumerate(zip(columns, nullable, orders))]
    records, wanted = [], []
    for _ in range(n):
        made = [(None, None) if nulled and r.random() < nulls else make()[1:] for make, nulled in zip(picked, nullable)]
        records.append({f"c{i}": value for i, (value, _) in enumerate(made)})
        wanted.append([text.encode() if isinstance(text, str) else text for _, text in made])
    codec = CODECS[seed % len(CODECS)]
    with open(path, "wb") as f:
        fastavro.writer(f, {"type": "record", "name": "Row", "namespace": "a.b", "fields": fields}, records, codec=codec,
                        sync_interval=r.choice([100, 16000, 10**6]))
    return wanted, codec, len(fields)


class Tables(Scratch):
    def test_random_files_of_every_type_and_codec(self):
        for seed in range(60):
            path = self.path("t.avro")
            wanted, codec, columns = random_file(seed, path)
            with self.subTest(seed=seed, codec=codec):
                found = rows(path, columns=columns, format="avro")
                self.assertEqual(found, wanted)

    def test_columns_that_are_not_used_are_passed_over(self):
        fields = [{"name": f"c{i}", "type": make()[0]} for i, make in enumerate(makers(random.Random(1)))]
        r = random.Random(5)
        made = [[make()[1:] for make in makers(r)] for _ in range(300)]
        with open(self.path("t.avro"), "wb") as f:
            fastavro.writer(f, {"type": "record", "name": "Row", "fields": fields},
                            [{f"c{i}": value for i, (value, _) in enumerate(row)} for row in made], sync_interval=1000)
        for column in range(len(fields)):
            out, _ = yunti("run", "identity", self.path("t.avro"), "--key-columns", f"c{column}", "--value-columns", "c1",
                           "-D", "columns.mark.nulls=true", "-o", "-", "-q")
            self.assertEqual(out.count(b"\n"), 300, column)
        out, _ = yunti("run", "identity", self.path("t.avro"), "--key-columns", "c23.a", "--value-columns", "c1", "-o", "-", "-q")
        self.assertEqual(out, b"".join(f"{json.loads(row[23][1])['a']}\t{row[1][1]}\n".encode() for row in made))

    def test_a_file_of_values_without_records(self):
        with open(self.path("t.avro"), "wb") as f:
            fastavro.writer(f, "string", ["a", "b\t"])
        out, _ = yunti("run", "identity", self.path("t.avro"), "-o", "-", "-q")
        self.assertEqual(out, b"a\t\nb\t\t\n")

    def test_large_files_have_the_same_records_with_any_splits(self):
        n = 300_000
        with open(self.path("t.avro"), "wb") as f:
            fields = [{"name": "id", "type": "long"}, {"name": "text", "type": "string"}]
            fastavro.writer(f, {"type": "record", "name": "Row", "fields": fields},
                            ({"id": i, "text": f"text {i * 7919}"} for i in range(n)))
        found = rows(self.path("t.avro"), format="avro")
        self.assertEqual(found, [[str(i).encode(), f"text {i * 7919}".encode()] for i in range(n)])
        out, _ = yunti("run", "identity", self.path("t.avro"), "-o", self.path("out"), "--threads", "2", "-q")
        parts = sorted(os.listdir(self.path("out")))
        self.assertEqual(sum(read(self.path(f"out/{p}")).count(b"\n") for p in parts if p.startswith("part")), n)


class Output(Scratch):
    def test_fastavro_reads_what_jobs_write(self):
        for seed in range(12):
            table = random_table(seed)
            kept = [i for i, column in enumerate(table.columns)
                    if not pa.types.is_nested(column.type) and not pa.types.is_floating(column.type)]
            table = table.select(kept)
            if not kept or len(table) == 0:
                continue
            with ipc.new_file(self.path("t.arrow"), table.schema) as writer:
                writer.write_table(table)
            codec = ["none", "deflate", "snappy", "zstd", "bzip2", "xz"][seed % 6]
            yunti("convert", self.path("t.arrow"), self.path("out"), "--output-format", "avro", "--codec", codec,
                  "--overwrite", "-q")
            part = self.path("out/part-m-00000.avro")
            with self.subTest(seed=seed, codec=codec):
                self.compare(part, table, format="avro")
                with open(part, "rb") as f:
                    reader = fastavro.reader(f)
                    self.assertEqual(reader.codec, codec.replace("none", "null").replace("zstd", "zstandard"))
                    back = list(reader)
                self.assertEqual(len(back), len(table))
                for name, column in zip(table.column_names, table.columns):
                    if pa.types.is_integer(column.type) or pa.types.is_string(column.type) or pa.types.is_decimal(column.type) \
                            or pa.types.is_date(column.type) or pa.types.is_boolean(column.type):
                        self.assertEqual([row[name] for row in back], column.to_pylist(), name)

    def test_names_that_avro_does_not_have(self):
        with open(self.path("t.csv"), "w", encoding="utf-8") as f:
            f.write("unit price,1st\n2.5,x\n")
        yunti("convert", self.path("t.csv"), self.path("out"), "--output-format", "avro", "-q")
        with open(self.path("out/part-m-00000.avro"), "rb") as f:
            self.assertEqual(list(fastavro.reader(f)), [{"unit_price": 2.5, "_1st": "x"}])

    def test_a_part_without_records_is_a_file(self):
        open(self.path("t.txt"), "wb").close()
        yunti("run", "wordcount", self.path("t.txt"), "-o", self.path("out"), "--output-format", "avro", "-q")
        with open(self.path("out/part-r-00000.avro"), "rb") as f:
            self.assertEqual(list(fastavro.reader(f)), [])
        self.assertEqual(rows(self.path("out/part-r-00000.avro"), format="avro"), [])


class Damage(Scratch):
    def test_bytes_that_change_and_files_that_are_cut(self):
        for codec in CODECS:
            fields = [{"name": "n", "type": ["null", "long"]}, {"name": "w", "type": "string"},
                      {"name": "l", "type": {"type": "array", "items": "int"}},
                      {"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}}]
            with open(self.path("t"), "wb") as f:
                fastavro.writer(f, {"type": "record", "name": "R", "fields": fields}, codec=codec, records=[
                    {"n": None if i == 1 else i, "w": f"w{i}", "l": [i, i], "d": decimal.Decimal(i)} for i in range(4)])
            refused, cases = self.damage(read(self.path("t")), "avro")
            self.assertGreater(refused, cases // 2)

    def test_lengths_without_bounds_take_no_memory(self):
        def long(value):
            value, out = (value << 1) ^ (value >> 63), b""
            while value >= 128:
                out, value = out + bytes([value & 127 | 128]), value >> 7
            return out + bytes([value])

        def file(schema, count, body):
            text, sync = json.dumps(schema).encode(), b"0123456789abcdef"
            head = b"Obj\x01" + long(1) + long(11) + b"avro.schema" + long(len(text)) + text + long(0) + sync
            return head + long(count) + long(len(body)) + body + sync

        large = {"type": "fixed", "name": "F", "size": 2**31 - 1}
        record = lambda kind: {"type": "record", "name": "R", "fields": [{"name": "a", "type": kind}]}
        chain = {"type": "record", "name": "R", "fields": [{"name": "next", "type": ["null", "R"]}]}
        wide = {"type": "record", "name": "R0", "fields": [{"name": "a", "type": "null"}]}
        for level in range(1, 30):
            wide = {"type": "record", "name": f"R{level}", "fields": [{"name": "a", "type": wide}, {"name": "b", "type": f"R{level - 1}"}]}
        for name, content, codes in (
                ("nulls", file(record({"type": "array", "items": "null"}), 1, long(2**60) + long(0)), (4,)),
                ("array", file(record({"type": "array", "items": "long"}), 1, long(2**60) + long(0)), (4,)),
                ("string", file(record("string"), 1, long(2**60)), (4,)),
                ("nulls of a large type", file(record(["null", large]), 1000, long(0) * 1000), (0,)),
                ("records without bytes", file(record("null"), 2**62, b""), (4,)),
                ("deep", file(chain, 1, long(1) * 100_000 + long(0)), (3,)),
                ("wide", file(wide, 1, b""), (3,))):
            with open(self.path("t.avro"), "wb") as f:
                f.write(content)
            with self.subTest(name):
                for code in codes:
                    _, error = yunti("run", "identity", self.path("t.avro"), "-o", "-", "-q", "--memory", "64MiB", code=code)
                    self.assertEqual(error.count("\n"), 0 if code == 0 else 1, error)

    def test_codecs_and_versions_that_are_not_known(self):
        with open(self.path("t.avro"), "wb") as f:
            fastavro.writer(f, "long", [1], codec="deflate")
        whole = read(self.path("t.avro"))
        for old, new, what in ((b"deflate", b"brotli7", "codec 'brotli7'"), (b"Obj\x01", b"Obj\x02", "version 2")):
            with open(self.path("t.avro"), "wb") as f:
                f.write(whole.replace(old, new))
            _, error = yunti("run", "identity", self.path("t.avro"), "--input-format", "avro", "-o", "-", code=3)
            self.assertIn(what, error)
            self.assertIn("t.avro", error)


if __name__ == "__main__":
    unittest.main()
