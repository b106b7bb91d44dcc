"""Functions and aggregates of class libraries in queries (--lib), built here by g++ from the API's headers.

The answers are those of the same values written in SQL, on both executors, with any threads and memory.
"""

import decimal
import os
import random
import shutil
import subprocess
import tempfile
import unittest

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import answers
import engines

ROWS = 20000
LIBRARY = r"""
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <yunti/yunti.hpp>

struct Plus : yunti::ScalarFunction<int64_t(int64_t, int32_t)> {
  int64_t call(int64_t a, int32_t b) { return a + b; }
};
struct Half : yunti::ScalarFunction<double(double)> { double call(double v) { return v / 2; } };
struct Even : yunti::ScalarFunction<bool(int64_t)> { bool call(int64_t v) { return v % 2 == 0; } };
struct Not : yunti::ScalarFunction<bool(bool)> { bool call(bool v) { return !v; } };
struct Twice : yunti::ScalarFunction<std::string(std::string_view)> {
  std::string call(std::string_view s) { return std::string(s) + std::string(s); }
};
struct First : yunti::ScalarFunction<std::string_view(std::string_view)> {
  std::string_view call(std::string_view s) { return s.substr(0, 1); }
};
struct Raw : yunti::ScalarFunction<yunti::Bytes(yunti::Bytes)> {
  std::string call(std::string_view s) { return std::string(s.rbegin(), s.rend()); }
};
struct NextDay : yunti::ScalarFunction<yunti::Date(yunti::Date)> {
  yunti::Date call(yunti::Date d) { return {d.days + 1}; }
};
struct Later : yunti::ScalarFunction<yunti::Timestamp(yunti::Timestamp, int64_t)> {
  yunti::Timestamp call(yunti::Timestamp t, int64_t s) { return {t.micros + s * 1000000}; }
};
struct Or : yunti::ScalarFunction<int64_t(std::optional<int64_t>, int64_t)> {
  int64_t call(std::optional<int64_t> v, int64_t otherwise) { return v.value_or(otherwise); }
};
struct Odd : yunti::ScalarFunction<std::optional<std::string>(int64_t)> {
  std::optional<std::string> call(int64_t v) {
    if (v % 2 == 0) return std::nullopt;
    return "odd " + std::to_string(v);
  }
};
struct Seven : yunti::ScalarFunction<int64_t()> { int64_t call() { return 7; } };
struct Small : yunti::ScalarFunction<int32_t(int64_t)> {
  int32_t call(int64_t v) { if (v > 5) yunti::fail("5 is the most, not " + std::to_string(v)); return int32_t(v); }
};
struct Long : yunti::ScalarFunction<std::string(int64_t)> {
  std::string call(int64_t n) { return std::string(size_t(n), 'x'); }
};
struct Broken : yunti::ScalarFunction<std::string(std::string_view)> {
  std::string call(std::string_view) { return "\xff"; }
};
struct Crash : yunti::ScalarFunction<int64_t(int64_t)> {
  int64_t call(int64_t v) { if (v == 3) std::raise(SIGSEGV); return v; }
};
struct Leave : yunti::ScalarFunction<int64_t(int64_t)> {
  int64_t call(int64_t v) { if (v == 3) std::exit(0); return v; }
};

struct Total { int64_t sum, n; };
struct Sum : yunti::Aggregate<Total, std::optional<int64_t>(int64_t)> {
  static constexpr bool exact = true;
  void init(Total& s) { s = {0, 0}; }
  void add(Total& s, int64_t v) { s.sum += v; ++s.n; }
  void merge(Total& s, const Total& o) { s.sum += o.sum; s.n += o.n; }
  std::optional<int64_t> finish(const Total& s) { if (s.n == 0) return std::nullopt; return s.sum; }
};
struct Nulls : yunti::Aggregate<int64_t, int64_t(std::optional<int64_t>)> {
  static constexpr bool exact = true;
  void init(int64_t& s) { s = 0; }
  void add(int64_t& s, std::optional<int64_t> v) { s += !v.has_value(); }
  void merge(int64_t& s, const int64_t& o) { s += o; }
  int64_t finish(const int64_t& s) { return s; }
};
struct Letters { char least[3]; uint8_t n; };
struct Least : yunti::Aggregate<Letters, std::string(std::string_view, bool)> {   // of rows for which the second is true
  static constexpr bool exact = true;
  void init(Letters& s) { s.n = 255; }
  void put(Letters& s, std::string_view v) {
    if (s.n != 255 && std::string_view(s.least, s.n) <= v) return;
    s.n = uint8_t(v.size());
    for (size_t i = 0; i < v.size(); ++i) s.least[i] = v[i];
  }
  void add(Letters& s, std::string_view v, bool counts) { if (counts) put(s, v.substr(0, 3)); }
  void merge(Letters& s, const Letters& o) { if (o.n != 255) put(s, std::string_view(o.least, o.n)); }
  std::string finish(const Letters& s) { return s.n == 255 ? "none" : std::string(s.least, s.n); }
};
struct Bits { uint64_t words[64]; };
struct Large : yunti::Aggregate<Bits, int64_t(int64_t)> {                          // different values modulo 4096
  static constexpr bool exact = true;
  void init(Bits& s) { s = {}; }
  void add(Bits& s, int64_t v) { const uint64_t b = uint64_t(v) % 4096; s.words[b / 64] |= 1ull << b % 64; }
  void merge(Bits& s, const Bits& o) { for (int i = 0; i < 64; ++i) s.words[i] |= o.words[i]; }
  int64_t finish(const Bits& s) { int64_t n = 0; for (uint64_t w : s.words) n += __builtin_popcountll(w); return n; }
};
struct Failing : yunti::Aggregate<int64_t, int64_t(int64_t)> {
  static constexpr bool exact = true;
  void init(int64_t& s) { s = 0; }
  void add(int64_t&, int64_t v) { if (v == 3) yunti::fail("there is a 3"); }
  void merge(int64_t&, const int64_t&) {}
  int64_t finish(const int64_t&) { return 0; }
};

YUNTI_LIBRARY("Test", "1.0",
    yunti::function<Plus>("Test.plus"), yunti::function<Half>("Test.half"), yunti::function<Even>("Test.isEven"),
    yunti::function<Not>("Test.negate"), yunti::function<Twice>("Test.twice"), yunti::function<First>("Test.first"),
    yunti::function<Raw>("Test.raw"), yunti::function<NextDay>("Test.next_day"), yunti::function<Later>("Test.later"),
    yunti::function<Or>("Test.or_else"), yunti::function<Odd>("Test.odd"), yunti::function<Seven>("Test.seven"),
    yunti::function<Small>("Test.small"), yunti::function<Long>("Test.long_text"),
    yunti::function<Broken>("Test.broken"), yunti::function<Crash>("Test.crash"), yunti::function<Leave>("Test.leave"),
    yunti::aggregate<Sum>("Test.sum"), yunti::aggregate<Nulls>("Test.nulls"), yunti::aggregate<Least>("Test.least"),
    yunti::aggregate<Large>("Test.large"), yunti::aggregate<Failing>("Test.failing"))
"""
# Expression of the library, the same in SQL.
FUNCTIONS = [
    ("Test.plus(n, m)", "n + m"),
    ("test.PLUS(m, m)", "m + m"),
    ("Test.plus(n, 3)", "n + 3"),
    ("Test.half(x)", "x / 2"),
    ("Test.half(p)", "cast(p as double) / 2"),
    ("Test.half(1.5)", "0.75"),
    ("Test.isEven(n)", "n % 2 = 0"),
    ("\"Test\".iseven(n)", "n % 2 = 0"),
    ("Test.negate(n > 3)", "not (n > 3)"),
    ("Test.twice(t)", "t || t"),
    ("Test.twice(few)", "few || few"),
    ("Test.twice(Test.first(t))", "left(t, 1) || left(t, 1)"),
    ("upper(Test.first(few))", "upper(left(few, 1))"),
    ("encode(Test.raw(cast(t as bytea)), 'hex')", "encode(cast(reverse(t) as bytea), 'hex')"),
    ("Test.next_day(d)", "d + 1"),
    ("Test.next_day('2020-02-28')", "date '2020-02-29'"),
    ("Test.later(ts, m)", "ts + cast(m || ' seconds' as interval)"),
    ("Test.or_else(n, m)", "coalesce(n, m)"),
    ("Test.or_else(null, m)", "cast(m as bigint)"),
    ("Test.odd(n)", "case when n % 2 <> 0 then 'odd ' || n end"),
    ("Test.plus(null, 1)", "cast(null as bigint)"),
    ("Test.seven()", "cast(7 as bigint)"),
    ("Test.small(least(n, 5))", "cast(least(n, 5) as int)"),
    ("case when n <= 5 then Test.small(n) end", "case when n <= 5 then cast(n as int) end"),
    ("length(Test.long_text(m))", "m"),
]
AGGREGATES = [
    ("Test.sum(n)", "sum(n)"),
    ("Test.sum(n * 2) filter (where m > 3)", "sum(n * 2) filter (where m > 3)"),
    ("Test.nulls(n)", "count(*) - count(n)"),
    ("Test.least(t, m > 3)", "coalesce(min(left(t, 3)) filter (where m > 3), 'none')"),
    ("Test.least(few, true)", "coalesce(min(left(few, 3)), 'none')"),
    ("Test.large(n)", "count(distinct case when n < 0 then n + 4096 else n end)"),
    ("Test.sum(Test.plus(n, m))", "sum(n + m)"),
]


