#!/usr/bin/env python3
"""Runs unchanged job files on a real cluster and on one machine, and compares the outputs.

The job files have several sources, named outputs, chains and key orders.

    python3 hadoop/tests/job_files_test.py

It needs `make hadoop` and the libraries of the examples (YUNTI_EXAMPLES). YUNTI_SHARED_CLUSTER names the cluster;
without it, this test starts its own (hadoop/cluster) and stops it. Files of these tests in HDFS lie below the user's
folder.
"""

import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import live_cluster  # noqa: E402
from live_cluster import ROOT, YUNTI, counter, wait  # noqa: E402

EXAMPLES = os.environ.get("YUNTI_EXAMPLES", os.path.join(ROOT, "build/examples/lib"))
# Small splits give several map tasks.
SPLIT = "split-size = 60000\n"


def library(folder, name):
    """Compiles a class library of the tests and returns its path."""
    path = os.path.join(folder, f"lib{name}.so")
    subprocess.run(["c++", "-O1", "-std=c++17", "-fPIC", "-shared", "-I", os.path.join(ROOT, "api/include"),
                    os.path.join(ROOT, f"tests/class_libraries/{name}.cpp"), "-o", path], check=True)
    return path


def setUpModule():
    global cluster
    cluster = live_cluster.shared("cluster-job-files")
    unittest.addModuleCleanup(cluster.down)
    cluster.ok("hadoop", "fs", "-mkdir", "-p", ".")


