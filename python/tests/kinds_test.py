"""Partitioners, key orders, readers and writers of Python: what a loop over the records gives, and errors."""

import os
import random
import re
import struct
import unittest
import zlib

from case import BOOKS, Case

import yunti as y


@y.record(out=(y.text, y.i64), takes=str)
def parse(line):
    name, number = line.split("\t")
    yield name, int(number)


@y.partitioner
def by_first_letter(b: y.Batch, parts):
    assert len(b.values) == len(b) and all(int(v) == v for v in b.values)
    return [ord(key[0]) % parts for key in b.keys]


@y.key_order(groups=True)
def letter_then_largest(b: y.Batch):
    return y.OrderedKeys().text([key[0] for key in b.keys]).group().number(b.values, descending=True)


@y.key_order
def ignoring_case(b: y.Batch):
    return [key.lower().encode() for key in b.keys]


@y.reducer(out=(y.text, y.text))
def listed(g):
    keys, values = [], []
    at = 0
    for key, numbers in g:
        own = g.value_keys[at : at + len(numbers)].tolist() if g.value_keys is not None else [key.encode()] * len(numbers)
        at += len(numbers)
        keys.append(key[0])
        values.append(" ".join(f"{k.decode()}={n}" for k, n in zip(own, numbers)))
    return keys, values


@y.reader(out=(y.u64, y.bytes), look_back=2)
class Paragraphs:
    """Text between blank lines, by its position."""

    def find(self, chunk):
        data = chunk.bytes
        found = data.find(b"\n\n", max(chunk.cut - 2, 0))
        return None if found < 0 else found + 2

    def read(self, chunk):
        data, at, keys, values = chunk.bytes, 0, [], []
        while at < chunk.owned:
            end = data.find(b"\n\n", at)
            if end < 0 and not chunk.last:
                break
            keys.append(chunk.position + at)
            values.append(data[at:] if end < 0 else data[at:end])
            at = len(data) if end < 0 else end + 2
        return keys, values, at


@y.writer(extension=".list", whole_part=True)
class Numbered:
    """Records with their numbers, between head and foot."""

    def __init__(self):
        self.n = 0

    def begin(self):
        return "<list>\n"

    def write(self, b: y.Batch):
        for key, value in b.rows():
            self.n += 1
            yield f"{self.n}: {key} {value}\n"

    def end(self):
        return b"</list>\n"


@y.writer
def plain(b: y.Batch):
    return b"".join(b"%s;%s\n" % (key.encode(), str(value).encode()) for key, value in b.rows())


