"""`yunti observe native --when .. --count-by .. --sum ..`: conditions and counts against known values."""

import collections
import os
import random
import re
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
from looking import (  # noqa: E402
    YUNTI, InAFolder, Looking, OfOneJdk, Refusals, Started, answer, built, do, done,
    require_programs_in_the_kernel, send_line, stacks,
)
import twice  # noqa: E402  (looking.py knows where it is)

MASK = (1 << 64) - 1

# The compiler of C evaluates the same texts as the kernel. All values are unsigned there, as in the language.
RANDOM = """
#include <stdint.h>
#include <stdio.h>
typedef uint64_t u64;
#define u8(x) ((u64)(uint8_t)(x))
#define u16(x) ((u64)(uint16_t)(x))
#define u32(x) ((u64)(uint32_t)(x))
#define u64(x) ((u64)(x))
static u64 log2_(u64 x) { return x ? 63 - __builtin_clzll(x) : 0; }
#define log2(x) log2_(x)
static volatile u64 sink;
__attribute__((noipa)) u64 called(u64 arg0, u64 arg1, u64 arg2, u64 arg3, u64 arg4, u64 arg5) {
  sink += arg0;
  return arg0 ^ arg5;
}
static u64 state = SEED;
static u64 next(void) {
  static const u64 edges[] = {0, 1, 2, 7, 63, 64, 255, 4095, 4096, 0x7fffffff, 0x80000000, ~0ULL, 1ULL << 63};
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % 3 ? edges[state / 3 % 13] : state >> state % 61;
}
int main(void) {
  for (int i = 0; i < 400; i++) {
    u64 arg0 = next(), arg1 = next(), arg2 = next(), arg3 = next(), arg4 = next(), arg5 = next();
    called(arg0, arg1, arg2, arg3, arg4, arg5);
    if (WHEN) printf("%llu %llu %llu\\n", (unsigned long long)(KEY), (unsigned long long)(LATER),
                     (unsigned long long)(SUM));
  }
}
"""


def expression(numbers, depth):
    """Returns an expression over unsigned values in which nothing is divided by zero."""
    def deeper():
        return expression(numbers, depth - 1)

    if depth == 0 or numbers.random() < 0.1:
        return f"arg{numbers.randrange(6)}"
    kind = numbers.randrange(7)
    if kind == 0:
        return f"u64({numbers.choice(['u8', 'u16', 'u32', 'log2', '~', '!'])}({deeper()}))"
    if kind == 1:
        return f"({deeper()} {numbers.choice('/%')} ({deeper()} | 1))"
    if kind == 2:
        return f"({deeper()} {numbers.choice(['<<', '>>'])} ({deeper()} & 63))"
    # Comparisons are numbers of 32 bits with a sign in C.
    operators = ["+", "-", "*", "&", "|", "^", "<", "<=", "==", "!=", "&&", "||"]
    return f"u64({deeper()} {numbers.choice(operators)} {deeper()})"


def groups(document):
    return {tuple(value if isinstance(value, int) else value["name"] for value in group["keys"]):
            (group["hits"], group.get("sum")) for group in document["counts"]["groups"]}