class Libraries(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.engine = engines.under_test()
        if not isinstance(cls.engine, engines.Yunti):
            raise unittest.SkipTest("only the program loads libraries")
        cls.folder = tempfile.mkdtemp(prefix="yunti-functions-")
        cls.library = cls.build("test", LIBRARY)
        with open(os.path.join(engines.ROOT, "examples/geo/geo.cpp"), encoding="utf-8") as source:
            cls.geo = cls.build("geo", source.read())
        cls.paths = cls.tables()
        libraries = ("--lib", cls.library, "--lib", cls.geo)
        cls.sessions = {name: engines.Session(cls.engine, options=(*libraries, "--executor", name))
                        for name in ("native", "general")}

    @classmethod
    def tearDownClass(cls):
        for session in cls.sessions.values():
            session.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def build(cls, name, text, *options):
        source, library = (os.path.join(cls.folder, f"{name}.{end}") for end in ("cpp", "so"))
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        subprocess.run(["g++", "-O1", "-std=c++17", "-fPIC", "-shared", "-fvisibility=hidden", *options, "-I",
                        os.path.join(engines.ROOT, "api/include"), source, "-o", library], check=True)
        return library

    @classmethod
    def tables(cls):
        r = random.Random(11)

        def some(f, share=0.1):
            return [None if r.random() < share else f() for _ in range(ROWS)]

        numbers = some(lambda: r.randint(-30, 30))
        columns = {
            "k": pa.array([r.randint(0, 5000) for _ in range(ROWS)], pa.int32()),
            "n": pa.array(numbers, pa.int64()),
            "m": pa.array([r.randint(0, 9) for _ in range(ROWS)], pa.int32()),
            "x": pa.array(some(lambda: r.uniform(-50, 50)), pa.float64()),
            "p": pa.array([None if v is None else decimal.Decimal(v) / 4 for v in numbers], pa.decimal128(15, 2)),
            "t": pa.array(some(lambda: r.choice("abcxyz") * r.randint(0, 20) + str(r.randint(0, 999))), pa.string()),
            "few": pa.array(some(lambda: r.choice(["", "a", "bb", "a long text with many words"])), pa.string()),
            "d": pa.array(some(lambda: r.randint(-9000, 20000)), pa.int32()).cast(pa.date32()),
            "ts": pa.array(some(lambda: r.randint(-10**15, 10**15)), pa.int64()).cast(pa.timestamp("us")),
        }
        table, paths = pa.table(columns), {}
        for name, rows, coded in [("a", table, True), ("b", table, False), ("none", table.slice(0, 0), True),
                                  ("one", table.slice(3, 1), False)]:
            paths[name] = os.path.join(cls.folder, f"{name}.parquet")
            pq.write_table(rows, paths[name], use_dictionary=coded, row_group_size=7000)
        return paths

    def check(self, sql, same):
        """Both executors have the same answer as other SQL, on the general one."""
        expect = self.sessions["general"].query(same, self.paths)
        for name, session in self.sessions.items():
            with self.subTest(sql=sql, executor=name):
                self.assertIsNone(answers.difference(session.query(sql, self.paths), expect))

    def refused(self, sql, words, executors=("native", "general")):
        for name in executors:
            with self.subTest(sql=sql, executor=name):
                with self.assertRaisesRegex(engines.Refused, words):
                    self.sessions[name].query(sql, self.paths)

    def test_functions(self):
        for own, sql in FUNCTIONS:
            for table in ("a", "b", "none"):
                self.check(f"select {own} as v, m from {table}", f"select {sql} as v, m from {table}")
            self.check(f"select {own} as v, count(*) as c from a group by 1",
                       f"select {sql} as v, count(*) as c from a group by 1")
            self.check(f"select count(*) as c from b where {own} is null",
                       f"select count(*) as c from b where ({sql}) is null")

    def test_aggregates(self):
        for own, sql in AGGREGATES:
            for table in self.paths:
                self.check(f"select {own} as v from {table}", f"select {sql} as v from {table}")
                for keys in ("k", "few, m") if table != "b" else ("m", "n"):
                    self.check(f"select {keys}, {own} as v, count(*) as c from {table} group by {keys}",
                               f"select {keys}, {sql} as v, count(*) as c from {table} group by {keys}")
        # A join gives the columns that all arguments need. All its columns count, so that no projection stands between.
        rows = "from (select n from a) a join (select t, m from b) b on a.n = b.m group by a.n"
        self.check(f"select a.n, Test.least(b.t, b.m > 3) as v {rows}",
                   f"select a.n, coalesce(min(left(b.t, 3)) filter (where b.m > 3), 'none') as v {rows}")
        # Alone, the planner groups twice; beside others, no executor knows different values of a class.
        self.check("select m, Test.sum(distinct n) as v from a group by m", "select m, sum(distinct n) as v from a group by m")
        self.refused("select m, Test.sum(distinct n), count(*) from a group by m", "Test.sum of distinct values")
        self.check("select m, Test.sum(n) as v from a group by rollup (m)", "select m, sum(n) as v from a group by rollup (m)")

    def test_limits_do_not_change_answers(self):
        queries = [
            "select k, n, Test.large(m) as v, Test.least(t, true) as w, Test.sum(n) as s from b group by k, n order by 1, 2",
            "select Test.twice(t) as v, Test.plus(n, m) as w from b order by 1, 2",
        ]
        options = ("--lib", self.library)
        for sql in queries:
            first = self.engine.query(sql, self.paths, options=options)
            for threads, memory in [(1, None), (4, None), (2, "16MiB"), (3, "24MiB")]:
                with self.subTest(sql=sql, threads=threads, memory=memory):
                    self.assertEqual(first.rows, self.engine.query(sql, self.paths, threads, memory, options).rows)

    def test_errors_name_library_and_function(self):
        self.refused("select Test.small(n) from a", r"^yunti: |Test\.small: 5 is the most, not \d+|^Test\.small")
        self.refused("select Test.small(n) from a", r"Test\.small: 5 is the most, not")
        self.refused("select m, Test.failing(m) from a group by m", r"Test\.failing: there is a 3")
        self.refused("select Test.broken(t) from a", r"Test\.broken gave a text that is no UTF-8")
        self.refused("select Test.plus(t, m) from a", r"Test\.plus\(bigint, int\) bigint does not take \(Utf8, Int32\)")
        self.refused("select Test.plus(n) from a", r"Test\.plus\(bigint, int\) bigint does not take \(Int64\)")
        self.refused("select Test.nothing(n) from a", "Test.nothing")
        self.refused("select Geo.cell(91, 0)", r"Geo\.cell: no place has the latitude 91")

    def test_texts_keep_to_the_memory(self):
        with self.assertRaisesRegex(engines.Refused, r"Test\.long_text gave more than \d+ bytes of strings"):
            self.engine.query("select sum(length(Test.long_text(m * 1000000))) from b", self.paths, 2, "32MiB",
                              ("--lib", self.library))

    def test_a_crash_is_named(self):
        for function, words in [("crash", "Test.crash crashed with SIGSEGV"), ("leave", "Test.leave called exit")]:
            for executor in ("native", "general"):
                with self.subTest(function=function, executor=executor):
                    words_of = self.engine.command(f"select sum(Test.{function}(m)) from b", self.paths,
                                                   options=("--lib", self.library, "--executor", executor))
                    done = subprocess.run(words_of, capture_output=True, check=False, text=True, timeout=60)
                    self.assertEqual(done.returncode, 6, done.stderr)
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                    self.assertIn(words, done.stderr)

    def test_libraries_that_do_not_load(self):
        other = self.build("other", '#include <yunti/yunti.hpp>\nYUNTI_LIBRARY("O", "1", '
                                    'yunti::folder<yunti::Count>("O.Count"))\n')
        plain = self.build("plain", "int x;\n")
        with open(self.library, "rb") as whole, open(os.path.join(self.folder, "cut.so"), "wb") as cut:
            cut.write(whole.read()[:20000])
        for path, words in [(other, "no function and no aggregate"), (plain, "not a class library"),
                            (cut.name, "truncated"), ("/nowhere/x.so", "there is no class library")]:
            with self.subTest(path=path):
                with self.assertRaisesRegex(engines.Refused, words):
                    self.engine.query("select 1", {}, options=("--lib", path))

    def test_example(self):
        places = os.path.join(self.folder, "places.parquet")
        pq.write_table(pa.csv.read_csv(os.path.join(engines.ROOT, "examples/geo/places.csv"),
                                       convert_options=pa.csv.ConvertOptions(strings_can_be_null=True)), places)
        sql = ("select Geo.cell(lat, lon) as cell, count(*) as n, geo.center(lat, lon) as center, Geo.box(lat, lon) as box "
               "from places group by 1 order by 1 nulls first")
        for session in self.sessions.values():
            rows = session.query(sql, {"places": places}).rows
            self.assertEqual(len(rows), 5)
            self.assertEqual(rows[0][1:], (1, None, None))
            self.assertIn((2, "51.5073 -0.1274", "51.5072 -0.1276 51.5074 -0.1272"), [row[1:] for row in rows])
            label = session.query("select Geo.label(name, lat, lon) from places where name is null", {"places": places})
            self.assertEqual(label.rows, [("? 51.5074 -0.1272",)])


if __name__ == "__main__":
    unittest.main()
