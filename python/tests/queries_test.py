"""`y.sql` without the program `yunti sql`: types, parameters, tables, calls. sql/tests/foreign has the rest."""

import datetime
import decimal
import doctest
import importlib.util
import os
import pathlib
import struct
import unittest
import unittest.mock

from case import Case

import yunti as y

if importlib.util.find_spec("pyarrow") is None:
    raise unittest.SkipTest("pyarrow is not installed")

import pyarrow as pa

from yunti.queries import calls, functions, query, tables


def load_tests(loader, tests, pattern):
    for module in (functions, query):
        tests.addTests(doctest.DocTestSuite(module))
    return tests


class WithoutTheProgram(Case):
    def test_the_error_says_how_to_get_it(self):
        """A program without `yunti sql` beside it, as in the wheel."""
        os.makedirs(self.path("bin"))
        pathlib.Path(self.path("bin/yunti")).symlink_to(y.program.program())
        program = y.program.program()
        if os.path.exists(os.path.join(os.path.dirname(program), "../libexec/yunti-sql")):
            try:
                os.unlink(self.path("bin/yunti"))
                os.link(program, self.path("bin/yunti"))
            except OSError:
                self.skipTest("the program cannot be linked into the folder of the test")
        with unittest.mock.patch.dict(os.environ, {"YUNTI": self.path("bin/yunti")}):
            with self.assertRaises(y.JobError) as caught:
                y.sql("select 1")
        self.assertEqual((caught.exception.code, caught.exception.exit_code), ("usage", 2))
        self.assertIn("'yunti sql' is not installed: run 'make sql'", str(caught.exception))

    def test_without_pyarrow_the_error_names_it(self):
        out, _ = self.python("import sys\nsys.modules['pyarrow'] = None\nimport yunti as y\n"
                             "try:\n    y.sql('select 1')\nexcept ImportError as e:\n    print(e)\n")
        self.assertEqual(out, "y.sql needs pyarrow: pip install pyarrow\n")


class Parameters(unittest.TestCase):
    def test_types_travel_with_values(self):
        zone = datetime.timezone(datetime.timedelta(hours=2))
        for value, expect in [
            (None, "a:null="), (True, "a:bool=true"), (-3, "a:int=-3"), (1 << 70, "a:decimal=1180591620717411303424"),
            (0.1, "a:float=0.1"), (float("inf"), "a:float=inf"), ("5", "a:text=5"), (b"\x00\xff", "a:binary=00ff"),
            (decimal.Decimal("-1.50"), "a:decimal=-1.50"), (decimal.Decimal("1E3"), "a:decimal=1000"),
            (datetime.date(2026, 11, 1), "a:date=2026-11-01"),
            (datetime.datetime(2026, 11, 1, 2, 3, 4, 5), "a:timestamp=2026-11-01T02:03:04.000005"),
            (datetime.datetime(2026, 11, 1, 2, tzinfo=zone), "a:timestamptz=2026-11-01T00:00:00+00:00"),
            (pa.scalar(7), "a:int=7"),
        ]:
            self.assertEqual(query._parameter("a", value), expect)
        for name, value in [("a", object()), ("a", "x\0"), ("a=b", 1), ("", 1)]:
            with self.assertRaises((TypeError, ValueError)):
                query._parameter(name, value)

    def test_lists_count_from_one(self):
        self.assertEqual(query._named([4, 5]), [("1", 4), ("2", 5)])
        self.assertEqual(query._named({"$x": 4}), [("x", 4)])


class Types(unittest.TestCase):
    def test_annotations_of_all_kinds(self):
        def f(a: int, b: "float", c: pa.StringArray, d: pa.list_(pa.int8()), e: y.i32) -> bytes:
            return None

        made = y.function(f)
        self.assertEqual(made.args, [pa.int64(), pa.float64(), pa.string(), pa.list_(pa.int8()), pa.int32()])
        self.assertEqual(made.returns, pa.binary())
        self.assertEqual(y.function(lambda x: x, args=["i64"], returns="double").returns, pa.float64())

    def test_what_is_missing_is_said(self):
        def half(a: int, b) -> int:
            return a

        def several(*a: int) -> int:
            return a

        for f, expect in [(half, "parameter b of half has no type"), (lambda a: a, "has no type"),
                          (several, "takes columns in order")]:
            with self.assertRaisesRegex(TypeError, expect):
                y.function(f)
        with self.assertRaisesRegex(TypeError, "argument 1 of .* is declared as"):
            y.function(lambda a: a, args=[object], returns=int)
        with self.assertRaisesRegex(ValueError, "is no name for a function"):
            functions.as_functions({"a b": half})

    def test_results_become_columns_of_the_type(self):
        kind = pa.int32()
        for result in ([1, None], pa.array([1, None], pa.int64()), pa.chunked_array([[1], [None]]), (1, None)):
            self.assertEqual(functions.column_of(result, kind, 2), pa.array([1, None], kind))
        self.assertEqual(functions.column_of(7, kind, 3), pa.array([7, 7, 7], kind))
        self.assertEqual(functions.column_of(pa.scalar("a"), pa.string(), 2), pa.array(["a", "a"]))
        self.assertEqual(functions.column_of("ab", pa.string(), 2), pa.array(["ab", "ab"]))
        with self.assertRaisesRegex(ValueError, "it returned 1 values for 2 rows"):
            functions.column_of([1], kind, 2)


