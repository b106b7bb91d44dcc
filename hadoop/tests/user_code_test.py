#!/usr/bin/env python3
"""Runs programs, functions of Python and isolated classes on a real cluster and on one machine, and compares.

    python3 hadoop/tests/user_code_test.py

It needs `make hadoop`, and cloudpickle for the jobs of Python. YUNTI_SHARED_CLUSTER names the cluster; without it, this
test starts its own (hadoop/cluster) and stops it. Files of these tests in HDFS lie in /code.
"""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import live_cluster  # noqa: E402
from job_files_test import library  # noqa: E402
from live_cluster import ROOT, YUNTI, counter  # noqa: E402

TASKS = "org.apache.hadoop.mapreduce.TaskCounter"
# Counters of records, which do not depend on where a job runs.
SAME = ("MAP_INPUT_RECORDS", "MAP_OUTPUT_RECORDS", "COMBINE_INPUT_RECORDS", "REDUCE_INPUT_RECORDS", "REDUCE_INPUT_GROUPS",
        "REDUCE_OUTPUT_RECORDS")
WORDS = """#!/usr/bin/env python3
import os, sys
n = 0
for line in sys.stdin:
    for word in line.split():
        n += 1
        print(word)
print("reporter:counter:Mine,words,%d" % n, file=sys.stderr)
print("reporter:status:%d words" % n, file=sys.stderr)
print("seen by", os.environ["mapreduce_task_attempt_id"], os.environ["mapred_task_id"], os.environ["mapreduce_job_id"],
      os.environ["mapreduce_task_partition"], os.environ["mapreduce_map_input_file"].rsplit("/", 1)[1],
      os.environ["MINE"], os.environ.get("mapreduce_job_name"), file=sys.stderr)
"""
PYTHON = """
import json, os, sys
import yunti as y

@y.mapper(out=(y.bytes, y.i64))
def lengths(b: y.TextBatch):
    words = [word for line in bytes(b.data).splitlines() for word in line.split()]
    y.task.count("BATCHES")
    return words, [len(word) for word in words]

@y.reducer(out=(y.bytes, y.i64))
def total(g):
    pairs = [(key, sum(values)) for key, values in g]
    return [key for key, _ in pairs], [n for _, n in pairs]

where = json.loads(sys.argv[1])
done = y.job(lengths, reducer=total, reduces=2).run(where.pop("input"), where.pop("output"), quiet=True, **where)
print(json.dumps([done.report.data, [[k.decode(), v] for k, v in done.table]]))
"""
FAILING = """
import json, sys
import yunti as y

import helper

@y.record
def picky(line):
    return line.split()[0], int(helper.digits(line))

where = json.loads(sys.argv[1])
try:
    y.job(picky, attempts=1 if sys.argv[2:] else 3).run(where.pop("input"), where.pop("output"), quiet=True, **where)
except y.JobError as e:
    print(json.dumps([e.code, e.exit_code, e.message, e.traceback]))
"""


def setUpModule():
    global cluster
    cluster = live_cluster.shared("cluster-user-code")
    unittest.addModuleCleanup(cluster.down)
    cluster.ok("hadoop", "fs", "-mkdir", "-p", "/code")


