"""Compares jobs of Hadoop Streaming 3.4.2 with `yunti streaming`, by the same command lines: part files byte for byte,
counters of programs, exit codes.

All of Hadoop's jobs run first, in one JVM (StreamingJobs.java). YUNTI names the binary. The test needs JDK 17 and
Maven, which fetches the jars (../jars.sh). `streaming_test.py --only NAME` runs one job.
"""

import bz2
import gzip
import io
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tarfile
import tempfile
import unittest
import urllib.parse
import zipfile

from scripts import SCRIPTS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../../.."))
YUNTI = os.path.abspath(os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti")))

IDENTITY = "org.apache.hadoop.mapred.lib.Identity"
KEY_VALUE = "-inputformat org.apache.hadoop.mapred.KeyValueTextInputFormat"
PARTITIONER = "-partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner"
N_LINES = "-inputformat org.apache.hadoop.mapred.lib.NLineInputFormat"
COMPARATOR = "-D mapreduce.job.output.key.comparator.class=" \
             "org.apache.hadoop.mapreduce.lib.partition.KeyFieldBasedComparator"

# Command lines without -output.
JOBS = {
    # Programs and shapes of jobs.
    "word_count": "-input text -mapper words.py -reducer sum.py -file words.py -file sum.py",
    "three_reduces": "-input text -mapper words.py -reducer sum.py -files words.py,sum.py -numReduceTasks 3",
    "reduces_by_setting": "-D mapred.reduce.tasks=2 -input text -mapper words.py -reducer sum.py -files words.py,sum.py",
    "program_by_path": "-input text -mapper ./words.py -reducer 'uniq -c' -file words.py",
    "interpreter": "-input text -mapper 'python3 words.py' -reducer 'python3 sum.py' -files words.py,sum.py",
    "awk_and_sed": "-input text -mapper 'sed s/the/THE/g' -reducer 'awk {print(NF,NR)}' ",
    "shell": "-input text -mapper \"sh -c 'tr a-z A-Z | grep -v DOG'\" -reducer cat",
    "map_only": "-input one -mapper 'sed s/the/THE/' -numReduceTasks 0",
    "map_only_files": "-input same -mapper 'sed s/x/y/' -numReduceTasks 0",
    "reducer_none": "-input one -mapper 'grep the' -reducer NONE",
    "reducer_with_no_reduces": "-input one -mapper cat -reducer 'wc -l' -numReduceTasks 0",
    "no_reducer": "-input distinct -mapper cat",
    "combiner": "-input text -mapper words.py -combiner sum.py -reducer sum.py -files words.py,sum.py -numReduceTasks 2",
    "shipped_not_executable": "-input one -mapper plain.sh -reducer NONE -file plain.sh",
    "shipped_under_a_name": "-input text -mapper lookup.py -reducer NONE -files lookup.py,table.txt#words.table",
    "several_inputs": "-input one,same -input 'dist*' -mapper cat -reducer 'wc -l'",
    "two_words_of_input": "-input one same -mapper cat -reducer 'wc -l'",
    # Shapes of records.
    "odd_lines": "-input edge -mapper cat -reducer cat",
    "odd_lines_map_only": "-input edge -mapper cat -numReduceTasks 0",
    "odd_lines_two_fields": "-D stream.num.map.output.key.fields=2 -input edge -mapper cat -reducer cat",
    "long_lines": "-input long -mapper cat -reducer cat",
    "long_lines_map_only": "-input long -mapper cat -reducer NONE",
    "a_line_each": f"-input one {N_LINES} -mapper cat -reducer NONE",
    "three_lines_each": f"-D mapreduce.input.lineinputformat.linespermap=3 -input nine {N_LINES} -mapper 'wc -l' "
                        "-reducer NONE",
    "lines_of_old_setting": f"-D mapred.line.input.format.linespermap=4 -input nine {N_LINES} -mapper 'wc -l' -reducer "
                            "NONE",
    "lines_without_keys": f"-D mapreduce.input.lineinputformat.linespermap=2 -D stream.map.input.ignoreKey=true "
                          f"-input edge,empty,same {N_LINES} -mapper cat -reducer NONE",
    "lines_reduced": f"-D mapreduce.input.lineinputformat.linespermap=50 -input text {N_LINES} -mapper words.py "
                     "-reducer sum.py -files words.py,sum.py -numReduceTasks 2",
    "lines_with_identity": f"-input nine {N_LINES} -mapper {IDENTITY}Mapper -reducer NONE",
    "no_lines": f"-input empty {N_LINES} -mapper cat -reducer NONE",
    "lazy_output": "-lazyOutput -input one -mapper cat -reducer cat -numReduceTasks 9",
    "lazy_map_only": "-lazyOutput -input one -mapper 'sed -n /second/p' -reducer NONE",
    "lazy_map_only_without_a_record": "-lazyOutput -input same -mapper 'sed -n /zz/p' -reducer NONE",
    "lazy_without_a_record": "-lazyOutput -input one -mapper 'sed -n /zz/p' -reducer cat -numReduceTasks 2",
    "lazy_compressed": "-lazyOutput -D mapreduce.output.fileoutputformat.compress=true -D mapreduce.output.fileoutputformat."
                       "compress.codec=org.apache.hadoop.io.compress.GzipCodec -input one -mapper cat -reducer cat "
                       "-numReduceTasks 9",
    "archives": "-archives tools.zip#tools,data.tgz#data,more.tar#more,old.jar#old -input one -mapper tools/bin/run.sh "
                "-reducer NONE",
    "archive_of_programs": "-archives data.tgz#data -input one -mapper data/bin/upper.sh -reducer NONE",
    "archive_that_is_a_file": "-archives table.txt#words.table -input text -mapper lookup.py -reducer NONE -files "
                              "lookup.py",
    "no_such_archive": "-archives none.zip -input one -mapper cat -reducer NONE",
    "binary": "-input binary -mapper cat -reducer cat -numReduceTasks 3",
    "no_end_of_line": "-input one -mapper \"printf 'a\\tb'\" -reducer \"sed -z s/b/c/\"",
    "header_first": "-input one -mapper upper_first.sh -reducer NONE -file upper_first.sh",
    "end_block": "-input empty_and_one -mapper 'awk END{print(NR)}' -reducer cat",
    "end_block_of_reducer": "-input one -mapper cat -reducer 'awk END{print(NR)}' -numReduceTasks 4",
    "head_mapper": "-input one -mapper 'head -n 1' -reducer NONE",
    "head_reducer": "-input one -mapper cat -reducer 'head -n 2'",
    "no_output": "-input one -mapper 'grep nothing-like-this' -D stream.non.zero.exit.is.failure=false -reducer cat",
    "empty_file": "-input empty -mapper cat -reducer cat",
    "gzip": "-input gz -mapper words.py -reducer sum.py -files words.py,sum.py",
    "bzip2": "-input bz2 -mapper cat -reducer NONE",
    "delimiter": "-D textinputformat.record.delimiter=; -input semicolons -mapper 'tr \\n .' -reducer NONE",
    "compressed_output": "-D mapreduce.output.fileoutputformat.compress=true -D mapreduce.output.fileoutputformat."
                         "compress.codec=org.apache.hadoop.io.compress.GzipCodec -input one -mapper cat -reducer cat",
    "output_separator": "-D mapreduce.output.textoutputformat.separator=| -input pairs -mapper cat -reducer cat",
    # The environment.
    "input_file": "-input same -mapper file.sh -reducer cat -file file.sh",
    "variables": "-D my.own-setting=x -input one -mapper variables.sh -reducer NONE -file variables.sh -cmdenv A=b",
    "counters": "-input same -mapper counters.py -reducer counters.py -file counters.py",
    "own_prefix_and_limit": "-D stream.stderr.reporter.prefix=mine: -D stream.jobconf.truncate.limit=4 -D my.long="
                            "abcdefgh -input one -mapper mine.sh -reducer NONE -file mine.sh",
    # Fields and separators.
    "map_output_fields": "-D stream.map.output.field.separator=. -D stream.num.map.output.key.fields=4 "
                         "-input dots -mapper cat -reducer cat -numReduceTasks 2",
    "map_output_separator_of_two": "-D stream.map.output.field.separator=:: -input dots -mapper 'sed s/[.]/::/' "
                                   "-reducer cat",
    "reduce_output_fields": "-D stream.reduce.output.field.separator=. -D stream.num.reduce.output.key.fields=2 "
                            "-input dots -mapper cat -reducer cat",
    "map_input_separator": f"-D stream.map.input.field.separator=_ -input pairs {KEY_VALUE} -mapper cat -reducer NONE",
    "reduce_input_separator": "-D stream.reduce.input.field.separator=_ -input pairs -mapper cat -reducer cat",
    "offsets": "-D stream.map.input.ignoreKey=false -input one -mapper cat -reducer NONE",
    "values_only": f"-D stream.map.input.ignoreKey=true -input pairs {KEY_VALUE} -mapper cat -reducer NONE",
    "key_value": f"-input edge {KEY_VALUE} -mapper cat -reducer NONE",
    "key_value_separator": "-D mapreduce.input.keyvaluelinerecordreader.key.value.separator=. -input dots "
                           f"{KEY_VALUE} -mapper cat -reducer cat",
    "identity_mapper": f"-input one -mapper {IDENTITY}Mapper -reducer NONE",
    "identity_sorted": f"-input one -mapper {IDENTITY}Mapper -reducer {IDENTITY}Reducer -numReduceTasks 2",
    "identity_of_pairs": f"-input pairs {KEY_VALUE} -mapper {IDENTITY}Mapper -reducer 'wc -l'",
    # Partitions and orders.
    "partition_field": f"-D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner.options=-k1,1 "
                       f"-input triples {PARTITIONER} -mapper cat -reducer cat -numReduceTasks 5",
    "partition_characters": f"-D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner.options="
                            f"-k2.2,2.3 -input triples {PARTITIONER} -mapper cat -reducer cat -numReduceTasks 3",
    "partition_old_setting": f"-D num.key.fields.for.partition=2 -D stream.num.map.output.key.fields=3 -input triples "
                             f"{PARTITIONER} -mapper cat -reducer cat -numReduceTasks 4",
    "partition_without_options": f"-input unicode {PARTITIONER} -mapper cat -reducer cat -numReduceTasks 4",
    "partition_dots": "-D stream.map.output.field.separator=. -D stream.num.map.output.key.fields=4 -D map.output.key."
                      "field.separator=. -D mapreduce.partition.keypartitioner.options=-k1,2 -input dots "
                      f"{PARTITIONER} -mapper cat -reducer cat -numReduceTasks 3",
    "order_numeric": f"{COMPARATOR} -D stream.num.map.output.key.fields=2 -D mapreduce.partition.keycomparator."
                     "options='-k2,2nr -k1,1' -input triples -mapper cat -reducer cat",
    "order_mixed": f"{COMPARATOR} -D stream.num.map.output.key.fields=2 -D mapreduce.partition.keycomparator."
                   "options='-k1,1r -k2n' -input triples -mapper cat -reducer cat -numReduceTasks 2",
    "order_numbers": f"{COMPARATOR} -D mapreduce.partition.keycomparator.options=-n -input numbers -mapper cat",
    "order_equal_numbers": f"{COMPARATOR} -D mapreduce.partition.keycomparator.options=-n -input equal_numbers "
                           "-mapper cat -reducer keys.py -file keys.py",
    "order_equal_numbers_down": f"{COMPARATOR} -D mapreduce.partition.keycomparator.options=-nr -input equal_numbers "
                                "-mapper cat -reducer keys.py -file keys.py",
    "order_numbers_with_units": f"{COMPARATOR} -D mapreduce.partition.keycomparator.options=-n -input units "
                                "-mapper cat -reducer cat",
    "order_without_options": f"{COMPARATOR} -input distinct -mapper cat -reducer cat",
    "secondary_sort": f"{COMPARATOR} -D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner."
                      "options=-k1,1 -D mapreduce.partition.keycomparator.options='-k1,1 -k2,2nr' -input triples "
                      f"{PARTITIONER} -mapper cat -reducer cat -numReduceTasks 3",
    "hash_of_binary": "-input unicode -mapper cat -reducer cat -numReduceTasks 7",
    # Aggregates.
    "aggregate": "-input text -mapper aggregate.py -reducer aggregate -file aggregate.py",
    "aggregate_in_parts": "-input text -mapper aggregate.py -reducer aggregate -file aggregate.py -numReduceTasks 3",
    "aggregate_combined": "-input text -mapper aggregate.py -file aggregate.py -reducer "
                          "org.apache.hadoop.mapred.lib.aggregate.ValueAggregatorReducer -combiner "
                          "org.apache.hadoop.mapred.lib.aggregate.ValueAggregatorCombiner",
    # Raw and typed bytes.
    "raw": "-io rawbytes -input text -mapper raw_words.py -reducer raw_sum.py -files raw_words.py,raw_sum.py",
    "raw_parts": "-io rawbytes -input text -mapper raw_words.py -reducer raw_sum.py -files raw_words.py,raw_sum.py "
                 "-numReduceTasks 3",
    "raw_map_only": "-io rawbytes -input one -mapper raw_all.py -reducer NONE -file raw_all.py",
    "raw_unreduced": "-io rawbytes -input one -mapper raw_all.py -file raw_all.py",
    "raw_input": "-D stream.map.input=rawbytes -input text -mapper raw_show.py -reducer NONE -file raw_show.py",
    "raw_long_input": "-D stream.map.input=rawbytes -input long -mapper raw_show.py -reducer NONE -file raw_show.py",
    "raw_reduce_input": "-D stream.reduce.input=rawbytes -input text -mapper words.py -reducer raw_show.py "
                        "-files words.py,raw_show.py",
    "raw_to_text": "-D stream.map.input=rawbytes -D stream.map.output=rawbytes -input text -mapper raw_words.py "
                   "-reducer 'od -An -tx1' -file raw_words.py",
    "raw_to_typed": "-D stream.map.input=rawbytes -D stream.map.output=rawbytes -D stream.reduce.input=typedbytes "
                    "-input one -mapper raw_words.py -reducer typed_show.py -files raw_words.py,typed_show.py",
    "typed": "-io typedbytes -input text -mapper typed_words.py -reducer typed_sum.py "
             "-files typed_words.py,typed_sum.py -numReduceTasks 2",
    "typed_map_only": "-io typedbytes -input one -mapper typed_all.py -reducer NONE -file typed_all.py",
    "typed_unreduced": "-io typedbytes -input one -mapper typed_all.py -file typed_all.py",
    "typed_input": f"-D stream.map.input=typedbytes -input binary -mapper typed_show.py -reducer NONE "
                   "-file typed_show.py",
    "typed_pairs": f"-D stream.map.input=typedbytes -input pairs {KEY_VALUE} -mapper typed_show.py -reducer NONE "
                   "-file typed_show.py",
    "typed_to_raw": "-D stream.map.input=typedbytes -D stream.map.output=typedbytes -D stream.reduce.input=rawbytes "
                    "-input one -mapper typed_words.py -reducer raw_show.py -files typed_words.py,raw_show.py",
    "typed_from_text": "-D stream.reduce.input=typedbytes -input one -mapper words.py -reducer typed_show.py "
                       "-files words.py,typed_show.py",
    # Failures.
    "mapper_fails": "-input one -mapper fails.sh -reducer cat -file fails.sh",
    "reducer_fails": "-input one -mapper cat -reducer fails.sh -file fails.sh",
    "failure_allowed": "-D stream.non.zero.exit.is.failure=false -input one -mapper fails.sh -reducer fails.sh "
                       "-file fails.sh",
    "killed": "-input one -mapper killed.sh -reducer cat -file killed.sh",
    "no_such_program": "-input one -mapper no-such-program-here -reducer cat",
    "no_such_input": "-input no-such-input -mapper cat -reducer cat",
    "no_such_file": "-input one -mapper cat -reducer cat -file no-such-file",
    "no_such_class": "-input one -mapper cat -reducer cat -inputformat org.example.None",
    "raw_cut_short": "-io rawbytes -input one -mapper \"printf '\\0\\0\\0\\5ab'\" -reducer NONE",
    "aggregate_of_no_number": "-input one -mapper 'sed s/^/LongValueSum:a\\t/' -reducer aggregate",
}

# Jobs whose parts are compared as a set: Hadoop numbers its map tasks by size, the largest file first.
ANY_ORDER = {"end_block", "odd_lines_map_only", "key_value", "typed_input", "raw_input", "shipped_under_a_name",
             "raw_long_input", "long_lines_map_only", "map_only_files", "a_line_each", "three_lines_each",
             "lines_of_old_setting", "lines_without_keys", "lines_with_identity",
             "archive_that_is_a_file"}
# Jobs with several values of a key, whose order Hadoop leaves open.
TIES = {"input_file", "key_value_separator", "map_output_separator_of_two", "odd_lines", "odd_lines_two_fields"}


def run(words, **more):
    done = subprocess.run(words, capture_output=True, timeout=600, **more)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr.decode(errors='replace')[-3000:]}")
    return done.stdout.decode()