class Tables(unittest.TestCase):
    def test_kinds_of_tables(self):
        table = pa.table({"a": [1, 2]})
        for given in (table, table.to_batches()[0], table.to_reader(), {"a": [1, 2]}, [{"a": 1}, {"a": 2}]):
            self.assertEqual(tables.as_arrow(given, "t"), table)
        if importlib.util.find_spec("pandas"):
            self.assertEqual(tables.as_arrow(table.to_pandas(), "t").to_pydict(), table.to_pydict())
        for given in (5, [1, 2], object()):
            with self.assertRaisesRegex(TypeError, "table t is a"):
                tables.as_arrow(given, "t")

    def test_paths_pass_and_names_are_found_in_small_letters(self):
        words, files = tables.hand_over({"T": "x.parquet"})
        self.assertEqual((sorted(words[1::2]), files), (["T=x.parquet", "t=x.parquet"], []))
        twice = pa.table([[1], [2]], ["a", "a"])
        before = os.listdir("/proc/self/fd")
        with self.assertRaisesRegex(ValueError, "two columns of the name 'a'"):
            tables.hand_over({"u": {"a": [1]}, "t": twice})
        self.assertEqual(len(os.listdir("/proc/self/fd")), len(before))


class Calls(unittest.TestCase):
    """The protocol of docs/formats/sql-functions.md, from its other end."""

    def setUp(self):
        def double(a: int) -> int:
            return [None if v is None else 2 * v for v in a.to_pylist()]

        def fails(a: int) -> int:
            raise KeyError("one\ntwo")

        self.server = calls.Server(functions.as_functions({"double": double, "fails": fails}), 1)
        (requests, answers), = self.server._theirs
        self.requests, self.answers = os.fdopen(os.dup(requests), "wb"), os.fdopen(os.dup(answers), "rb")
        self.server.started()
        self.addCleanup(self.answers.close)
        self.addCleanup(self.requests.close)

    def ask(self, kind, number, payload=b""):
        self.requests.write(struct.pack("<IIQ", kind, number, len(payload)) + payload)
        self.requests.flush()
        answer, number, length = struct.unpack("<IIQ", self.answers.read(16))
        return answer, number, self.answers.read(length)

    def call(self, number, column):
        batch = pa.record_batch([pa.array(column, pa.int64())], ["a0"])
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return self.ask(2, number, sink.getvalue().to_pybytes())

    def test_functions_are_described(self):
        kind, version, payload = self.ask(1, 1)
        self.assertEqual((kind, version), (0, 1))
        schemas = []
        while payload:
            (length,) = struct.unpack_from("<Q", payload)
            schemas.append(pa.ipc.open_stream(payload[8 : 8 + length]).schema)
            payload = payload[8 + length :]
        self.assertEqual([schema.metadata[b"name"] for schema in schemas], [b"double", b"fails"])
        self.assertEqual(schemas[0].types, [pa.int64(), pa.int64()])

    def test_another_version_is_refused(self):
        kind, _, payload = self.ask(1, 9)
        self.assertEqual(kind, 1)
        self.assertIn(b"version 9", payload)

    def test_calls_are_answered_one_after_the_other(self):
        for column in ([1, None, 3], [], [5]):
            kind, number, payload = self.call(0, column)
            self.assertEqual((kind, number), (0, 0))
            got = pa.ipc.open_stream(payload).read_all().column(0).to_pylist()
            self.assertEqual(got, [None if v is None else 2 * v for v in column])

    def test_an_exception_is_one_line_and_its_traceback(self):
        kind, _, payload = self.call(1, [1])
        self.assertEqual(kind, 1)
        line, _, detail = payload.decode().partition("\n")
        self.assertEqual(line, "KeyError: 'one\\ntwo'")
        self.assertIn("in fails", detail)
        self.assertIsInstance(self.server.end(), KeyError)
        self.assertEqual(self.call(0, [1])[0], 0)


if __name__ == "__main__":
    unittest.main()