class UserCode(unittest.TestCase):
    """Base of the tests: a folder here, whose inputs are also in /code on the cluster."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="yunti-user-code-")
        cls.addClassCleanup(cls.folder.cleanup)
        for name in "a", "b":
            cls.put(f"in/{name}.txt", "".join(f"w{i % 37} x{i % 5} {name}{i % 11}\n" for i in range(4000)))
        cls.put("in/empty.txt", "")
        cls.put("bin/words.py", WORDS, 0o755)
        cls.put("fields.tsv", "".join(f"k{i % 13}\t{i * 7 % 101}\t{i}\n" for i in range(500)))
        cls.put("lines.txt", "".join(f"k{i % 7} {'KILLER' if i in (5, 250) else 'line'} {i}\n" for i in range(300)))
        cls.put("numbers.txt", "".join(f"k{i} {'noble' if i == 70 else f'n{i}'}\n" for i in range(100)))
        cluster.ok("hadoop", "fs", "-rm", "-r", "-f", "-skipTrash", "/code/*")
        cluster.ok("hadoop", "fs", "-put", "-f",
                   *(cls.path(name) for name in ("in", "fields.tsv", "lines.txt", "numbers.txt")), "/code")

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def put(cls, name, text, mode=0o644):
        os.makedirs(os.path.dirname(cls.path(name)), exist_ok=True)
        with open(cls.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(cls.path(name), mode)

    def execute(self, *command, env=None):
        return subprocess.run(command, env=cluster.environment(env), cwd=self.folder.name, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=live_cluster.JOB_SECONDS)

    def ok(self, *command, env=None):
        done = self.execute(*command, env=env)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
        return done

    def both(self, name, *command, input="in"):
        """Runs a job here and on the cluster, with {in} and {out}; compares all parts. Returns both reports."""
        reports = []
        for where, on, given in ("here", [], input), ("there", ["--on", "yarn"], f"/code/{input}"):
            out = self.path(f"{name}-here") if where == "here" else f"/code/{name}"
            words = [word.replace("{in}", given).replace("{out}", out) for word in command]
            report = self.path(f"{name}-{where}.json")
            self.printed = self.ok(YUNTI, *words, *on, "--report", report).stderr
            with open(report, encoding="utf-8") as file:
                reports.append(json.load(file))
        cluster.ok("hadoop", "fs", "-get", f"/code/{name}", self.path(f"{name}-there"))
        self.same_parts(name)
        self.same_counters(*reports)
        return reports

    def same_parts(self, name):
        here, there = (self.parts(self.path(f"{name}-{where}")) for where in ("here", "there"))
        self.assertTrue(any(here.values()), "there are records")
        self.assertEqual(there, here)

    def parts(self, directory):
        found = {}
        for path in glob.glob(os.path.join(directory, "part-*")):
            with open(path, "rb") as file:
                found[os.path.basename(path)] = file.read()
        return found

    def same_counters(self, here, there, groups=("Mine", "Python")):
        for name in SAME:
            self.assertEqual(there["counters"][TASKS].get(name, 0), here["counters"][TASKS].get(name, 0), name)
        for group in groups:
            self.assertEqual(there["counters"].get(group), here["counters"].get(group), group)

    def logs(self, text, name="stderr"):
        """Returns the logs of the containers of the job whose client printed `text`."""
        job = re.findall(r"Running job: job_(\d+_\d+)", text)[-1]
        found = ""
        for path in glob.glob(os.path.join(cluster.directory, f"logs/containers/*/application_{job}/*/{name}")):
            with open(path, errors="replace", encoding="utf-8") as file:
                found += file.read()
        return found

    def fails(self, *command, input="in"):
        """Runs a job that fails, here and on the cluster. Returns the last line of each, without the place."""
        lines = []
        for on, given, out in ([], input, self.path("failed")), (["--on", "yarn"], f"/code/{input}", "/code/failed"):
            done = self.execute(YUNTI, "run", *(word.replace("{in}", given) for word in command), "-o", out, *on)
            self.assertEqual(done.returncode, 6, done.stderr[-6000:])
            errors = [line for line in done.stderr.splitlines() if line.startswith("yunti: ")]
            self.assertEqual(len(errors), 1, done.stderr[-6000:])
            lines.append(re.sub(r"(hdfs://[^/]*)?/code/", "", errors[0]))
            if on:
                self.assertNotEqual(cluster.execute("hadoop", "fs", "-test", "-e", "/code/failed/_SUCCESS").returncode, 0)
        return lines


class Programs(UserCode):
    def test_word_count_by_two_programs(self):
        here, there = self.both("words", "run", "--mapper", "./bin/words.py", "--reducer", "uniq -c", "--reduces", "2",
                                "-D", "stream.environment.MINE=my own", "--name", "counts", "-i", "{in}", "-o", "{out}")
        self.assertEqual(there["counters"]["Mine"]["words"], 24_000)
        lines = self.logs(self.printed)
        # A line for each file, the empty one too, with the identifiers of the task.
        for number, name in enumerate(("a", "b", "empty")):
            self.assertRegex(lines, rf"(?m)^map task \d \(hdfs://.*/code/in/{name}\.txt\): seen by (attempt_(\d+_\d+)_m_00000\d_0) "
                                    rf"\1 job_\2 \d {name}\.txt my own counts$", number)
        # The status of a task is in the history.
        job = re.findall(r"Running job: (job_\d+_\d+)", self.printed)[-1]
        done = cluster.ok("hadoop", "fs", "-ls", "-R", "/tmp/hadoop-yarn/staging/history")
        history = re.findall(rf"(/\S*/{job}-\S*\.jhist)", done)[0]
        cluster.ok("hadoop", "fs", "-get", history, self.path("history"))
        with open(self.path("history"), "rb") as file:
            self.assertGreater(file.read().count(b"12000 words"), 1)

    def test_streaming_aggregates(self):
        self.put("longest.py", "import sys\nfor line in sys.stdin:\n    for word in line.split():\n"
                               "        print('LongValueMax:' + word[0] + '\\t' + str(len(word)))\n"
                               "        print('UniqValueCount:all\\t' + word)\n")
        here, _ = self.both("longest", "streaming", "-input", "{in}", "-output", "{out}", "-mapper", "python3 longest.py",
                            "-reducer", "aggregate", "-file", "longest.py")
        self.assertEqual(list(self.parts(self.path("longest-there"))), ["part-00000"])
        self.assertGreater(here["counters"][TASKS]["COMBINE_INPUT_RECORDS"], 0)

    def test_streaming_divides_and_orders_keys_by_fields(self):
        self.both("fields", "streaming", "-D",
                  "mapreduce.job.output.key.comparator.class=org.apache.hadoop.mapreduce.lib.partition.KeyFieldBasedComparator",
                  "-D", "mapreduce.partition.keycomparator.options=-k1,1 -k2,2nr",
                  "-D", "mapreduce.partition.keypartitioner.options=-k1,1", "-D", "stream.num.map.output.key.fields=2",
                  "-partitioner", "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner", "-numReduceTasks", "3",
                  "-input", "{in}", "-output", "{out}", "-mapper", "cat", "-reducer", "cat", input="fields.tsv")

    def test_streaming_takes_files_archives_and_other_names(self):
        self.put("greet.sh", "#!/bin/sh\nread word < said; read more < packed/more.txt; cat > /dev/null\n"
                             "echo \"$word $more $(cat remote.txt)\"\n", 0o644)
        self.put("hello.txt", "hello\n")
        self.put("more.txt", "and more\n")
        subprocess.run(["tar", "czf", self.path("more.tar.gz"), "-C", self.folder.name, "more.txt"], check=True)
        self.put("remote.txt", "from afar\n")
        cluster.ok("hadoop", "fs", "-put", "-f", self.path("remote.txt"), "/code")
        self.ok(YUNTI, "streaming", "--on", "yarn", "-input", "/code/lines.txt", "-output", "/code/greeting", "-mapper",
                "greet.sh", "-numReduceTasks", "0", "-files", "greet.sh,hello.txt#said", "-archives", "more.tar.gz#packed",
                "-cacheFile", "hdfs:///code/remote.txt#remote.txt")
        self.assertEqual(cluster.lines("/code/greeting"), ["hello and more from afar\t"])

    def test_failures_have_one_line(self):
        self.put("odd.sh", "#!/bin/sh\nhead -n 2 > /dev/null\ncase $1 in signal) kill -9 $$;; exit) echo no luck >&2; exit 3;; "
                           "loop) sleep 100;; esac\n", 0o755)
        one = ["-D", "mapreduce.map.maxattempts=1"]
        for how, what in [("signal", "./odd.sh signal was killed by signal 9 in map task 0"),
                          ("exit", "./odd.sh exit ended with exit code 3 in map task 0"),
                          ("loop", "./odd.sh loop neither read nor wrote for 2 s in map task 0")]:
            here, there = self.fails("--mapper", f"./odd.sh {how}", "--mode", "none", "-i", "{in}", "--timeout", "2", *one,
                                     input="lines.txt")
            self.assertEqual(there, here)
            self.assertIn(what, there)
        here, there = self.fails("--mapper", "bin/none.py", "-i", "{in}")
        self.assertEqual(there, here)
        self.assertIn("there is no such program: bin/none.py", there)
        # An absolute path is one of the nodes. This one is there when the client looks, and gone when a task does.
        here = self.path("gone.sh")
        self.put("gone.sh", "#!/bin/sh\n", 0o755)
        job = cluster.begin(YUNTI, "run", "--mapper", here, "--mode", "none", "-i", "/code/lines.txt", "-o", "/code/gone",
                            "--on", "yarn", *one)
        live_cluster.wait("the job", 120, lambda: "Running job" in job.text() or job.client.poll() is not None)
        os.remove(here)
        code, printed = job.end()
        self.assertEqual(code, 6, printed[-3000:])
        self.assertIn(f"yunti: there is no such program: {here}", printed)


    def test_a_killed_task_leaves_no_program(self):
        self.put("sleeper.sh", "#!/bin/sh\nsleep 4321 &\nwait\n", 0o755)

        def sleepers():
            return subprocess.run(["pgrep", "-f", "^sleep 4321"], capture_output=True, text=True).stdout.split()

        job = cluster.begin("sh", "-c", f"cd {self.folder.name} && exec {YUNTI} run --mapper ./sleeper.sh --mode none "
                            "-i /code/lines.txt -o /code/slept --on yarn")
        task = job.task("m", 0)
        live_cluster.wait("the program", 60, sleepers)
        task.signal(signal.SIGKILL)
        again = job.task("m", 0, attempt=1)
        live_cluster.wait("the program of the second attempt alone", 60, lambda: len(sleepers()) == 1)
        job.client.terminate()
        self.assertEqual(job.end(60)[0], 130)
        live_cluster.wait("the end of all programs", 60, lambda: not sleepers())
        self.assertNotEqual(task.attempt, again.attempt)


class Isolated(UserCode):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ending = library(cls.folder.name, "ending")

    def job(self, *more):
        return ["run", "--lib", self.ending, "--isolate", "--mapper", "Ending.Map", "--folder", "Yunti.SumFolder", "-i",
                "{in}", "-o", "{out}", *more]

    def test_a_crash_costs_an_attempt(self):
        marks = iter(("here", "there"))
        reports = []
        for on, given, out in ([], "lines.txt", self.path("once-here")), (["--on", "yarn"], "/code/lines.txt", "/code/once"):
            words = [word.replace("{in}", given).replace("{out}", out) for word in self.job(*on)]
            report = self.path("once.json")
            done = self.ok(YUNTI, *words, "--report", report, "-D", "ending.how=segv", "-D", "ending.where=map", "-D",
                           f"ending.once={self.path('mark-' + next(marks))}")
            with open(report, encoding="utf-8") as file:
                reports.append(json.load(file))
        self.assertIn("Yunti: Ending.Map ended its process by signal 11", done.stderr)
        cluster.ok("hadoop", "fs", "-get", "/code/once", self.path("once-there"))
        self.same_parts("once")
        self.same_counters(*reports)
        of = "org.apache.hadoop.mapreduce.JobCounter"
        self.assertEqual([report["counters"][of]["NUM_FAILED_MAPS"] for report in reports], [1, 1])
        self.assertEqual(cluster.crashes(), [])

    def test_bad_records_are_left_out_and_kept(self):
        here, there = self.both("bad", *self.job("--sandbox", "--worker-memory", "1GiB", "--bad-records", "skip:10", "-D",
                                                 "ending.how=segv", "-D", "ending.word=KILLER"), input="lines.txt")
        self.assertEqual(there["counters"]["Yunti"]["BAD_RECORDS"], 2)
        kept = []
        for where in "here", "there":
            rows = self.ok(YUNTI, "run", "--input-format", "framed", "-i",
                           self.path(f"bad-{where}/_yunti/bad-records"), "--mode", "none", "-o", "-", "-q").stdout
            kept.append(re.sub(r"(hdfs://[^/]*)?/code/", "", rows))
        self.assertEqual(kept[0].count("KILLER"), 2)
        self.assertEqual(kept[1], kept[0])
        # The limit is the whole job's: tasks know only their own records, and the commit counts them all.
        done = self.execute(YUNTI, *(word.replace("{in}", "/code/lines.txt").replace("{out}", "/code/over")
                                     for word in self.job("--bad-records", "skip:1", "-D", "ending.how=segv", "-D",
                                                          "ending.word=KILLER", "--split-size", "2000", "--on", "yarn")))
        self.assertEqual(done.returncode, 6, done.stderr[-4000:])
        self.assertIn("yunti: 2 records are bad, but at most 1 may be", done.stderr)
        self.assertNotEqual(cluster.execute("hadoop", "fs", "-test", "-e", "/code/over/_SUCCESS").returncode, 0)

    def test_a_worker_of_another_language(self):
        shutil.copy(os.path.join(ROOT, "python/tests/plain_worker.py"), self.path("plain_worker.py"))
        self.both("plain", "run", "--worker", "python3 plain_worker.py", "--mapper", "lengths", "--reducer", "totals", "--ship",
                  "bin", "-i", "{in}", "-o", "{out}")

    def test_the_last_attempt_names_the_record(self):
        here, there = self.fails("--lib", self.ending, "--isolate", "--mapper", "Ending.Map", "-i", "{in}", "-D",
                                 "ending.how=abort", "-D", "ending.word=KILLER", "--attempts", "3", input="lines.txt")
        self.assertEqual(there, here)
        self.assertIn("at the record 'k5 KILLER 5': lines.txt, byte", there)


class Python(UserCode):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.put("helper.py", "def digits(line):\n    return line.split()[1][1:]\n")
        try:
            import cloudpickle  # noqa: F401
        except ImportError:
            raise unittest.SkipTest("Python has no cloudpickle") from None

    def program(self, source, code=0, **where):
        self.put("program.py", source)
        more = where.pop("more", [])
        place = os.path.join(ROOT, "python/src")
        done = self.execute(sys.executable, "program.py", json.dumps(where), *more, env={"PYTHONPATH": place, "YUNTI": YUNTI})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr[-6000:])
        return json.loads(done.stdout), done.stderr

    def environment(self):
        """Returns an archive of a virtual environment, whose Python links to this one."""
        made = self.path("venv")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
        subprocess.run(["tar", "czf", made + ".tar.gz", "-C", made, "."], check=True)
        shutil.rmtree(made)
        return made + ".tar.gz"

    def test_a_batch_mapper_and_a_reducer(self):
        (here, rows), _ = self.program(PYTHON, input="in", output=self.path("python-here"))
        (there, rows_there), printed = self.program(PYTHON, input="/code/in", output="hdfs:///code/python", on="yarn",
                                                    environment=self.environment())
        self.assertEqual(rows_there, rows)
        self.assertTrue(rows)
        cluster.ok("hadoop", "fs", "-get", "/code/python", self.path("python-there"))
        self.same_parts("python")
        self.same_counters(here, there)
        self.assertGreater(counter(printed, "native"), 3)

    def test_a_failure_has_the_traceback_and_the_record(self):
        (code, exit_code, message, traceback), _ = self.program(FAILING, input="/code/numbers.txt", output="/code/picky",
                                                                on="yarn")
        self.assertEqual((code, exit_code), ("user_code", 6))
        self.assertRegex(message, r"^ValueError: invalid literal.*program\.py, line 9, in picky\) at the record 'k70 noble': "
                                  r"hdfs://.*/code/numbers\.txt, byte 5\d\d")
        self.assertIn("return line.split()[0], int(helper.digits(line))", traceback)

    def test_what_a_node_lacks_is_one_line(self):
        for python, what in [("/no/such/python3", "there is no such program: /no/such/python3"),
                             (self.python_without("helper"), f"; the worker runs {sys.executable}")]:
            (code, _, message, _), _ = self.program(FAILING, input="/code/numbers.txt", output="/code/lacks", on="yarn",
                                                    python=python, more=["once"])
            self.assertEqual(code, "user_code")
            self.assertIn(what, message)
            self.assertNotIn("\n", message)

    def python_without(self, module):
        """Returns an interpreter that does not find a module."""
        self.put("python-without", f"#!/bin/sh\nexec {sys.executable} -c 'import runpy, sys; sys.argv = sys.argv[1:]; "
                 f"sys.modules[\"{module}\"] = None; runpy.run_path(sys.argv[0], run_name=\"__main__\")' \"$@\"\n", 0o755)
        return self.path("python-without")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
