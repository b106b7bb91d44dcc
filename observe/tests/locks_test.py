"""`yunti observe locks` on programs that measure their own waits."""

import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from looking import (  # noqa: E402
    HERE, NOBODY, ROOT, YUNTI, Started, compiled, container, java_versions, left_in_container,
    may_be_others, observe, within,
)
import twice  # noqa: E402  (looking.py knows where it is)
from long_tests import long_test  # noqa: E402

# Longest measurement; most end as soon as the program has done its work.
SECONDS = 40


def linked_to(pid, word):
    """Returns the number of open files of a process with a word in their names."""
    with contextlib.suppress(OSError):
        links = [os.readlink(path) for path in glob.glob(f"/proc/{pid}/fd/*") if os.path.lexists(path)]
        return sum(word in link for link in links)
    return 0


def is_recording(pid):
    """Returns true if the agent in a JVM records. It writes the head of its memory last."""
    for path in glob.glob(f"/proc/{pid}/fd/*"):
        with contextlib.suppress(OSError):
            if "memfd:.yunti" in os.readlink(path):
                with open(path, "rb") as f:
                    return f.read(8) == b"ytlocks3"
    return False


def until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "the condition did not become true in time"
        time.sleep(0.02)


class Measurement:
    """A running observer. It measures what the body of `with` does."""

    def __init__(self, pid, *words, before=(), program=YUNTI, native=False):
        command = [program, "observe"] if program == YUNTI else [program]
        self.process = subprocess.Popen(
            [*before, *command, "locks", "-p", str(pid), "-s", str(SECONDS), "--json", *words],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid, self.native, self.document = pid, native, None

    def __enter__(self):
        if self.native:
            until(
                lambda: (
                    self.process.poll() is not None
                    or linked_to(self.process.pid, "bpf_link") + linked_to(self.process.pid, "bpf-raw") >= 2
                )
            )
            time.sleep(0.2)
        else:
            until(lambda: self.process.poll() is not None or is_recording(self.pid))
        return self

    def __exit__(self, *_):
        if self.document is None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.end()

    def end(self):
        if self.document is None:
            output, _ = self.process.communicate(timeout=30)
            self.document = json.loads(output or "{}")

    def locks(self):
        return {lock["lock"]: lock for lock in self.document["locks"]}


def send_line(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()


def ask(process, line, others=None):
    send_line(process, line)
    return answer_of(process, others)


def answer_of(process, others=None):
    for answer in process.stdout:
        if answer.startswith(("{", "[")):
            return json.loads(answer)
        # A line of the JVM itself.
        if others is not None:
            others.append(answer)
    raise AssertionError("the target has ended")


class Waits(unittest.TestCase):
    def check_sums(self, lock):
        self.assertEqual(sum(bar["count"] for bar in lock["histogram"]), lock["contentions"])
        self.assertEqual(sum(waiter["waits"] for waiter in lock["waiters"]), lock["contentions"])
        self.assertEqual(sum(waiter["total_ns"] for waiter in lock["waiters"]), lock["total_ns"])

    def assert_near(self, measured, expected, delta=0.05):
        self.assertAlmostEqual(measured / expected, 1, delta=delta)


class Native(Waits):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root may observe futexes")
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.folder.name, "locks")
        subprocess.run(
            ["gcc", "-O2", "-o", cls.program, os.path.join(HERE, "targets/native/locks.c"), "-lpthread"], check=True
        )

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, truth, document):
        for expected in truth:
            # The futex words of a lock are within it.
            inside = [
                lock
                for lock in document["locks"]
                if 0 <= int(lock["lock"].rsplit("0x", 1)[1], 16) - expected["at"] < expected["bytes"]
            ]
            self.assertTrue(inside, expected)
            self.assertEqual({lock["kind"] for lock in inside}, {expected["name"]})
            self.assert_near(sum(lock["total_ns"] for lock in inside), expected["total_ns"])
            # A thread may sleep twice for one lock.
            self.assertGreaterEqual(sum(lock["contentions"] for lock in inside), expected["waits"])
            for lock in inside:
                self.check_sums(lock)

    def test_locks_of_the_c_library(self):
        with Started(self.program) as process:
            with Measurement(process.pid, "--all", native=True) as run:
                truth = ask(process, "go")
        self.check(truth, run.document)
        # Also the condition; joining threads is a condition too.
        self.assertIn("condition", {lock["kind"] for lock in run.document["locks"]})
        mutex = next(lock for lock in run.document["locks"] if lock["kind"] == "mutex")
        self.assertIn("lets_it_go", str(mutex["holding"]))
        self.assertIn("pthread_mutex_lock", str(mutex["waiting"]))

    def test_a_mutex_of_rust(self):
        program = os.path.join(self.folder.name, "rust-locks")
        subprocess.run(
            ["rustc", "--edition", "2024", "-O", "-o", program, os.path.join(HERE, "targets/native/locks.rs")], check=True
        )
        with Started(program) as process:
            with Measurement(process.pid, native=True) as run:
                truth = ask(process, "go")
        self.check(truth, run.document)

    def test_a_condition_is_no_contention(self):
        with Started(self.program) as process:
            with Measurement(process.pid, native=True) as run:
                ask(process, "go")
        self.assertNotIn("condition", {lock["kind"] for lock in run.document["locks"]})

    def test_without_root(self):
        if not may_be_others():
            self.skipTest("only root can become another user")
        os.chmod(self.folder.name, 0o755)
        with Started(*NOBODY, self.program) as process:
            output = observe("locks", "-p", process.pid, "-s", 1, before=NOBODY, code=3).stderr
        self.assertEqual(len(output.strip().splitlines()), 1, output)
        self.assertIn("root", output)


