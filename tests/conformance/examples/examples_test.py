"""Compares Hadoop's examples with Yunti's on the same input: TeraValidate, secondary sort, join, grep, mean and median.

All of Hadoop's jobs run first, in one JVM (Examples.java). YUNTI names the binary, and YUNTI_EXAMPLES the folder of
lib*.so. The test needs JDK 17 and Maven, which fetches the jars (../jars.sh).
"""

import glob
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../../.."))
YUNTI = os.path.abspath(os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti")))
LIBRARIES = os.path.abspath(os.environ.get("YUNTI_EXAMPLES", os.path.join(ROOT, "build/examples/lib")))
RECORDS = 20000


def run(words, **more):
    done = subprocess.run(words, capture_output=True, timeout=600, **more)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr.decode(errors='replace')[-3000:]}")
    return done.stdout.decode()


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="yunti-conformance-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        numbers = random.Random(7)
        cls.make_inputs(numbers)
        cls.yunti(f"generate tera --records {RECORDS} --output tera --quiet")
        cls.yunti("run terasort tera --reduces 3 --output ours-sorted --quiet")
        cls.hadoop(
            "terasort.TeraSort", "tera", "hadoop-sorted",
            "--", "terasort.TeraValidate", "ours-sorted", "ours-valid",
            "--", "Grep", "text", "hadoop-grep", "[a-f]+x?",
            "--", "WordMean", "text", "hadoop-mean",
            "--", "WordMedian", "text", "hadoop-median",
            "--", "Join", *cls.join_of("inner"),
            "--", "Join", *cls.join_of("outer"),
            "--", "SecondarySort", "pairs", "hadoop-pairs")

    @classmethod
    def make_inputs(cls, numbers):
        words = ["".join(numbers.choice("abcdefxyz") for _ in range(numbers.randrange(1, 12))) for _ in range(300)]
        for name in ("text", "pairs", "left", "right"):
            (cls.folder / name).mkdir()
        for part in range(3):
            lines = (" ".join(numbers.choice(words) for _ in range(numbers.randrange(0, 20))) + "\n"
                     for _ in range(500))
            (cls.folder / f"text/{part}.txt").write_text("".join(lines))
        pairs = (f"{numbers.randrange(-40, 40)} {numbers.randrange(-2**31, 2**31)}\n" for _ in range(5000))
        (cls.folder / "pairs/in").write_text("".join(pairs))
        # A merge join needs sorted inputs. Keys have few values, and some keys are on one side only.
        for side, (first, last) in (("left", (0, 700)), ("right", (300, 1000))):
            keys = sorted(f"k{numbers.randrange(first, last):04}" for _ in range(600))
            (cls.folder / f"{side}/in").write_text("".join(f"{key}\t{side[0]}{i}\n" for i, key in enumerate(keys)))

    @staticmethod
    def join_of(kind):
        package = "org.apache.hadoop.mapreduce.lib."
        return ["-inFormat", package + "input.KeyValueTextInputFormat", "-outFormat",
                package + "output.TextOutputFormat",
                "-outKey", "org.apache.hadoop.io.Text", "-joinOp", kind, "left", "right", f"hadoop-{kind}"]

    @classmethod
    def hadoop(cls, *jobs):
        jars = run([os.path.join(HERE, "../jars.sh")]).strip()
        run(["javac", "-nowarn", "-cp", f"{jars}/*", "-d", "classes", os.path.join(HERE, "Examples.java")],
            cwd=cls.folder)
        run(["java", "-Xmx1g", f"-Dexamples.tmp={cls.folder}/tmp", "-cp", f"classes:{jars}/*", "Examples", *jobs],
            cwd=cls.folder)

    @classmethod
    def yunti(cls, words):
        return run([YUNTI] + words.split(), cwd=cls.folder, stdin=subprocess.DEVNULL)

    def output(self, name):
        """Returns the content of all parts in order."""
        parts = sorted(glob.glob(str(self.folder / name / "part-*")))
        self.assertTrue(parts, name)
        return b"".join(pathlib.Path(part).read_bytes() for part in parts).decode("latin-1")

    def test_tera_validators_accept_each_others_output(self):
        # TeraValidate writes only the checksum if all records are in order.
        lines = self.output("ours-valid").splitlines()
        self.assertEqual([line.split("\t")[0] for line in lines], ["checksum"], lines)
        report = self.yunti("validate tera hadoop-sorted --against tera")
        self.assertIn(lines[0].split("\t")[1], report)
        self.assertEqual(self.output("ours-sorted"), self.output("hadoop-sorted"))

    def test_secondary_sort(self):
        classes = "--mapper SecondarySort.Pairs --key-order SecondarySort.ByLeft --reducer SecondarySort.Print"
        self.yunti(f"run --lib {LIBRARIES}/libsecondary_sort.so {classes} --input pairs --output ours-pairs --quiet")
        self.assertEqual(self.output("ours-pairs"), self.output("hadoop-pairs"))

    def test_grep_sorts_matches_by_count(self):
        (self.folder / "grep.toml").write_text(
            'format = "yunti-job/1"\napplication = "count-matches"\ninput = "text"\noutput = "ours-grep"\n'
            '[settings]\n"grep.pattern" = "[a-f]+x?"\n'
            '[[then]]\nname = "by-count"\nmapper = "Yunti.InverseMapper"\ndescending = true\n')
        self.yunti("run -f grep.toml --quiet")
        ours, theirs = (self.output(name).splitlines() for name in ("ours-grep", "hadoop-grep"))
        counts = [int(line.split("\t")[0]) for line in ours]
        self.assertEqual(counts, [int(line.split("\t")[0]) for line in theirs])
        self.assertEqual(counts, sorted(counts, reverse=True))
        # Hadoop's sort leaves the order of equal counts undefined.
        self.assertEqual(sorted(ours), sorted(theirs))

    def test_word_mean_and_median(self):
        self.yunti("run word-lengths text --output ours-lengths --quiet")
        self.assertEqual(self.output("ours-lengths"), self.output("hadoop-median"))
        lengths = [tuple(map(int, line.split("\t"))) for line in self.output("ours-lengths").splitlines()]
        theirs = dict(line.split("\t") for line in self.output("hadoop-mean").splitlines())
        self.assertEqual((sum(n for _, n in lengths), sum(length * n for length, n in lengths)),
                         (int(theirs["count"]), int(theirs["length"])))

    def test_joins(self):
        for kind, ours in (("inner", "inner"), ("outer", "full")):
            self.yunti(f"run join --input left --input right --output ours-{kind} -D join.left=left -D "
                       f"join.kind={ours} --quiet")
            # key TAB [left,right]; a missing partner is empty.
            theirs = self.output(f"hadoop-{kind}").replace("[", "").replace("]", "").replace(",", "\t")
            theirs = ["\t".join(filter(None, line.split("\t"))) for line in theirs.splitlines()]
            self.assertEqual(sorted(self.output(f"ours-{kind}").splitlines()), sorted(theirs), kind)
            self.assertGreater(len(theirs), 200)


if __name__ == "__main__":
    unittest.main()