class Kinds(Case):
    def setUp(self):
        super().setUp()
        rng = random.Random(5)
        self.pairs = [(rng.choice("abcABC") + str(rng.randrange(50)), rng.randrange(-1000, 1000)) for _ in range(4000)]
        self.input = self.file("in", "".join(f"{key}\t{n}\n" for key, n in self.pairs))

    def parts(self, out, suffix=""):
        found = sorted(name for name in os.listdir(out) if re.fullmatch(r"part-[rm]-\d+" + re.escape(suffix), name))
        texts = []
        for name in found:
            with open(os.path.join(out, name), "rb") as file:
                texts.append(file.read().decode())
        return texts

    def test_partitioner(self):
        for flags in ({}, {"threads": 3, "split_size": "4KiB"}, {"memory": "4MiB", "scratch": self.folder}):
            out = self.path("out")
            y.job(parse, partitioner=by_first_letter, reduces=4, overwrite=True, **flags).run(self.input, out)
            expected = ["".join(f"{k}\t{n}\n" for k, n in sorted(self.pairs, key=lambda p: p[0].encode())
                                if ord(k[0]) % 4 == part) for part in range(4)]
            self.assertEqual(self.parts(out), expected, flags)

    def test_one_part_for_all_and_a_plain_function(self):
        out = self.path("out")
        y.job(parse, partitioner=lambda b, parts: parts - 1, reduces=3).run(self.input, out)
        self.assertEqual([len(part.splitlines()) for part in self.parts(out)], [0, 0, 4000])

    def test_key_order_with_groups(self):
        expected = []
        for letter in "ABCabc":
            group = [(k, n) for k, n in self.pairs if k[0] == letter]
            group.sort(key=lambda p: -p[1])
            expected.append((letter, " ".join(f"{k}={n}" for k, n in group)))
        for flags in ({}, {"threads": 3, "split_size": "4KiB"}):
            made = y.job(parse, reducer=listed, key_order=letter_then_largest, **flags).run(self.input).table.to_list()
            self.assertEqual(made, expected, flags)

    def test_key_order_of_bytes(self):
        made = y.job(parse, key_order=ignoring_case).run(self.input).table.to_list()
        self.assertEqual(made, sorted(self.pairs, key=lambda p: p[0].lower()))

    def test_reader_in_splits_of_any_size(self):
        rng = random.Random(2)
        texts = ["\n".join("w" * rng.randrange(1, 9) for _ in range(rng.randrange(1, 6))) for _ in range(300)]
        text, at, expected = "\n\n".join(texts), 0, []
        for each in texts:
            expected.append((at, each.encode()))
            at += len(each) + 2
        path = self.file("text", text)
        for size in ("13", "100", "1KiB", "1MiB"):
            made = y.job(input_format=Paragraphs, mode="none", split_size=size).run(path).table.to_list()
            self.assertEqual(made, expected, size)
        found = y.read(path, input_format=Paragraphs).map(lambda pair: (pair[1][:1], pair[0]), out=(y.bytes, y.i64))
        self.assertEqual(found.max().to_dict(), {b"w": expected[-1][0]})

    def test_a_reader_without_find_and_a_mapper(self):
        @y.reader(out=(y.i32, y.bytes))
        def records(chunk):
            data, at, keys, values = chunk.bytes, 0, [], []
            while at + 8 <= len(data):
                key, n = struct.unpack_from("<iI", data, at)
                if at + 8 + n > len(data):
                    break
                keys.append(key)
                values.append(data[at + 8 : at + 8 + n])
                at += 8 + n
            return keys, values, at

        @y.mapper(out=(y.i32, y.i64))
        def lengths(b: y.Batch):
            return b.keys, [len(v) for v in b.values]

        rows = [(n * 7919 % 500 - 250, n * 31 % 3000) for n in range(700)]
        path = self.file("binary", b"".join(struct.pack("<iI", key, n) + b"x" * n for key, n in rows))
        made = y.job(lengths, input_format=records, folder="Yunti.SumFolder").run(path).table.to_list()
        expected = {}
        for key, n in rows:
            expected[key] = expected.get(key, 0) + n
        self.assertEqual(made, sorted(expected.items()))
        cut = self.file("cut", b"\1\0\0\0\5\0\0\0abc")
        with self.assertRaises(y.JobError) as caught:
            y.job(lengths, input_format=records, attempts=1).run(cut)
        self.assertEqual((caught.exception.code, caught.exception.path), ("corrupt", cut))

    def test_writers(self):
        out = self.path("out")
        y.job(parse, output_format=Numbered, partitioner=by_first_letter, reduces=2).run(self.input, out)
        for part, text in enumerate(self.parts(out, ".list")):
            rows = [p for p in sorted(self.pairs, key=lambda p: p[0].encode()) if ord(p[0][0]) % 2 == part]
            lines = [f"{i}: {k} {n}\n" for i, (k, n) in enumerate(rows, 1)]
            self.assertEqual(text, "<list>\n" + "".join(lines) + "</list>\n")
        y.job(parse, folder="Yunti.SumFolder", output_format=plain, overwrite=True, threads=3).run(self.input, out)
        sums = {}
        for key, n in self.pairs:
            sums[key] = sums.get(key, 0) + n
        self.assertEqual(self.parts(out), ["".join(f"{k};{n}\n" for k, n in sorted(sums.items()))])

    def test_a_large_part_and_compression(self):
        @y.writer(extension=".raw")
        def large(b: y.Batch):
            return ["x" * 300_000 for _ in range(len(b))]

        out = self.path("out")
        done = y.job(parse, output_format=large, compress="gzip", mode="none").run(self.file("few", "a\t1\nb\t2\n"), out)
        with self.assertRaisesRegex(ValueError, "cannot read the format class"):
            done.table.to_list()
        import gzip

        with gzip.open(os.path.join(out, "part-m-00000.raw.gz")) as file:
            self.assertEqual(file.read(), b"x" * 600_000)

    def test_hash_is_the_same_in_all_workers(self):
        out = self.path("out")
        job = y.job(parse, partitioner=lambda b, parts: [hash(key) % parts for key in b.keys], reduces=3)
        job.run(self.input, out, threads=3, split_size="2KiB")
        keys = [{line.split("\t")[0] for line in part.splitlines()} for part in self.parts(out)]
        self.assertEqual(sum(map(len, keys)), len({key for key, _ in self.pairs}))

    def test_words_of_books_in_parts_by_checksum(self):
        @y.mapper(out=(y.slice, y.one))
        def words(b: y.TextBatch):
            return b.words().one()

        @y.partitioner
        def by_checksum(b: y.Batch, parts):
            return [zlib.crc32(key) % parts for key in b.keys]

        out = self.path("out")
        y.job(words, folder="Yunti.CountFolder", partitioner=by_checksum, reduces=3).run(BOOKS, out)
        y.run("wordcount", BOOKS, self.path("engine"))
        texts = self.parts(out)
        for part, text in enumerate(texts):
            lines = text.splitlines()
            wrong = [line for line in lines if zlib.crc32(line.split("\t")[0].encode()) % 3 != part]
            self.assertEqual(wrong, [])
        self.assertEqual(sorted("".join(texts).splitlines()), sorted(self.parts(self.path("engine"))[0].splitlines()))


