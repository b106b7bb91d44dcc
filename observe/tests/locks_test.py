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
from looking import HERE, NOBODY, ROOT, YUNTI, Started, compiled, container, java_versions, may_be_others, observe, within  # noqa: E402
import twice  # noqa: E402  (looking.py knows where it is)

# The most that a look may last; most are ended as soon as the program has done what is to be seen.
SECONDS = 40


def linked_to(pid, word):
    """How many files of a process have a word in their names."""
    with contextlib.suppress(OSError):
        links = [os.readlink(path) for path in glob.glob(f"/proc/{pid}/fd/*") if os.path.lexists(path)]
        return sum(word in link for link in links)
    return 0


def is_at_work(pid):
    """Whether the agent in a JVM writes: the head of its memory is written last."""
    for path in glob.glob(f"/proc/{pid}/fd/*"):
        with contextlib.suppress(OSError):
            if "memfd:.yunti" in os.readlink(path):
                with open(path, "rb") as f:
                    return f.read(8) == b"ytlocks3"
    return False


def until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.02)


class Look:
    """An observer at work: it sees what is done within `with`."""

    def __init__(self, pid, *words, before=(), program=YUNTI, native=False):
        command = [program, "observe"] if program == YUNTI else [program]
        self.process = subprocess.Popen([*before, *command, "locks", "-p", str(pid), "-s", str(SECONDS), "--json", *words], stdout=subprocess.PIPE, text=True)
        self.pid, self.native, self.document = pid, native, None

    def __enter__(self):
        if self.native:
            until(lambda: self.process.poll() is not None or linked_to(self.process.pid, "bpf_link") + linked_to(self.process.pid, "bpf-raw") >= 2)
            time.sleep(0.2)
        else:
            until(lambda: self.process.poll() is not None or is_at_work(self.pid))
        return self

    def __exit__(self, *_):
        if self.document is None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.end()

    def end(self):
        if self.document is None:
            said, _ = self.process.communicate(timeout=30)
            self.document = json.loads(said or "{}")

    def locks(self):
        return {lock["lock"]: lock for lock in self.document["locks"]}


