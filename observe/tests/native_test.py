"""`yunti observe native` on programs with known calls, arguments and stacks."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
from looking import (  # noqa: E402
    HERE, NOBODY, InAFolder, Looking, OfOneJdk, Refusals, Started, answer, built, container, do,
    done, folder_for_containers, needs_nobody, require_programs_in_the_kernel, send_line, stacks, text_of,
    within,
)
import twice  # noqa: E402  (looking.py knows where it is)

MS = 1_000_000


def watched(document, what):
    found = [w for w in document["watched"] if w["what"].endswith(what)]
    assert len(found) == 1, document["watched"]
    return found[0]


def calls(document, what):
    return [c["call"].split("(", 1)[1][:-1] for c in document["calls"] if c["what"].endswith(what)]


def results(document, what):
    return [c["result"] for c in document["calls"] if c["what"].endswith(what)]


class Programs(Refusals, InAFolder, unittest.TestCase):
    observer = "native"

    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()
        super().setUpClass()
        cls.calls = built(cls.folder.name, "calls")

    def measure(self, does, number, *what, pause=0):
        """Returns the answer for a target that does its work and ends."""
        with Started(self.calls, does, str(number)) as process, Looking("native", *what, at=process) as looking:
            do(process)
            time.sleep(pause)
            done(process)
            document = looking.rest()
        self.assertTrue(document["target_ended"])
        self.assertEqual((document["lost"], document["stacks_dropped"]), (0, 0))
        return document

    def check(self, document, what, hits, *path, without_return=0):
        """Checks the number of hits, and that each has a complete stack."""
        one = watched(document, what)
        self.assertEqual((one["hits"], one["stacks"], one["without_return"]), (hits, hits, without_return))
        for _, way in stacks(document) if path else ():
            names = [name.rsplit(":", 1)[-1] for name, _ in way]
            if names[-1] == path[-1]:
                self.assertEqual(tuple(names[names.index("main"):]), path)

    def test_calls_are_exact_with_arguments_results_and_whole_stacks(self):
        document = self.measure("calls", 500, "plain(d,s)=l")
        self.check(document, "plain", 500, "main", "calls", "outer", "inner", "plain")
        self.assertEqual(calls(document, "plain"), [f'{i}, "text {i}"' for i in range(500)])
        self.assertEqual(results(document, "plain"), [str(i * 3) for i in range(500)])
        self.assertTrue(stacks(document))

    def test_durations(self):
        document = self.measure("napping", 10, "naps(d)=l")
        self.check(document, "naps", 10)
        one = watched(document, "naps")
        self.assertTrue(80 * MS <= one["max_ns"] < 110 * MS, one)
        self.assertTrue(5 * MS <= one["p50_ns"] < 20 * MS, one)
        self.assertTrue(125 * MS <= one["total_ns"] < 250 * MS, one)

    def test_a_command_from_its_first_instruction(self):
        document = answer("native", "plain(d,s)=d", "--", self.calls, "calls", 100, "at-once")
        self.check(document, "plain", 100, "main", "calls", "outer", "inner", "plain")
        self.assertEqual(calls(document, "plain"), [f'{i}, "text {i}"' for i in range(100)])
        self.assertTrue(document["target_ended"])
        # A command without such a function, and one without a return.
        self.refused(3, "has no function", "nothing_such", "--", self.calls, "fast", 100, "at-once")
        self.assertEqual(answer("native", "sys:exit_group", "--", "true")["watched"][0]["without_return"], 1)

    def test_a_command_ends_with_its_observer(self):
        with Looking("native", "plain", "-s", 30, "--", self.calls, "fast", 1000, "at-once", json=False) as looking:
            child = within(looking.run)
            looking.run.send_signal(signal.SIGINT)
            looking.run.communicate(timeout=20)
        self.assertEqual(looking.run.returncode, 130)
        self.assertFalse(os.path.exists(f"/proc/{child}"))

    def test_over(self):
        document = self.measure("napping", 10, "naps", "--over", "50ms")
        self.assertEqual(watched(document, "naps")["hits"], 10)
        self.assertEqual(len(document["calls"]), 1)
        self.assertTrue(all(way[-1][0] == "calls:naps" and own > 50 * MS for own, way in stacks(document)))

    def test_recursion(self):
        document = self.measure("recursion", 20, "deep(l)=l")
        self.check(document, "deep", 200)
        results_of = [(c["call"].split("(")[1], int(c["result"])) for c in document["calls"]]
        self.assertEqual(sorted(results_of), sorted((f"{level})", level) for level in range(10) for _ in range(20)))
        depths = {sum(name.endswith("deep") for name, _ in way) for _, way in stacks(document)}
        self.assertEqual(depths, set(range(1, 11)))

    def test_tail_calls(self):
        document = self.measure("tail", 50, "front(l)=l", "back(l)=l")
        self.check(document, "front", 50)
        self.check(document, "back", 50)
        # The result of the next function is its result, which is unknown at the jump.
        self.assertEqual(set(results(document, "front")), {None})
        self.assertEqual(results(document, "back"), [str(2 * i + 1) for i in range(50)])
        self.assertIn("front", str(document["skipped"]))

    def test_longjmp_through_a_watched_function(self):
        document = self.measure("jumping", 30, "through(l)", "jumps_out")
        for what in ("through", "jumps_out"):
            self.check(document, what, 31, without_return=30)
        self.assertEqual(calls(document, "through"), [str(i) for i in range(30)] + ["-1"])

    def test_exceptions_through_watched_functions(self):
        program = built(self.folder.name, "Throws", compiler="g++", suffix="cc")
        with Started(program, "40") as process:
            with Looking("native", "shop::Till::sell(x,x,l)=l", "shop::passes", at=process) as looking:
                self.assertEqual(do(process), ["20"])
                done(process)
                document = looking.rest()
        for what in ("shop::Till::sell", "shop::passes"):
            self.check(document, what, 40, without_return=20)
        self.assertEqual([r for r in results(document, "sell") if r], [str(i * 2) for i in range(0, 40, 2)])

    def test_a_function_that_hides_its_return(self):
        document = self.measure("hiding", 25, "hides(l)")
        one = watched(document, "hides")
        self.assertEqual((one["hits"], one["stacks"], one["total_ns"]), (25, 25, None))
        self.assertIn("durations of", str(document["skipped"]))
        self.assertEqual(calls(document, "hides"), [str(i) for i in range(25)])

    def test_arguments(self):
        document = self.measure("arguments", 1, "says(s,a)", "many(d,l,u,x,s,d)=d")
        self.assertEqual(calls(document, "says"), [
            '"hello", 127.0.0.1:8080',
            '"a \\"b\\"\\n\\u{1b}[31m", [::1]:443',
            '"at end", 127.0.0.1:8080',
            '"012345678901234567890123456789012345678901234567890123456789012".., /nonexistent/socket',
            '"", NULL',
            "NULL, 0x10",
            "0x10, NULL",
            "NULL, 127.0.0.1:8080",
            # A text that runs to the end of its memory appears as its address.
            re.search(r"0x[0-9a-f]+fff, NULL", document["calls"][8]["call"])[0],
        ])
        self.assertEqual(calls(document, "many"), ['-1, -2, 3, 0xabc, "five", 6'])
        self.assertEqual(results(document, "many"), ["-5"])

    def test_system_calls(self):
        document = self.measure("system-calls", 20, "sys:openat", "sys:close", "sys:connect", "sys:clock_nanosleep")
        self.check(document, "sys:openat", 20)
        self.assertEqual(watched(document, "sys:openat")["errors"], {"ENOENT": 20})
        self.assertEqual(set(calls(document, "sys:openat")), {'-100, "/nonexistent/file", 0x0'})
        self.assertEqual(watched(document, "sys:close")["hits"], 40)
        self.assertEqual(watched(document, "sys:close")["errors"], {"EBADF": 20})
        self.assertEqual(results(document, "sys:connect"), ["-ECONNREFUSED"])
        self.assertTrue(calls(document, "sys:connect")[0].endswith("127.0.0.1:1"))
        self.assertTrue(50 * MS <= watched(document, "sys:clock_nanosleep")["total_ns"] < 80 * MS)
        for _, way in stacks(document):
            self.assertIn("main system_calls", " ".join(name for name, _ in way))

    def test_functions_of_libraries_and_tracepoints(self):
        document = self.measure("library", 60, "libc:getpriority", "trace:sys_enter(x,d)")
        self.check(document, "getpriority", 60)
        self.assertGreaterEqual(watched(document, "trace:sys_enter")["hits"], 60)
        # getpriority is call 140 of the system on x86-64, and 141 on arm64.
        number = 140 if os.uname().machine == "x86_64" else 141
        self.assertEqual(sum(call.endswith(f", {number}") for call in calls(document, "trace:sys_enter")), 60)

    def test_wildcards_and_names_twice(self):
        document = self.measure("calls", 10, "calls:*er", "plain", "plain")
        self.assertEqual(
            {w["what"]: w["hits"] for w in document["watched"] if w["hits"]},
            {"calls:outer": 10, "calls:inner": 10, "calls:plain": 10},
        )

    def test_a_library_that_is_loaded_later(self):
        late = os.path.join(self.folder.name, "late.so")
        subprocess.run(
            [
                "gcc",
                "-O2",
                "-fomit-frame-pointer",
                "-shared",
                "-fPIC",
                "-o",
                late,
                os.path.join(HERE, "targets/native/late.c"),
            ],
            check=True,
        )
        os.environ["LATE_LIBRARY"] = late
        # The pause keeps it alive until its mappings are read.
        document = self.measure("loads", 10, "libc:getpriority", pause=0.1)
        self.check(document, "getpriority", 10, "main", "loads", "late_call", "late_inner", "getpriority")

    def test_threads(self):
        document = self.measure("threads", 1000, "plain(d,s)=d", "--stacks", "10000")
        self.check(document, "plain", 5000)
        # Each thread has its own arguments and results.
        found = sorted((c["call"].split("plain")[1], c["result"]) for c in document["calls"])
        self.assertEqual(found, sorted((f'({i}, "text {i}")', str(i * 3)) for i in range(1000) for _ in range(5)))
        self.assertEqual(len({c["tid"] for c in document["calls"]}), 1000)

    def test_running_calls(self):
        with Started(self.calls, "waiting", "3") as process:
            with Looking("native", "naps(d)", at=process) as looking:
                do(process)
                document = looking.stop()
        self.check(document, "naps", 3, without_return=3)

    def test_calls_of_a_child_are_its_own(self):
        self.check(self.measure("forks", 20, "plain(d)"), "plain", 40)

    def test_a_target_that_executes_another_program(self):
        with Started(self.calls, "executes", "20") as process:
            with Looking("native", "plain", at=process) as looking:
                send_line(process, "go")
                process.stdin.close()
                self.assertEqual(process.wait(timeout=20), 0)
                document = looking.rest()
        self.assertEqual(watched(document, "plain")["hits"], 20)

    def test_a_target_that_is_killed(self):
        with Started(self.calls, "dies", "20") as process:
            with Looking("native", "plain", at=process) as looking:
                send_line(process, "go")
                process.stdin.close()
                self.assertEqual(process.wait(timeout=20), -signal.SIGKILL)
                document = looking.rest()
        self.check(document, "plain", 20)

    def test_fewer_stacks_than_calls(self):
        with Started(self.calls, "calls", "1000") as process:
            with Looking("native", "plain(d)=d", "--stacks", 10, at=process) as looking:
                do(process)
                done(process)
                document = looking.rest()
        one = watched(document, "plain")
        self.assertEqual(one["hits"], 1000)
        # Ten per second, and its calls may span two seconds.
        self.assertIn(one["stacks"], (10, 20))
        self.assertEqual(document["stacks_dropped"], 1000 - one["stacks"])
        self.assertIn("--stacks 10", str(document["skipped"]))
        self.assertEqual(results(document, "plain"), [str(i * 3) for i in range(1000)])

    def test_live(self):
        with Started(self.calls, "calls", "3") as process:
            with Looking("native", "plain(d,s)=d", "--live", at=process, json=False) as looking:
                do(process)
                lines = [looking.run.stdout.readline() for _ in range(3)]
                done(process)
                looking.rest()
        for i, line in enumerate(lines):
            self.assertRegex(
                line, rf'^\d+\.\d+ +[\d.]+ (ns|us|ms)  calls \d+  calls:plain\({i}, "text {i}"\) = {i * 3}$'
            )

    def test_live_ends_with_its_reader(self):
        with Started(self.calls, "fast", "100") as process:
            with Looking("native", "plain", "--live", at=process, json=False) as looking:
                send_line(process, "go")
                looking.run.stdout.readline()
                looking.run.stdout.close()
                self.assertEqual(looking.run.wait(timeout=5), 0)

    def test_text_and_page(self):
        page = os.path.join(self.folder.name, "page.html")
        with Started(self.calls, "calls", "30") as process:
            with Looking("native", "plain(d,s)=d", "-o", page, at=process, json=False) as looking:
                do(process)
                done(process)
                output = looking.rest()
        self.assertIn("30 calls", output)
        self.assertIn("calls:plain", output)
        self.assertIn("inner", output)
        self.assertIn("calls:plain", text_of(page))

    def test_malloc_with_its_warning(self):
        with Started(self.calls, "allocates", "2000") as process:
            with Looking("native", "malloc", at=process) as looking:
                do(process)
                done(process)
                document = looking.rest()
        self.assertIn("many times slower", looking.warning)
        hits = sum(w["hits"] for w in document["watched"])
        # stdio makes a few more.
        self.assertTrue(2000 <= hits < 2010, hits)

    def test_two_observers(self):
        with Started(self.calls, "calls", "100") as process:
            with Looking("native", "plain", at=process) as first, Looking("native", "plain", at=process) as second:
                do(process)
                done(process)
                for looking in (first, second):
                    self.check(looking.rest(), "plain", 100)

    def test_a_killed_observer_leaves_nothing(self):
        def speed(process):
            return int(process.stdout.readline())

        with Started(self.calls, "fast", "1000") as process:
            send_line(process, "go")
            before = max(speed(process) for _ in range(3))
            with Looking("native", "plain", at=process) as looking:
                while (slow := speed(process)) > before / 3:
                    pass
                looking.kill()
                end = time.monotonic() + 10
                while speed(process) < before / 2 and time.monotonic() < end:
                    pass
                self.assertGreater(speed(process), before / 2, (before, slow))

    @needs_nobody
    def test_without_root(self):
        os.chmod(self.folder.name, 0o755)
        with Started(*NOBODY, self.calls, "calls") as process:
            for what in ("plain", "sys:openat", "trace:sched_switch"):
                self.refused(3, "run as root", what, "-s", 1, "-p", process.pid, before=NOBODY)

    def test_in_a_container(self):
        with folder_for_containers() as folder:
            program = built(folder, "calls")
            with Started(*container(program, "calls", "50")) as process:
                with Looking("native", "plain(d)=d", "libc:snprintf", at=within(process)) as looking:
                    do(process)
                    process.stdin.close()
                    process.wait(timeout=20)
                    document = looking.rest()
        self.check(document, "plain", 50, "main", "calls", "outer", "inner", "plain")
        self.check(document, "snprintf", 50)

    def test_in_a_container_of_its_own_users(self):
        with folder_for_containers() as folder:
            program = built(folder, "calls")
            os.chmod(folder, 0o755)
            command = ["unshare", "--user", "--map-root-user", *container(program, "calls", "50")[1:]]
            if subprocess.run([*command[:3], "true"], capture_output=True).returncode:
                self.skipTest("user namespaces are not allowed here")
            with Started(*command) as process:
                with Looking("native", "plain(d)=d", at=within(process)) as looking:
                    do(process)
                    process.stdin.close()
                    process.wait(timeout=20)
                    self.check(looking.rest(), "plain", 50, "main", "calls", "outer", "inner", "plain")

    def test_a_program_that_was_replaced(self):
        program = os.path.join(self.folder.name, "old")
        shutil.copy(self.calls, program)
        with Started(program, "calls", "10") as process:
            os.unlink(program)
            with Looking("native", "plain", at=process) as looking:
                do(process)
                done(process)
                self.check(looking.rest(), "plain", 10, "main", "calls", "outer", "inner", "plain")


class Wrong(Refusals, unittest.TestCase):
    observer = "native"

    def test_wrong_arguments(self):
        me = ("-s", 1, "-p", os.getpid())
        self.refused(3, "has no function 'surely_no_such'", "surely_no_such", *me)
        self.refused(3, "a library 'nolib'", "nolib:open", *me)
        self.refused(2, "Linux has no system call", "sys:surely_no_such", *me)
        self.refused(3, "no process 4194999", "open", "-s", 1, "-p", "4194999")
        self.refused(2, "not a type of argument", "open(q)", *me)
        self.refused(2, "not a duration", "open", "--over", "nan", *me)
        self.refused(2, "no process is named", "open", "-s", 1)
        if os.geteuid() == 0:
            self.refused(3, "has no tracepoint", "trace:surely_no_such", *me)
            self.refused(2, "too many", "*", *me)


class Java(OfOneJdk):
    program = "Calls"

    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()
        super().setUpClass()

    def measure(self, what, number, *options, threads=0):
        with Started(*self.java, *options, "Calls", str(number), str(threads)) as process:
            with Looking("native", *what, at=process) as looking:
                do(process)
                document = looking.stop()
                done(process)
        self.assertEqual(document["lost"], 0)
        return document

    def check(self, document, what, hits, kinds, method="Calls.makes"):
        one = watched(document, what)
        self.assertEqual((one["hits"], one["stacks"], one["without_return"]), (hits, hits, 0), document["skipped"])
        ways = stacks(document)
        self.assertTrue(ways)
        for _, way in ways:
            names = [name for name, _ in way]
            self.assertIn(method, names)
            self.assertIn("java.io.File.mkdir", names)
            self.assertTrue(
                any(name.startswith("Java_java_io_UnixFileSystem_createDirectory") for name in names), names
            )
            self.assertLess(names.index(method), names.index("java.io.File.mkdir"))
        self.assertLessEqual({kind for _, way in ways for name, kind in way if name == method}, kinds)

    def test_interpreted(self):
        document = self.measure(["mkdir"], 100, "-Xint")
        self.check(document, "mkdir", 100, {"interpreted"})
        self.assertEqual(set(calls(document, "mkdir")), {'"/nonexistent/yunti/directory", 0x1ff'})
        self.assertEqual(set(results(document, "mkdir")), {"-1"})

    def test_compiled_in_threads(self):
        document = self.measure(["mkdir"], 50, threads=20)
        self.check(document, "mkdir", 1000, {"compiled", "compiled-c1", "inlined", "interpreted"})
        self.assertTrue(
            {"compiled", "inlined", "compiled-c1"}
            & {kind for _, way in stacks(document) for name, kind in way if name == "Calls.makes"}
        )
        self.assertEqual({f"maker-{i}" for i in range(20)}, {c["thread"] for c in document["calls"]})

    def test_system_calls(self):
        document = self.measure(["sys:mkdir"], 100)
        self.check(document, "sys:mkdir", 100, {"compiled", "compiled-c1", "inlined", "interpreted"})
        self.assertEqual(watched(document, "sys:mkdir")["errors"], {"ENOENT": 100})

    def test_a_command(self):
        with Looking("native", "sys:mkdir", "-s", 20, "--", *self.java, "Calls", "5") as looking:
            document = looking.rest(line="go\n")
        self.assertEqual(watched(document, "sys:mkdir")["hits"], 5)

    def test_a_target_that_exits(self):
        with Started(*self.java, "Calls", "20") as process:
            with Looking("native", "mkdir", at=process) as looking:
                do(process)
                done(process)
                document = looking.rest()
        self.assertEqual(watched(document, "mkdir")["hits"], 20)
        self.check(document, "mkdir", 20, {"compiled", "compiled-c1", "inlined", "interpreted"})

    def test_a_killed_observer_leaves_the_jvm_unharmed(self):
        with Started(*self.java, "Calls", "200000") as process:
            with Looking("native", "mkdir", at=process) as looking:
                send_line(process, "go")
                time.sleep(0.3)
                looking.kill()
                self.assertEqual(process.stdout.readline().strip(), "done")
                done(process)


class Java17(Java, unittest.TestCase):
    version = "17"


class Java25(Java, unittest.TestCase):
    version = "25"


if __name__ == "__main__":
    twice.main()