class Java:
    """Tests on one JDK."""

    version = ""

    @classmethod
    def setUpClass(cls):
        home = java_versions().get(cls.version)
        if not home:
            raise unittest.SkipTest(f"there is no JDK {cls.version}")
        cls.home = home
        cls.folder = tempfile.TemporaryDirectory()
        cls.java = cls.command(cls.folder.name)
        compiled(cls.folder.name, "Locks")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def command(cls, folder, *options):
        opened = [
            word
            for name in ("java.util.concurrent", "java.util.concurrent.locks")
            for word in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")
        ]
        return [os.path.join(cls.home, "bin/java"), *options, *opened, "-cp", folder, "Locks"]

    def left(self, process):
        return glob.glob(f"/tmp/.yunti-observe-{process.pid}-*") + glob.glob(f"/tmp/.attach_pid{process.pid}")

    def check_kinds(self, truth, run):
        locks = run.locks()
        for expected in truth["locks"]:
            name = expected["lock"].replace("java.lang.Class@", "java.lang.Class of Locks@")
            self.assertIn(name, locks)
            lock = locks[name]
            self.check_sums(lock)
            waits, total = (sum(column) for column in zip(*expected["threads"].values()))
            self.assert_near(lock["total_ns"], total)
            # A semaphore's waiter may sleep twice for one permit.
            found = {waiter["thread"]: waiter["waits"] for waiter in lock["waiters"]}
            if expected["name"] == "permits":
                self.assertGreaterEqual(lock["contentions"], waits)
                self.assertEqual(set(found), set(expected["threads"]))
            else:
                self.assertEqual(lock["contentions"], waits, name)
                self.assertEqual(found, {thread: n for thread, (n, _) in expected["threads"].items()})
            for waiter in lock["waiters"]:
                self.assert_near(waiter["total_ns"], expected["threads"][waiter["thread"]][1], 0.1)
            # Permits and stamps have no owner.
            if expected["name"] not in ("permits", "stamped"):
                found = {holder["thread"] for holder in lock["holders"]}
                # A monitor has only the number of a virtual thread. The name is unknown if the thread never waits.
                if lock["kind"] == "monitor" and expected["holder"].startswith("virtual"):
                    expected["holder"] = expected["holder"].rsplit(" ", 1)[0]
                self.assertEqual(found, {expected["holder"]})
                # A sleeping virtual thread has no stack.
                if not expected["holder"].startswith("virtual"):
                    self.assertIn(expected["method"], str(lock["holding"]))
            self.assertIn("Locks$Waiter.take", str(lock["waiting"]))
            self.assertNotIn("yunti_", str(lock["waiting"]))

    def log_of(self, process):
        """Returns the configuration of the target's log."""
        output = subprocess.run(
            [os.path.join(self.home, "bin/jcmd"), str(process.pid), "VM.log", "list"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        return output.split("Log output configuration")[1].replace(" (reconfigured)", "")

    def test_every_kind_of_lock(self):
        with Started(*self.java) as process:
            log = self.log_of(process)
            with Measurement(process.pid) as run:
                ask(process, "idle")
                # The collector runs at the same time and moves the locks.
                truth = ask(process, "kinds")
            self.check_kinds(truth, run)
            # No waits for work, results or time. (Threads also contend for monitors while the JVM loads classes.)
            self.assertLessEqual({lock["kind"] for lock in run.document["locks"]}, {"monitor", "lock", "synchronizer"})
            self.assertEqual(
                sum("concurrent" in name for name in run.locks()),
                sum("concurrent" in lock["lock"] for lock in truth["locks"]),
            )
            # A second measurement, with these waits too.
            with Measurement(process.pid, "--all") as again:
                time.sleep(0.3)
            found = {lock["lock"] for lock in again.document["locks"] if lock["kind"] == "condition"}
            self.assertLessEqual(
                {
                    "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject",
                    "java.util.concurrent.FutureTask",
                    "java.util.concurrent.CountDownLatch$Sync",
                },
                found,
            )
            self.assertEqual({lock["kind"] for lock in again.document["locks"]}, {"condition"})
            self.assertEqual(self.log_of(process), log)
            process.stdin.close()
            output = [line for line in process.stdout if not line.startswith("WARNING: ")]
        self.assertEqual(output, [])
        self.assertEqual(self.left(process), [])

    def test_nothing_is_contended(self):
        with Started(*self.java) as process:
            output = observe("locks", "-p", process.pid, "-s", 0.3).stdout
        self.assertIn("no lock contention", output)

    def test_waits_that_begin_before_or_end_after(self):
        with Started(*self.java) as process:
            ask(process, "stick")
            with Measurement(process.pid) as run:
                begun = time.monotonic_ns()
                time.sleep(0.4)
                monitor, lock = ask(process, "unstick")
            locks = run.locks()
            # The monitor is known when its wait ends. The end of a wait for a lock is unknown.
            found = locks[monitor["lock"].replace("[I@", "int[]@")]
            self.assertEqual(found["contentions"], 1)
            self.assertAlmostEqual(found["total_ns"] / 1e9, (monitor["ended_ns"] - begun) / 1e9, delta=0.25)
            self.assertNotIn(lock["lock"], locks)
            self.assertIn("1 waits that began before", str(run.document["skipped"]))
            # Waits through the whole measurement.
            ask(process, "stick")
            with Measurement(process.pid) as run:
                time.sleep(0.4)
            locks = run.locks()
            self.assertEqual(len(locks), 2, list(locks))
            self.assertEqual(
                {holder["thread"].split(" ")[0] for holder in locks[lock["lock"]]["holders"]}, {"stuck-lock-holder"}
            )
            monitors = [name for name in locks if name.startswith("a monitor with waits through the whole measurement")]
            self.assertEqual(len(monitors), 1)
            for found in locks.values():
                self.assertEqual(found["contentions"], 1)
                self.assertAlmostEqual(found["total_ns"] / 1e9, run.document["seconds"], delta=0.3)
                self.assertIn("Locks$Waiter.take", str(found["waiting"]))
            ask(process, "unstick")
            # Waits that begin in it and do not end.
            with Measurement(process.pid) as run:
                began = {each["lock"].replace("[I@", "int[]@"): each["began_ns"] for each in ask(process, "stick")}
                time.sleep(0.2)
                end = time.monotonic_ns()
            self.assertEqual(set(run.locks()), set(began))
            for name, found in run.locks().items():
                self.assertAlmostEqual(found["total_ns"] / 1e9, (end - began[name]) / 1e9, delta=0.15)

    def test_a_thousand_threads_and_many_short_waits(self):
        with Started(*self.java) as process:
            with Measurement(process.pid) as run:
                truth = ask(process, "many")
                hurry = ask(process, "hurry 300")
        locks = run.locks()
        for expected in truth["locks"]:
            lock = locks[expected["lock"]]
            waits, total = (sum(column) for column in zip(*expected["threads"].values()))
            self.assertEqual(lock["contentions"], waits)
            # Threads also wait for a processor, between their clock and the lock.
            self.assert_near(lock["total_ns"], total, 0.2)
            self.check_sums(lock)
        lock = locks[hurry["lock"]]
        self.check_sums(lock)
        self.assertLessEqual(lock["contentions"], 2 * hurry["taken"])
        self.assertLessEqual(lock["total_ns"], hurry["total_ns"])
        # More waits than stacks; none is lost.
        self.assertRegex(str(run.document["skipped"]), r"stacks of \d+ waits")
        self.assertNotIn("the buffer was full", str(run.document["skipped"]))

    def test_in_a_container(self):
        if os.geteuid() != 0:
            self.skipTest("only root can create namespaces here")
        with tempfile.TemporaryDirectory(dir=os.path.join(ROOT, "build")) as folder:
            shutil.copytree(self.folder.name, folder, dirs_exist_ok=True)
            with Started(*container(*self.command(folder))) as process:
                pid = within(process)
                with Measurement(pid) as run:
                    truth = ask(process, "kinds")
                self.check_kinds(truth, run)
                left = left_in_container(pid)
        self.assertEqual(left, [])

    def test_without_root(self):
        if not may_be_others():
            self.skipTest("only root can become another user")
        os.chmod(self.folder.name, 0o777)
        log = os.path.join(self.folder.name, "jvm.log")
        # No data for jstat, and its own log file.
        command = self.command(self.folder.name, "-XX:-UsePerfData", f"-Xlog:all=warning,gc=info:file={log}")
        with Started(*NOBODY, *command) as process:
            with Measurement(process.pid, before=NOBODY) as run:
                truth = ask(process, "one")
            self.check_kinds(truth, run)
            other = observe("locks", "-p", os.getpid(), "-s", 1, before=NOBODY, code=3)
            with open(log) as f:
                self.assertNotIn("native method", f.read())
        self.assertIn("root", other.stderr)
        self.assertEqual(self.left(process), [])

    def test_native_locks_of_a_jvm(self):
        if os.geteuid() != 0:
            self.skipTest("only root may observe futexes")
        with Started(*self.java) as process:
            with Measurement(process.pid, "--native", "--all", native=True) as run:
                ask(process, "one")
                ask(process, "idle")
                time.sleep(0.3)
        self.assertIn("Locks", str([lock["waiting"] for lock in run.document["locks"]]))

    def test_killed_observer_leaves_nothing(self):
        with Started(*self.java) as process:
            log = self.log_of(process)
            with Measurement(process.pid) as run:
                self.assertNotEqual(self.left(process), [])
                # The state right after the warning is silenced.
                quiet = [
                    os.path.join(self.home, "bin/jcmd"),
                    str(process.pid),
                    "VM.log",
                    "output=stdout",
                    "what=jni+resolve=off",
                ]
                subprocess.run(quiet, check=True, stdout=subprocess.DEVNULL)
                run.process.kill()
                run.end()
            until(lambda: not self.left(process) and not linked_to(process.pid, "memfd:.yunti"))
            until(lambda: self.log_of(process) == log)
            # The JVM goes on and can be measured again.
            ask(process, "one")
            with Measurement(process.pid) as run:
                truth = ask(process, "one")
            self.check_kinds(truth, run)

    def test_a_target_that_ends(self):
        with Started(*self.java) as process:
            with Measurement(process.pid) as run:
                send_line(process, "one\nexit")
                run.end()
        self.assertTrue(run.document["target_ended"])
        # The JVM's shutdown uses monitors too.
        self.assertIn(20, [lock["contentions"] for lock in run.document["locks"]])

    def test_a_target_that_is_killed(self):
        with Started(*self.java) as process:
            with Measurement(process.pid) as run:
                ask(process, "one")
                stuck = ask(process, "stick")
                process.kill()
                run.end()
        self.assertTrue(run.document["target_ended"])
        # Waits that had ended, and waits that had not.
        self.assertIn(20, [lock["contentions"] for lock in run.document["locks"]])
        for each in stuck:
            self.assertEqual(run.locks()[each["lock"].replace("[I@", "int[]@")]["contentions"], 1)
        self.assertEqual(self.left(process), [])

    def test_two_observers(self):
        with Started(*self.java) as process:
            with Measurement(process.pid) as run:
                second = observe("locks", "-p", process.pid, "-s", 1, code=3)
                self.assertIn("another profiler is running", second.stderr)
                truth = ask(process, "one")
        self.check_kinds(truth, run)

    def test_a_measurement_without_an_observer(self):
        library = os.path.join(os.path.dirname(YUNTI), "../lib/yunti/libyunti-locks.so")
        with Started(*self.java) as process:
            # As if the observer and its guard had been killed, with one second to go.
            left = [
                os.path.join(self.home, "bin/jcmd"),
                str(process.pid),
                "JVMTI.agent_load",
                library,
                "start,left,0,1",
            ]
            subprocess.run(left, check=True, stdout=subprocess.DEVNULL)
            self.assertIn(
                "another measurement of locks is running", observe("locks", "-p", process.pid, "-s", 1, code=3).stderr
            )
            time.sleep(1)
            with Measurement(process.pid) as run:
                truth = ask(process, "one")
        self.check_kinds(truth, run)


class Java17(Java, Waits):
    version = "17"


@long_test
class Java25(Java, Waits):
    version = "25"

    def test_every_kind_of_lock_of_virtual_threads(self):
        with Started(*self.java) as process:
            with Measurement(process.pid) as run:
                truth = ask(process, "virtual")
            self.check_kinds(truth, run)
            # Other threads too.
            with Measurement(process.pid) as run:
                truth = ask(process, "one")
            self.check_kinds(truth, run)
        self.assertNotIn("virtual", str(run.document["skipped"]))
        self.assertEqual(self.left(process), [])

    def test_a_virtual_thread_that_waits_for_work(self):
        with Started(*self.java) as process:
            ask(process, "idle-virtual")
            with Measurement(process.pid, "--all") as run:
                time.sleep(0.4)
        of_it = [
            waiter | {"kind": lock["kind"]}
            for lock in run.document["locks"]
            for waiter in lock["waiters"]
            if waiter["thread"].endswith(" idle")
        ]
        (found,) = of_it
        self.assertEqual(found["kind"], "condition")
        self.assertAlmostEqual(found["total_ns"] / 1e9, run.document["seconds"], delta=0.2)

    def test_eight_thousand_virtual_threads_at_once(self):
        with Started(*self.java) as process:
            with Measurement(process.pid) as run:
                truth = ask(process, "many-virtual")
        for expected in truth["locks"]:
            lock = run.locks()[expected["lock"]]
            waits, total = (sum(column) for column in zip(*expected["threads"].values()))
            self.assertEqual(lock["contentions"], waits)
            self.assert_near(lock["total_ns"], total)
            self.check_sums(lock)
            self.assertEqual({waiter["thread"] for waiter in lock["waiters"]}, set(expected["threads"]))
        self.assertNotIn("the buffer was full", str(run.document["skipped"]))

    def test_a_pinned_virtual_thread(self):
        with Started(*self.java) as process:
            with Measurement(process.pid) as run:
                truth = ask(process, "pinned")
        (expected,) = truth["locks"]
        lock = run.locks()[expected["lock"]]
        self.check_sums(lock)
        self.assertEqual(lock["contentions"], 1)
        # The program's own time includes class loading.
        (total,) = (ns for _, ns in expected["threads"].values())
        self.assertAlmostEqual(lock["total_ns"] / 1e9, total / 1e9, delta=0.05)
        self.assertEqual([holder["thread"] for holder in lock["holders"]], [expected["holder"]])

    def test_virtual_threads_that_wait_before_or_after(self):
        with Started(*self.java) as process:
            ask(process, "stick-virtual")
            with Measurement(process.pid) as run:
                begun = time.monotonic_ns()
                time.sleep(0.4)
                ended = ask(process, "unstick-virtual")
            # The lock is known when the thread mounts again.
            for each in ended:
                found = run.locks()[each["lock"].replace("[I@", "int[]@")]
                self.assertEqual(found["contentions"], 1)
                self.assertAlmostEqual(found["total_ns"] / 1e9, (each["ended_ns"] - begun) / 1e9, delta=0.25)
            # Waits through the whole measurement.
            monitor, lock = ask(process, "stick-virtual")
            with Measurement(process.pid) as run:
                time.sleep(0.4)
            locks = run.locks()
            self.assertEqual(len(locks), 2, list(locks))
            self.assertIn(lock["lock"], locks)
            self.assertIn("stuck-lock-holder", str(locks[lock["lock"]]["holders"]))
            self.assertEqual(
                len([name for name in locks if name.startswith("a monitor with waits through the whole measurement")]),
                1,
            )
            for found in locks.values():
                self.assertAlmostEqual(found["total_ns"] / 1e9, run.document["seconds"], delta=0.3)
            ask(process, "unstick-virtual")
            # Waits that begin in it and do not end; reported even if the JVM is killed.
            with Measurement(process.pid) as run:
                stuck = ask(process, "stick-virtual")
                process.kill()
                run.end()
        for each in stuck:
            found = run.locks()[each["lock"].replace("[I@", "int[]@")]
            self.assertEqual(found["contentions"], 1)
            self.assertIn("stuck-", str(found["waiters"]))

    def test_measurements_of_virtual_threads_at_any_moment(self):
        with Started(*self.java) as process:
            for threads in (4, 2000):
                send_line(process, f"pass {threads} 2500")
                for _ in range(4):
                    observe("locks", "-p", process.pid, "-s", 0.1)
                with Measurement(process.pid) as run:
                    time.sleep(0.1)
                    run.process.kill()
                    run.end()
                until(lambda: not linked_to(process.pid, "memfd:.yunti"))
                self.assertGreater(answer_of(process)["taken"], 0)
            # The target ends in the middle.
            with Measurement(process.pid) as run:
                send_line(process, "pass 2000 20000")
                time.sleep(0.3)
                process.terminate()
                run.end()
            self.assertEqual(process.wait(timeout=20), 143)
        self.assertTrue(run.document["target_ended"])


@long_test
class Checked(Waits):
    """The agent under the JVM's checks and under sanitizers."""

    def test_by_the_jvm(self):
        self.check_by_the_jvm(Java17, "kinds")

    def test_virtual_threads_by_the_jvm(self):
        self.check_by_the_jvm(Java25, "virtual")

    def check_by_the_jvm(self, of, work):
        of.setUpClass()
        self.addCleanup(of.tearDownClass)
        with Started(*of.command(of.folder.name, "-Xcheck:jni")) as process:
            lines = []
            with Measurement(process.pid):
                ask(process, work, lines)
            with Measurement(process.pid) as run:
                truth = ask(process, "one", lines)
            process.stdin.close()
            output = "".join(lines) + process.stdout.read()
        # Warnings about async-profiler do not count.
        self.assertNotIn("libyunti-locks", output)
        self.assertIn(truth["locks"][0]["lock"], run.locks())

    def test_by_sanitizers(self):
        self.check_by_sanitizers(Java17, ["kinds", "stick"], "unstick")

    def test_virtual_threads_by_sanitizers(self):
        self.check_by_sanitizers(Java25, ["virtual", "pass 100 300", "stick-virtual"], "unstick-virtual")

    def check_by_sanitizers(self, of, works, last):
        of.setUpClass()
        self.addCleanup(of.tearDownClass)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.join(os.path.dirname(YUNTI), "../lib/yunti"), os.path.join(folder, "lib/yunti"))
            program = os.path.join(folder, "libexec/yunti-observe")
            os.mkdir(os.path.dirname(program))
            shutil.copy(os.path.join(os.path.dirname(YUNTI), "../libexec/yunti-observe"), program)
            # The JVM handles segmentation faults itself.
            compiler = "gcc -fsanitize=address,undefined -fno-sanitize-recover=undefined"
            subprocess.run(
                [os.path.join(HERE, "../jvmti/build"), os.path.join(folder, "lib/yunti")],
                check=True,
                env=os.environ | {"CC": compiler},
            )
            runtimes = [
                subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
                for name in ("libasan.so", "libubsan.so")
            ]
            options = "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:allow_user_segv_handler=1:detect_leaks=0"
            with Started(
                "env", f"LD_PRELOAD={':'.join(runtimes)}", f"ASAN_OPTIONS={options}", *of.command(of.folder.name)
            ) as process:
                for work in works:
                    with Measurement(process.pid, program=program):
                        ask(process, work)
                with open(f"/proc/{process.pid}/maps") as f:
                    self.assertIn(os.path.join(folder, "lib/yunti/libyunti-locks.so"), f.read())
                with Measurement(process.pid, program=program) as run:
                    ask(process, last)
                    truth = ask(process, "one")
                process.stdin.close()
                output = process.stdout.read()
        self.assertNotIn("Sanitizer", output)
        self.assertNotIn("runtime error", output)
        self.assertIn(truth["locks"][0]["lock"], run.locks())


if __name__ == "__main__":
    twice.main()
