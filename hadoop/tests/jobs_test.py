#!/usr/bin/env python3
"""Runs whole jobs on a real cluster like a user, and compares the results with stock Hadoop and with one machine.

    python3 hadoop/tests/jobs_test.py

It needs `make hadoop` and the libraries of the examples (YUNTI_EXAMPLES). YUNTI_SHARED_CLUSTER names the cluster;
without it, this test starts its own (hadoop/cluster) and stops it.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import live_cluster  # noqa: E402
from live_cluster import ROOT, YUNTI, counter  # noqa: E402

EXAMPLES = os.environ.get("YUNTI_EXAMPLES", os.path.join(ROOT, "build/examples/lib"))
# Small splits give several map tasks.
QUICK = ["-Dmapreduce.input.fileinputformat.split.maxsize=400000"]


def setUpModule():
    global cluster, execute, ok, lines
    cluster = live_cluster.shared("cluster-jobs")
    unittest.addModuleCleanup(cluster.down)
    execute, ok, lines = cluster.execute, cluster.ok, cluster.lines
    # All files of these tests in HDFS lie below it.
    ok("hadoop", "fs", "-mkdir", "/jobs")


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Jobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = tempfile.TemporaryDirectory()
        draw = random.Random(7)
        words = ["".join(draw.choice("abcdefgh") for _ in range(draw.randint(1, 9))) for _ in range(800)] + ["Ärger",
                                                                                                             "云梯"]
        cls.text = os.path.join(cls.files.name, "text")
        os.mkdir(cls.text)
        cls.expect = {}
        for name in ("a.txt", "b.txt"):
            with open(os.path.join(cls.text, name), "w", encoding="utf-8") as file:
                for _ in range(15_000):
                    row = [draw.choice(words) for _ in range(draw.randint(0, 9))]
                    file.write(" ".join(row) + "\n")
                    for word in row:
                        cls.expect[word] = cls.expect.get(word, 0) + 1
        ok("hadoop", "fs", "-put", cls.text, "/jobs/text")
        cls.jar = ok(YUNTI, "hadoop", "jar").strip()
        folder = os.path.join(ROOT, "build/cluster/examples")
        cls.examples = os.path.join(folder, next(n for n in os.listdir(folder) if "examples" in n))

    @classmethod
    def tearDownClass(cls):
        cls.files.cleanup()

    def counts(self, directory):
        return {word: int(n) for word, n in (row.split("\t") for row in lines(directory))}

    def test_settings_alone_run_an_unmodified_job_natively(self):
        site = os.path.join(self.files.name, "yunti-site.xml")
        with open(site, "w", encoding="utf-8") as file:
            file.write(ok(YUNTI, "hadoop", "site"))
        snappy = ["-Dmapreduce.map.output.compress=true",
                  "-Dmapreduce.map.output.compress.codec=org.apache.hadoop.io.compress.SnappyCodec"]
        printed = ok("hadoop", "jar", self.examples, "wordcount", "-conf", site, "-libjars", self.jar, *QUICK, *snappy,
                  "-Dmapreduce.job.reduces=2", "/jobs/text", "/jobs/settings")
        self.assertEqual(self.counts("/jobs/settings"), self.expect)
        self.assertEqual(counter(printed, "native"), counter(printed, "Launched map tasks") + 2)
        self.assertEqual(counter(printed, "Reduce output records"), len(self.expect))
        job = re.search(r"job_\d+_\d+", printed)[0]
        path = os.path.join(self.files.name, "settings.json")
        shown = ok(YUNTI, "hadoop", "report", job, "--output", path)
        self.assertEqual(shown.strip(), "")
        report = read_json(path)
        self.check_report(report, {"jvm-start", "map", "collect", "sort", "shuffle", "merge", "reduce"})
        self.assertEqual((report["job"]["state"], report["job"]["id"], report["job"]["reduces"]), ("succeeded", job, 2))
        self.assertEqual(report["job"]["output_records"], len(self.expect))

    def check_report(self, report, stages):
        """Checks that the stages of each task add up to its time, and those of all tasks to the report."""
        self.assertEqual({s["name"] for s in report["stages"]} & stages, stages)
        for task in report["tasks"]:
            if task["state"] != "succeeded":
                continue
            missing = task["elapsed_ms"] - sum(task["stages_ms"].values())
            self.assertLess(abs(missing), 0.15 * task["elapsed_ms"] + 300, task)
            self.assertGreater(task["stages_ms"]["jvm-start"], 0)
            self.assertLess(task["start_ms"] + task["elapsed_ms"], report["job"]["wall_ms"] + 1000)
        for stage in report["stages"]:
            of_tasks = sum(task["stages_ms"].get(stage["name"], 0) for task in report["tasks"])
            self.assertAlmostEqual(stage["busy_ms"], of_tasks, places=3)
        self.assertAlmostEqual(report["job"]["cpu_ms"], sum(task["cpu_ms"] for task in report["tasks"]), places=3)
        self.assertIn(report["bottleneck"]["resource"],
                      ("cpu", "disk_read", "disk_write", "network", "input", "partitions", "start"))

    def test_the_environment_runs_an_unmodified_job_natively(self):
        shell = f'eval "$({YUNTI} hadoop env)"; exec hadoop jar "$0" "$@"'
        printed = ok("bash", "-c", shell, self.examples, "wordcount", *QUICK, "/jobs/text", "/jobs/environment")
        self.assertEqual(self.counts("/jobs/environment"), self.expect)
        self.assertGreater(counter(printed, "native"), 1)

    def test_a_job_of_one_machine_runs_unchanged(self):
        arguments = ["run", "wordcount", "--reduces", "3"]
        report_there = os.path.join(self.files.name, "there.json")
        printed = ok(YUNTI, *arguments, "--on", "yarn", "--input", "/jobs/text", "--output", "/jobs/native", "--report",
                     report_there, *QUICK)
        self.assertRegex(printed, r"(?m)^wordcount: .* records out; see yunti hadoop report job_")
        self.assertEqual(self.counts("/jobs/native"), self.expect)
        here = os.path.join(self.files.name, "here")
        ok(YUNTI, *arguments, "--input", self.text, "--output", here)
        for part in range(3):
            name = f"part-r-0000{part}"
            with open(os.path.join(here, name), encoding="utf-8") as file:
                self.assertEqual(ok("hadoop", "fs", "-cat", "/jobs/native/" + name), file.read(), name)
        self.assertGreater(counter(printed, "native"), 3)
        self.same_report(read_json(report_there), read_json(os.path.join(here, "_yunti/report.json")))
        self.assertEqual(read_json(report_there),
                         json.loads(ok("hadoop", "fs", "-cat", "/jobs/native/_yunti/report.json")))

    def same_report(self, there, here):
        """Checks that the reports of the cluster and of one machine have the same figures about the data."""
        self.check_report(there,
                          {"launch", "jvm-start", "read", "map", "fold", "sort", "shuffle", "merge", "reduce", "write"})
        self.assertEqual(there["format"], here["format"])
        for name in ("name", "reduces", "input_bytes", "input_records", "output_bytes", "output_records"):
            self.assertEqual(there["job"][name], here["job"][name], name)
        tasks = "org.apache.hadoop.mapreduce.TaskCounter"
        for name in ("MAP_INPUT_RECORDS", "MAP_OUTPUT_RECORDS", "COMBINE_INPUT_RECORDS", "REDUCE_INPUT_GROUPS",
                     "REDUCE_OUTPUT_RECORDS"):
            self.assertEqual(there["counters"][tasks][name], here["counters"][tasks][name], name)

    def test_report_needs_a_job(self):
        for arguments, code, what in [
            (["job_1_0001"], 3, "there is no job job_1_0001"),
            (["no-job"], 2, "this is no job: no-job"),
            ([], 2, "no job is named"),
            (["job_1_0001", "--yes"], 2, "there is no option --yes"),
        ]:
            done = execute(YUNTI, "hadoop", "report", *arguments)
            self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (code, 1, ""), done.stderr)
            self.assertIn("yunti: " + what, done.stderr)

    def test_a_class_library_runs_on_the_cluster(self):
        library = os.path.join(EXAMPLES, "libword_count.so")
        job = os.path.join(self.files.name, "job.toml")
        with open(job, "w", encoding="utf-8") as file:
            file.write('format = "yunti-job/1"\nmapper = "WordCount.Tokenizer"\nreducer = "WordCount.SumReducer"\n'
                       'combiner = "WordCount.SumCombiner"\nreduces = 2\n')
        done = execute(YUNTI, "run", "-f", job, "--lib", library, "--on", "yarn", "--input", "/jobs/text", "--output",
                       "/jobs/library",
                       "--json", *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        counters = json.loads(done.stdout)["counters"]["org.apache.hadoop.mapreduce.TaskCounter"]
        words = sum(self.expect.values())
        self.assertEqual((counters["MAP_OUTPUT_RECORDS"], counters["COMBINE_INPUT_RECORDS"]), (words, words))
        self.assertEqual(counters["COMBINE_OUTPUT_RECORDS"], counters["REDUCE_INPUT_RECORDS"])
        self.assertEqual(self.counts("/jobs/library"), self.expect)

    def test_terasort_in_total_order(self):
        tera = os.path.join(self.files.name, "tera")
        ok(YUNTI, "generate", "tera", "--records", "20000", "--output", tera)
        ok("hadoop", "fs", "-put", tera, "/jobs/tera")
        ok(YUNTI, "run", "terasort", "--on", "yarn", "--input", "/jobs/tera", "--output", "/jobs/sorted",
           "--reduces", "3", *QUICK)
        there = os.path.join(self.files.name, "sorted")
        ok("hadoop", "fs", "-get", "/jobs/sorted", there)
        checked = ok(YUNTI, "validate", "tera", there)
        self.assertRegex(checked, r"sorted\s+yes")
        self.assertRegex(checked, r"records\s+20,000, in 3 files")
        checksum = re.search(r"checksum\s+(\S+)", checked)[1]
        self.assertIn(checksum, execute(YUNTI, "validate", "tera", tera).stdout)

    def test_check_reports_native_and_declined_parts(self):
        printed = ok(YUNTI, "hadoop", "check")
        self.assertRegex(printed, r"(?m)^  library, on this machine +native$")
        self.assertRegex(printed, r"(?m)^  Text +native$")
        self.assertRegex(printed, r"(?m)^  PassthroughCodec +declined: codec ")
        self.assertRegex(printed, r"(?m)^  native +2 tasks$")

    def test_submit_takes_the_options_of_pipes(self):
        library = os.path.join(EXAMPLES, "libword_count.so")
        ok(YUNTI, "hadoop", "submit", "-mapper", "WordCount.Tokenizer", "-reducer", "WordCount.SumReducer", "-lib",
           library,
           "-reader", "text", "-writer", "text:=", "-input", "/jobs/text", "-output", "/jobs/submitted",
           "-reduces", "2")
        self.assertEqual({row.partition("=")[0] for row in lines("/jobs/submitted")}, set(self.expect))
        for wrong in (["-maps", "none"], ["-reader", "csv"], ["-libjars", "/no/such.jar"], ["-input"]):
            done = execute(YUNTI, "hadoop", "submit", *wrong)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    def test_java_input_and_output_formats(self):
        library = os.path.join(EXAMPLES, "libword_count.so")
        printed = ok(YUNTI, "hadoop", "submit", "-mapper", "WordCount.Tokenizer", "-reducer", "WordCount.SumReducer",
                     "-lib", library,
                  "-reader", "org.apache.hadoop.mapreduce.lib.input.TextInputFormat", "-maps", "3",
                  "-writer", "org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat", "-input", "/jobs/text",
                     "-output", "/jobs/sequence")
        self.assertEqual(counter(printed, "Map input records"), 30_000)
        self.assertEqual(counter(printed, "Reduce output records"), len(self.expect))
        self.assertIn(int(re.search(r"number of splits:(\d+)", printed)[1]), (3, 4))
        rows = ok("hadoop", "fs", "-text", "/jobs/sequence/part-r-00000")
        self.assertEqual({word: int(n) for word, n in re.findall(r"(?m)^(\S+)\t(\d+)$", rows)}, self.expect)
        # And back: a LongWritable is read as a number of the ABI and written as the class that the job names.
        printed = ok(YUNTI, "run", "identity", "--mode", "sorted", "--partitioner", "total-order", "--reduces", "2",
                     "--on", "yarn",
                  "--input", "/jobs/sequence", "--output", "/jobs/back", *QUICK,
                  "-Dyunti.hadoop.input.format=org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat",
                  "-Dyunti.hadoop.output.format=org.apache.hadoop.mapreduce.lib.output.TextOutputFormat",
                  "-Dmapreduce.job.output.value.class=org.apache.hadoop.io.LongWritable")
        parts = [ok("hadoop", "fs", "-cat", f"/jobs/back/part-r-0000{i}") for i in range(2)]
        self.assertTrue(all(parts), "both partitions have keys")
        words = [row.split("\t")[0].encode() for row in "".join(parts).splitlines()]
        self.assertEqual(words, sorted(word.encode() for word in self.expect))
        self.assertEqual(self.counts("/jobs/back"), self.expect)
        self.assertEqual(counter(printed, "Reduce output records"), len(self.expect))

    def test_java_formats_of_the_old_api(self):
        for package, output in ("mapreduce.lib.output", "/jobs/new"), ("mapred", "/jobs/old"):
            reader = {"/jobs/new": "org.apache.hadoop.mapreduce.lib.input",
                      "/jobs/old": "org.apache.hadoop.mapred"}[output]
            printed = ok(YUNTI, "hadoop", "submit", "-mapper", "WordCount.Tokenizer", "-reducer",
                         "WordCount.SumReducer",
                      "-lib", os.path.join(EXAMPLES, "libword_count.so"), "-reader", reader + ".TextInputFormat",
                         "-maps", "3",
                      "-writer", f"org.apache.hadoop.{package}.TextOutputFormat", "-input", "/jobs/text",
                         "-output", output, "-reduces", "2")
            self.assertEqual(self.counts(output), self.expect)
            self.assertEqual(counter(printed, "Map input records"), 30_000)
            self.assertEqual(counter(printed, "native"), counter(printed, "Launched map tasks") + 2)
        self.assertIn("/jobs/old/part-00001", ok("hadoop", "fs", "-ls", "/jobs/old"))

    def test_side_files_and_compressed_output(self):
        people, names = (os.path.join(self.files.name, name) for name in ("people", "names"))
        with open(people, "w", encoding="utf-8") as file:
            file.writelines(f"p{i}\tc{i % 5}\n" for i in range(1000))
        with open(names, "w", encoding="utf-8") as file:
            file.write("c1\tOne\nc2\tTwo\n")
        ok("hadoop", "fs", "-put", people, "/jobs/people")
        ok(YUNTI, "run", "hash-join", "--on", "yarn", "--input", "/jobs/people", "--output", "/jobs/joined",
           "--side-file", names, "-D", "join.small=names", "-D", "join.left.column=2", "--compress", "gzip")
        self.assertIn("/jobs/joined/part-m-00000.gz", ok("hadoop", "fs", "-ls", "/jobs/joined"))
        found = ok("hadoop", "fs", "-text", "/jobs/joined/part-m-00000.gz")
        rows = sorted(row for row in found.splitlines() if row.startswith("c"))
        self.assertEqual(rows,
                         sorted(f"c{i % 5}\tp{i}\t{['One', 'Two'][i % 5 - 1]}" for i in range(1000) if i % 5 in (1, 2)))

    def test_a_table_is_the_small_side_on_each_node(self):
        orders, people, table = (os.path.join(self.files.name, name) for name in ("orders", "rows.csv", "rows.ytab"))
        with open(orders, "w", encoding="utf-8") as file:
            file.writelines(f"o{i},{i % 7}\n" for i in range(1000))
        with open(people, "w", encoding="utf-8") as file:
            file.write("id,name\n" + "".join(f"{i},name {i}\n" for i in range(5)))
        ok(YUNTI, "table", "build", people, "--key", "id:i64", "-o", table, "-q")
        ok("hadoop", "fs", "-put", orders, "/jobs/orders")
        ok(YUNTI, "run", "hash-join", "--on", "yarn", "--input", "/jobs/orders", "--output", "/jobs/looked-up",
           "--table", f"people={table}", "-D", "join.small=people", "-D", "join.left.column=2", "-D", "separator=,")
        self.assertEqual(lines("/jobs/looked-up"),
                         sorted(f"{i % 7}\to{i},name {i % 7}" for i in range(1000) if i % 7 < 5))

    def test_tasks_ask_the_servers_of_a_table(self):
        orders, people, table, token = (os.path.join(self.files.name, name)
                                        for name in ("asked", "asked.csv", "asked.ytab", "token"))
        with open(orders, "w", encoding="utf-8") as file:
            file.writelines(f"o{i},{i % 7}\n" for i in range(1000))
        with open(people, "w", encoding="utf-8") as file:
            file.write("id,name\n" + "".join(f"{i},name {i}\n" for i in range(5)))
        with open(token, "w", encoding="utf-8") as file:
            file.write("hidden\n")
        ok(YUNTI, "table", "build", people, "--key", "id:i64", "-o", table, "-q")
        ok("hadoop", "fs", "-put", orders, "/jobs/asked")
        server = subprocess.Popen([YUNTI, "table", "serve", f"people={table}", "--listen", "127.0.0.1:0", "--token-file",
                                   token], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        address = server.stdout.readline().split()[-1]
        job = [YUNTI, "run", "hash-join", "--on", "yarn", "--input", "/jobs/asked", "--output", "/jobs/answered", "-D",
               "join.small=people", "-D", "join.left.column=2", "-D", "separator=,", "--table",
               f"people=server:{address}"]
        refused = subprocess.run(job, capture_output=True, text=True, check=False)
        self.assertEqual(refused.returncode, 3, refused.stderr)
        self.assertIn("the table people: the server needs a token", refused.stderr)
        ok(*job, "--table-token-file", token)
        self.assertEqual(lines("/jobs/answered"),
                         sorted(f"{i % 7}\to{i},name {i % 7}" for i in range(1000) if i % 7 < 5))

    def test_a_map_only_job(self):
        printed = ok(YUNTI, "run", "identity", "--on", "yarn", "--input", "/jobs/text", "--output", "/jobs/maps",
                     *QUICK)
        here = []
        for name in ("a.txt", "b.txt"):
            with open(os.path.join(self.text, name), encoding="utf-8") as file:
                here += file.read().splitlines()
        self.assertEqual(lines("/jobs/maps"), sorted(here))
        self.assertIn("/jobs/maps/part-m-00000", ok("hadoop", "fs", "-ls", "/jobs/maps"))
        self.assertEqual(counter(printed, "native"), counter(printed, "Launched map tasks"))

    def test_a_reduce_task_killed_during_the_shuffle_is_retried(self):
        shell = f'eval "$({YUNTI} hadoop env)"; exec hadoop jar "$0" "$@"'
        job = cluster.begin("bash", "-c", shell, self.examples, "wordcount", *QUICK,
                            "-Dmapreduce.job.reduce.slowstart.completedmaps=0",
                            "-Dmapreduce.map.speculative=false", "/jobs/text", "/jobs/killed")
        # A stopped map task keeps the shuffle going.
        held = job.task("m", 0)
        held.signal(signal.SIGSTOP)
        reduce = job.task("r", 0)
        job.says(reduce, "about to shuffle output of map attempt", log=".shuffle")
        reduce.signal(signal.SIGKILL)
        held.signal(signal.SIGCONT)
        code, printed = job.end()
        self.assertEqual(code, 0, printed[-6000:])
        self.assertEqual(self.counts("/jobs/killed"), self.expect)
        self.assertEqual(counter(printed, "Failed reduce tasks"), 1)
        self.assertEqual(counter(printed, "native"), counter(printed, "Launched map tasks") + 1)
        self.assertEqual(cluster.crashes(), [])

    def test_cancelling_kills_the_job(self):
        job = cluster.begin(YUNTI, "run", "wordcount", "--on", "yarn", "--input", "/jobs/text", "--output",
                            "/jobs/cancelled")
        job.task("m", 0).signal(signal.SIGSTOP)
        job.client.terminate()
        code, printed = job.end(60)
        self.assertEqual(code, 130, printed)
        name = re.search(r"cancelled: the job (job_\d+_\d+) is taken off the cluster", printed)
        self.assertIsNotNone(name, printed)
        self.assertIn("Job state: KILLED", ok("mapred", "job", "-status", name[1]))
        self.assertEqual(execute("hadoop", "fs", "-test", "-e", "/jobs/cancelled/_SUCCESS").returncode, 1)

    def test_wrong_jobs_fail_with_one_line(self):
        for arguments, code, what in [
            (["wordcount", "--input", "/jobs/text"], 2, "the output is a directory"),
            (["wordcount", "--input", "/jobs/text", "--output", "/jobs/text"], 8, "the output exists already"),
            (["wordcount", "--input", "/jobs/nothing", "--output", "/jobs/x"], 3,
             "cannot read the input: /jobs/nothing"),
            (["wordcount", "--input", "/jobs/text", "--output", "/jobs/x", "-Dyunti.hadoop.input.format=no.Such"], 2,
             "there is no class no.Such"),
            (["wordcount", "--input", "/jobs/text", "--output", "/jobs/x",
              "-Dyunti.hadoop.output.format=org.apache.hadoop.io.Text"],
             2, "is no org.apache.hadoop.mapreduce.OutputFormat"),
            (["--mapper", "No.Such", "--input", "/jobs/text", "--output", "/jobs/x"], 6, "there is no class No.Such"),
        ]:
            done = execute(YUNTI, "run", *arguments, "--on", "yarn")
            errors = [line for line in done.stderr.splitlines() if line.startswith("yunti: ")]
            self.assertEqual((done.returncode, len(errors)), (code, 1), done.stderr)
            self.assertIn(what, errors[0])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
