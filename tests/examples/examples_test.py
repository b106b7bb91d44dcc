"""Runs the class libraries of examples/ as jobs of the command and compares them with plain Python.

YUNTI names the binary, YUNTI_EXAMPLES the folder of lib*.so (built by gcc or by clang).
"""

import collections
import csv
import glob
import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = os.path.abspath(os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti")))
LIBRARIES = os.path.abspath(os.environ.get("YUNTI_EXAMPLES", os.path.join(ROOT, "build/examples/lib")))
BOOKS = os.path.join(ROOT, "examples/books")


class Jobs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="yunti-examples-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def yunti(self, words, code=0):
        done = subprocess.run([YUNTI] + words.split(), cwd=self.folder.name, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=300)
        self.assertEqual(done.returncode, code, f"yunti {words}: {done.stderr.decode(errors='replace')}")
        return done

    def job(self, library, words, code=0):
        return self.yunti(f"run --lib {LIBRARIES}/lib{library}.so {words}", code)

    def output(self, name):
        """Returns the content of all parts in order."""
        parts = sorted(glob.glob(self.path(f"{name}/part-*")))
        self.assertTrue(parts and os.path.exists(self.path(f"{name}/_SUCCESS")), os.listdir(self.folder.name))
        return b"".join(pathlib.Path(part).read_bytes() for part in parts)

    def words(self):
        counts = collections.Counter()
        for book in glob.glob(BOOKS + "/*.gz"):
            text = gzip.decompress(pathlib.Path(book).read_bytes())
            counts.update(re.split(rb"[ \t\n\r\f]+", text))
        del counts[b""]
        return b"".join(b"%s\t%d\n" % pair for pair in sorted(counts.items()))

    def test_word_count_with_mapper_combiner_and_reducer(self):
        classes = "--mapper WordCount.Tokenizer --combiner WordCount.SumCombiner --reducer WordCount.SumReducer"
        self.job("word_count", f"{classes} --input {BOOKS} --output out")
        self.assertEqual(self.output("out"), self.words())

    def test_word_count_in_rust(self):
        folded = "--mapper RustWordCount.Tokenizer --folder RustWordCount.Count"
        summed = ("--mapper RustWordCount.LoopTokenizer --combiner RustWordCount.SumCombiner --reducer "
                  "RustWordCount.SumReducer")
        for classes in (folded, summed):
            for how in ("", "--isolate"):
                self.job("rust_word_count", f"{classes} {how} --input {BOOKS} --output out --overwrite")
                self.assertEqual(self.output("out"), self.words(), f"{classes} {how}")

    def test_word_count_with_a_folder(self):
        for mode, finish in (("sorted", bytes), ("grouped", lambda out: b"".join(sorted(out.splitlines(True))))):
            self.job("word_count",
                     f"--mapper WordCount.Tokenizer --folder WordCount.Count --mode {mode} --input {BOOKS} --output "
                     f"{mode}")
            expected = self.words()
            self.assertEqual(finish(self.output(mode)), finish(expected), mode)

    def test_library_classes_combine_with_built_in_classes(self):
        self.job("word_count",
                 f"--mapper WordCount.PlainTokenizer --reducer Yunti.SumReducer --combiner Yunti.SumReducer --input "
                 f"{BOOKS} --output out")
        self.assertEqual(self.output("out"), self.words())

    def test_tera_sort_with_a_partitioner(self):
        self.yunti("generate tera --records 50000 --output t --quiet")
        classes = "--mapper TeraSort.Records --partitioner TeraSort.RangePartitioner"
        self.job("tera_sort",
                 f"{classes} --reduces 4 --input t --output s --input-format fixed:100:10 --output-format raw")
        self.assertEqual(len(glob.glob(self.path("s/part-r-*"))), 4)
        self.yunti("validate tera s --against t")
        records = self.output("t")
        cut = sorted(records[at:at + 100] for at in range(0, len(records), 100))
        self.assertEqual(self.output("s"), b"".join(cut))

    def test_maximum_by_key(self):
        table = os.path.join(ROOT, "examples/max_by_key/temperatures.tsv")
        for folder in ("MaxByKey.Max", "MaxByKey.KnownMax"):
            self.job("max_by_key", f"--mapper MaxByKey.Parse --folder {folder} --input {table} --output {folder}")
            self.assertEqual(self.output(folder), b"Lima\t28\nLondon\t31\nOslo\t-3\n", folder)

    def test_inverted_index(self):
        classes = "--mapper InvertedIndex.Words --combiner InvertedIndex.Files --reducer InvertedIndex.Line"
        self.job("inverted_index", f"{classes} --input {BOOKS} --output out --memory 64MiB")
        files = {}
        for book in glob.glob(BOOKS + "/*.gz"):
            for word in re.split(rb"[ \t\n\r\f]+", gzip.decompress(pathlib.Path(book).read_bytes())):
                files.setdefault(word, set()).add(book.encode())
        del files[b""]
        self.assertEqual(self.output("out"), b"".join(b"%s\t%s\n" % (word, b", ".join(sorted(names))) for word,
                                                      names in sorted(files.items())))
        # The built-in application gives as many words.
        self.yunti(f"run inverted-index {BOOKS} --output own")
        self.assertEqual(self.output("own").count(b"\n"), len(files))

    def test_hash_join(self):
        here = os.path.join(ROOT, "examples/hash_join")
        words = f"--mapper HashJoin.Lookup --mode none --input {here}/cities.tsv"
        self.job("hash_join", f"{words} --side-file {here}/countries.tsv --output out --report r.json")
        self.assertEqual(self.output("out"), b"Norway\tOslo\nPeru\tLima\nNorway\tBergen\n")
        with open(self.path("r.json")) as f:
            self.assertEqual(json.load(f)["counters"]["HashJoin"]["UNKNOWN_CODES"], 1)
        error = self.job("hash_join", f"{words} --output none", code=6).stderr.decode()
        self.assertIn("there is no side file countries.tsv: add --side-file countries.tsv", error)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_secondary_sort(self):
        random = __import__("random").Random(5)
        pairs = [(random.randrange(-50, 50), random.randrange(-(1 << 31), 1 << 31)) for _ in range(20000)]
        with open(self.path("pairs"), "w") as f:
            f.writelines(f"{left} {right}\n" for left, right in pairs)
        expected = []
        for left in sorted({left for left, _ in pairs}):
            expected.append("-" * 48)
            expected += [f"{left}\t{right}" for right in sorted(right for of, right in pairs if of == left)]
        expected = "\n".join(expected) + "\n"
        classes = "--mapper SecondarySort.Pairs --key-order SecondarySort.ByLeft --reducer SecondarySort.Print"
        for more in ("", "--memory 16MiB --threads 1 -D split.size=10KiB", "--partitioner total-order --reduces 5"):
            self.job("secondary_sort", f"{classes} --input pairs --output out --overwrite {more}")
            self.assertEqual(self.output("out").decode(), expected, more)
        # Each group is in one part, for any number of parts.
        self.job("secondary_sort", f"{classes} --input pairs --output out --overwrite --reduces 3")
        self.assertEqual(sorted(self.output("out").decode().split("-" * 48 + "\n")),
                         sorted(expected.split("-" * 48 + "\n")))

    def test_fasta(self):
        here = os.path.join(ROOT, "examples/fasta")
        self.job("fasta",
                 f"--input-format class:Fasta.Reader --output-format class:Fasta.Writer --mapper "
                 f"Fasta.ReverseComplement --input {here}/sequences.fa --output out")
        self.assertEqual(os.path.basename(glob.glob(self.path("out/part-*"))[0]), "part-r-00000.fa")
        self.assertEqual(self.output("out"), self.strands(pathlib.Path(here, "sequences.fa").read_text()))
        # Many sequences in splits of any size; some splits contain none.
        text = "".join(f">s{n * 7919 % 1000:04} of {n}\n" + ("ACGTN" * (n % 60) + "\n") * (n % 7) for n in range(1000))
        with open(self.path("in.fa"), "w") as f:
            f.write(text)
        for size in ("13", "1000", "64KiB"):
            self.job("fasta",
                     f"--input-format class:Fasta.Reader --output-format class:Fasta.Writer --mapper "
                     f"Fasta.ReverseComplement --input in.fa --output out -D split.size={size} --overwrite")
            self.assertEqual(self.output("out"), self.strands(text), size)
        with open(self.path("bad.fa"), "w") as f:
            f.write("ACGT\n")
        error = self.job("fasta", "--input-format class:Fasta.Reader --input bad.fa --output none",
                         code=6).stderr.decode()
        self.assertEqual(error, "yunti: Fasta.Reader: a sequence does not begin with '>': bad.fa, byte 0\n")

    def strands(self, text):
        """Returns the sequences sorted by name, each as its reverse complement."""
        lines = []
        for record in sorted(text[1:].split("\n>")):
            name, *letters = record.splitlines()
            strand = "".join(letters)[::-1].translate(str.maketrans("ACGT", "TGCA"))
            lines += [">" + name] + [strand[at:at + 60] for at in range(0, len(strand), 60)]
        return "".join(line + "\n" for line in lines).encode()

    def test_csv_and_json_lines(self):
        rows = [["id", "name", "note"]] + [[str(n * 7 % 50), f'n"{n}', "a,b\r\nc" * (n % 3)] for n in range(50)]
        with open(self.path("in.csv"), "w", newline="") as f:
            csv.writer(f).writerows(rows)
        names = "--output-key-columns id --output-value-columns name,note"
        self.yunti(f"run --input-format csv --output-format csv {names} --input in.csv --output csv")
        with io.StringIO(self.output("csv").decode(), newline="") as f:
            self.assertEqual(list(csv.reader(f)), [rows[0]] + sorted(rows[1:]))
        self.yunti(f"run --input-format csv --output-format json {names} --input in.csv --output json")
        objects = [json.loads(line) for line in self.output("json").splitlines()]
        self.assertEqual(objects, [dict(zip(rows[0], row)) for row in sorted(rows[1:])])
        words = "--output-key-columns word --output-value-columns count"
        self.yunti(f"run wordcount --output-format json {words} --input {BOOKS} --output words")
        counts = [json.loads(line) for line in self.output("words").splitlines()]
        lines = b"".join(b"%s\t%d\n" % (c["word"].encode(), c["count"]) for c in counts)
        self.assertEqual(lines, self.words())

    def test_a_bad_line_fails_the_job_or_is_counted(self):
        with open(self.path("bad.tsv"), "w") as f:
            f.write("a\t1\na\tone\na\t2\n")
        error = self.job("max_by_key", "--mapper MaxByKey.Parse --folder MaxByKey.Max --input bad.tsv --output out",
                         code=6).stderr.decode()
        self.assertEqual(error.count("\n"), 1, error)
        self.assertFalse(os.path.exists(self.path("out")))
        self.job("max_by_key",
                 "--mapper MaxByKey.Parse --folder MaxByKey.Max -D max_by_key.bad=skip --input bad.tsv --output out "
                 "--report r.json")
        self.assertEqual(self.output("out"), b"a\t2\n")
        with open(self.path("r.json")) as f:
            self.assertIn("BAD_LINES", f.read())


if __name__ == "__main__":
    unittest.main()
