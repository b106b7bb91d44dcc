"""Arrow files and streams as jobs read and write them, against pyarrow: random tables, other types, damaged files."""

import os
import random
import unittest

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc

from tables import Scratch, random_table, read, rows, yunti


def write(path, table, stream=False, codec=None, batch=None, **options):
    options = ipc.IpcWriteOptions(compression=codec, **options)
    make = ipc.new_stream if stream else ipc.new_file
    with make(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=batch)


class Tables(Scratch):
    def test_random_tables_of_every_type_and_codec_as_files_and_streams(self):
        for seed in range(60):
            r = random.Random(-seed)
            table, stream, path = random_table(seed), r.random() < 0.5, self.path("t")
            codec = r.choice([None, "lz4", "zstd"])
            write(path, table, stream, codec, r.choice([1, 100, 1000, None]) if len(table) < 1000 else 1000)
            with self.subTest(seed=seed, codec=codec, stream=stream):
                self.compare(path, table, format="arrow-stream" if stream else "arrow")

    def test_types_that_parquet_does_not_have(self):
        n = 20_000
        words = [None if i % 7 == 0 else f"word {i % 11}\n" for i in range(n)]
        plain = pa.table({"word": words, "n": list(range(n))})
        word = plain["word"]
        for name, column in {
            "large": word.cast(pa.large_string()), "view": word.cast(pa.string_view()),
            "codes": word.dictionary_encode(), "codes of 8 bits": word.cast(pa.dictionary(pa.int8(), pa.string())),
            "codes of large": word.cast(pa.dictionary(pa.uint16(), pa.large_string())),
        }.items():
            for stream in (False, True):
                path = self.path("t")
                write(path, pa.table({"word": column, "n": plain["n"]}), stream, batch=700, emit_dictionary_deltas=stream)
                with self.subTest(name, stream=stream):
                    self.compare(path, plain, format="arrow-stream" if stream else "arrow")
                    out, _ = yunti("run", "distinct", path, "--key-columns", "word", "-o", "-", "--quiet",
                                   "--input-format", "arrow")
                    self.assertEqual(out.count(b"\n"), 23)
        runs = pa.RunEndEncodedArray.from_arrays(pa.array([3, 5, 9], pa.int32()), pa.array(["a", None, "c"]))
        lists = pa.array([[1, 2], None, [], [3], [4], [5], [6], [7], [8]], pa.large_list(pa.int16()))
        fixed = pa.array([[i, i + 1] for i in range(9)], pa.list_(pa.int32(), 2))
        codes = pa.array([["x", "y"], ["x"]] * 4 + [None], pa.list_(pa.dictionary(pa.int32(), pa.string())))
        union = pa.UnionArray.from_dense(pa.array([0, 1, 0, 1, 0, 1, 0, 1, 1], pa.int8()),
                                         pa.array([0, 0, 1, 1, 2, 2, 3, 3, 4], pa.int32()),
                                         [pa.array([1, 2, 3, 4]), pa.array(["p", "q", None, "s", "t"])])
        table = pa.table({"runs": runs, "lists": lists, "fixed": fixed, "codes": codes, "union": union,
                          "half": pa.array([1.5] * 9, pa.float16()), "none": pa.nulls(9),
                          "small": pa.array([1] * 9, pa.uint8()), "numbers": pa.array([7, 8, 7] * 3).dictionary_encode()})
        for stream in (False, True):
            write(self.path("t"), table, stream)
            found = rows(self.path("t"), format="arrow")
            self.assertEqual([row[0] for row in found], [b"a"] * 3 + [None] * 2 + [b"c"] * 4)
            self.assertEqual([row[1] for row in found[:3]], [b"[1,2]", None, b"[]"])
            self.assertEqual(found[3][2], b"[3,4]")
            self.assertEqual([row[3] for row in found[-2:]], [b'["x"]', None])
            self.assertEqual([row[4] for row in found], [b"1", b"p", b"2", b"q", b"3", None, b"4", b"s", b"t"])
            self.assertEqual(found[0][5:], [b"1.5", None, b"1", b"7"])

    def test_dictionaries_that_a_stream_replaces(self):
        path = self.path("t.arrows")
        batches = [pa.record_batch({"w": pa.array([f"{n}-{i}" for i in range(3)] * 50).dictionary_encode(), "n": [n] * 150})
                   for n in range(400)]
        with ipc.new_stream(path, batches[0].schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        found = rows(path, format="arrow-stream")
        self.assertEqual(found, [[f"{n}-{i % 3}".encode(), str(n).encode()] for n in range(400) for i in range(150)])

    def test_members_of_structs_and_names_that_are_not_there(self):
        table = pa.table({"user": [{"address": {"zip": i, "city": f"c{i}"}} for i in range(5)], "n": list(range(5))})
        write(self.path("t.arrow"), table)
        out, _ = yunti("run", "identity", self.path("t.arrow"), "--key-columns", "user.address.zip", "--value-columns", "n",
                       "-o", "-", "-q")
        self.assertEqual(out, b"".join(b"%d\t%d\n" % (i, i) for i in range(5)))
        _, error = yunti("run", "identity", self.path("t.arrow"), "--key-columns", "x", "-o", "-", code=3)
        self.assertIn("no column 'x': it has user, n", error)

    def test_only_the_buffers_of_the_columns_are_read(self):
        n = 200_000
        table = pa.table({"small": [i % 5 for i in range(n)], "large": [f"{i * i}" * 9 for i in range(n)]})
        write(self.path("t.arrow"), table, batch=20_000)
        _, error = yunti("run", "distinct", self.path("t.arrow"), "--key-columns", "small", "-o", self.path("out"))
        self.assertRegex(error, r"read 1\.6\d? MB of [\d.]+ MB in ")


class Output(Scratch):
    def test_pyarrow_reads_what_jobs_write(self):
        n = 20_000
        table = pa.table({"id": list(range(n)), "name": [None if i % 5 == 0 else f"n{i}\t" for i in range(n)],
                          "x": [i / 3 for i in range(n)], "b": [i % 2 == 0 for i in range(n)]})
        write(self.path("t.arrow"), table)
        for format, codec, read_back in (("arrow", "none", feather.read_table), ("arrow", "lz4", feather.read_table),
                                         ("arrow", "zstd", feather.read_table),
                                         ("arrow-stream", "zstd", lambda path: ipc.open_stream(path).read_all())):
            yunti("convert", self.path("t.arrow"), self.path("out"), "--output-format", format, "--codec", codec,
                  "--overwrite", "-q")
            parts = os.listdir(self.path("out"))
            part = self.path("out/" + next(p for p in parts if p.startswith("part-")))
            with self.subTest(format, codec=codec):
                self.assertTrue(read_back(part).equals(table))
                self.compare(part, table, format=format)

    def test_counts_have_the_types_of_the_job(self):
        with open(self.path("t.txt"), "w", encoding="utf-8") as f:
            f.write("a b a\n")
        yunti("run", "wordcount", self.path("t.txt"), "-o", self.path("out"), "--output-format", "arrow", "-q")
        table = feather.read_table(self.path("out/part-r-00000.arrow"))
        self.assertEqual(table.to_pydict(), {"key": ["a", "b"], "value": [2, 1]})
        self.assertEqual(table.schema.field("value").type, pa.int64())


class Damage(Scratch):
    def test_bytes_that_change_and_files_that_are_cut(self):
        table = pa.table({"n": pa.array([1, None, 3]), "w": pa.array(["a", "b", "a"]).dictionary_encode(),
                          "l": pa.array([[1], None, [2, 3]])})
        for stream, codec in ((False, None), (True, "zstd"), (False, "lz4")):
            write(self.path("t"), table, stream, codec)
            refused, cases = self.damage(read(self.path("t")), "arrow")
            self.assertGreater(refused, cases // 4)

    def test_foreign_kinds_are_refused_in_one_line(self):
        feather.write_feather(pa.table({"a": [1]}), self.path("t.feather"), version=1)
        _, error = yunti("run", "identity", self.path("t.feather"), "--input-format", "arrow", "-o", "-", code=3)
        self.assertIn("first version of Feather", error)


if __name__ == "__main__":
    unittest.main()