def say(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()


def ask(process, line, told=None):
    say(process, line)
    return answer_of(process, told)


def answer_of(process, told=None):
    for answer in process.stdout:
        if answer.startswith(("{", "[")):
            return json.loads(answer)
        # The JVM's own words.
        if told is not None:
            told.append(answer)
    raise AssertionError("the target has ended")


class Waits(unittest.TestCase):
    def check_sums(self, lock):
        self.assertEqual(sum(bar["count"] for bar in lock["histogram"]), lock["contentions"])
        self.assertEqual(sum(waiter["waits"] for waiter in lock["waiters"]), lock["contentions"])
        self.assertEqual(sum(waiter["total_ns"] for waiter in lock["waiters"]), lock["total_ns"])

    def assert_near(self, seen, expected, delta=0.05):
        self.assertAlmostEqual(seen / expected, 1, delta=delta)


class Native(Waits):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root may look at futexes")
        cls.folder = tempfile.TemporaryDirectory()
        cls.program = os.path.join(cls.folder.name, "locks")
        subprocess.run(["gcc", "-O2", "-o", cls.program, os.path.join(HERE, "targets/locks.c"), "-lpthread"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, truth, document):
        for expected in truth:
            # The words that a lock sleeps on lie within it.
            inside = [lock for lock in document["locks"] if 0 <= int(lock["lock"].rsplit("0x", 1)[1], 16) - expected["at"] < expected["bytes"]]
            self.assertTrue(inside, expected)
            self.assertEqual({lock["kind"] for lock in inside}, {expected["name"]})
            self.assert_near(sum(lock["total_ns"] for lock in inside), expected["total_ns"])
            # A thread may sleep twice for one lock.
            self.assertGreaterEqual(sum(lock["contentions"] for lock in inside), expected["waits"])
            for lock in inside:
                self.check_sums(lock)

    def test_locks_of_the_c_library(self):
        with Started(self.program) as process:
            with Look(process.pid, "--all", native=True) as look:
                truth = ask(process, "go")
        self.check(truth, look.document)
        # And the condition; waiting for threads to end is its like.
        self.assertIn("condition", {lock["kind"] for lock in look.document["locks"]})
        mutex = next(lock for lock in look.document["locks"] if lock["kind"] == "mutex")
        self.assertIn("lets_it_go", str(mutex["holding"]))
        self.assertIn("pthread_mutex_lock", str(mutex["waiting"]))

    def test_a_mutex_of_rust(self):
        program = os.path.join(self.folder.name, "rust-locks")
        subprocess.run(["rustc", "--edition", "2024", "-O", "-o", program, os.path.join(HERE, "targets/locks.rs")], check=True)
        with Started(program) as process:
            with Look(process.pid, native=True) as look:
                truth = ask(process, "go")
        self.check(truth, look.document)

    def test_a_condition_is_no_contention(self):
        with Started(self.program) as process:
            with Look(process.pid, native=True) as look:
                ask(process, "go")
        self.assertNotIn("condition", {lock["kind"] for lock in look.document["locks"]})

    def test_without_root(self):
        if not may_be_others():
            self.skipTest("only root can be somebody else")
        os.chmod(self.folder.name, 0o755)
        with Started(*NOBODY, self.program) as process:
            said = observe("locks", "-p", process.pid, "-s", 1, before=NOBODY, code=3).stderr
        self.assertEqual(len(said.strip().splitlines()), 1, said)
        self.assertIn("root", said)


class Java:
    """The tests of one JDK."""

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
        opened = [word for name in ("java.util.concurrent", "java.util.concurrent.locks") for word in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")]
        return [os.path.join(cls.home, "bin/java"), *options, *opened, "-cp", folder, "Locks"]

    def left(self, process):
        return glob.glob(f"/tmp/.yunti-observe-{process.pid}-*") + glob.glob(f"/tmp/.attach_pid{process.pid}")

    def check_kinds(self, truth, look):
        locks = look.locks()
        for expected in truth["locks"]:
            name = expected["lock"].replace("java.lang.Class@", "java.lang.Class of Locks@")
            self.assertIn(name, locks)
            lock = locks[name]
            self.check_sums(lock)
            waits, total = (sum(column) for column in zip(*expected["threads"].values()))
            self.assert_near(lock["total_ns"], total)
            # A semaphore's waiter may sleep twice for one permit.
            seen = {waiter["thread"]: waiter["waits"] for waiter in lock["waiters"]}
            if expected["name"] == "permits":
                self.assertGreaterEqual(lock["contentions"], waits)
                self.assertEqual(set(seen), set(expected["threads"]))
            else:
                self.assertEqual(lock["contentions"], waits, name)
                self.assertEqual(seen, {thread: n for thread, (n, _) in expected["threads"].items()})
            for waiter in lock["waiters"]:
                self.assert_near(waiter["total_ns"], expected["threads"][waiter["thread"]][1], 0.1)
            # Nobody owns a permit or a stamp.
            if expected["name"] not in ("permits", "stamped"):
                seen = {holder["thread"] for holder in lock["holders"]}
                # A monitor says the number of a virtual thread, and one that never waits is known by no name.
                if lock["kind"] == "monitor" and expected["holder"].startswith("virtual"):
                    expected["holder"] = expected["holder"].rsplit(" ", 1)[0]
                self.assertEqual(seen, {expected["holder"]})
                # Of a virtual thread that sleeps there is none.
                if not expected["holder"].startswith("virtual"):
                    self.assertIn(expected["method"], str(lock["holding"]))
            self.assertIn("Locks$Waiter.take", str(lock["waiting"]))
            self.assertNotIn("yunti_", str(lock["waiting"]))

    def log_of(self, process):
        """What the target's log is set to."""
        said = subprocess.run([os.path.join(self.home, "bin/jcmd"), str(process.pid), "VM.log", "list"], capture_output=True, text=True, check=True).stdout
        return said.split("Log output configuration")[1].replace(" (reconfigured)", "")

    def test_every_kind_of_lock(self):
        with Started(*self.java) as process:
            log = self.log_of(process)
            with Look(process.pid) as look:
                ask(process, "idle")
                # The collector is at work meanwhile, and moves the locks.
                truth = ask(process, "kinds")
            self.check_kinds(truth, look)
            # Nothing that waits for work, results or time. (Threads meet at monitors while the JVM loads classes, too.)
            self.assertLessEqual({lock["kind"] for lock in look.document["locks"]}, {"monitor", "lock", "synchronizer"})
            self.assertEqual(sum("concurrent" in name for name in look.locks()), sum("concurrent" in lock["lock"] for lock in truth["locks"]))
            # Another look after the first; now those too.
            with Look(process.pid, "--all") as again:
                time.sleep(0.3)
            seen = {lock["lock"] for lock in again.document["locks"] if lock["kind"] == "condition"}
            self.assertLessEqual({"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", "java.util.concurrent.FutureTask",
                                  "java.util.concurrent.CountDownLatch$Sync"}, seen)
            self.assertEqual({lock["kind"] for lock in again.document["locks"]}, {"condition"})
            self.assertEqual(self.log_of(process), log)
            process.stdin.close()
            said = [line for line in process.stdout if not line.startswith("WARNING: ")]
        self.assertEqual(said, [])
        self.assertEqual(self.left(process), [])

    def test_nothing_is_contended(self):
        with Started(*self.java) as process:
            said = observe("locks", "-p", process.pid, "-s", 0.3).stdout
        self.assertIn("no lock contention", said)

    def test_waits_that_begin_before_or_are_not_over(self):
        with Started(*self.java) as process:
            ask(process, "stick")
            with Look(process.pid) as look:
                begun = time.monotonic_ns()
                time.sleep(0.4)
                monitor, lock = ask(process, "unstick")
            locks = look.locks()
            # Which monitor is known when the wait ends; when a wait for a lock has ended, nobody knows.
            seen = locks[monitor["lock"].replace("[I@", "int[]@")]
            self.assertEqual(seen["contentions"], 1)
            self.assertAlmostEqual(seen["total_ns"] / 1e9, (monitor["ended_ns"] - begun) / 1e9, delta=0.25)
            self.assertNotIn(lock["lock"], locks)
            self.assertIn("1 waits that began before", str(look.document["skipped"]))
            # All the time.
            ask(process, "stick")
            with Look(process.pid) as look:
                time.sleep(0.4)
            locks = look.locks()
            self.assertEqual(len(locks), 2, list(locks))
            self.assertEqual({holder["thread"].split(" ")[0] for holder in locks[lock["lock"]]["holders"]}, {"stuck-lock-holder"})
            self.assertEqual(len([name for name in locks if name.startswith("a monitor with waits through the whole measurement")]), 1)
            for seen in locks.values():
                self.assertEqual(seen["contentions"], 1)
                self.assertAlmostEqual(seen["total_ns"] / 1e9, look.document["seconds"], delta=0.3)
                self.assertIn("Locks$Waiter.take", str(seen["waiting"]))
            ask(process, "unstick")
            # Begun within, and not over.
            with Look(process.pid) as look:
                began = {each["lock"].replace("[I@", "int[]@"): each["began_ns"] for each in ask(process, "stick")}
                time.sleep(0.2)
                end = time.monotonic_ns()
            self.assertEqual(set(look.locks()), set(began))
            for name, seen in look.locks().items():
                self.assertAlmostEqual(seen["total_ns"] / 1e9, (end - began[name]) / 1e9, delta=0.15)

    def test_a_thousand_threads_and_many_short_waits(self):
        with Started(*self.java) as process:
            with Look(process.pid) as look:
                truth = ask(process, "many")
                hurry = ask(process, "hurry 300")
        locks = look.locks()
        for expected in truth["locks"]:
            lock = locks[expected["lock"]]
            waits, total = (sum(column) for column in zip(*expected["threads"].values()))
            self.assertEqual(lock["contentions"], waits)
            # Threads wait for a processor too, between their clock and the lock.
            self.assert_near(lock["total_ns"], total, 0.2)
            self.check_sums(lock)
        lock = locks[hurry["lock"]]
        self.check_sums(lock)
        self.assertLessEqual(lock["contentions"], 2 * hurry["taken"])
        self.assertLessEqual(lock["total_ns"], hurry["total_ns"])
        # More than stacks are taken of; none is lost.
        self.assertRegex(str(look.document["skipped"]), r"stacks of \d+ waits")
        self.assertNotIn("the buffer was full", str(look.document["skipped"]))

    def test_in_a_container(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make namespaces here")
        with tempfile.TemporaryDirectory(dir=os.path.join(ROOT, "build")) as folder:
            shutil.copytree(self.folder.name, folder, dirs_exist_ok=True)
            with Started(*container(*self.command(folder))) as process:
                pid = within(process)
                with Look(pid) as look:
                    truth = ask(process, "kinds")
                self.check_kinds(truth, look)
                left = [name for name in os.listdir(f"/proc/{pid}/root/tmp") if name.startswith(".yunti")]
        self.assertEqual(left, [])

    def test_without_root(self):
        if not may_be_others():
            self.skipTest("only root can be somebody else")
        os.chmod(self.folder.name, 0o777)
        log = os.path.join(self.folder.name, "jvm.log")
        # No data for jstat, and a log of its own.
        command = self.command(self.folder.name, "-XX:-UsePerfData", f"-Xlog:all=warning,gc=info:file={log}")
        with Started(*NOBODY, *command) as process:
            with Look(process.pid, before=NOBODY) as look:
                truth = ask(process, "one")
            self.check_kinds(truth, look)
            other = observe("locks", "-p", os.getpid(), "-s", 1, before=NOBODY, code=3)
            with open(log) as f:
                self.assertNotIn("native method", f.read())
        self.assertIn("root", other.stderr)
        self.assertEqual(self.left(process), [])

    def test_native_locks_of_a_jvm(self):
        if os.geteuid() != 0:
            self.skipTest("only root may look at futexes")
        with Started(*self.java) as process:
            with Look(process.pid, "--native", "--all", native=True) as look:
                ask(process, "one")
                ask(process, "idle")
                time.sleep(0.3)
        self.assertIn("Locks", str([lock["waiting"] for lock in look.document["locks"]]))

    def test_killed_observer_leaves_nothing(self):
        with Started(*self.java) as process:
            log = self.log_of(process)
            with Look(process.pid) as look:
                self.assertNotEqual(self.left(process), [])
                # As in the moment in which the JVM's log is told to be quiet.
                quiet = [os.path.join(self.home, "bin/jcmd"), str(process.pid), "VM.log", "output=stdout", "what=jni+resolve=off"]
                subprocess.run(quiet, check=True, stdout=subprocess.DEVNULL)
                look.process.kill()
                look.end()
            until(lambda: not self.left(process) and not linked_to(process.pid, "memfd:.yunti"))
            until(lambda: self.log_of(process) == log)
            # It goes on, and can be looked at again.
            ask(process, "one")
            with Look(process.pid) as look:
                truth = ask(process, "one")
            self.check_kinds(truth, look)

    def test_a_target_that_ends(self):
        with Started(*self.java) as process:
            with Look(process.pid) as look:
                say(process, "one\nexit")
                look.end()
        self.assertTrue(look.document["target_ended"])
        # The JVM's own last words are under monitors too.
        self.assertIn(20, [lock["contentions"] for lock in look.document["locks"]])

    def test_a_target_that_is_killed(self):
        with Started(*self.java) as process:
            with Look(process.pid) as look:
                ask(process, "one")
                stuck = ask(process, "stick")
                process.kill()
                look.end()
        self.assertTrue(look.document["target_ended"])
        # Waits that were over, and those that were not.
        self.assertIn(20, [lock["contentions"] for lock in look.document["locks"]])
        for each in stuck:
            self.assertEqual(look.locks()[each["lock"].replace("[I@", "int[]@")]["contentions"], 1)
        self.assertEqual(self.left(process), [])

    def test_two_observers(self):
        with Started(*self.java) as process:
            with Look(process.pid) as look:
                second = observe("locks", "-p", process.pid, "-s", 1, code=3)
                self.assertIn("another profiler is running", second.stderr)
                truth = ask(process, "one")
        self.check_kinds(truth, look)

    def test_a_look_that_nobody_has_ended(self):
        library = os.path.join(os.path.dirname(YUNTI), "../lib/yunti/libyunti-locks.so")
        with Started(*self.java) as process:
            # As one whose observer and whose guard have both been killed: a second is all it wanted.
            left = [os.path.join(self.home, "bin/jcmd"), str(process.pid), "JVMTI.agent_load", library, "start,left,0,1"]
            subprocess.run(left, check=True, stdout=subprocess.DEVNULL)
            self.assertIn("another measurement of locks is running", observe("locks", "-p", process.pid, "-s", 1, code=3).stderr)
            time.sleep(1)
            with Look(process.pid) as look:
                truth = ask(process, "one")
        self.check_kinds(truth, look)


class Java17(Java, Waits):
    version = "17"


class Java25(Java, Waits):
    version = "25"

    def test_every_kind_of_lock_of_virtual_threads(self):
        with Started(*self.java) as process:
            with Look(process.pid) as look:
                truth = ask(process, "virtual")
            self.check_kinds(truth, look)
            # Others beside them.
            with Look(process.pid) as look:
                truth = ask(process, "one")
            self.check_kinds(truth, look)
        self.assertNotIn("virtual", str(look.document["skipped"]))
        self.assertEqual(self.left(process), [])

    def test_a_virtual_thread_that_waits_for_work(self):
        with Started(*self.java) as process:
            ask(process, "idle-virtual")
            with Look(process.pid, "--all") as look:
                time.sleep(0.4)
        of_it = [waiter | {"kind": lock["kind"]} for lock in look.document["locks"] for waiter in lock["waiters"] if waiter["thread"].endswith(" idle")]
        (seen,) = of_it
        self.assertEqual(seen["kind"], "condition")
        self.assertAlmostEqual(seen["total_ns"] / 1e9, look.document["seconds"], delta=0.2)

    def test_eight_thousand_virtual_threads_at_once(self):
        with Started(*self.java) as process:
            with Look(process.pid) as look:
                truth = ask(process, "many-virtual")
        for expected in truth["locks"]:
            lock = look.locks()[expected["lock"]]
            waits, total = (sum(column) for column in zip(*expected["threads"].values()))
            self.assertEqual(lock["contentions"], waits)
            self.assert_near(lock["total_ns"], total)
            self.check_sums(lock)
            self.assertEqual({waiter["thread"] for waiter in lock["waiters"]}, set(expected["threads"]))
        self.assertNotIn("the buffer was full", str(look.document["skipped"]))

    def test_a_virtual_thread_that_cannot_leave_its_carrier(self):
        with Started(*self.java) as process:
            with Look(process.pid) as look:
                truth = ask(process, "pinned")
        (expected,) = truth["locks"]
        lock = look.locks()[expected["lock"]]
        self.check_sums(lock)
        self.assertEqual(lock["contentions"], 1)
        # Classes are loaded within what the program measures.
        (total,) = (ns for _, ns in expected["threads"].values())
        self.assertAlmostEqual(lock["total_ns"] / 1e9, total / 1e9, delta=0.05)
        self.assertEqual([holder["thread"] for holder in lock["holders"]], [expected["holder"]])

    def test_virtual_threads_that_wait_before_or_are_not_over(self):
        with Started(*self.java) as process:
            ask(process, "stick-virtual")
            with Look(process.pid) as look:
                begun = time.monotonic_ns()
                time.sleep(0.4)
                ended = ask(process, "unstick-virtual")
            # When it comes back, it is known what each has waited for.
            for each in ended:
                seen = look.locks()[each["lock"].replace("[I@", "int[]@")]
                self.assertEqual(seen["contentions"], 1)
                self.assertAlmostEqual(seen["total_ns"] / 1e9, (each["ended_ns"] - begun) / 1e9, delta=0.25)
            # All the time.
            monitor, lock = ask(process, "stick-virtual")
            with Look(process.pid) as look:
                time.sleep(0.4)
            locks = look.locks()
            self.assertEqual(len(locks), 2, list(locks))
            self.assertIn(lock["lock"], locks)
            self.assertIn("stuck-lock-holder", str(locks[lock["lock"]]["holders"]))
            self.assertEqual(len([name for name in locks if name.startswith("a monitor with waits through the whole measurement")]), 1)
            for seen in locks.values():
                self.assertAlmostEqual(seen["total_ns"] / 1e9, look.document["seconds"], delta=0.3)
            ask(process, "unstick-virtual")
            # Begun within, and not over: told, too, when the JVM is killed.
            with Look(process.pid) as look:
                stuck = ask(process, "stick-virtual")
                process.kill()
                look.end()
        for each in stuck:
            seen = look.locks()[each["lock"].replace("[I@", "int[]@")]
            self.assertEqual(seen["contentions"], 1)
            self.assertIn("stuck-", str(seen["waiters"]))

    def test_looks_at_virtual_threads_that_begin_and_end_in_any_moment(self):
        with Started(*self.java) as process:
            for threads in (4, 2000):
                say(process, f"pass {threads} 2500")
                for _ in range(4):
                    observe("locks", "-p", process.pid, "-s", 0.1)
                with Look(process.pid) as look:
                    time.sleep(0.1)
                    look.process.kill()
                    look.end()
                until(lambda: not linked_to(process.pid, "memfd:.yunti"))
                self.assertGreater(answer_of(process)["taken"], 0)
            # It ends in the middle.
            with Look(process.pid) as look:
                say(process, "pass 2000 20000")
                time.sleep(0.3)
                process.terminate()
                look.end()
            self.assertEqual(process.wait(timeout=20), 143)
        self.assertTrue(look.document["target_ended"])


class Checked(Waits):
    """The agent as the JVM and sanitizers see it."""

    def test_by_the_jvm(self):
        self.check_by_the_jvm(Java17, "kinds")

    def test_virtual_threads_by_the_jvm(self):
        self.check_by_the_jvm(Java25, "virtual")

    def check_by_the_jvm(self, of, work):
        of.setUpClass()
        self.addCleanup(of.tearDownClass)
        with Started(*of.command(of.folder.name, "-Xcheck:jni")) as process:
            told = []
            with Look(process.pid):
                ask(process, work, told)
            with Look(process.pid) as look:
                truth = ask(process, "one", told)
            process.stdin.close()
            said = "".join(told) + process.stdout.read()
        # What it says of async-profiler is not ours.
        self.assertNotIn("libyunti-locks", said)
        self.assertIn(truth["locks"][0]["lock"], look.locks())

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
            # The JVM uses segmentation faults of its own.
            compiler = "gcc -fsanitize=address,undefined -fno-sanitize-recover=undefined"
            subprocess.run([os.path.join(HERE, "../jvmti/build"), os.path.join(folder, "lib/yunti")], check=True, env=os.environ | {"CC": compiler})
            runtimes = [subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip() for name in ("libasan.so", "libubsan.so")]
            options = "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:allow_user_segv_handler=1:detect_leaks=0"
            with Started("env", f"LD_PRELOAD={':'.join(runtimes)}", f"ASAN_OPTIONS={options}", *of.command(of.folder.name)) as process:
                for work in works:
                    with Look(process.pid, program=program):
                        ask(process, work)
                with open(f"/proc/{process.pid}/maps") as f:
                    self.assertIn(os.path.join(folder, "lib/yunti/libyunti-locks.so"), f.read())
                with Look(process.pid, program=program) as look:
                    ask(process, last)
                    truth = ask(process, "one")
                process.stdin.close()
                said = process.stdout.read()
        self.assertNotIn("Sanitizer", said)
        self.assertNotIn("runtime error", said)
        self.assertIn(truth["locks"][0]["lock"], look.locks())


if __name__ == "__main__":
    twice.main()