class Conditions(Refusals, InAFolder, unittest.TestCase):
    observer = "native"

    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()
        super().setUpClass()
        cls.calls = built(cls.folder.name, "calls")

    def counted(self, does, number, *words):
        document = answer("native", *words, "--", self.calls, does, number, "at-once")
        self.assertEqual((document["lost"], document["skipped"]), (0, []))
        return document

    def test_random_expressions_have_the_values_of_c(self):
        numbers = random.Random(5)
        for n in range(8):
            when, key, total = (expression(numbers, 4) for _ in range(3))
            later = f"({expression(numbers, 2)} ^ return)"
            program = os.path.join(self.folder.name, f"random{n}")
            defined = {"SEED": str(numbers.getrandbits(62) | 1) + "ULL", "WHEN": when, "KEY": key, "SUM": total,
                       "LATER": later.replace("return", "(arg0 ^ arg5)")}
            subprocess.run(["gcc", "-O1", "-w", "-x", "c", "-", "-o", program,
                            *(f"-D{name}={value}" for name, value in defined.items())], input=RANDOM, text=True, check=True)
            lines = [tuple(map(int, line.split())) for line in
                     subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()]
            signed = "called(u,u,u,u,u,u)=u"
            for text, place in ((key, 0), (later, 1)):
                expected = collections.defaultdict(lambda: (0, 0))
                for line in lines:
                    hits, total_so_far = expected[(line[place],)]
                    expected[(line[place],)] = (hits + 1, (total_so_far + line[2]) & MASK)
                document = answer("native", signed, "--when", when, "--count-by", text, "--sum", total, "--", program)
                self.assertEqual(groups(document), dict(expected), (when, text, total))
                self.assertEqual(document["watched"][0]["hits"], len(lines), when)

    def test_only_calls_that_meet_the_condition(self):
        document = self.counted("calls", 500, "plain(d,s)=l", "--when", "arg0 >= 480 && arg0 % 2 == 1")
        numbers = [int(call["call"].split("(")[1].split(",")[0]) for call in document["calls"]]
        self.assertEqual(numbers, list(range(481, 500, 2)))
        one = document["watched"][0]
        self.assertEqual((one["hits"], one["stacks"], one["without_return"]), (10, 10, 0))
        document = self.counted("calls", 500, "plain(d,s)=l", "--when", "return == 300 || return > 1490")
        self.assertEqual([call["result"] for call in document["calls"]], ["300", "1491", "1494", "1497"])
        self.assertEqual([way[-1][0] for _, way in stacks(document)], ["calls:plain"])

    def test_memory_at_an_argument(self):
        # The texts are `text 0` to `text 99`.
        document = self.counted("calls", 100, "plain", "--count-by", "*(u8*)(arg1 + 5) - 48, *(u8*)(arg1 + 6) == 0")
        self.assertEqual(groups(document), {(n, one): (1 if one else 10, None) for n in range(10)
                                            for one in (0, 1) if n or one})
        self.assertEqual(groups(self.counted("calls", 10, "plain", "--count-by", "*(u64*)8")), {(0,): (10, None)})

    def test_durations(self):
        document = self.counted("napping", 10, "naps(d)", "--when", "time > 40ms", "--count-by", "log2(time / 1ms)")
        self.assertEqual(sum(hits for hits, _ in groups(document).values()), 1)
        total = self.counted("napping", 10, "naps", "--sum", "time")
        (hits, nanoseconds), = groups(total).values()
        self.assertEqual(hits, 10)
        self.assertTrue(125e6 < nanoseconds < 250e6, nanoseconds)

    def test_stacks_and_values(self):
        document = self.counted("recursion", 20, "deep(l)=l", "--count-by", "stack, arg0")
        found = {(group["keys"][0], len([name for name in group["stack"] if name == "deep"])): group["hits"]
                 for group in document["counts"]["groups"]}
        self.assertEqual(found, {(9 - level, level + 1): 20 for level in range(10)})
        leaves = {way[-1][0] for _, way in stacks(document)}
        self.assertEqual(leaves, {f"arg0 = {n}" for n in range(10)})

    def test_calls_that_do_not_return(self):
        document = answer("native", "through(l)", "--when", "return > -1000", "--count-by", "arg0 < 0", "--",
                          self.calls, "jumping", 30, "at-once")
        self.assertEqual(groups(document), {(1,): (1, None)})
        # A jump to another function hides the result, but not the arguments and the time.
        document = answer("native", "front(l)=l", "--count-by", "return", "--", self.calls, "tail", 50, "at-once")
        self.assertEqual(document["counts"]["groups"], [])
        self.assertIn("results and full durations of 50 calls", str(document["skipped"]))
        document = answer("native", "front(l)=l", "--when", "time < 10s", "--count-by", "arg0 % 5", "--",
                          self.calls, "tail", 50, "at-once")
        self.assertEqual(groups(document), {(n,): (10, None) for n in range(5)})

    def test_threads_and_processes(self):
        document = self.counted("threads", 100, "plain", "--count-by", "thread")
        self.assertEqual(len(document["counts"]["groups"]), 100)
        self.assertEqual({hits for hits, _ in groups(document).values()}, {5})
        with Started(self.calls, "library", "60") as one, Started(self.calls, "library", "30") as other:
            with Looking("native", "sys:getpriority", "--count-by", "process", "-s", 30) as looking:
                do(one)
                do(other)
                done(one)
                document = looking.stop()
        found = {group["keys"][0]["pid"]: group["hits"] for group in document["counts"]["groups"]}
        self.assertEqual((found[one.pid], found[other.pid]), (60, 30))
        names = {group["keys"][0]["name"] for group in document["counts"]["groups"]}
        self.assertIn("calls", names)

    def test_all_processes_with_stacks(self):
        with Started(self.calls, "library", "60") as process:
            with Looking("native", "sys:getpriority", "--when", f"pid == {process.pid}", "--count-by", "stack",
                         "-s", 30) as looking:
                do(process)
                document = looking.stop()
        group, = document["counts"]["groups"]
        self.assertEqual(group["hits"], 60)
        self.assertIn("library", group["stack"])

    def test_page_faults_by_address_within_the_page(self):
        program = built(self.folder.name, "faults")
        document = answer("native", "trace:page_fault_user", "--when", "error_code & 2", "--count-by",
                          "address & 0xfff", "--", program, "shared", 300, "at-once")
        # It writes the first byte of each page.
        self.assertGreaterEqual(groups(document)[(0,)][0], 300)

    def test_more_groups_than_there_is_room_for(self):
        # A machine that other programs share calls less often.
        for seconds in (4, 12, 36):
            with Started(self.calls, "fast", "1000") as process:
                with Looking("native", "plain", "--count-by", "time * 128 + arg0", at=process) as looking:
                    send_line(process, "go")
                    time.sleep(seconds)
                    document = looking.stop()
            if document["groups_lost"]:
                break
        self.assertEqual(len(document["counts"]["groups"]), 65536)
        self.assertGreater(document["groups_lost"], 0)
        self.assertIn("too many groups", str(document["skipped"]))
        counted = sum(hits for hits, _ in groups(document).values())
        self.assertEqual(counted + document["groups_lost"], document["watched"][0]["hits"])

    def test_text(self):
        run = answer_text("native", "plain(d,s)=l", "--count-by", "log2(arg0)", "--sum", "return", "--", self.calls,
                          "calls", 100, "at-once")
        rows = re.findall(r"^ *(\d+) +[\d.]+ % +(\d+) +\d+  (\d+ to \d+) +(#+)$", run, re.MULTILINE)
        self.assertEqual([(int(hits), text) for hits, _, text, _ in rows],
                         [(2, "0 to 1"), (2, "2 to 3"), (4, "4 to 7"), (8, "8 to 15"), (16, "16 to 31"),
                          (32, "32 to 63"), (36, "64 to 127")])
        self.assertEqual(sum(int(total) for _, total, _, _ in rows), sum(range(100)) * 3)

    def test_kernel_functions_or_the_reason(self):
        run = subprocess.run([YUNTI, "observe", "native", "kernel:find_vma", "--count-by", "process",
                              "-s", "1"], capture_output=True, text=True, timeout=60)
        if run.returncode == 0:
            self.assertIn("By process", run.stdout)
        else:
            self.assertEqual(run.returncode, 3)
            self.assertRegex(run.stderr, "find_vma cannot be watched: kprobes: .*; fentry: ")