def make_inputs(folder):
    numbers = random.Random(11)
    words = ["the", "end", "dog", "cat", "a"] + ["".join(numbers.choice("abcxyz") for _ in range(n)) for n in range(1, 30)]

    def write(name, data):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def lines(n, words_a_line):
        return "".join(" ".join(numbers.choice(words) for _ in range(numbers.randrange(words_a_line))) + "\n"
                       for _ in range(n))

    for part in range(3):
        write(f"text/{part}.txt", lines(200, 12))
    write("text/_hidden", "hidden hidden\n")
    write("one/one.txt", "the first line\nthe second line\nthird\ta tab\n")
    for name in "abc":
        write(f"same/{name}.txt", f"line x of {name}\nlast of {name}\n")
    write("distinct/in", "".join(f"{numbers.randrange(10**6)}\t{i}\n" for i in range(500)))
    write("edge/in", b"\n\t\n\ta\na\t\nb\r\nc\rd\te\tf\t\n\t\tg\n   \nno end")
    write("long/in", b"x" * (1 << 20) + b"\n" + b"key\t" + b"y" * (1 << 20) + b"\n" + b"z" * 70000)
    write("binary/in", b"\xff\xfe\t\x00\n\x00\x01\t\x80\xc3\n\xc3\xa9\tok\n" + bytes(range(32, 256)) + b"\n")
    write("empty/in", b"")
    write("empty_and_one/a", b"")
    write("empty_and_one/b", "1\n2\n3\n")
    write("gz/in.gz", gzip.compress(lines(300, 9).encode()))
    write("bz2/in.bz2", bz2.compress(lines(300, 9).encode()))
    write("semicolons/in", "a;b\nc;;d\n")
    write("pairs/in", "k1\tv1\nk2\tv2 v2\nk3\n\tv4\nk5\tv\tw\n")
    write("dots/in", "".join(".".join(str(numbers.randrange(30)) for _ in range(6)) + "\n" for _ in range(200)))
    write("triples/in", "".join(f"{numbers.choice(words)}\t{i * 7919 % 1000}\tv{i}\n" for i in range(300)))
    write("numbers/in", "".join(f"{n}\t{i}\n" for i, n in enumerate(
        ["10", "9", "-1", "-10", "0.5", "-0.25", "100000000000000000000", "3.14", "3.2", "1"])))
    write("unicode/in", "".join(f"{chr(numbers.randrange(0x20, 0x2fff))}{chr(0x1f600 + i)}{i}\t{i}\n" for i in range(200)))
    write("nine/a", "".join(f"line {n}\r\n" if n % 4 == 0 else f"line {n}\n" for n in range(9)))
    write("nine/b", "last\n\n\nno end")
    write("equal_numbers/in", "".join(f"{n}\t{i}\n" for i, n in enumerate(
        ["7", "07", "007", "7", "10", "010", "9", "09", "0", "00", "-7", "-07", "-8", "08", "6", "-06"])))
    write("units/in", "".join(f"{n}\t{i}\n" for i, n in enumerate(
        ["7x", "7", "07y", "7 apples", "6z", "70", "abc", "b", "0", "-7x", "-7y", "-7", "-8", "12:30", "12.5s"])))
    make_archives(folder)
    for name, text in SCRIPTS.items():
        write(name, text)
        if name not in ("plain.sh", "table.txt"):
            (folder / name).chmod(0o755)