class Errors(Case):
    def fails(self, what, **job):
        path = self.file("in", "a\t1\nb\t2\n")
        with self.assertRaises(y.JobError) as caught:
            y.job(parse, attempts=1, quiet=True, **job).run(path, self.path("no"))
        self.assertEqual(caught.exception.code, "user_code")
        self.assertIn(what, str(caught.exception))
        self.assertFalse(os.path.exists(self.path("no")))

    def test_results_that_do_not_fit(self):
        cases = [("returned 3 for 3 parts: return 0 to 2", lambda b, n: [n] * len(b)),
                 ("returned 1 parts for", lambda b, n: [0]),
                 ("the parts are whole numbers", lambda b, n: ["a"] * len(b)),
                 ("ZeroDivisionError", lambda b, n: [1 // 0])]
        for what, function in cases:
            with self.subTest(what):
                self.fails(what, partitioner=y.partitioner(function, name="bad"), reduces=3)
        cases = [("returned 0 forms for", y.key_order(lambda b: [], name="bad")),
                 ("declare @y.key_order(groups=True)", y.key_order(lambda b: y.OrderedKeys().text(b.keys).group())),
                 ("return y.OrderedKeys with a group()", y.key_order(lambda b: b.keys, groups=True)),
                 ("a form is a int", y.key_order(lambda b: [1] * len(b)))]
        for what, made in cases:
            with self.subTest(what):
                self.fails(what, key_order=made)

    def test_readers_and_writers_that_fail(self):
        cases = [("took 99 bytes of a chunk of", y.reader(lambda chunk: ([], [], 99), name="bad")),
                 ("return keys, values and the number", y.reader(lambda chunk: [], name="bad")),
                 ("KeyError", y.reader(lambda chunk: {}[1], name="bad"))]
        for what, made in cases:
            with self.subTest(what):
                self.fails(what, input_format=made)
        self.fails("returned a int: return bytes", output_format=y.writer(lambda b: 1, name="bad"))

    def test_classes_are_refused_where_they_do_not_fit(self):
        for flags, what in [({"partitioner": parse}, "no partitioner: mark a function with @y.partitioner"),
                            ({"key_order": by_first_letter}, "no key order: mark"),
                            ({"input_format": plain}, "mark a function or a class with @y.reader"),
                            ({"output_format": lambda b: b""}, "with @y.writer")]:
            with self.assertRaisesRegex(TypeError, re.escape(what)):
                y.job(parse, **flags).run("in", "out")
        with self.assertRaisesRegex(ValueError, "at most 4096"):
            y.reader(lambda chunk: None, look_back=5000)
        with self.assertRaisesRegex(TypeError, "y.bytes"):
            y.reader(lambda chunk: None, out=(y.slice, y.one))


class Ordered(unittest.TestCase):
    def test_keys_sort_as_their_parts(self):
        texts = [b"", b"\0", b"\0\0", b"\0\x01", b"\x01", b"a", b"a\0", b"ab", b"a\xff", b"\xff"]
        self.assertEqual(texts, sorted(texts))
        for descending in (False, True):
            keys = y.OrderedKeys().text(texts, descending).number(0).tolist()
            self.assertEqual(keys, sorted(keys, reverse=descending))
            for numbers in ([-(1 << 63), -1, 0, 1, (1 << 63) - 1], [-1e300, -1.5, -0.0, 0.0, 1e-9, 2.0]):
                keys = y.OrderedKeys().number(numbers, descending).tolist()
                self.assertEqual(keys, sorted(keys, reverse=descending))
        with self.assertRaisesRegex(ValueError, "has 2 items, and the part before 1"):
            y.OrderedKeys().text(["a"]).number([1, 2])
        with self.assertRaisesRegex(ValueError, "begin with a column"):
            y.OrderedKeys().text("a")


if __name__ == "__main__":
    unittest.main()
