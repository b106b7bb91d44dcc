#!/usr/bin/env python3
"""Runs jobs over files of columns on a real cluster and on one machine, and compares the outputs.

    python3 hadoop/tests/columns_test.py

It needs `make hadoop formats`. YUNTI_SHARED_CLUSTER names the cluster; without it, this test starts its own
(hadoop/cluster) and stops it. Files of these tests in HDFS lie in /columns.
"""

import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import live_cluster  # noqa: E402
from live_cluster import YUNTI, counter  # noqa: E402

# Small splits give several map tasks: of a file of 1 MB, and of each of 2.5 MB.
QUICK = ["-Dmapreduce.input.fileinputformat.split.maxsize=400000"]
HALVES = ["-Dmapreduce.input.fileinputformat.split.maxsize=1500000"]
ROWS = 40_000
VALUES = "city,amount,note"


def setUpModule():
    global cluster
    cluster = live_cluster.shared("cluster-columns")
    unittest.addModuleCleanup(cluster.down)
    cluster.ok("hadoop", "fs", "-mkdir", "-p", "/columns")


class Columns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="yunti-columns-")
        cls.addClassCleanup(cls.folder.cleanup)
        draw = random.Random(5)
        cities = ["paris", "rome", "oslo", "云梯", "new york"]
        with open(cls.path("sales.csv"), "w", encoding="utf-8") as file:
            file.write(f"user,{VALUES}\n")
            for i in range(ROWS):
                user, amount = f"u{draw.randint(1, 700)}", f"{draw.randint(1, 90_000) / 4:.2f}" if i % 11 else ""
                file.write(f"{user},{draw.choice(cities)},{amount},{draw.getrandbits(160):040x}\n")
        # Small units give several in each split. The file of ORC has no extension, as Hive's.
        cls.sales = {name: cls.written(name, *settings) for name, settings in {
            "parquet": ["-D", "parquet.row.group.bytes=150000", "-D", "parquet.types=amount=Float64"],
            "orc": ["-D", "orc.stripe.bytes=150000", "-D", "orc.types=amount=Float64"],
            "avro": ["-D", "avro.block.bytes=20000", "-D", "avro.compression=snappy"],
            "arrow": ["-D", "arrow.compression=none"],
            "arrow-stream": [],
            "sequence": ["-D", "sequence.compression=none"],
        }.items()}
        os.rename(cls.sales["orc"], cls.path("orc-file"))
        cls.sales["orc"] = cls.path("orc-file")
        cluster.ok("hadoop", "fs", "-put", "-f", *cls.sales.values(), "/columns/")

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def there(cls, name):
        return "/columns/" + os.path.basename(cls.sales[name])

    @classmethod
    def written(cls, name, *settings):
        """Writes the table in a format. Returns the path of its file."""
        columns = ["--output-key-columns", "user", "--output-value-columns", VALUES]
        if name == "sequence":
            # Its two columns: the city, and the rest.
            columns = []
        cls.here("run", "identity", "sales.csv", "--input-format", "csv", "--key-columns", "user", "--value-columns", VALUES,
                 "-o", name, "--output-format", name, *columns, *settings)
        part = next(file for file in os.listdir(cls.path(name)) if file.startswith("part-"))
        path = cls.path(name + "-" + part.replace("part-m-00000", "sales"))
        os.rename(os.path.join(cls.path(name), part), path)
        return path

    @classmethod
    def here(cls, *arguments):
        done = subprocess.run([YUNTI, *arguments], cwd=cls.folder.name, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done.stdout

    def fetched(self, name):
        """Returns the files of an output on the cluster, by their names; not its report and marks."""
        cluster.ok("hadoop", "fs", "-get", "/columns/" + name, self.path(name + "-there"))
        return self.files(name + "-there")

    def files(self, name):
        found = {}
        for file in sorted(os.listdir(self.path(name))):
            if not file.startswith(("_", ".")):
                with open(os.path.join(self.path(name), file), "rb") as opened:
                    found[file] = opened.read()
        return found

    def same_files(self, name):
        expect = self.files(name)
        self.assertTrue(any(expect.values()))
        self.assertEqual(self.fetched(name), expect)

    def test_distinct_reads_one_column_of_the_row_groups_in_its_splits(self):
        arguments = ["run", "distinct", "--key-columns", "user", "--reduces", "2"]
        self.here(*arguments, self.sales["parquet"], "-o", "users")
        # A glob, and no format: the client recognises it.
        printed = cluster.ok(YUNTI, *arguments, "/columns/*.parquet", "-o", "/columns/users", "--on", "yarn", *QUICK)
        self.same_files("users")
        self.assertGreater(counter(printed, "Launched map tasks"), 2)
        self.assertEqual(counter(printed, "native"), counter(printed, "Launched map tasks") + 2)
        self.assertEqual(counter(printed, "ROWS"), ROWS)
        size = os.path.getsize(self.sales["parquet"])
        self.assertGreater(size, 1_000_000)
        self.assertLess(counter(printed, "Bytes Read"), size / 4)
        self.assertLess(counter(printed, "INPUT_BYTES"), size / 10)

    def test_aggregate_writes_the_same_parquet_file(self):
        arguments = ["run", "aggregate", "--by", "city", "--agg", "sum(amount) as total, count, count(distinct user)",
                     "--where", "amount > 100", "--output-format", "parquet", "-D", "parquet.compression=snappy"]
        self.here(*arguments, self.sales["orc"], "-o", "totals")
        printed = cluster.ok(YUNTI, *arguments, self.there("orc"), "-o", "/columns/totals", "--on", "yarn", *QUICK)
        self.same_files("totals")
        self.assertEqual(list(self.files("totals")), ["part-r-00000.parquet"])
        self.assertGreater(counter(printed, "Launched map tasks"), 1)
        self.assertEqual(counter(printed, "ROWS"), ROWS)

    def test_sources_of_every_format(self):
        """Formats and splits of each source; the library travels with the job."""
        def job(name, places, output):
            sources = "".join(f'[[source]]\ninput = ["{place}"]\nkey-columns = ["user"]\nvalue-columns = ["city"]\n'
                              'mapper = "Yunti.WordCountMapper"\n' for place in places)
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write('format = "yunti-job/1"\nfolder = "Yunti.SumFolder"\n' + sources)
            return ["run", "-f", self.path(name), "-o", output]

        formats = [name for name in self.sales if name != "sequence"]
        self.here(*job("here.toml", [self.sales[name] for name in formats], "cities"))
        printed = cluster.ok(YUNTI, *job("there.toml", map(self.there, formats), "/columns/cities"), "--on", "yarn", *HALVES)
        self.same_files("cities")
        self.assertEqual(counter(printed, "ROWS"), ROWS * len(formats))
        # Those of Parquet and ORC are not cut here.
        self.assertGreaterEqual(counter(printed, "Launched map tasks"), 8)

    def test_a_sequence_file_and_an_attempt_that_fails(self):
        """The file of a failed attempt is dropped; the other one has every record."""
        program = self.path("once.sh")
        with open(program, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\ncase $mapreduce_task_attempt_id in\n*_m_*_0) head -n 20; exit 3;;\nesac\ncut -f 1\n')
        os.chmod(program, 0o755)
        arguments = ["run", "--mapper", "./once.sh", "--output-format", "parquet", "--output-key-columns", "user"]
        # The program is a file in the working directory.
        printed = cluster.ok("sh", "-c", 'cd "$0" && exec "$@"', self.folder.name, YUNTI, *arguments, "--mode", "none",
                             "-i", self.there("sequence"), "-o", "/columns/again", "--on", "yarn", *HALVES)
        maps = counter(printed, "Launched map tasks")
        found = self.fetched("again")
        self.assertEqual(list(found), [f"part-m-{i:05}.parquet" for i in range(maps // 2)])
        self.assertEqual(counter(printed, "Failed map tasks"), maps // 2)
        rows = self.here("convert", "again-there", "-", "--output-format", "csv-no-header", "--quiet").splitlines()
        with open(self.path("sales.csv"), encoding="utf-8") as file:
            self.assertEqual(sorted(rows), sorted(line.partition(",")[0] for line in file.readlines()[1:]))

    def test_wrong_jobs_are_refused_in_one_line_before_they_are_submitted(self):
        parquet = self.there("parquet")
        for arguments, env, code, what in [
            (["select", parquet, "--columns", "user, price"], {}, 2, "there is no column price: the input has user, city"),
            (["filter", parquet, "--where", "city + 1 > 2"], {}, 2, "arithmetic needs numbers"),
            (["distinct", "/columns/nothing.parquet", "--key-columns", "user"], {}, 3, "cannot read the input"),
            (["distinct", parquet, "--key-columns", "user"], {"YUNTI_FORMATS": "/no/such.so"}, 6, "/no/such.so"),
        ]:
            done = cluster.execute(YUNTI, "run", *arguments, "-o", "/columns/wrong", "--on", "yarn", env=env)
            errors = [line for line in done.stderr.splitlines() if line.startswith("yunti: ")]
            self.assertEqual((done.returncode, len(errors)), (code, 1), done.stderr)
            self.assertIn(what, errors[0])
            self.assertIsNone(re.search(r"Running job", done.stderr))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