class Wrong(Refusals, unittest.TestCase):
    observer = "native"

    def test_wrong_expressions(self):
        me = ("-s", 1, "-p", os.getpid())
        for text, wanted in (("arg0 >", "at position 7"), ("arg9", "'arg9' is not known here"), ("foo == 1", "'foo'"),
                             ("1 +* 2", "at position"), ("5min", "is not a number"), ("", "a value is expected")):
            self.refused(2, wanted, "sys:openat", "--when", text, *me)
        self.refused(2, "--count-by has 5 values", "sys:openat", "--count-by", "pid,tid,cpu,uid,arg0", *me)
        self.refused(2, "'return' is not known here", "trace:sched_switch", "--when", "return == 0", *me)
        self.refused(2, "names are", "trace:sched_switch", "--when", "nothing_such == 0", *me)
        self.refused(2, "no process is named", "sys:openat", "open", "--count-by", "process")
        self.refused(3, "has no function 'surely_no_such'", "kernel:surely_no_such", "--count-by", "pid")
        self.refused(2, "cannot be read", "kernel:vfs_open(s)")


class Java(OfOneJdk):
    program = "Calls"

    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()
        super().setUpClass()

    def test_java_stacks_and_results(self):
        with Started(*self.java, "Calls", "200", "0") as process:
            with Looking("native", "sys:mkdir", "--when", "return < 0", "--count-by", "stack, return",
                         at=process) as looking:
                do(process)
                document = looking.stop()
                done(process)
        self.assertEqual(document["watched"][0]["hits"], 200)
        groups_found = document["counts"]["groups"]
        self.assertEqual(sum(group["hits"] for group in groups_found), 200)
        self.assertTrue(all("Calls.makes" in group["stack"] and group["keys"][0] < 0 for group in groups_found))


class Java17(Java, unittest.TestCase):
    version = "17"


class Java25(Java, unittest.TestCase):
    version = "25"


def answer_text(*words):
    run = subprocess.run([YUNTI, "observe", *map(str, words)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return run.stdout


if __name__ == "__main__":
    twice.main()
