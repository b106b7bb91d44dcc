"""Parquet as jobs read and write it, against pyarrow: values one by one, random tables, damaged files, memory.

The corpus of parquet-testing lies beside the checkout, in shared/data/parquet; its tests are skipped without it.
"""

import datetime
import glob
import json
import math
import os
import random
import subprocess
import unittest

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from tables import ROOT, SECONDS, YUNTI, Scratch, expected, random_table, read, rows, yunti

CORPUS = os.path.join(ROOT, "../shared/data/parquet")

# Files of the corpus that pyarrow reads, or refuses, and Yunti does not treat the same. Each has its reason.
REFUSED = {
    "dict-page-offset-zero.parquet": "its statistics are lists of another type than the standard says",
    "nation.dict-malformed.parquet": "the header of its dictionary page is malformed",
    "datapage_v1-corrupt-checksum.parquet": "checksums of pages are compared",
    "rle-dict-uncompressed-corrupt-checksum.parquet": "checksums of pages are compared",
    "int96_from_spark.parquet": "a timestamp lies in the year 290000, beyond the calendar",
}
# Values of a string of 1 GB each; test_large_strings_stay_in_the_budget reads it.
LARGE = "large_string_map.brotli.parquet"


@unittest.skipUnless(os.path.isdir(CORPUS), f"there is no {CORPUS}")
class Corpus(Scratch):
    def files(self, folder):
        found = sorted(glob.glob(os.path.join(CORPUS, folder, "*.parquet")))
        self.assertTrue(found)
        return found

    def test_files_of_many_writers_have_the_values_that_pyarrow_reads(self):
        compared = 0
        for path in self.files("data"):
            name = os.path.basename(path)
            if name == LARGE:
                continue
            with self.subTest(name):
                if name in REFUSED:
                    code = 3 if name.startswith("int96") else 4
                    _, error = yunti("run", "identity", path, "-o", "-", code=code)
                    self.assertEqual(error.count("\n"), 1, error)
                    continue
                try:
                    table = pq.read_table(path, coerce_int96_timestamp_unit="us")
                except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                    self.assertIsNotNone(rows(path))  # Yunti reads more
                    continue
                if len(set(table.column_names)) == len(table.column_names):
                    self.compare(path, table)
                    compared += 1
        self.assertGreater(compared, 50)

    def test_encrypted_files_are_refused_in_one_line(self):
        for path in sorted(glob.glob(os.path.join(CORPUS, "data/*.encrypted"))):
            with self.subTest(os.path.basename(path)):
                _, error = yunti("run", "identity", path, "--input-format", "parquet", "-o", "-", code=3)
                self.assertEqual(error.count("\n"), 1, error)
                self.assertIn("encrypted", error)

    def test_damaged_files_end_with_one_line(self):
        for path in self.files("bad_data"):
            out = self.path(os.path.basename(path))
            with self.subTest(os.path.basename(path)):
                done = subprocess.run([YUNTI, "run", "identity", path, "--input-format", "parquet", "-o",
                                       out, "--memory", "64MiB"],
                                      capture_output=True, text=True, timeout=SECONDS, check=False)
                self.assertIn(done.returncode, (0, 4), done.stderr)
                if done.returncode:
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                    self.assertFalse(os.path.exists(out))
                    self.assertIn(path, done.stderr)


