"""`y.SharedTable` on tables that `yunti table build` made of random rows, compared with these rows.

    make table python-environment && build/python-environment/bin/python python/tests/tables_test.py
"""

import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import unittest
import unittest.mock

from case import ROOT, Case, without_numpy
from shapes import WHOLE, Shape

import yunti as y
from yunti.data import native

PROGRAM = os.path.join(ROOT, "dist/libexec/yunti-table")
if not os.path.exists(PROGRAM):
    raise unittest.SkipTest("the program yunti-table is not built: make table")
if native.library() is None:
    raise unittest.SkipTest("the library is in the wheel alone")

HAS_ARROW = importlib.util.find_spec("pyarrow") is not None
TEXTS = Shape.TEXTS


class TableCase(Case):
    def build(self, rows, key, columns, *flags, name="a"):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        self.file(name + ".jsonl", lines)
        words = ["build", self.path(name + ".jsonl"), "--key", key, "-q", "-o", self.path(name + ".ytab"), *flags]
        words += ["--columns", columns] if columns else []
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name + ".ytab")

    def open(self, *words, **options):
        return y.SharedTable.open(self.build(*words), **options)

    def fails(self, code, run, *words):
        with self.assertRaises(y.JobError) as caught:
            run(*words)
        self.assertEqual(caught.exception.code, code)
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)


class RandomRows(TableCase):
    def check(self, table, known):
        """Compares each way to read a table with its rows, by their key."""
        self.assertEqual(len(table), len(known))
        walked = [dict(row) for row in table]
        self.assertEqual({row["id"]: row for row in walked}, known)
        self.assertEqual(table.to_columns().to_list(), walked)
        keys = [*known, -7]
        for key in keys[:50] + keys[-1:]:
            self.assertEqual(table.get(key), known.get(key))
            self.assertEqual(key in table, key in known)
        batch = table.get_batch(keys)
        self.assertEqual(batch.to_list(), [known.get(key) for key in keys])
        self.assertEqual(list(batch.found), [True] * len(known) + [False])
        for name in table.columns:
            values = list(table.column(name))
            if not without_numpy():
                import numpy
                values = [None if value is numpy.ma.masked else value for value in values]
            self.assertEqual(values, [row[name] for row in walked])
        if HAS_ARROW:
            table.to_arrow().validate(full=True)
            self.assertEqual(table.to_arrow().to_pylist(), walked)
            missing = dict.fromkeys(table.columns)
            self.assertEqual(batch.to_arrow().to_pylist(), [known.get(key, missing) for key in keys])

    def test_every_type(self):
        for seed in range(40):
            rng = random.Random(seed)
            shapes = {f"c{n}": Shape(rng) for n in range(rng.randint(0, 9))}
            if seed % 4 == 0:
                shapes = {name: Shape(rng, kinds=["i8", "f64", "bool", "dict"]) for name in shapes}
            keys = rng.sample(range(1, 1 << 40), rng.choice([1, 2, 40, 300]))
            rows = [{"id": key, **{name: shape.value(rng) for name, shape in shapes.items()}} for key in keys]
            columns = ",".join(f"{name}:{shape.type}{'?' * shape.is_nullable}" for name, shape in shapes.items())
            known = {row["id"]: {"id": row["id"], **{n: s.known(row[n]) for n, s in shapes.items()}} for row in rows}
            with self.subTest(seed=seed, columns=columns), self.open(rows, "id:i64", columns or None) as table:
                self.check(table, known)
                self.assertEqual([column.type for column in table.schema][1:], [s.type for s in shapes.values()])

    def test_a_hundred_thousand_rows(self):
        rng = random.Random(1)
        rows = [{"id": key, "text": f"{key:x}" if key % 9 else None, "city": TEXTS[key % 4], "n": key % 251,
                 "tags": [f"t{n}" for n in range(key % 4)], "at": {"x": key % 8 / 4, "y": None if key % 3 else "y"}}
                for key in rng.sample(range(1 << 50), 100_000)]
        columns = "text?,city:dict,n:u8,tags:list<utf8>,at:record<x:f64,y:utf8?>"
        with self.open(rows, "id:i64", columns, "--sorted") as table:
            self.check(table, {row["id"]: row for row in rows})
            self.assertEqual([row["id"] for row in table.range()], sorted(row["id"] for row in rows))
            table.verify()

    def test_without_numpy_columns_are_lists(self):
        with unittest.mock.patch.dict(sys.modules, {"numpy": None}):
            table = self.open([{"id": 1, "x": None}, {"id": 2, "x": 5}], "id:i64", "x:i32?")
            batch = table.get_batch([2, 3, 1])
            self.assertEqual((batch["x"], batch["id"]), ([5, None, None], [2, None, 1]))
            self.assertEqual(batch.found, [True, False, True])
            self.assertEqual(sorted(table.column("id")), [1, 2])

    def test_an_empty_table(self):
        path = self.path("a.ytab")
        words = ["build", "-", "--key", "id:i64", "--columns", "t:dict,x:list<i8>", "-o", path, "-q"]
        subprocess.run([PROGRAM, *words], input="id,t,x\n", text=True, check=True)
        table = y.SharedTable.open(path)
        self.assertEqual((len(table), list(table), 1 in table, table.get_all(1)), (0, [], False, []))
        self.assertEqual((table.get_batch([1]).to_list(), table.get_batch([]).to_list()), ([None], []))
        self.assertEqual(len(table.column("t")), 0)


