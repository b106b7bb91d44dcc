"""Datasets, folders, tables, reports, formats and applications, each against plain Python. NumPy is needed."""

import collections
import csv
import glob
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import unittest
import unittest.mock

from case import BOOKS, Case, without_numpy, words_of_books

import yunti as y
from yunti.data import native

if without_numpy():
    raise unittest.SkipTest("NumPy is not installed")

import numpy as np


def installed(*names):
    """Returns True if these modules can be imported."""
    import importlib.util

    return all(importlib.util.find_spec(name) for name in names)


@y.mapper(out=(y.slice, y.one))
def words(b: y.TextBatch):
    return b.words().one()


class Datasets(Case):
    @classmethod
    def setUpClass(cls):
        cls.words = words_of_books()
        texts = [gzip.decompress(pathlib.Path(p).read_bytes()) for p in sorted(glob.glob(BOOKS + "/*.gz"))]
        cls.lines = [line for text in texts for line in re.split(rb"\r\n|\n|\r", text)[:-1]]

    def test_count_and_top(self):
        counted = y.read(BOOKS).flat_map(words).count()
        self.assertEqual(counted.to_dict(), self.words)
        order = sorted(self.words.items(), key=lambda pair: (-pair[1], pair[0]))
        self.assertEqual(counted.top(20).to_list(), order[:20])
        self.assertEqual(counted.top(5, smallest=True).to_list(),
                         sorted(self.words.items(), key=lambda pair: (pair[1], pair[0]))[:5])

    def test_top_of_records(self):
        pairs = [(line[:5], len(line)) for line in self.lines]
        got = y.read(BOOKS).map(lambda line: (line[:5], len(line)), out=(y.bytes, y.i64)).top(7).to_list()
        self.assertEqual(got, sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:7])

    def test_steps_after_a_mapper_of_batches(self):
        long = y.read(BOOKS).flat_map(words).filter(lambda pair: len(pair[0]) > 12)
        got = long.map(lambda pair: pair[0][:1], out=y.bytes).count().to_dict()
        wanted = collections.Counter()
        for word, n in self.words.items():
            if len(word) > 12:
                wanted[word[:1]] += n
        self.assertEqual(got, wanted)

    def test_two_jobs_in_a_chain(self):
        for name, fold in (("sum", sum), ("min", min), ("max", max)):
            for declared, convert in ((y.i64, int), (y.f64, float)):
                with self.subTest(name, declared=declared):
                    pairs = y.read(BOOKS).flat_map(words).count().map(
                        lambda pair: (len(pair[0]), convert(pair[1])), out=(y.i64, declared))
                    wanted = collections.defaultdict(list)
                    for word, n in self.words.items():
                        wanted[len(word)].append(convert(n))
                    got = getattr(pairs, name)().to_list()
                    self.assertEqual(got, sorted((size, fold(values)) for size, values in wanted.items()))

    def test_sort_distinct_filter_and_text(self):
        data = y.read(BOOKS)
        self.assertEqual(data.to_list(), self.lines)
        self.assertEqual(data.sort().to_list(), sorted(self.lines))
        starts = [line[:3] for line in self.lines]
        self.assertEqual(data.map(lambda line: line[:3]).distinct().to_list(), sorted(set(starts)))
        self.assertEqual(data.map(lambda line: line[:3]).sort(descending=True).to_list(), sorted(starts, reverse=True))
        text = y.read(BOOKS, takes=str).filter(lambda line: "Jesus" in line).to_list()
        self.assertEqual(text, [line.decode() for line in self.lines if b"Jesus" in line])

    def test_annotations_declare_types(self):
        def first(line: str) -> str:
            return line[:1]

        got = y.read(self.file("in", "\u00e9t\u00e9\n\u00e9x\nb\n"), takes=str).map(first).count().to_list()
        self.assertEqual(got, [("b", 1), ("\u00e9", 2)])

    def test_reduce_fold_and_write(self):
        @y.reducer(out=(y.bytes, y.i64))
        def longest(g):
            return g.keys, np.maximum.reduceat(g.values, g.first[:-1])

        @y.mapper(out=(y.slice, y.i64))
        def lengths(b: y.TextBatch):
            found = b.words()
            return found.prefix(1), found.lengths

        wanted = collections.defaultdict(int)
        for word in self.words:
            wanted[word[:1]] = max(wanted[word[:1]], len(word))
        data = y.read(BOOKS).flat_map(lengths)
        self.assertEqual(data.reduce(longest, combiner=longest).to_dict(), wanted)
        self.assertEqual(data.max().to_dict(), wanted)
        out = self.path("out")
        done = data.max().write(out, output_format="csv", output_key_columns="letter", output_value_columns="length")
        with open(os.path.join(out, "part-r-00000")) as file:
            self.assertEqual({row["letter"]: int(row["length"]) for row in csv.DictReader(file)},
                             {key.decode(): n for key, n in wanted.items()})
        self.assertEqual(done.table.to_list()[0], {"letter": min(wanted).decode(), "length": str(wanted[min(wanted)])})
        self.assertEqual(done.report.data["job"]["classes"]["folder"], "Yunti.MaxFolder")

    def test_wrong_chains_are_refused(self):
        data = y.read(BOOKS)
        for wrong, message in [
            (lambda: data.map(lambda line: line).map(words), "must be the first step"),
            (lambda: data.map(lambda line: line).sum(), "declare out="),
            (lambda: data.top(3), "count"),
            (lambda: y.read(BOOKS, thread=3), "did you mean threads"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(TypeError, message):
                wrong()


class Mean(y.Folder):
    state = [("n", "i8"), ("sum", "f8")]
    out = (y.bytes, y.f64)

    def init(self, n):
        return np.zeros(n, self.state)

    def fold(self, states, values):
        states["n"] += 1
        states["sum"] += values

    def merge(self, states, others):
        states["n"] += others["n"]
        states["sum"] += others["sum"]

    def finish(self, keys, states):
        return keys, states["sum"] / states["n"]


class Joined(y.Folder):
    """States of objects, merged in the order of the values."""

    out = (y.bytes, y.bytes)

    def init(self, n):
        return [b""] * n

    def fold(self, states, values):
        return [state + value for state, value in zip(states, values)]

    merge = fold


class Folders(Case):
    def test_states_of_numpy_and_of_objects(self):
        rng = random.Random(5)
        pairs = [(rng.choice(["a", "bb", "c"]), rng.randrange(100)) for _ in range(20000)]
        source = self.file("in", "".join(f"{key}\t{n}\n" for key, n in pairs))
        groups = collections.defaultdict(list)
        for key, n in pairs:
            groups[key.encode()].append(n)

        @y.mapper(out=(y.bytes, y.f64))
        def numbers(b: y.Batch):
            return b.keys, b.values.to_i64()

        @y.mapper(out=(y.bytes, y.bytes))
        def texts(b: y.Batch):
            return b.keys, b.values

        got = y.job(numbers, folder=Mean, input_format="kv", split_size="64KiB").run(source).table.to_dict()
        self.assertEqual(got, {key: sum(values) / len(values) for key, values in groups.items()})
        got = y.job(texts, folder=Joined, input_format="kv", split_size="64KiB").run(source).table.to_dict()
        self.assertEqual(got, {key: "".join(map(str, values)).encode() for key, values in groups.items()})

    def test_merging_in_pairs_takes_every_state_once(self):
        from yunti.folder import merged

        for sizes in ([1], [2, 1, 5], [7, 8, 9, 1], [64, 3]):
            first = np.concatenate([[0], np.cumsum(sizes)]).tolist()
            states = np.zeros(first[-1], Mean.state)
            states["n"], states["sum"] = 1, np.arange(first[-1])
            wanted = [(b - a, sum(range(a, b))) for a, b in zip(first, first[1:])]
            self.assertEqual(merged(Mean(), states, first).tolist(), wanted)
            letters = [bytes([97 + i % 26]) for i in range(first[-1])]
            wanted = [b"".join(letters[a:b]) for a, b in zip(first, first[1:])]
            self.assertEqual(merged(Joined(), letters, first), wanted)


class Columns(Case):
    def test_slices_find_fields_and_numbers(self):
        rows = [b"a,12,x", b"bb,-7", b"", b"c,+3,,", b"long,999999999999999999,y"]
        b = y.TextBatch.of(b"\n".join(rows) + b"\n")
        lines = b.lines()
        for i in range(4):
            wanted = [(row.split(b",") + [b""] * 4)[i] for row in rows]
            self.assertEqual(lines.field(i, b",").tolist(), wanted, i)
        used = [i for i, row in enumerate(rows) if row]
        self.assertEqual(lines[np.array(used)].field(1, b",").to_i64().tolist(), [12, -7, 3, 999999999999999999])
        self.assertEqual(y.TextBatch.of(b"-9223372036854775808 1").words().to_i64().tolist(), [-(1 << 63), 1])
        rng = random.Random(7)
        numbers = [rng.choice([-1, 1]) * rng.getrandbits(rng.randrange(64)) for _ in range(3000)]
        texts = [b"%d" % n if rng.random() < 0.9 else b"%s%030d" % (b"-" if n < 0 else b"+", abs(n)) for n in numbers]
        for part in (slice(None), slice(0, 3), slice(5, 6)):
            joined = y.TextBatch.of(b" ".join(texts[part])).words()
            self.assertEqual(joined.to_i64().tolist(), numbers[part])
        small = [n % 10**9 for n in numbers]
        self.assertEqual(y.TextBatch.of(b" ".join(b"%d" % n for n in small)).words().to_i64().tolist(), small)
        self.assertEqual(y.TextBatch.of(b"1.5 -2e3").words().to_f64().tolist(), [1.5, -2000.0])
        for wrong in (b"1x", b"-", b"1-2", b"9223372036854775808", b"-9223372036854775809", b"1" * 30, b"1_0", b"-+1", b"/",
                      b"0:", b"1" * 25 + b"x"):
            with self.assertRaises(ValueError):
                y.TextBatch.of(wrong).words().to_i64()

    def test_fields_are_those_of_split(self):
        rng = random.Random(25)
        for _ in range(500):
            fields = rng.randrange(1, 4)
            rows = [b",".join(bytes(rng.choices(b"ab", k=rng.randrange(3))) for _ in range(rng.choice([fields] * 9 + [2])))
                    for _ in range(rng.randrange(1, 9))]
            lines = y.TextBatch.of(b"\n".join(rows) + b"\n").lines()
            # Some of the lines, in any order; and slices that overlap.
            some = [rng.randrange(len(rows)) for _ in range(rng.randrange(5))]
            data = bytes(lines.data)
            begins = [rng.randrange(len(data)) for _ in range(3)]
            lengths = [rng.randrange(len(data) - at) for at in begins]
            overlapping = y.Slices(lines.data, np.array(begins, np.uint32), np.array(lengths, np.uint32))
            for slices in (lines, lines[np.array(some, int)], overlapping):
                for i in range(4):
                    wanted = [(row.split(b",") + [b""] * 4)[i] for row in slices.tolist()]
                    self.assertEqual(slices.field(i, b",").tolist(), wanted, (rows, slices, i))

    def test_views_are_read_only(self):
        @y.mapper
        def writes(b: y.TextBatch):
            b.data[0] = 1

        with self.assertRaisesRegex(y.JobError, "read-only"):
            y.job(writes).run(self.file("in", "a\n"), attempts=1)

    def test_kinds_of_columns(self):
        cases = {
            "fixed strings": np.array([b"a", b"bcd"]),
            "objects": np.array(["a", b"bcd"], object),
            "generator": None,
        }
        if installed("pyarrow"):
            import pyarrow as pa

            cases["arrow strings"] = pa.array(["a", "bcd"])
            cases["arrow chunks"] = pa.chunked_array([["x", "a"], ["bcd"]])[1:]
            cases["arrow dictionary"] = pa.array(["a", "bcd"]).dictionary_encode()
            cases["arrow views"] = pa.array([b"a", b"bcd"], pa.large_binary())
        for name, keys in cases.items():
            @y.mapper(out=(y.bytes, y.f64))
            def made(b):
                if keys is None:
                    return (([key], 0.5) for key in (b"a", b"bcd"))
                return keys, np.full(2, 0.5, np.float32)

            with self.subTest(name):
                rows = y.job(made).run(self.file("in", "x\n")).table.to_list()
                self.assertEqual(rows, [(b"a", 0.5), (b"bcd", 0.5)])

    def test_a_float_for_an_integer_is_refused(self):
        made = y.mapper(lambda b: ([b"k"], np.array([0.5])), out=(y.bytes, y.i64))
        with self.assertRaisesRegex(y.JobError, "a column of float64 for the declared yunti.i64"):
            y.job(made).run(self.file("in", "x\n"), attempts=1)

    def test_requests_larger_than_the_first_memory(self):
        # A line of 5 MB makes a batch that the memory must grow for.
        line = os.urandom(5 << 19).hex().encode()
        source = self.file("in", b"small\n" + line + b"\nsmall\n")

        @y.mapper(out=(y.slice, y.i64))
        def lengths(b: y.TextBatch):
            return b.lines(), b.lines().lengths

        rows = y.job(lengths, mode="none").run(source).table.to_list()
        self.assertEqual(rows, [(b"small", 5), (line, len(line)), (b"small", 5)])

    def test_groups_by_a_part_of_the_key(self):
        source = self.file("in", "b 2\nb 1\na 3\n")

        @y.mapper(out=(y.bytes, y.i64))
        def whole(b: y.TextBatch):
            return b.lines(), 1

        @y.reducer(out=(y.bytes, y.text))
        def shown(g):
            keys = g.value_keys.tolist()
            return [b"group"] * len(g), [str([keys[i] for i in range(a, b)]) for a, b in zip(g.first, g.first[1:])]

        order = {"order.fields": "1,2n", "order.group": 1, "order.separator": " "}
        job = y.job(whole, reducer=shown, key_order="Yunti.FieldOrder", settings=order)
        rows = [value for _, value in job.run(source).table.to_list()]
        self.assertEqual(rows, ["[b'a 3']", "[b'b 1', b'b 2']"])


@unittest.skipUnless(installed("pyarrow"), "pyarrow is not installed")
class Arrow(Case):
    rows = [{"user": "ann", "time": "5", "page": "a\tb\\c"}, {"user": "bob", "time": "7", "page": "\u00e9,\"x\""},
            {"user": "ann", "time": "6", "page": ""}]

    def sessions(self, source, **flags):
        import pyarrow as pa
        import pyarrow.compute as pc

        @y.mapper(out=(y.text, y.i64))
        def by_user(batch: pa.RecordBatch):
            assert batch.schema.names == ["user", "time", "page"], batch.schema
            return batch["user"], pc.add(pc.cast(batch["time"], pa.int64()), pc.cast(pc.utf8_length(batch["page"]), pa.int64()))

        job = y.job(by_user, folder="Yunti.SumFolder", key_columns="user", value_columns=["time", "page"], **flags)
        return job.run(source).table.to_dict()

    def test_csv(self):
        with open(self.path("in.csv"), "w", newline="") as file:
            out = csv.DictWriter(file, ["page", "time", "user"])
            out.writeheader()
            out.writerows(self.rows)
        self.assertEqual(self.sessions(self.path("in.csv"), input_format="csv"), {"ann": 16, "bob": 12})

    def test_json(self):
        source = self.file("in.json", "".join(json.dumps(row) + "\n" for row in self.rows))
        self.assertEqual(self.sessions(source, input_format="json"), {"ann": 16, "bob": 12})

    def test_text_and_results_as_a_batch(self):
        import pyarrow as pa
        import pyarrow.compute as pc

        @y.mapper(out=(y.text, y.i64))
        def counts(batch: "pa.RecordBatch"):
            counted = pc.value_counts(batch["value"])
            return pa.RecordBatch.from_arrays([counted.field(0), counted.field(1)], names=["k", "n"])

        got = y.job(counts, folder="Yunti.SumFolder").run(self.file("in", "a\nb\na\n")).table.to_dict()
        self.assertEqual(got, {"a": 2, "b": 1})


class ColumnsOfNumPy(Columns):
    """The same without the kernels."""

    def setUp(self):
        super().setUp()
        native.library()
        patch = unittest.mock.patch.object(native, "_library", None)
        patch.start()
        self.addCleanup(patch.stop)


class Kernels(Case):
    """The kernels beside NumPy, on random text."""

    @unittest.skipUnless(os.environ.get("YUNTI_INSTALLED"), "the kernels are in the wheel alone")
    def test_they_are_installed(self):
        self.assertIsNotNone(native.library())

    def both(self, make):
        with_kernels = make()
        with unittest.mock.patch.object(native, "_library", None):
            return with_kernels, make()

    def test_they_agree_with_numpy(self):
        native.library()
        rng = random.Random(11)
        for round in range(300):
            letters = rng.choice([b"ab \n", b"a\r\n", b"x,\t\n\r", b"0123456789,-+ \n", b"1 .e\n"])
            text = bytes(rng.choices(letters, k=rng.choice([0, 1, 63, 64, 65, 300, 9000])))
            for cut in ("lines", "words"):
                got, wanted = self.both(lambda: getattr(y.TextBatch.of(text), cut)())
                self.assertEqual((got.offsets.tolist(), got.lengths.tolist()),
                                 (wanted.offsets.tolist(), wanted.lengths.tolist()), (cut, text))
                for number in range(3):
                    fields, expect = self.both(lambda: getattr(y.TextBatch.of(text), cut)().field(number, b","))
                    self.assertEqual(fields.tolist(), expect.tolist(), (cut, number, text))
                chosen = np.array([rng.random() < 0.5 for _ in range(len(got))], bool)
                part, expect = self.both(lambda: getattr(y.TextBatch.of(text), cut)()[chosen].compact())
                self.assertEqual(part.tolist(), expect.tolist(), (cut, text))
                for to in ("to_i64", "to_f64"):
                    self.assertEqual(*map(repr, self.both(lambda: self.numbers(getattr(y.TextBatch.of(text), cut)(), to))))

    def numbers(self, slices, to):
        try:
            return getattr(slices, to)().tolist()
        except ValueError as e:
            return str(e)


class Tables(Case):
    def counts(self, **flags):
        return y.run("wordcount", self.file("in", "b \u00e9 b\n"), self.path("out"), overwrite=True, **flags).table

    def test_formats_and_codecs(self):
        for codec in (None, "gzip", "bzip2", "xz", "zstd", "lz4"):
            with self.subTest(codec=codec):
                self.assertEqual(self.counts(compress=codec).to_list(), [("b", 2), ("\u00e9", 1)])
                self.assertEqual(self.counts(compress=codec, output_format="framed").to_list(), [("b", 2), ("\u00e9", 1)])
        named = {"output_key_columns": "word", "output_value_columns": "count"}
        self.assertEqual(self.counts(output_format="json", **named).to_list(),
                         [{"word": "b", "count": 2}, {"word": "\u00e9", "count": 1}])
        self.assertEqual(self.counts(output_format="csv:;", **named).to_list()[0], {"word": "b", "count": "2"})
        self.assertEqual(self.counts(output_format="text:;").to_list(), [("b", 2), ("\u00e9", 1)])

    def test_a_key_with_a_tab(self):
        rows = y.job(y.record(lambda line: (line, 7))).run(self.file("in", "a\tb\n"), self.path("o")).table.to_list()
        self.assertEqual(rows, [(b"a\tb", 7)])

    def test_an_output_that_exists(self):
        self.counts()
        with self.assertRaises(y.JobError) as caught:
            y.run("wordcount", self.path("in"), self.path("out"))
        self.assertEqual((caught.exception.code, caught.exception.exit_code), ("exists", 8))

    def test_an_output_of_an_earlier_job(self):
        self.counts()
        self.assertEqual(y.Table(self.path("out"), types=(str, int)).to_dict(), {"b": 2, "\u00e9": 1})
        with self.assertRaisesRegex(FileNotFoundError, "no output of a job"):
            y.Table(self.folder).to_list()

    def test_a_temporary_output_goes_with_its_table(self):
        table = y.run("wordcount", self.file("in", "a\n")).table
        path = table.path
        self.assertTrue(os.path.exists(path))
        del table
        self.assertFalse(os.path.exists(os.path.dirname(path)))

    @unittest.skipUnless(installed("pandas", "polars", "pyarrow"), "pandas, polars or pyarrow is not installed")
    def test_frames(self):
        table = self.counts()
        wanted = {"key": ["b", "\u00e9"], "value": [2, 1]}
        self.assertEqual(table.to_arrow().to_pydict(), wanted)
        self.assertEqual(table.to_polars().to_dict(as_series=False), wanted)
        self.assertEqual(table.to_pandas().to_dict("list"), wanted)
        self.assertIn("<td>b</td><td>2</td>", table._repr_html_())


class Applications(Case):
    def test_settings_are_passed(self):
        source = self.file("in", "one\ntwo\nthree\n")
        self.assertEqual(y.run("grep", source, settings={"grep.pattern": "^t", "grep.invert": True}).table.to_list(),
                         ["one"])

    def test_reports(self):
        done = y.run("wordcount", BOOKS)
        self.assertIn("Stages", done.report.text)
        with open(os.path.join(done.table.path, "_yunti/report.json")) as file:
            self.assertEqual(done.report.bottleneck, json.load(file)["bottleneck"]["text"])
        self.assertEqual(done.report.data["job"]["name"], "wordcount")
        self.assertGreater(done.report.seconds, 0)
        self.assertTrue(done._repr_html_().startswith("<iframe srcdoc=\"&lt;!"))

    def test_the_program_itself(self):
        done = subprocess.run([sys.executable, "-m", "yunti", "run", "--list"], capture_output=True, text=True,
                              env=y.program.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("wordcount", done.stdout)

    def test_a_program_that_is_missing(self):
        _, err = self.python("import yunti as y\ny.run('wordcount', 'in')\n", code=1, YUNTI="/missing/yunti")
        self.assertIn("/missing/yunti", err)


if __name__ == "__main__":
    unittest.main()