class Damage(Scratch):
    def test_bytes_that_change_anywhere_end_in_one_line_or_in_the_same_rows(self):
        """One byte of a small file changes: the job ends with a message, or it reads as many rows as before."""
        path, seed = self.path("a.parquet"), random.Random(7)
        names = [f"user{i % 9}" for i in range(300)]
        pq.write_table(pa.table({"n": list(range(300)), "name": names, "x": [i / 3 for i in range(300)]}), path,
                       row_group_size=100, compression="zstd", write_page_checksum=True)
        whole = read(path)
        for _ in range(60):
            at = seed.randrange(len(whole))
            bytes_ = bytearray(whole)
            bytes_[at] ^= 1 << seed.randrange(8)
            with open(self.path("b.parquet"), "wb") as f:
                f.write(bytes_)
            done = subprocess.run([YUNTI, "run", "identity", self.path("b.parquet"), "--input-format", "parquet",
                                   "-o", "-", "--quiet", "--memory", "64MiB"], capture_output=True, timeout=SECONDS,
                                  check=False)
            with self.subTest(at=at):
                self.assertIn(done.returncode, (0, 3, 4, 7), done.stderr)
                if done.returncode:
                    self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)

    def test_a_file_that_was_cut_is_named(self):
        path = self.path("a.parquet")
        pq.write_table(pa.table({"n": list(range(1000))}), path)
        whole = read(path)
        for n in (3, 12, len(whole) // 2, len(whole) - 1):
            with open(path, "wb") as f:
                f.write(whole[:n])
            _, error = yunti("run", "identity", path, "--input-format", "parquet", "-o", "-", code=4)
            self.assertIn(path, error)
            self.assertEqual(error.count("\n"), 1)


class Tables(Scratch):
    def test_random_tables_of_every_type_codec_and_encoding(self):
        for seed in range(60):
            r = random.Random(-seed)
            table, path = random_table(seed), self.path("t.parquet")
            codec = r.choice(["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
            pq.write_table(table, path, compression=codec, row_group_size=r.choice([100, 1000]),
                           use_dictionary=r.random() < 0.5, data_page_version=r.choice(["1.0", "2.0"]),
                           data_page_size=r.choice([1, 1000, 1 << 20]), write_page_index=r.random() < 0.5)
            with self.subTest(seed=seed, codec=codec):
                self.compare(path, table)

    def test_a_job_gives_the_bytes_that_it_gives_over_csv(self):
        n = 5000
        table = pa.table({"user": [f"u{i * 7 % 97}" for i in range(n)], "id": list(range(n)),
                          "text": [f"word{i % 11} and {i % 3}" for i in range(n)]})
        pq.write_table(table, self.path("t.parquet"), row_group_size=700)
        with open(self.path("t.csv"), "w", encoding="utf-8") as f:
            f.write("user,id,text\n" + "".join(f"{r['user']},{r['id']},{r['text']}\n" for r in table.to_pylist()))
        for job in (["distinct", "--key-columns", "user"], ["wordcount", "--value-columns", "text"],
                    ["sort", "--key-columns", "text,id"], ["top", "--value-columns", "id,text", "-D", "column=1"]):
            outputs = []
            for name in ("t.parquet", "t.csv"):
                more = ["--input-format", "csv"] if name.endswith("csv") else []
                out, _ = yunti("run", job[0], self.path(name), *job[1:], *more, "-o", "-", "--quiet")
                outputs.append(out)
            with self.subTest(job[0]):
                self.assertEqual(outputs[0], outputs[1])
                self.assertTrue(outputs[0])

    def test_only_the_columns_of_the_job_are_read(self):
        n = 50000
        table = pa.table({"small": [i % 5 for i in range(n)], "large": [f"{i * i}" * 9 for i in range(n)]})
        pq.write_table(table, self.path("t.parquet"), compression="none")
        out, error = yunti("run", "distinct", self.path("t.parquet"), "--key-columns", "small", "-o", self.path("out"))
        size = os.path.getsize(self.path("t.parquet"))
        self.assertGreater(size, 1_000_000)
        self.assertRegex(error, r"distinct: read [\d.]+ kB of [\d.]+ MB in ")
        with open(self.path("out/part-r-00000"), "rb") as f:
            self.assertEqual(f.read(), b"0\n1\n2\n3\n4\n")

    def test_distinct_finds_values_that_have_codes_and_values_that_have_none(self):
        """A dictionary that grows too large ends in plain pages: values of both must arrive."""
        values = [f"value {i % 40000}" if i > 3000 else f"first {i % 3}" for i in range(100_000)]
        for limit in (1 << 20, 4000):
            pq.write_table(pa.table({"k": values}), self.path("t.parquet"), dictionary_pagesize_limit=limit,
                           data_page_size=2000, row_group_size=30_000)
            out, _ = yunti("run", "distinct", self.path("t.parquet"), "--key-columns", "k", "-o", "-", "--quiet")
            self.assertEqual(out.decode().splitlines(), sorted(set(values)))

    def test_members_of_structs_are_columns_by_their_path(self):
        kind = pa.struct([("name", pa.string()), ("at", pa.struct([("zip", pa.int32())]))])
        values = [{"name": "ann", "at": {"zip": 7}}, {"name": None, "at": None}, None]
        pq.write_table(pa.table({"id": [1, 2, 3], "user": pa.array(values, kind)}), self.path("t.parquet"))
        found = rows(self.path("t.parquet"), "--key-columns", "user.at.zip", "--value-columns", "user.name,id")
        self.assertEqual(found, [[b"7", b"ann", b"1"], [None, None, b"2"], [None, None, b"3"]])
        _, error = yunti("run", "identity", self.path("t.parquet"), "--key-columns", "user.no", "-o", "-", code=3)
        self.assertIn("no column 'user.no': it has id, user", error)


class Written(Scratch):
    def test_output_has_the_types_of_the_job(self):
        with open(self.path("a.txt"), "w", encoding="utf-8") as f:
            f.write("b a b\n" * 10)
        yunti("run", "wordcount", self.path("a.txt"), "-o", self.path("out"), "--output-format", "parquet",
              "--output-key-columns", "word", "--output-value-columns", "n")
        table = pq.read_table(self.path("out/part-r-00000.parquet"))
        self.assertEqual(table.to_pydict(), {"word": ["a", "b"], "n": [10, 20]})
        self.assertEqual([f.type for f in table.schema], [pa.string(), pa.int64()])
        self.assertTrue(os.path.exists(self.path("out/_SUCCESS")))

    def test_an_empty_output_is_a_file_with_a_schema(self):
        open(self.path("a.txt"), "w", encoding="utf-8").close()
        yunti("run", "wordcount", self.path("a.txt"), "-o", self.path("out"), "--output-format", "parquet")
        self.assertEqual(pq.read_table(self.path("out/part-r-00000.parquet")).num_rows, 0)

    def test_parquet_to_parquet_keeps_every_value_and_type(self):
        flat = [seed for seed in range(60) if not any(pa.types.is_nested(f.type) for f in random_table(seed).schema)]
        self.assertGreater(len(flat), 10)
        for seed in flat:
            table = random_table(seed)
            if table.num_rows == 0:
                continue
            pq.write_table(table, self.path("t.parquet"))
            yunti("convert", self.path("t.parquet"), self.path("out"), "--output-format", "parquet", "--overwrite")
            back = pq.read_table(self.path("out"))
            with self.subTest(seed=seed):
                self.assertEqual(back.column_names, table.column_names)
                wanted, found = expected(table), expected(back)
                self.assertEqual(found, wanted)

    def test_seconds_become_milliseconds(self):
        at = [datetime.datetime(2026, 11, 25, 17, 3, 59), None]
        times = pa.table({"at": pa.array(at, pa.timestamp("s")), "utc": pa.array(at, pa.timestamp("s", "UTC")),
                          "clock": pa.array([datetime.time(17, 3, 59), None], pa.time32("s"))})
        path, out = self.path("t.arrow"), self.path("out")
        with ipc.new_file(path, times.schema) as writer:
            writer.write_table(times)
        yunti("convert", path, out, "--output-format", "parquet")
        found = pq.read_table(glob.glob(os.path.join(out, "part-*"))[0])
        self.assertEqual([kind.unit for kind in found.schema.types], ["ms"] * 3)
        self.assertIsNotNone(found["utc"].type.tz)
        self.assertEqual(found.to_pylist(), times.to_pylist())

    def test_csv_to_parquet_infers_types(self):
        with open(self.path("a.csv"), "w", encoding="utf-8") as f:
            f.write("id,name,amount,day,code\n1,ann,2.5,2026-11-25,007\n2,,3,2026-11-26,8\n3,\"b,c\",,,9\n")
        yunti("convert", self.path("a.csv"), self.path("out"), "--output-format", "parquet", "--type", "id=Int32")
        table = pq.read_table(self.path("out"))
        day = datetime.date
        self.assertEqual(table.to_pydict(), {
            "id": [1, 2, 3], "name": ["ann", "", "b,c"], "amount": [2.5, 3.0, None],
            "day": [day(2026, 11, 25), day(2026, 11, 26), None], "code": ["007", "8", "9"]})
        self.assertEqual(table.schema.field("id").type, pa.int32())

    def test_a_text_that_is_no_value_of_its_type_leaves_no_output(self):
        with open(self.path("a.csv"), "w", encoding="utf-8") as f:
            f.write("id\n1\nx\n")
        _, error = yunti("convert", self.path("a.csv"), self.path("out"), "--output-format", "parquet",
                         "--type", "id=Int64", code=6)
        self.assertIn("'x'", error)
        self.assertFalse(os.path.exists(self.path("out")))


class Json(Scratch):
    def test_numbers_and_nested_values_of_parquet_are_json_values(self):
        table = pa.table({"n": [1, None, -3], "x": [0.5, math.nan, 2.0], "s": ["1", "a\tb", None],
                          "l": [[1, 2], None, []], "d": [datetime.date(2026, 11, 25), None, None],
                          "o": [{"a": "q\"\\"}, None, {"a": None}]})
        pq.write_table(table, self.path("t.parquet"))
        out, _ = yunti("convert", self.path("t.parquet"), "-", "--output-format", "json", "--quiet")
        self.assertEqual([json.loads(line) for line in out.splitlines()], [
            {"n": 1, "x": 0.5, "s": "1", "l": [1, 2], "d": "2026-11-25", "o": {"a": "q\"\\"}},
            {"n": None, "x": "NaN", "s": "a\tb", "l": None, "d": "", "o": None},
            {"n": -3, "x": 2.0, "s": "", "l": [], "d": "", "o": {"a": None}}])


class Inspected(Scratch):
    def test_inspect_shows_columns_schema_and_statistics(self):
        pq.write_table(pa.table({"n": [3, None, 5], "s": ["b", "a", "c"]}), self.path("t.parquet"))
        out, _ = yunti("inspect", self.path("t.parquet"), "--schema", "--statistics")
        for text in ("3 rows in 1 row group, 2 columns", "OPTIONAL INT64 n;", "snappy", "OPTIONAL BYTE_ARRAY s (STRING)"):
            self.assertIn(text, out.decode())


if __name__ == "__main__":
    unittest.main()