class Keys(TableCase):
    def test_integers_of_each_type(self):
        for kind, (least, most) in WHOLE.items():
            known = {least: 0, most: 1, 5: 2}
            table = self.open([{"id": key, "n": n} for key, n in known.items()], f"id:{kind}", "n:i8")
            asked = [least, most, 5, 6, -1, least - 1, most + 1, 1 << 64, -(1 << 70)]
            self.assertEqual([table.get(key, {"n": None})["n"] for key in asked], [known.get(key) for key in asked])
            self.assertEqual(list(table.get_batch(asked).found), [key in known for key in asked])
            if not without_numpy():
                import numpy
                for dtype in ("i1", "u1", "i8", "u8"):
                    asked = numpy.array([5, 6, numpy.iinfo(dtype).min, numpy.iinfo(dtype).max], dtype)
                    expect = [key in known for key in asked.tolist()]
                    self.assertEqual(list(table.get_batch(asked).found), expect, (kind, dtype))
                    self.assertEqual([key in table for key in asked], expect)
                self.assertEqual(list(table.get_batch(numpy.array([5, 5, 6, 5])[::2]).found), [True, False])
            if HAS_ARROW:
                import pyarrow as pa
                self.assertEqual(list(table.get_batch(pa.array([6, 5, 5])[1:]).found), [True, True])

    def test_texts(self):
        for kind in ("utf8", "bytes"):
            table = self.open([{"id": text, "n": n} for n, text in enumerate(TEXTS)], f"id:{kind}", "n:i64")
            self.assertEqual([table[text]["n"] for text in TEXTS], list(range(len(TEXTS))))
            self.assertEqual([table[text.encode()]["n"] for text in TEXTS], list(range(len(TEXTS))))
            asked = [*TEXTS, "b", "\ud800"]
            expect = [*range(len(TEXTS)), None, None]
            numbers = [row and row["n"] for row in table.get_batch(asked).to_list()]
            self.assertEqual(numbers, expect)
            if HAS_ARROW:
                import pyarrow as pa
                for form in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
                    keys = pa.array(["?", *TEXTS, "b"], form)[1:]
                    self.assertEqual([row and row["n"] for row in table.get_batch(keys).to_list()], expect[:-1])
                chunks = pa.chunked_array([TEXTS[:2], TEXTS[2:]])
                self.assertEqual(list(table.get_batch(chunks, ["n"])["n"]), list(range(len(TEXTS))))
                with self.assertRaisesRegex(TypeError, "1 of 2 keys are missing"):
                    table.get_batch(pa.array(["a", None]))

    def test_several_columns_and_ranges(self):
        days = [(shop, day) for shop in ("", "a", "ab", "b") for day in (-3, 0, 7)]
        rows = [{"shop": shop, "day": day, "n": n} for n, (shop, day) in enumerate(days)]
        table = self.open(rows, "shop,day:i16", "n:i32", "--sorted")
        self.assertEqual((table.key, [table[key]["n"] for key in days]), (["shop", "day"], list(range(12))))
        self.assertEqual(list(table.get_batch([*days, ("a", 1), ("a", 1 << 80)]).found), [True] * 12 + [False] * 2)
        for words, expect in [((), range(12)), (("a",), range(3, 12)), (("a", "a"), range(3, 6)),
                              ((None, ("a", 0)), range(5)), ((("a", 1), ("ab", 0)), range(5, 8)),
                              (("z",), []), (("b", "a"), [])]:
            self.assertEqual([row["n"] for row in table.range(*words)], list(expect), words)
        for text, expect in [("a", range(3, 9)), ("ab", range(6, 9)), ("x", []), ("", range(12))]:
            self.assertEqual([row["n"] for row in table.prefix(text)], list(expect), text)
        for key, error in [("a", TypeError), (("a",), TypeError), ((1, 2), TypeError), (("a", "b"), TypeError)]:
            with self.assertRaises(error):
                table.get(key)
        with self.assertRaisesRegex(ValueError, "day is i16, and 99999 is none"):
            table.range(("a", 99999))
        self.assertIn("only text has a begin", self.fails("usage", table.prefix, ("a", 1)))
        self.assertIn("no order of keys", self.fails("usage", self.open(rows, "n:i32", "shop").range))

    def test_lists_of_rows(self):
        rows = [{"id": n % 5, "n": n} for n in range(23)]
        table = self.open(rows, "id:i64", "n:i64", "--duplicates", "list", "--sorted")
        self.assertEqual((len(table), table.rows, sorted(row["n"] for row in table)), (5, 23, list(range(23))))
        self.assertEqual([row["n"] for row in table.get_all(3)], [3, 8, 13, 18])
        self.assertEqual((table[3]["n"], table.get_all(9), list(table.get_batch([4, 3])["n"])), (3, [], [4, 3]))
        self.assertEqual([row["n"] for row in table.range(4)], [4, 9, 14, 19])

    def test_wrong_names_and_keys(self):
        table = self.open([{"id": 1}], "id:i64", None)
        row = table[1]
        for run, error in [(lambda: row["x"], KeyError), (lambda: table[2], KeyError),
                           (lambda: table.column("x"), KeyError), (lambda: table["1"], TypeError),
                           (lambda: table.get_batch([1.5]), TypeError),
                           (lambda: table.get_batch([1], "id"), TypeError), (lambda: table.get(None), TypeError)]:
            self.assertRaises(error, run)