def make_archives(folder):
    """Makes an archive of each kind that Hadoop unpacks.

    The jobs name their directories: Hadoop's local runner makes links in the folder that has the archives.
    """
    show = "#!/bin/sh\ncat; cat data/data/words.txt more/more.txt old/META-INF/old.txt; ls tools data | sort\n"
    files = {"bin/run.sh": show, "bin/upper.sh": "#!/bin/sh\ntr a-z A-Z\n", "data/words.txt": "words\n" * 3,
             "more.txt": "more\n", "META-INF/old.txt": "old\n"}

    def tar(name, mode, names):
        with tarfile.open(folder / name, mode) as archive:
            for each in names:
                info = tarfile.TarInfo(each)
                info.size, info.mode = len(files[each]), 0o755 if each.startswith("bin/") else 0o644
                archive.addfile(info, io.BytesIO(files[each].encode()))

    def zipped(name, names):
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in names:
                info = zipfile.ZipInfo(each)
                info.external_attr, info.compress_type = 0o100755 << 16, zipfile.ZIP_DEFLATED
                archive.writestr(info, files[each])

    zipped("tools.zip", ["bin/run.sh", "more.txt"])
    zipped("old.jar", ["META-INF/old.txt"])
    tar("data.tgz", "w:gz", ["data/words.txt", "bin/upper.sh"])
    tar("more.tar", "w", ["more.txt"])


