"""`y.sql` of the Python package: rows, errors, functions and tables of Python, and that nothing is left behind."""

import datetime
import decimal
import gc
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import engines

sys.path.insert(0, os.path.join(engines.ROOT, "python/src"))
os.environ.setdefault("YUNTI", engines.YUNTI)

import yunti as y  # noqa: E402

ENDLESS = ("select count(*) from generate_series(1, 1000000000) a(x), generate_series(1, 1000000000) b(y) "
           "where x * y % 7 = 3")


def children():
    """Returns the processes that this one has started and that still run."""
    task = f"/proc/self/task/{threading.get_native_id()}/children"
    return pathlib.Path(task).read_text().split()


def wait_until(done, seconds=10.0):
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.01)
    return done()


class Rows(unittest.TestCase):
    def test_types_are_kept(self):
        got = y.sql("select 1 as n, 'x' as s, null as m, 1.50 as d, date '2026-11-01' as day, [1, 2] as l").arrow()
        self.assertEqual(got.column_names, ["n", "s", "m", "d", "day", "l"])
        self.assertEqual(got.to_pylist(), [{"n": 1, "s": "x", "m": None, "d": decimal.Decimal("1.50"),
                                            "day": datetime.date(2026, 11, 1), "l": [1, 2]}])

    def test_rows_are_read_in_several_ways(self):
        text = "select x, cast(x as varchar) as s from generate_series(1, 3) t(x)"
        expect = [(1, "1"), (2, "2"), (3, "3")]
        self.assertEqual(y.sql(text).fetchall(), expect)
        self.assertEqual(list(y.sql(text)), expect)
        self.assertEqual(list(y.sql(text).dicts()), [{"x": x, "s": s} for x, s in expect])
        rows = y.sql(text)
        self.assertEqual((rows.columns, rows.fetchone(), rows.fetchall(), rows.fetchone()),
                         (["x", "s"], expect[0], expect[1:], None))
        kept = y.sql(text)
        self.assertEqual(kept.arrow().num_rows, 3)
        self.assertEqual((kept.fetchall(), kept.fetchall()), (expect, expect))
        spent = y.sql(text)
        spent.fetchall()
        with self.assertRaisesRegex(ValueError, "have been read"):
            spent.arrow()

    def test_many_rows_come_as_a_stream(self):
        with y.sql("select x from generate_series(1, 100000000000) t(x)") as rows:
            first = next(rows.batches())
            self.assertEqual(first["x"][0].as_py(), 1)
        self.assertEqual(children(), [])

    def test_empty_results_have_columns(self):
        got = y.sql("select 1 as a, 'x' as b where false")
        self.assertEqual((got.columns, got.fetchall()), (["a", "b"], []))
        self.assertEqual(y.sql("create table t as select 1 as a").arrow().num_columns, 0)

    def test_the_last_of_several_statements_has_the_rows(self):
        text = "create table t as select 1 as a; select 'no' as other; insert into t values (2); select sum(a) from t"
        self.assertEqual(y.sql(text).fetchall(), [(3,)])

    def test_parameters_keep_their_types(self):
        values = {"a": "5", "b": 5, "c": decimal.Decimal("1.50"), "d": datetime.date(2026, 1, 1), "e": None, "f": True,
                  "g": datetime.datetime(2026, 1, 1, 2, 3, 4, 5), "h": 0.1, "i": b"\x00\xff", "j": "it's; $a -- x"}
        got = y.sql("select " + ", ".join("$" + name for name in values), params=values).fetchall()
        self.assertEqual(got, [tuple(values.values())])
        self.assertEqual(y.sql("select concat($2, $1)", params=["b", "a"]).fetchall(), [("ab",)])

    def test_write(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.parquet")
            y.sql("select x from generate_series(1, 1000) t(x)").write(path)
            self.assertEqual(pq.read_table(path)["x"].to_pylist(), list(range(1, 1001)))
            with self.assertRaises(y.JobError) as caught:
                y.sql("select 1 as x").write(path)
            self.assertEqual(caught.exception.code, "exists")
            y.sql("select 1 as x").write(path, overwrite=True)
            self.assertEqual(y.sql("select * from t", tables={"t": path}).fetchall(), [(1,)])
            self.assertEqual(os.listdir(folder), ["x.parquet"])


class Errors(unittest.TestCase):
    def test_each_has_its_code_and_one_line(self):
        for text, code, part in [
            ("selec", "usage", "1:1 at 'selec'"),
            ("select *\nfrom 'missing/*.parquet'", "input", "missing/*.parquet"),
            ("select nothing from (select 1 as a) t", "usage", "nothing"),
            ("select cast('x' || x as int) from generate_series(1, 3) t(x)", "invalid", "x1"),
            ("", "usage", "no statement"),
        ]:
            with self.assertRaises(y.JobError, msg=text) as caught:
                y.sql(text).fetchall()
            self.assertEqual(caught.exception.code, code, text)
            self.assertIn(part, str(caught.exception))
            self.assertNotIn("\n", caught.exception.message)

    def test_flags_that_are_not_there(self):
        with self.assertRaisesRegex(y.JobError, "unexpected argument '--nothing'"):
            y.sql("select 1", nothing=3)
        with self.assertRaisesRegex(TypeError, "its result has methods"):
            y.sql("select 1", output="x")
        with self.assertRaisesRegex(y.JobError, "cannot start the query: Argument list too long"):
            y.sql("select $a", params={"a": "x" * (1 << 20)})


class Functions(unittest.TestCase):
    def test_columns_in_and_a_column_out(self):
        def cell(lat: float, lon: float) -> str:
            self.assertIsInstance(lat, pa.DoubleArray)
            return pc.binary_join_element_wise(pc.floor(lat).cast(pa.string()), pc.floor(lon).cast(pa.string()), "/")

        table = pa.table({"lat": [1.5, None, 2.5, 1.1], "lon": [3, 4, 5, 3]})
        got = y.sql("select cell(lat, lon) as c, count(*) from t group by 1 order by 1", functions={"cell": cell},
                    tables={"t": table})
        self.assertEqual(got.fetchall(), [("1/3", 2), ("2/5", 1), (None, 1)])

    def test_many_batches_on_several_threads(self):
        seen, lock = set(), threading.Lock()

        def add(x: int, n: int) -> int:
            with lock:
                seen.add(threading.current_thread().name)
            return pc.add(x, n)

        with tempfile.TemporaryDirectory() as folder:
            for part in range(4):
                pq.write_table(pa.table({"x": range(part * 50_000, (part + 1) * 50_000)}), f"{folder}/{part}.parquet")
            got = y.sql(f"select sum(add(x, 2)), count(*) from '{folder}/*.parquet'", functions={"add": add}, threads=3)
            self.assertEqual(got.fetchall(), [(sum(range(200_000)) + 400_000, 200_000)])
        self.assertTrue(seen)

    def test_calls_are_part_of_native_plans(self):
        join = lambda x, s: [f"{a}{b}" for a, b in zip(x.to_pylist(), s.to_pylist())]  # noqa: E731
        add = y.function(join, args=[int, str], returns=str)
        with tempfile.TemporaryDirectory() as folder:
            pq.write_table(pa.table({"x": range(10_000), "s": ["a", "b"] * 5_000}), f"{folder}/t.parquet")
            got = y.sql(f"select f(x, s) as v, count(*) from '{folder}/t.parquet' where x < 3 group by 1 order by 1",
                        functions={"f": add}, executor="native", memory="100MiB", threads=2)
            self.assertEqual(got.fetchall(), [("0a", 1), ("1b", 1), ("2a", 1)])

    def test_names_are_found_in_any_case_and_constants_are_computed_once(self):
        calls = []

        def Twice(x: int) -> int:
            calls.append(len(x))
            return pc.multiply(x, 2)

        self.assertEqual(y.sql("select TWICE(21) from generate_series(1, 5)", functions={"Twice": Twice}).fetchall(),
                         [(42,)] * 5)
        self.assertEqual(calls, [1])

    def test_impure_functions_see_each_row(self):
        count = iter(range(1, 100))
        number = y.function(lambda: next(count), args=[], returns=int, pure=False)
        got = y.sql("select number() from t", functions={"number": number}, tables={"t": {"a": [0] * 5}})
        self.assertEqual(sorted(got.fetchall()), [(n,) for n in range(1, 6)])

    def test_an_aggregate_is_a_function_of_a_list(self):
        def spread(values: pa.list_(pa.float64())) -> float:
            return [max(v) - min(v) for v in values.to_pylist()]

        got = y.sql("select g, spread(array_agg(a)) from t group by g order by g", functions={"spread": spread},
                    tables={"t": {"a": [1.0, 4.0, 9.0], "g": ["x", "x", "y"]}})
        self.assertEqual(got.fetchall(), [("x", 3.0), ("y", 0.0)])

    def test_a_failure_ends_the_query_in_one_line(self):
        def bad(x: int) -> int:
            raise ValueError(f"no {x[0]}\nsecond line")

        for text in ("select bad(1)", "select bad(a) from t"):
            with self.assertRaises(y.JobError) as caught:
                y.sql(text, functions={"bad": bad}, tables={"t": {"a": [1, 2]}}).fetchall()
            error = caught.exception
            self.assertEqual((error.code, error.message), ("user_code", "function 'bad': ValueError: no 1"))
            self.assertIn("in bad", error.traceback)
            self.assertIsInstance(error.__cause__, ValueError)

    def test_wrong_results_are_errors(self):
        for result, part in [([1, 2], "it returned 2 values for 3 rows"), (["x", "y", "z"], "ArrowInvalid")]:
            with self.assertRaisesRegex(y.JobError, f"function 'f': .*{part}"):
                f = y.function(lambda a, result=result: result, args=[int], returns=int)
                y.sql("select f(a) from t", functions={"f": f}, tables={"t": {"a": [1, 2, 3]}}).fetchall()

    def test_names_that_are_taken_and_types_that_do_not_fit(self):
        f = y.function(lambda a: a, args=[int], returns=int)
        for name, text in [("abs", "select 1"), ("sum", "select 1"), ("f", "select f('x', 1)")]:
            with self.assertRaises(y.JobError) as caught:
                y.sql(text, functions={name: f})
            self.assertEqual(caught.exception.code, "usage")

    def test_a_function_may_run_a_query(self):
        f = y.function(lambda a: pa.array([n + y.sql("select 1").fetchone()[0] for n in a.to_pylist()]), args=[int],
                       returns=int)
        self.assertEqual(y.sql("select f(41)", functions={"f": f}).fetchall(), [(42,)])


class Tables(unittest.TestCase):
    def test_types_of_arrow(self):
        when = datetime.datetime(2026, 1, 1, 2, 3, 4, 5)
        for values, kind in [
            ([1, None], pa.int8()), ([2**64 - 1, None], pa.uint64()), ([1.5, None], pa.float32()), ([True, None], None),
            ([b"\xff", None], None), (["a", None], pa.large_string()), (["a", None], pa.string_view()),
            ([when.date(), None], None), ([when.date(), None], pa.date64()), ([when, None], pa.timestamp("us")),
            ([when.time(), None], pa.time64("us")), ([decimal.Decimal("1.25"), None], pa.decimal128(10, 2)),
            ([None, None], pa.int32()),
        ]:
            table = pa.table({"a": pa.array(values, kind)})
            self.assertEqual(y.sql("select a from t", tables={"t": table}).fetchall(), [(v,) for v in values], kind)
        codes = pa.table({"a": pa.array(["x", None, "x"]).dictionary_encode()})
        self.assertEqual(y.sql("select a from t", tables={"t": codes}).fetchall(), [("x",), (None,), ("x",)])

    def test_empty_tables_and_many_batches(self):
        empty = pa.table({"a": pa.array([], pa.int64())})
        self.assertEqual(y.sql("select count(*), sum(a) from t", tables={"t": empty}).fetchall(), [(0, None)])
        many = pa.concat_tables([pa.table({"a": [n]}) for n in range(500)])
        self.assertEqual(y.sql("select count(*), sum(a) from T", tables={"T": many}).fetchall(), [(500, 124750)])

    def test_a_join_of_two(self):
        tables = {"a": {"k": [1, 2, 3], "v": ["x", "y", "z"]}, "b": [{"k": 2, "w": 0.5}, {"k": 3, "w": None}]}
        got = y.sql("select v, w from a join b using (k) order by v", tables=tables, executor="native")
        self.assertEqual(got.fetchall(), [("y", 0.5), ("z", None)])


class Ends(unittest.TestCase):
    """A query ends with what holds its rows, and leaves nothing behind."""

    def setUp(self):
        gc.collect()
        self.files, self.threads = len(os.listdir("/proc/self/fd")), threading.active_count()
        self.addCleanup(self.check)

    def check(self):
        gc.collect()
        self.assertEqual(children(), [])
        self.assertTrue(wait_until(lambda: len(os.listdir("/proc/self/fd")) <= self.files), "open files are left")
        self.assertTrue(wait_until(lambda: threading.active_count() <= self.threads), "threads are left")

    def interrupted(self, text, **named):
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        begun = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            y.sql(text, **named).fetchall()
        timer.join()
        self.assertLess(time.monotonic() - begun, 5)

    def test_interrupt(self):
        self.interrupted(ENDLESS)

    def test_interrupt_within_a_function(self):
        stop = threading.Event()
        self.addCleanup(stop.set)
        wait = y.function(lambda a: stop.wait(60) and a, args=[int], returns=int)
        self.interrupted("select wait(a) from t", functions={"wait": wait}, tables={"t": {"a": [1]}})
        stop.set()

    def test_rows_that_are_dropped_need_no_collector(self):
        gc.disable()
        self.addCleanup(gc.enable)
        self.assertEqual(y.sql("select x from generate_series(1, 1000000000) t(x)").fetchone(), (1,))
        self.assertEqual(children(), [])
        rows = iter(y.sql("select 7"))
        self.assertEqual(list(rows), [(7,)])

    def test_rows_that_are_dropped(self):
        rows = y.sql("select x from generate_series(1, 1000000000) t(x)")
        next(iter(rows))
        del rows

    def test_failures_and_many_queries(self):
        f = y.function(lambda a: 1 / 0, args=[int], returns=int)
        for _ in range(10):
            with self.assertRaises(y.JobError):
                y.sql("select f(a) from t", functions={"f": f}, tables={"t": {"a": [1]}}).fetchall()

    def test_a_killed_program_is_an_error(self):
        rows = y.sql("select x from generate_series(1, 100000000000) t(x)")
        rows._stream.child.process.kill()
        with self.assertRaisesRegex(y.JobError, "was ended by SIGKILL"):
            rows.fetchall()


if __name__ == "__main__":
    unittest.main()