@unittest.skipIf(without_numpy() or importlib.util.find_spec("pandas") is None, "pandas is not installed")
class Frames(TableCase):
    def test_pandas(self):
        import numpy
        import pandas
        rows = [{"id": 1, "n": None, "city": "A", "ok": True}, {"id": 2, "n": 5, "city": None, "ok": False}]
        table = self.open(rows, "id:i64", "n:i32?,city:dict?,ok:bool")
        frame = table.get_batch(pandas.Series([2, 3, 1])).to_pandas()
        self.assertEqual([str(kind) for kind in frame.dtypes], ["Int64", "Int32", "category", "boolean"])
        self.assertEqual(frame.astype(object).where(frame.notna(), None).to_dict("records"),
                         [rows[1], dict.fromkeys(rows[0]), rows[0]])
        self.assertEqual(str(table.to_pandas(["id"]).dtypes["id"]), "int64")
        # Columns live as long as they are used.
        column = table.column("id")
        del table
        self.assertEqual(sorted(numpy.array(column)), [1, 2])


class Files(TableCase):
    ROWS = [{"id": n, "text": f"text {n}", "city": TEXTS[n % 5], "tags": [n, None]} for n in range(3000)]
    COLUMNS = "text,city:dict,tags:list<i64?>"

    def read(self, path, **options):
        with y.SharedTable.open(path, **options) as table:
            self.assertEqual(table.get_batch(range(3000)).to_list(), self.ROWS)
            self.assertEqual([table[n].to_dict() for n in range(0, 3000, 100)], self.ROWS[::100])
            return list(table), table.to_columns().to_list(), list(table.range(5, 900))

    def test_options(self):
        path = self.build(self.ROWS, "id:i64", self.COLUMNS, "--sorted")
        self.read(path, populate=True, huge_pages=True, trusted=True)
        self.read(pathlib.Path(path))

    def test_damaged_and_cut_files(self):
        path = self.build(self.ROWS, "id:i64", self.COLUMNS, "--sorted")
        whole, rng = pathlib.Path(path).read_bytes(), random.Random(2)
        for length in [0, 10, 4095, 4096, len(whole) // 2, len(whole) - 1]:
            code = "corrupt" if length else "input"
            line = self.fails(code, self.read, self.file("cut.ytab", whole[:length]))
            self.assertIn("cut.ytab", line)
        for n in range(60):
            at = rng.randrange(len(whole))
            damaged = self.file("damaged.ytab", whole[:at] + bytes([whole[at] ^ 1 << n % 8]) + whole[at + 1 :])
            self.fails("corrupt", lambda: y.SharedTable.open(damaged).verify())
            try:
                self.read(damaged)
            except y.JobError as e:
                self.assertEqual(e.code, "corrupt")
            try:
                # Without checksums values may be others, but nothing else happens.
                self.read(damaged, trusted=True)
            except (y.JobError, AssertionError, KeyError) as e:
                self.assertIn(getattr(e, "code", "corrupt"), ("corrupt", "usage"))

    def test_a_missing_file(self):
        self.assertIn("No such file", self.fails("input", y.SharedTable.open, self.path("missing.ytab")))

    def test_reopen_and_close(self):
        table = self.open([{"id": 1, "x": "old"}], "id:i64", "x:dict")
        row, walk = table[1], iter(table)
        self.assertFalse(table.reopen())
        self.build([{"id": 2, "x": "new"}], "id:i64", "x:dict")
        self.assertNotIn(2, table)
        self.assertTrue(table.reopen())
        self.assertEqual((dict(table[2]), 1 in table), ({"id": 2, "x": "new"}, False))
        self.assertEqual((dict(row), [dict(each) for each in walk]), ({"id": 1, "x": "old"}, [{"id": 1, "x": "old"}]))
        table.close()
        table.close()
        with self.assertRaisesRegex(ValueError, "the table is closed"):
            table.get(1)
        self.assertIn("closed", repr(table))

    def test_threads_look_up_while_the_table_is_opened_again(self):
        path = self.build(self.ROWS, "id:i64", self.COLUMNS)
        table, failures = y.SharedTable.open(path), []

        def look_up():
            try:
                for n in range(300):
                    if table[n]["text"] != f"text {n}" or not all(table.get_batch(range(n)).found):
                        failures.append(n)
            except Exception as e:
                failures.append(e)

        threads = [threading.Thread(target=look_up) for _ in range(4)]
        [thread.start() for thread in threads]
        while any(thread.is_alive() for thread in threads):
            other = self.file("other.ytab", pathlib.Path(path).read_bytes())
            os.replace(other, path)
            table.reopen()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