class Streaming(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="yunti-streaming-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        make_inputs(cls.folder)
        cls.exits, cls.counters = {}, {}
        jobs = "".join(" ".join([name] + [urllib.parse.quote_plus(word) for word in cls.words(name, "theirs")]) + "\n"
                       for name in JOBS)
        (cls.folder / "jobs").write_text(jobs)
        jars = run([os.path.join(HERE, "../jars.sh")]).strip()
        run(["javac", "-nowarn", "-cp", f"{jars}/*", "-d", "classes", os.path.join(HERE, "StreamingJobs.java")],
            cwd=cls.folder)
        run(["java", "-Xmx1g", f"-Dstreaming.tmp={cls.folder}/tmp", "-cp", f"classes:{jars}/*", "StreamingJobs", "jobs",
             "results"], cwd=cls.folder, env=dict(os.environ, LC_ALL="C.UTF-8"))
        for line in (cls.folder / "results").read_text().splitlines():
            kind, name, *rest = line.split("\t")
            if kind == "exit":
                cls.exits[name] = int(rest[0])
            else:
                cls.counters.setdefault(name, {})[rest[0], rest[1]] = int(rest[2])

    @staticmethod
    def words(name, output):
        """Returns the words of a command line. Hadoop wants its generic options first."""
        words, generic = shlex.split(JOBS[name]), []
        for option in [word for word in words if word in ("-D", "-files", "-archives")]:
            at = words.index(option)
            generic += words[at:at + 2]
            del words[at:at + 2]
        return generic + words + ["-output", f"{output}-{name}"]

    def parts(self, name):
        """Returns the part files of an output with their contents, decompressed."""
        out = {}
        for path in sorted((self.folder / name).glob("part-*")):
            out[path.name] = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return out

    def compare(self, name):
        temporary = self.folder / f"tmp-of-{name}"
        temporary.mkdir()
        done = subprocess.run([YUNTI, "streaming", *self.words(name, "ours")], cwd=self.folder, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=120, env=dict(os.environ, TMPDIR=str(temporary)))
        self.assertEqual(list(temporary.iterdir()), [])
        errors = done.stderr.decode(errors="replace")
        theirs = self.exits[name]
        self.assertEqual(done.returncode == 0, theirs == 0, f"Hadoop ended with {theirs}: {errors}")
        if theirs != 0:
            self.assertFalse((self.folder / f"ours-{name}").exists())
            self.assertTrue(errors.splitlines()[-1].startswith("yunti: "), errors)
            return
        ours, theirs = self.parts(f"ours-{name}"), self.parts(f"theirs-{name}")
        if name in ANY_ORDER:
            self.assertEqual(list(ours), list(theirs))
            self.assertEqual(sorted(ours.values()), sorted(theirs.values()))
        elif name in TIES:
            keys_and_lines = [{part: ([line.split(b"\t")[0] for line in data.split(b"\n")], sorted(data.split(b"\n")))
                               for part, data in parts.items()} for parts in (ours, theirs)]
            self.assertEqual(*keys_and_lines)
        else:
            self.assertEqual(ours, theirs)
        report = json.loads((self.folder / f"ours-{name}/_yunti/report.json").read_text())
        for group in ("Mine", "Other"):
            expected = {key[1]: n for key, n in self.counters.get(name, {}).items() if key[0] == group}
            self.assertEqual(report["counters"].get(group, {}), expected)

    def test_an_output_that_exists_is_kept(self):
        words = shlex.split("streaming -input one -mapper cat -reducer cat -output text")
        done = subprocess.run([YUNTI, *words], cwd=self.folder, capture_output=True)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (8, 1), done.stderr)
        self.assertTrue((self.folder / "text/0.txt").exists())


def job_test(name):
    return lambda self: self.compare(name)


if "--only" in sys.argv:
    at = sys.argv.index("--only")
    only = sys.argv[at + 1]
    JOBS = {name: line for name, line in JOBS.items() if only in name}
    del sys.argv[at:at + 2]
for job in JOBS:
    setattr(Streaming, "test_" + job, job_test(job))

if __name__ == "__main__":
    unittest.main()
