"""Tests `yunti hadoop run`: programs of MapReduce on this machine, without a cluster."""

import contextlib
import glob
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../../tools/tests")]

from long_tests import long_test  # noqa: E402
from probe import JAVA, TIMEOUT_S, YUNTI, ProbeTest  # noqa: E402


class Runner(ProbeTest):
    def test_word_count(self):
        done = self.run_probe("Words", "-Dmapreduce.job.reduces=2")
        self.assertEqual(dict(line.split("\t") for line in self.lines()), {k: str(n) for k, n in self.words.items()})
        names = {name for name in os.listdir(self.out) if not name.startswith(".")}
        self.assertEqual(names, {"_SUCCESS", "part-r-00000", "part-r-00001"})
        self.assertIn("in this JVM", done.stderr)
        self.assertEqual(done.stdout.count("COMPLETE 1.0"), 4)
        self.assertIn("map progress 1.0, events 6", done.stdout)
        self.assertIn("native=6", done.stderr)

    def test_the_default_file_system_may_be_a_cluster(self):
        out, self.out = self.out, f"file://{self.out}"
        self.input = f"file://{self.input}"  # This test's, beside the class's.
        # None listens there: nothing of the job may be looked for on it.
        self.run_probe("Words", "-Dfs.defaultFS=hdfs://127.0.0.1:1")
        self.assertEqual(len(self.lines(out)), len(self.words))

    def test_history_is_hadoops(self):
        self.run_probe("Words")
        history = glob.glob(f"{self.record()}/*.jhist")
        shown = subprocess.run(["java", "-cp", self.class_path, "org.apache.hadoop.mapred.JobClient", "-history", *history],
                               capture_output=True, text=True, env=self.environment, timeout=TIMEOUT_S, check=True).stdout
        self.assertIn("JobName: probe Words", shown)
        self.assertIn("Status: SUCCEEDED", shown)
        self.assertRegex(shown, r"Map input records +\|800 ")

    def test_a_failing_mapper_has_four_attempts(self):
        done = self.run_probe("Failing", code=1)
        self.assertIn("java.lang.IllegalStateException: probe fails in attempt 2", done.stderr)
        self.assertRegex(done.stderr, r"Task failed task_\d+_0001_m_00000\d")
        self.assertFalse(os.path.exists(f"{self.out}/_SUCCESS"))
        self.assertIn("FAILED", done.stdout)
        job = os.path.basename(self.record())
        shown = subprocess.run(["java", "-cp", f"{JAVA}/yunti-hadoop.jar:{self.class_path}",
                                "org.apache.hadoop.mapred.JobClient", "-Dmapreduce.framework.name=yunti", "-events", job,
                                "0", "100"], capture_output=True, text=True, env=self.environment, timeout=TIMEOUT_S,
                               check=True).stdout
        events = re.findall(r"^(\w+) (attempt_\w+)_(\d+) ", shown, re.MULTILINE)
        self.assertEqual(len({event[1:] for event in events}), len(events))
        self.assertEqual({attempt for how, _, attempt in events if how == "TIPFAILED"}, {"3"}, shown)
        self.assertTrue(all(attempt < "3" for how, _, attempt in events if how == "FAILED"), shown)
        logs = subprocess.run(["grep", "-r", "probe fails in attempt 0", self.record()], capture_output=True, text=True,
                              check=True).stdout
        self.assertRegex(logs, r"attempt_\d+_0001_m_00000\d_0/syslog:")

    def test_later_attempts_may_succeed(self):
        done = self.run_probe("Failing", "-Dprobe.failures=2")
        self.assertIn("Failed map tasks=8", done.stderr)

    def test_other_users_cannot_read_a_jobs_data_and_logs(self):
        process = subprocess.Popen(self.command("Slow", "-Dprobe.sleep=3"), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, cwd=self.work, env=self.environment)
        local = os.path.join(self.temporary, "**", "yunti-jobs-*", "job_*")
        until = time.monotonic() + TIMEOUT_S
        while not (found := glob.glob(local, recursive=True)) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        modes = [stat.filemode(os.stat(path).st_mode) for path in found]
        self.assertEqual((process.wait(timeout=TIMEOUT_S), modes), (0, ["drwx------"]))
        self.assertEqual(stat.filemode(os.stat(self.record()).st_mode), "drwx------")

    def test_exit_in_a_task_fails_its_attempt(self):
        done = self.run_probe("Exiting", code=1)
        self.assertIn("the task called System.exit(0)", done.stderr)

    def test_static_fields_are_those_of_one_task(self):
        self.run_probe("Static")
        self.assertEqual(self.lines(), ["tasks\t1"] * 4)

    def test_jvms_do_the_same(self):
        done = self.run_probe("Words", "-Dyunti.hadoop.isolation=jvms")
        self.assertEqual(dict(line.split("\t") for line in self.lines()), {k: str(n) for k, n in self.words.items()})
        self.assertIn("in JVMs of its own", done.stderr)

    def test_hooks_run_at_the_end_of_each_task(self):
        hooks = os.path.join(self.home, "hooks")
        os.mkdir(hooks)
        done = self.run_probe("Hooked", f"-Dprobe.hook.directory={hooks}", "-Dmapreduce.job.reduces=0")
        self.assertIn("adds a shutdown hook", done.stderr)
        self.assertEqual(len(os.listdir(hooks)), 4)

    @long_test
    def test_jvms_lose_no_counters(self):
        # A JVM that begins its next task must not take the state of the last one with it.
        done = self.run_probe("Words", "-Dyunti.hadoop.isolation=jvms", "-Dmapreduce.job.reduces=300")
        self.assertIn("Shuffled Maps =1200", done.stderr)
        self.assertIn(f"Reduce output records={len(self.words)}", done.stderr)

    def test_jvms_find_the_programs_native_libraries(self):
        folder = os.path.join(self.home, "native")
        os.mkdir(folder)
        subprocess.run(["gcc", "-shared", "-x", "c", "-", "-o", f"{folder}/libprobe.so"], input="int probe;", text=True,
                       check=True, timeout=TIMEOUT_S)
        self.environment["HADOOP_CLIENT_OPTS"] = f"-Djava.library.path={folder}"
        done = self.run_probe("Native")
        self.assertIn("one JVM a task", done.stderr)
        self.assertEqual(self.lines(), ["loaded\t800"])

    @long_test
    def test_a_halted_jvm_costs_an_attempt(self):
        done = self.run_probe("Halting")
        self.assertIn("ended with exit code 7", done.stderr)
        self.assertEqual(self.lines(), ["second\t800"])

    def side(self, text):
        path = os.path.join(self.home, f"{text}-file")
        with open(path, "w") as f:
            f.write(text + "\n")
        return path

    def test_cache_files_are_links_in_the_working_directory(self):
        # A killed job may have left its own.
        os.symlink(os.path.join(self.temporary, "yunti-jobs-me/job_1_0001-1/cache/0/side.txt"), f"{self.work}/side.txt")
        self.run_probe("Cached", f"-Dprobe.side={self.side('alpha')}")
        self.assertEqual(self.lines(), ["alpha\t800"])

    def test_two_jobs_have_files_of_one_name(self):
        self.run_probe("Two", rest=(self.side("alpha"), self.side("beta")))
        self.assertEqual((self.lines(f"{self.out}/0"), self.lines(f"{self.out}/1")), (["alpha\t800"], ["beta\t800"]))

    def test_a_file_in_the_working_directory_is_kept(self):
        with open(f"{self.work}/side.txt", "w") as f:
            f.write("mine\n")
        done = subprocess.run(self.command("Cached", f"-Dprobe.side={self.side('alpha')}"), capture_output=True, text=True,
                              cwd=self.work, env=self.environment, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.lines(), ["alpha\t800"])
        with open(f"{self.work}/side.txt") as f:
            self.assertEqual(f.read(), "mine\n")

    def test_a_program_may_end_before_its_job(self):
        self.run_probe("Slow", "-Dprobe.leave=true", "-Dprobe.sleep=2")
        self.assertEqual(len(self.lines()), 28)

    def test_ctrl_c_aborts_the_job(self):
        for isolation in ("threads", "jvms"):
            process = self.start("Slow", f"-Dyunti.hadoop.isolation={isolation}", until="attempt_*/stdout")
            process.send_signal(signal.SIGINT)
            text = process.communicate(timeout=TIMEOUT_S)[0]
            self.assertEqual(process.returncode, 130, text)
            self.leaves_nothing()
            self.assertEqual(os.listdir(self.out), [])
            shutil.rmtree(self.out)
            shutil.rmtree(self.state)

    def test_a_killed_worker_costs_an_attempt(self):
        process = self.start("Slow", "-Dyunti.hadoop.isolation=jvms", "-Dprobe.sleep=5", until="attempt_*/stdout")
        os.kill(self.workers()[0], signal.SIGKILL)
        text = process.communicate(timeout=TIMEOUT_S)[0]
        self.assertEqual(process.returncode, 0, text)
        self.assertIn("ended by signal 9", text)
        self.assertEqual(sum(int(line.split("\t")[1]) for line in self.lines()), 800)
        self.leaves_nothing()

    def test_a_killed_program_leaves_no_worker(self):
        process = self.start("Slow", "-Dyunti.hadoop.isolation=jvms", until="attempt_*/stdout")
        process.kill()
        process.wait()
        process.stdout.close()
        end = time.monotonic() + 20
        while self.workers():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        # The next program removes what it left.
        shutil.rmtree(self.out)
        shutil.rmtree(self.state)
        self.run_probe("Words")

    @long_test
    def test_an_attempt_without_progress_times_out(self):
        for isolation in ("threads", "jvms"):
            done = self.run_probe("Stuck", "-Dmapreduce.task.timeout=6000", "-Dmapreduce.job.reduces=0",
                                  f"-Dyunti.hadoop.isolation={isolation}")
            self.assertIn("Timed out after 6 secs", done.stderr)
            shutil.rmtree(self.out)

    @long_test
    def test_too_little_memory_costs_an_attempt(self):
        self.environment["HADOOP_CLIENT_OPTS"] = "-Xmx256m"
        done = self.run_probe("Hungry")
        self.assertIn("java.lang.OutOfMemoryError", done.stderr)
        self.assertEqual(self.lines(), ["fed\t800"])

    def test_too_deep_a_stack_fails_the_job(self):
        done = self.run_probe("Deep", code=1)
        self.assertIn("java.lang.StackOverflowError", done.stderr)

    def test_files_of_the_working_directory_are_a_tasks_own(self):
        done = self.run_probe("Scratch")
        self.assertIn("can write to its working directory, by java.io.FileWriter", done.stderr)
        self.assertEqual(self.lines(), ["lines of a task\t200"] * 4)

    def test_threads_of_tasks_do_not_hold_the_program(self):
        self.run_probe("Threaded")
        self.assertEqual(sum(int(line.split("\t")[1]) for line in self.lines()), 800)

    def test_options_of_a_tasks_jvm(self):
        self.run_probe("Options", "-Dmapreduce.map.java.opts=-Xmx200m -Dprobe.colour=green",
                       "-Dmapreduce.map.env=PROBE_SHAPE=round")
        self.assertEqual(self.lines(), ["green round DIR\t4"])

    def test_variables_of_a_tasks_jvm_refer_to_others(self):
        self.environment["PROBE_PROGRAM"] = "outer"
        self.run_probe("Options", "-Dmapreduce.map.env=PROBE_SHAPE=$PROBE_PROGRAM:$PROBE_NONE:{{PWD}}:{{PROBE_SIDE}}",
                       "-Dmapreduce.map.env.PROBE_SIDE=a,b",
                       "-Dmapreduce.admin.user.env=PROBE_SHAPE=first,LD_LIBRARY_PATH=/native")
        self.assertEqual(self.lines(), ["null first:outer::DIR:a,b DIR:/native\t4"])

    def test_a_worker_runs_tasks_that_print_and_keep_state(self):
        done = self.run_probe("Raw", "-Dmapreduce.map.java.opts=-XX:+UseParallelGC",
                              "-Dmapreduce.reduce.java.opts=-XX:+UseG1GC")
        self.assertIn("runs in JVMs of its own, 2 tasks at a time: ", done.stderr)
        lines = [line.split(" PS ") for line in self.lines()]
        # Each task has static fields of its own, in at most two JVMs.
        self.assertEqual([line[1] for line in lines], ["G1\t1"] * 4)
        self.assertLessEqual(len({line[0] for line in lines}), 2)

    def test_a_jvm_that_does_not_start_tells_why(self):
        done = self.run_probe("Words", "-Dmapreduce.map.java.opts=-Dprobe=1 -XX:NoSuchOption=1", code=1)
        self.assertIn("ended with exit code 1; it printed:\nUnrecognized VM option 'NoSuchOption=1'", done.stderr)

    def test_a_program_may_ship_a_file_of_its_directory(self):
        with open(f"{self.work}/side.txt", "w") as f:
            f.write("mine\n")
        done = subprocess.run(self.command("Cached", f"-Dprobe.side={self.work}/side.txt"), capture_output=True,
                              text=True, cwd=self.work, env=self.environment, timeout=TIMEOUT_S, check=False)
        self.assertIn("runs in this JVM", done.stderr)
        self.assertEqual(self.lines(), ["mine\t800"])
        self.assertEqual(os.listdir(self.work), ["side.txt"])

    @long_test
    def test_jars_come_with_the_job(self):
        source = os.path.join(self.home, "Word.java")
        with open(source, "w") as f:
            f.write('package shipped; public class Word { public String toString() { return "shipped"; } }')
        subprocess.run(["javac", "-nowarn", "--release", "8", "-Xlint:-options", "-d", self.home, source], check=True)
        jar = os.path.join(self.home, "word.jar")
        subprocess.run(["jar", "cf", jar, "-C", self.home, "shipped"], check=True)
        for isolation in ("threads", "jvms"):
            self.run_probe("Shipped", f"-Dyunti.hadoop.isolation={isolation}", "-libjars", jar)
            self.assertEqual(self.lines(), ["shipped\t4"])
            shutil.rmtree(self.out)

    def pool(self, *words):
        done = subprocess.run([YUNTI, "hadoop", "pool", *words], capture_output=True, text=True, cwd=self.work,
                              env=self.environment, timeout=TIMEOUT_S, check=True)
        return done.stdout

    @contextlib.contextmanager
    def warm(self):
        """Starts a pool, and lets a JVM wait for programs of this test."""
        self.pool("start")
        try:
            self.run_in_pool("Words")
            self.wait_for_jvm()
            yield
        finally:
            self.pool("stop")
        end = time.monotonic() + TIMEOUT_S
        while self.pool("status") != "no pool runs: yunti hadoop pool start\n":
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def wait_for_jvm(self):
        end = time.monotonic() + TIMEOUT_S
        while f" waits for programs in {self.work}\n" not in self.pool("status"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def run_in_pool(self, mode, *options, code=0):
        shutil.rmtree(self.out, ignore_errors=True)
        done = subprocess.run(self.command(mode, *options), capture_output=True, text=True, cwd=self.work,
                              env=self.environment, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    @long_test
    def test_a_jvm_of_the_pool_becomes_a_program(self):
        with self.warm():
            waits = self.pool("status").split()[self.pool("status").split().index("process") + 1]
            process = subprocess.Popen(self.command("Slow", "-Dprobe.sleep=5"), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True, cwd=self.work, env=self.environment)
            shutil.rmtree(self.out)
            self.assertIn("runs in this JVM", process.stderr.readline())
            self.assertIn("1 programs run", self.pool("status"))
            with open(f"/proc/{waits}/cmdline", "rb") as f:
                self.assertIn(b"runner.launch.Spare", f.read())
            process.communicate(timeout=TIMEOUT_S)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(len(self.lines()), 28)
            # Its jobs are numbered from 1, and the exit code is the program's.
            self.wait_for_jvm()
            done = self.run_in_pool("Failing", "-Dmapreduce.map.maxattempts=1", code=1)
            self.assertRegex(done.stderr, r"Task failed task_\d+_0001_m_00000\d")
            self.assertEqual(done.stdout.count("report task_"), 4)

    @long_test
    def test_another_environment_starts_another_jvm(self):
        with self.warm():
            waits = self.pool("status")
            self.environment["COLOUR"] = "green"
            self.run_in_pool("Words")
            self.assertIn(waits.splitlines()[1], self.pool("status"))

    @long_test
    def test_a_jar_that_changed_starts_another_jvm(self):
        library = os.path.join(self.home, "library.jar")
        shutil.copy(self.jar, library)
        self.environment["HADOOP_CLASSPATH"] = library
        with self.warm():
            waits = self.pool("status")
            os.utime(library)
            self.run_in_pool("Words")
            self.assertIn(waits.splitlines()[1], self.pool("status"))

    @long_test
    def test_signals_reach_a_program_of_the_pool(self):
        with self.warm():
            shutil.rmtree(self.out)
            process = subprocess.Popen(self.command("Slow"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                       cwd=self.work, env=self.environment)
            self.assertIn("runs in this JVM", process.stderr.readline())
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=TIMEOUT_S)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(os.listdir(self.out), [])

    def test_wrong_commands_have_one_line(self):
        empty = os.path.join(self.home, "empty.jar")
        with open(empty, "w"):
            pass
        for words, code, line in (
            ([], 2, "yunti: no jar is named: yunti hadoop run JAR [MAIN_CLASS] [ARGUMENT ..]"),
            (["--fast"], 2, "yunti: there is no option --fast: options of the program come after its jar"),
            (["none.jar"], 3, "yunti: there is no jar none.jar"),
            (["--cgroup", "a/b", self.jar], 2, "yunti: --cgroup: 'a/b' is no name of a group: "),
            (["--cgroup=g,memory=none", self.jar], 2, "yunti: --cgroup: 'none' is no size: "),
            ([self.jar], 2, f"yunti: {self.jar} names no main class: give one after the jar"),
            ([self.jar, "com.acme.None"], 2, f"yunti: there is no class com.acme.None in {self.jar}"),
            ([self.jar, "Probe$Sum"], 2, "yunti: Probe$Sum has no static method main(String[])"),
            ([empty], 3, f"yunti: {empty} is no jar: "),
        ):
            done = subprocess.run([YUNTI, "hadoop", "run", *words], capture_output=True, text=True, cwd=self.work,
                                  env=self.environment, timeout=TIMEOUT_S, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue(done.stderr.startswith(line) and done.stderr.count("\n") == 1, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