class JobFiles(unittest.TestCase):
    """Base of the tests. Relative names refer to a local directory and to the user's directory on the cluster."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="yunti-job-files-")
        cls.addClassCleanup(cls.folder.cleanup)
        draw = random.Random(11)
        words = [f"w{draw.randint(0, 700)}" for _ in range(25_000)]
        cls.put("text/a.txt", "".join(" ".join(words[i:i + 6]) + "\n" for i in range(0, 15_000, 6)))
        cls.put("text/b.txt", "".join(" ".join(words[i:i + 9]) + "\n" for i in range(15_000, 25_000, 9)))
        cls.put("pairs.tsv", "".join(f"k{i * 31 % 900}\tt{i % 40} v{i}\n" for i in range(6000)))
        cls.put("cities.csv", "id,name,people\n" + "".join(f'k{i * 7 % 900},"c, {i}",{i}\n' for i in range(2000)))
        cluster.ok("hadoop", "fs", "-put", "-f", *(cls.path(name) for name in ("text", "pairs.tsv", "cities.csv")), ".")

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def put(cls, name, text):
        os.makedirs(os.path.dirname(cls.path(name)), exist_ok=True)
        with open(cls.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def job(self, name, body):
        self.put(name + ".toml", 'format = "yunti-job/1"\n' + body)
        return [YUNTI, "run", "-f", self.path(name + ".toml")]

    def both(self, name, body, *arguments):
        """Runs a job locally and on the cluster. Returns both output directories and the output of the client."""
        job = self.job(name, body)
        here, there = self.path(name + "-here"), self.path(name + "-there")
        done = subprocess.run([*job, *arguments, "--output", here], cwd=self.folder.name, capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = cluster.ok(*job, *arguments, "--on", "yarn", "--output", name)
        cluster.ok("hadoop", "fs", "-get", name, there)
        return here, there, printed

    def files(self, directory):
        found = {}
        for name in sorted(os.listdir(directory)):
            if not name.startswith(("_", ".")):
                with open(os.path.join(directory, name), encoding="utf-8") as file:
                    found[name] = file.read()
        return found

    def same_files(self, here, there):
        expect = self.files(here)
        self.assertTrue(any(expect.values()))
        self.assertEqual(self.files(there), expect)

    def lines(self, directory):
        """Returns the sorted lines of each output. Numbers of maps differ, because the cluster cuts other splits."""
        found = collections.defaultdict(list)
        for name, text in self.files(directory).items():
            found[name.partition("-")[0]] += text.splitlines()
        return {name: sorted(lines) for name, lines in found.items()}

    def same_lines(self, here, there):
        expect = self.lines(here)
        self.assertTrue(any(expect.values()))
        self.assertEqual(self.lines(there), expect)

    def refused(self, arguments, code, what):
        done = cluster.execute(*arguments, "--on", "yarn")
        errors = [line for line in done.stderr.splitlines() if line.startswith("yunti: ")]
        self.assertEqual((done.returncode, len(errors)), (code, 1), done.stderr)
        self.assertIn(what, errors[0])


class Sources(JobFiles):
    WORDS = """
        [[source]]
        input = "text"
        mapper = "Yunti.WordCountMapper"
        [[source]]
        input = ["pairs.tsv", "pairs.tsv"]
        input-format = "kv"
        mapper = "Yunti.MatchMapper"
        [settings]
        "grep.pattern" = "t[0-9]+"
        """
    RECORDS = """
        [[source]]
        input = "pairs.tsv"
        input-format = "kv"
        [[source]]
        input = "cities.csv"
        input-format = "csv"
        key-columns = "id"
        value-columns = ["name", "people"]
        """

    def test_each_source_uses_its_own_mapper(self):
        here, there, printed = self.both("words", SPLIT + 'reduces = 3\nfolder = "Yunti.SumFolder"\n' + self.WORDS)
        self.same_files(here, there)
        self.assertGreater(counter(printed, "Launched map tasks"), 3)
        # A file that is named twice is read twice.
        self.assertEqual(counter(printed, "Map input records"), 2500 + 1112 + 12_000)

    def test_total_order_samples_all_sources(self):
        here, there, _ = self.both("ranges",
                                   SPLIT + 'reduces = 3\npartitioner = "total-order"\nfolder = "Yunti.SumFolder"\n'
                                   + self.WORDS)
        parts = [self.files(there)[f"part-r-0000{i}"] for i in range(3)]
        self.assertTrue(all(parts), "all partitions have keys")
        # The samples come from other splits, so the bounds differ.
        self.assertEqual("".join(parts), "".join(self.files(here).values()))

    def test_map_only_jobs_read_the_format_of_each_source(self):
        self.same_lines(*self.both("maps", SPLIT + 'mode = "none"\n' + self.RECORDS)[:2])

    def test_wrong_jobs_fail_with_one_line(self):
        job = self.job("wrong", self.RECORDS)
        self.refused([*job, "--output", "x", "-D",
                      "yunti.hadoop.input.format=org.apache.hadoop.mapreduce.lib.input.TextInputFormat"], 2,
                     "a job of several sources has a format for each")
        job = self.job("wrong", self.RECORDS.replace("cities.csv", "no-cities.csv"))
        self.refused([*job, "--output", "x"], 3, "cannot read the input: no-cities.csv")
        job = self.job("wrong", self.RECORDS.replace("cities.csv", "-"))
        self.refused([*job, "--output", "x"], 2, "a cluster cannot read this program's standard input")


class NamedOutputs(JobFiles):
    ROUTES = """
        mapper = "Routes.Parse"
        reducer = "Routes.Count"
        [outputs]
        rejected = "text"
        single = "text"
        """
    UNLUCKY = """
        mapper = "Unlucky.Map"
        reducer = "Unlucky.Sum"
        reduces = 2
        [outputs]
        lines = "text"
        keys = "text"
        [settings]
        """

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.routes, cls.unlucky = library(cls.folder.name, "routes"), library(cls.folder.name, "unlucky")
        cls.put("lines.txt", "".join(f"bad {i}\n" if i % 7 == 0 else f"k{i * 31 % 900 if i % 3 else i}\tv{i}\n"
                                     for i in range(9000)))
        cls.put("letters.txt", "".join(f"{chr(97 + i % 26)} {i}\n" for i in range(20_000)) + "\n")
        cluster.ok("hadoop", "fs", "-put", "-f", cls.path("lines.txt"), cls.path("letters.txt"), ".")

    def test_mappers_and_reducers_write_named_outputs(self):
        body = SPLIT + 'input = "lines.txt"\nreduces = 3\n' + self.ROUTES
        report = os.path.join(self.folder.name, "report.json")
        here, there, printed = self.both("routes", body, "--lib", self.routes, "--report", report)
        self.same_lines(here, there)
        names = set(self.files(there))
        # Files of reduce tasks have the same names, because partitions are the same.
        self.assertEqual({n for n in names if "-r-" in n}, {n for n in self.files(here) if "-r-" in n})
        self.assertEqual({n for n in names if n.startswith("rejected-")},
                         {f"rejected-m-{i:05d}" for i in range(counter(printed, "Launched map tasks"))})
        self.assertEqual(counter(printed, "rejected"), 1286)
        with open(report, encoding="utf-8") as file:
            report_there = json.load(file)
        with open(os.path.join(here, "_yunti/report.json"), encoding="utf-8") as file:
            self.assertEqual(report_there["job"]["output_bytes"], json.load(file)["job"]["output_bytes"])

    def test_map_only_jobs_write_named_outputs(self):
        here, there, _ = self.both("parsed", SPLIT + 'input = "lines.txt"\nmode = "none"\n'
                                   + self.ROUTES.replace('reducer = "Routes.Count"', ""),
                                   "--lib", self.routes)
        self.same_lines(here, there)

    def test_the_job_or_the_cluster_compresses_named_outputs(self):
        expect = self.lines(self.both("plain", 'input = "lines.txt"\n' + self.ROUTES, "--lib", self.routes)[0])
        job = self.job("packed", 'input = "lines.txt"\n' + self.ROUTES)
        cluster.ok(*job, "--on", "yarn", "--lib", self.routes, "--output", "packed", "--compress", "gzip")
        # Only the configuration sets compression; the job does not.
        conf = self.path("conf")
        shutil.copytree(cluster.environment()["HADOOP_CONF_DIR"], conf)
        with open(os.path.join(conf, "mapred-site.xml"), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(conf, "mapred-site.xml"), "w", encoding="utf-8") as file:
            file.write(text.replace("</configuration>",
                                    "<property><name>mapreduce.output.fileoutputformat.compress</name>"
                                    "<value>true</value></property></configuration>"))
        cluster.ok(*job, "--on", "yarn", "--lib", self.routes, "--output", "deflated", env={"HADOOP_CONF_DIR": conf})
        for output, extension in ("packed", ".gz"), ("deflated", ".deflate"):
            for name in "rejected-m-00000", "single-r-00000", "part-r-00000":
                text = cluster.ok("hadoop", "fs", "-text", f"{output}/{name}{extension}")
                found = [line for line in text.splitlines() if " INFO " not in line and " WARN " not in line]
                self.assertEqual(sorted(found), expect[name.partition("-")[0]], name)

    def test_killed_attempts_leave_no_output(self):
        """Kills a map and a reduce while they write named outputs; new attempts replace them."""
        body = 'input = "letters.txt"\n' + SPLIT + self.UNLUCKY
        job = self.job("lucky", body)
        done = subprocess.run([*job, "--lib", self.unlucky, "--output", "lucky"], cwd=self.folder.name,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        marks = {phase: self.path("died-in-" + phase) for phase in ("map", "reduce")}
        job = self.job("unlucky", body + "".join(f'"unlucky.{phase}" = "{mark}"\n' for phase, mark in marks.items()))
        printed = cluster.ok(*job, "--lib", self.unlucky, "--on", "yarn", "--output", "unlucky")
        self.assertTrue(all(os.path.exists(mark) for mark in marks.values()), "both attempts died")
        self.assertEqual((counter(printed, "Failed map tasks"), counter(printed, "Failed reduce tasks")), (1, 1))
        cluster.ok("hadoop", "fs", "-get", "unlucky", self.path("unlucky"))
        self.same_lines(self.path("lucky"), self.path("unlucky"))
        self.assertEqual(sorted(n for n in os.listdir(self.path("unlucky")) if n.startswith(("_", "."))),
                         ["_SUCCESS", "_yunti"])

    def test_named_outputs_work_with_a_java_output_format(self):
        body = 'input = "lines.txt"\n' + self.ROUTES
        here, there, _ = self.both("javas", body, "--lib", self.routes, "-D",
                                   "yunti.hadoop.output.format=org.apache.hadoop.mapreduce.lib.output.TextOutputFormat")
        self.same_lines(here, there)
        self.refused([*self.job("javas", body), "--lib", self.routes, "--output", "x", "-D",
                      "yunti.hadoop.output.format=org.apache.hadoop.mapreduce.lib.output.NullOutputFormat"], 2,
                     "named outputs are files in the output directory, and "
                     "org.apache.hadoop.mapreduce.lib.output.NullOutputFormat has none")


class Chains(JobFiles):
    # Counts the words of each count; numbers keep their type between the jobs.
    COUNTS = """
        application = "wordcount"
        name = "words"
        input = "text"
        reduces = 3
        [[then]]
        name = "passed on"
        mode = "none"
        [[then]]
        name = "the largest first"
        key-type = "bytes"
        descending = true
        folder = "Yunti.SumFolder"
        reduces = 2
        """

    def nothing_between(self):
        found = cluster.execute("hadoop", "fs", "-ls", "-R", "/tmp").stdout
        self.assertNotIn("yunti-chain-", found)

    def test_each_job_feeds_the_next(self):
        there_json = self.path("chain.json")
        here, there, printed = self.both("chain", SPLIT + self.COUNTS, "--report", there_json)
        self.same_files(here, there)
        self.assertEqual(printed.count("completed successfully"), 3)
        self.nothing_between()
        reports = []
        for path in there_json, os.path.join(here, "_yunti/report.json"):
            with open(path, encoding="utf-8") as file:
                reports.append(json.load(file))
        of_job = ("name", "reduces", "input_records", "output_records")
        of = [[{key: report["job"].get(key) for key in of_job} for report in (*whole["before"], whole)]
              for whole in reports]
        self.assertEqual(*of)
        # Only the last job of the chain has an output.
        self.assertEqual([bool(r["job"].get("output")) for r in (*reports[0]["before"], reports[0])],
                         [False, False, True])
        self.assertEqual(json.loads(cluster.ok("hadoop", "fs", "-cat", "chain/_yunti/report.json")), reports[0])
        self.assertRegex(printed, r"(?m)^words and 2 jobs after it: ")

    def test_named_outputs_come_from_the_last_job(self):
        routes = library(self.folder.name, "routes")
        self.put("routed.txt", "".join(f"k{i * 31 % 900 if i % 3 else i}\tv{i}\n" for i in range(9000)))
        cluster.ok("hadoop", "fs", "-put", "-f", self.path("routed.txt"), ".")
        body = SPLIT + """
            input = "routed.txt"
            input-format = "kv"
            mode = "none"
            [outputs]
            single = "text"
            [[then]]
            reducer = "Routes.Count"
            reduces = 2
            """
        here, there, _ = self.both("chained-outputs", body, "--lib", routes)
        self.same_files(here, there)
        self.assertTrue(any(name.startswith("single-r-") for name in self.files(there)))
        self.nothing_between()

    def test_total_order_of_the_output_of_the_previous_job(self):
        body = SPLIT + """
            application = "wordcount"
            input = "text"
            reduces = 2
            [[then]]
            partitioner = "total-order"
            reduces = 3
            """
        here, there, _ = self.both("total", body)
        parts = [self.files(there)[f"part-r-0000{i}"] for i in range(3)]
        self.assertTrue(all(parts), "all partitions have keys")
        self.assertEqual("".join(parts), "".join(self.files(here).values()))

    def test_settings_of_one_job_and_formats_of_the_chain(self):
        """The input format applies to the first job and the output format to the last one."""
        body = """
            input-format = "kv"
            input = "pairs.tsv"
            compress = "gzip"
            mapper = "Yunti.MatchMapper"
            folder = "Yunti.SumFolder"
            [[then]]
            [then.settings]
            "grep.pattern" = "nothing"
            [settings]
            "grep.pattern" = "t[0-9]+"
            "mapreduce.output.fileoutputformat.compress" = true
            """
        job = self.job("zipped", body)
        cluster.ok(*job, "--on", "yarn", "--output", "zipped", "-D",
                   "yunti.hadoop.output.format=org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat")
        text = cluster.ok("hadoop", "fs", "-text", "zipped/part-r-00000")
        rows = [line for line in text.splitlines() if line.startswith("t") and line.count("\t") == 1]
        self.assertEqual(sorted(rows), sorted(f"t{i}\t150" for i in range(40)))

    def test_a_failed_chain_leaves_no_output(self):
        body = """
            application = "wordcount"
            input = "text"
            [[then]]
            name = "fails"
            mapper = "Unlucky.Map"
            folder = "Yunti.SumFolder"
            """
        job = self.job("failing", body)
        done = cluster.execute(*job, "--on", "yarn", "--lib", library(self.folder.name, "unlucky"), "--output",
                               "failing",
                               "-Dmapreduce.map.maxattempts=1")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^yunti: job 2 of 2 \(fails\): ")
        self.assertEqual(cluster.execute("hadoop", "fs", "-test", "-e", "failing/_SUCCESS").returncode, 1)
        self.nothing_between()

    def test_a_cancelled_chain_kills_its_job(self):
        job = cluster.begin(*self.job("cancelled", SPLIT + self.COUNTS), "--on", "yarn", "--output", "cancelled")
        wait("the second job", 240, lambda: job.text().count("Running job: ") == 2 or job.client.poll() is not None)
        job.task("m", 0).signal(signal.SIGSTOP)
        job.client.terminate()
        code, printed = job.end(90)
        self.assertEqual(code, 130, printed)
        first, second = re.findall(r"Running job: (job_\d+_\d+)", printed)
        self.assertIn(f"cancelled: the job {second} is taken off the cluster", printed)
        self.assertIn("Job state: KILLED", cluster.ok("mapred", "job", "-status", second))
        self.assertNotEqual(first, second)
        self.assertEqual(cluster.execute("hadoop", "fs", "-test", "-e", "cancelled").returncode, 1)
        self.nothing_between()

    def test_wrong_jobs_fail_with_one_line(self):
        job = self.job("exists", self.COUNTS)
        self.refused([*job, "--output", "text"], 8, "the output exists already")
        self.refused([*job, "--output", "x", "-D", "yunti.hadoop.output.format=no.Such"], 2,
                     "there is no class no.Such")
        job = self.job("unfit", self.COUNTS.replace('folder = "Yunti.SumFolder"', 'key-order = "Yunti.FieldOrder"'))
        self.refused([*job, "--output", "x"], 2, "job 3 of 3 (the largest first)")


class KeyOrders(JobFiles):
    """Key orders by a class (YT_KEY_ORDER), through Hadoop's shuffle."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(3)
        pairs = draw.sample([(left, right) for left in range(-40, 60) for right in range(-100, 200)], 9000)
        cls.put("numbers.txt", "".join(f"{left} {right}\n" for left, right in pairs))
        cls.put("fields.tsv", "".join(f"{left % 13}\tx{right}\t{i}\n" for i, (left, right) in enumerate(pairs)))
        cluster.ok("hadoop", "fs", "-put", "-f", cls.path("numbers.txt"), cls.path("fields.tsv"), ".")

    def test_secondary_sort(self):
        body = """
            split-size = 20000
            input = "numbers.txt"
            mapper = "SecondarySort.Pairs"
            key-order = "SecondarySort.ByLeft"
            reducer = "SecondarySort.Print"
            """
        lib = os.path.join(EXAMPLES, "libsecondary_sort.so")
        here, there, printed = self.both("pairs", body, "--lib", lib, "-D", "mapreduce.job.reduces=3")
        self.same_files(here, there)
        self.assertGreater(counter(printed, "Launched map tasks"), 1)

    def test_field_order(self):
        body = SPLIT + """
            input = "fields.tsv"
            key-order = "Yunti.FieldOrder"
            reduces = 2
            [settings]
            "order.fields" = "1nr,3n"
            "order.group" = 1
            """
        self.same_files(*self.both("by-fields", body)[:2])

    def test_total_order_with_little_memory(self):
        """Merges runs of map outputs on disk, and uses partition bounds of ordered keys."""
        body = SPLIT + """
            input = "fields.tsv"
            key-order = "Yunti.FieldOrder"
            partitioner = "total-order"
            reduces = 3
            [settings]
            "order.fields" = "2,3nr"
            """
        here, there, _ = self.both("field-ranges", body, "-D", "mapreduce.task.io.sort.mb=4", "-D",
                                   "yunti.hadoop.reduce.memory.mb=1")
        parts = [self.files(there)[f"part-r-0000{i}"] for i in range(3)]
        self.assertTrue(all(parts), "all partitions have keys")
        self.assertEqual("".join(parts), "".join(self.files(here).values()))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
