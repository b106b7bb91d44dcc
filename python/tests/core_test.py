"""Jobs with functions of Python on every CPython, with NumPy or without: types, groups, errors, the protocol."""

import ast
import collections
import itertools
import os
import random
import struct
import subprocess
import sys
import time
import unittest

from case import BOOKS, Case, without_numpy, words_of_books

import yunti as y


@y.mapper(out=(y.slice, y.one))
def words(b: y.TextBatch):
    return b.words().one()


@y.mapper(out=(y.bytes, y.i64))
def words_copied(b: y.TextBatch):
    return b.words().one()


@y.record
def words_by_record(line):
    for word in line.split():
        yield word, 1


@y.reducer(out=(y.bytes, y.i64))
def total(g):
    return [key for key, _ in g], [sum(values) for _, values in g]


class Words(Case):
    """The same counts by all kinds of mappers and of answers: entries, columns of the batch, columns of their own."""

    @classmethod
    def setUpClass(cls):
        cls.words = words_of_books()

    def check(self, **job):
        self.assertEqual(y.job(**job).run(BOOKS).table.to_dict(), self.words)

    def test_slices_of_the_batch(self):
        self.check(mapper=words, folder="Yunti.CountFolder")

    def test_slices_with_numbers(self):
        @y.mapper(out=(y.slice, y.i64))
        def twos(b: y.TextBatch):
            found = b.words()
            return found, [2] * len(found)

        doubled = {word: 2 * n for word, n in self.words.items()}
        self.assertEqual(y.job(mapper=twos, folder="Yunti.SumFolder").run(BOOKS).table.to_dict(), doubled)

    def test_copied_keys(self):
        self.check(mapper=words_copied, folder="Yunti.SumFolder")

    def test_records(self):
        self.check(mapper=words_by_record, folder="Yunti.CountFolder")

    def test_reducer_and_combiner(self):
        self.check(mapper=words, reducer=total)
        self.check(mapper=words, reducer=total, combiner=total, reduces=3, threads=2)

    def test_a_mapper_of_the_engine_and_a_reducer_of_python(self):
        total_of_i64 = y.reducer(total.made_of, out=(y.bytes, y.i64), values=y.i64)
        self.check(mapper="Yunti.WordCountMapper", reducer=total_of_i64)

    def test_the_output_is_that_of_the_application(self):
        y.job(mapper=words, folder="Yunti.SumFolder").run(BOOKS, self.path("python"))
        y.run("wordcount", BOOKS, self.path("engine"))
        with open(self.path("python/part-r-00000"), "rb") as ours, open(self.path("engine/part-r-00000"), "rb") as its:
            self.assertEqual(ours.read(), its.read())


class Types(Case):
    def values(self, out, emitted, folder=None, reducer=None):
        """Returns the records of a job whose mapper emits these pairs."""
        made = y.mapper(lambda b: (e for e in [emitted]), out=out)
        return y.job(made, folder=folder, reducer=reducer).run(self.file("in", "x\n")).table.to_list()

    def test_each_type_of_values_arrives(self):
        cases = [(y.i32, [-5, 7]), (y.i64, [-(1 << 63), (1 << 63) - 1]), (y.u32, [0, (1 << 32) - 1]),
                 (y.u64, [0, (1 << 64) - 1]), (y.f32, [0.5, -2.0]), (y.f64, [0.1, -1e300]),
                 (y.bytes, [b"", b"\0\xff\n\t"]), (y.text, ["\u00e9", "\U0001f40d"])]
        for declared, values in cases:
            with self.subTest(declared.name):
                self.assertEqual(self.values((y.bytes, declared), ([b"a", b"b"], values)),
                                 [(b"a", values[0]), (b"b", values[1])])

    def test_each_type_of_keys_is_in_its_order(self):
        cases = [(y.i32, [-5, 7]), (y.i64, [-1, 0]), (y.u64, [1, 1 << 63]), (y.f64, [-2.5, 0.5]), (y.text, ["a", "b"])]
        for declared, keys in cases:
            with self.subTest(declared.name):
                self.assertEqual(self.values((declared, y.i64), (keys[::-1], 1)), [(keys[0], 1), (keys[1], 1)])

    def test_reducers_get_the_types_of_the_mapper(self):
        for declared, values in [(y.f64, [0.5, 2.0]), (y.i32, [3, 4]), (y.text, ["p", "q"]), (y.bytes, [b"p", b"q"])]:
            @y.reducer(out=(y.i64, y.text))
            def shown(g):
                plain = [[v.item() if hasattr(v, "item") else v for v in values] for _, values in g]
                return [key for key, _ in g], list(map(repr, plain))

            with self.subTest(declared.name):
                plain = y.reducer(shown.made_of, out=(y.i64, y.text))
                rows = self.values((y.i64, declared), ([7, 7], values), reducer=plain)
                self.assertEqual(rows[0][0], 7)
                self.assertEqual(sorted(ast.literal_eval(rows[0][1])), values)

    def test_keys_without_values(self):
        self.assertEqual(self.values(str, (["b", "a"], None)), ["a", "b"])

    def test_fixed_records_and_bytes_that_are_no_text(self):
        source = self.file("in", b"k1v\xff\nk2w\x00\n")

        @y.mapper(out=(y.bytes, y.text))
        def swap(b: y.Batch):
            return b.values, b.keys

        job = y.job(swap, input_format="fixed:5:2", mode="none")
        self.assertEqual(job.run(source).table.to_list(), [(b"v\xff\n", "k1"), (b"w\x00\n", "k2")])
        shown = y.job(y.mapper(lambda b: ([b"a\xff"], 1), out=(y.text, y.i64))).run(source).table.to_list()
        self.assertEqual(shown, [("a\ufffd", 1)])

    def test_large_records(self):
        large = os.urandom(3 << 20)
        self.assertEqual(self.values((y.bytes, y.bytes), ([large], [large[::-1]])), [(large, large[::-1])])

    def test_wrong_types_are_errors_that_name_the_cure(self):
        for out, emitted, message in [
            ((y.bytes, y.i64), ([b"k"], ["text"]), "a value is a str, but out= declares yunti.i64"),
            ((y.bytes, y.i64), ([1], [1]), "a key is a int, but out= declares yunti.bytes"),
            ((y.slice, y.one), ([b"k"], [1]), "declare y.bytes"),
            ((y.slice, y.one), ([b"k"], [2]), "declare y.i64"),
            ((y.bytes, y.i64), ([b"k", b"l"], [1]), "2 keys and 1 values"),
        ]:
            with self.subTest(message), self.assertRaises(y.JobError) as caught:
                self.values(out, emitted)
            self.assertIn(message, str(caught.exception))


class Groups(Case):
    def test_groups_over_many_batches_are_whole(self):
        # Groups of up to 60,000 values, more than a batch has; the values of a key are in the order of the input.
        seed = int(os.environ.get("YUNTI_RANDOM_SEED", random.randrange(1 << 30)))
        rng = random.Random(seed)
        lines = [f"{key} {n}" for key in range(6) for n in range(rng.choice([1, 5, 60000]))]
        rng.shuffle(lines)
        expected = collections.defaultdict(list)
        for line in lines:
            expected[line.split()[0].encode()].append(int(line.split()[1]))

        @y.record(out=(y.bytes, y.i64))
        def pairs(line):
            key, n = line.split()
            return key, int(n)

        @y.record(out=(y.bytes, y.bytes))
        def pairs_of_bytes(line):
            key, n = line.split()
            return key, n

        @y.reducer(out=(y.bytes, y.text))
        def digest(g):
            import zlib

            text = [" ".join(str(int(v)) for v in values) for _, values in g]
            return [key for key, _ in g], [f"{len(t)} {zlib.crc32(t.encode())}" for t in text]

        import zlib

        texts = {key: " ".join(map(str, values)) for key, values in expected.items()}
        wanted = {key: f"{len(t)} {zlib.crc32(t.encode())}" for key, t in texts.items()}
        source = self.file("in", "\n".join(lines))
        for mapper in (pairs, pairs_of_bytes):
            for flags in ({}, {"memory": "16MiB", "threads": 2}):
                with self.subTest(seed=seed, mapper=mapper.name, **flags):
                    self.assertEqual(y.job(mapper, reducer=digest).run(source, **flags).table.to_dict(), wanted)

    def test_joiner(self):
        """All ways to divide groups over batches give the same groups."""
        from yunti.worker.groups import CONT, MORE, GroupJoiner
        from yunti.worker.serve import RawGroups
        from yunti.data.columns import Slices, slices_of_items

        groups = [(b"a", [b"1", b"22"]), (b"b", [b"3", b"4", b"5"]), (b"c", [b""])]
        flat = [(key, value) for key, values in groups for value in values]
        n = len(flat)
        for cuts in itertools.chain.from_iterable(itertools.combinations(range(1, n), k) for k in range(n)):
            joiner, got = GroupJoiner(), []
            edges = [0, *cuts, n]
            for begin, end in zip(edges, edges[1:]):
                part = flat[begin:end]
                keys = [key for key, _ in itertools.groupby(part, key=lambda p: p[0])]
                first = [0]
                for _, same in itertools.groupby(part, key=lambda p: p[0]):
                    first.append(first[-1] + len(list(same)))
                flags = CONT if begin and flat[begin - 1][0] == flat[begin][0] else 0
                flags |= MORE if end < n and flat[end][0] == flat[end - 1][0] else 0
                values = as_arrays(slices_of_items([value for _, value in part]))
                raw = RawGroups(as_arrays(slices_of_items(keys)), as_numbers(first), values, None)
                for whole in joiner.join(raw, flags):
                    firsts = [int(f) for f in whole.first]
                    self.assertIsInstance(whole.values, Slices)
                    got += [(key, whole.values.tolist()[a:b])
                            for key, a, b in zip(whole.keys.tolist(), firsts, firsts[1:])]
            got += [(g.keys[0], g.values.tolist()) for g in joiner.close()]
            self.assertEqual(got, groups, cuts)


def as_numbers(numbers):
    if without_numpy():
        return memoryview(struct.pack(f"{len(numbers)}I", *numbers)).cast("I")
    import numpy as np

    return np.array(numbers, np.uint32)


def as_arrays(slices):
    """Returns slices as a worker makes them: of arrays where there is NumPy."""
    if without_numpy():
        return slices
    import numpy as np

    return type(slices)(np.frombuffer(slices.data, np.uint8), as_numbers(slices.offsets), as_numbers(slices.lengths))


class Functions(Case):
    def test_closures_and_lambdas_travel(self):
        n = 3
        rows = y.job(y.record(lambda line: (line[:n], 1))).run(self.file("in", "abcdef\nabcxyz\n")).table.to_list()
        self.assertEqual(rows, [(b"abc", 1), (b"abc", 1)])

    def test_functions_of_main_and_of_a_module_travel(self):
        self.file("mine.py", "import yunti as y\n@y.record\ndef first(line):\n    return line[:1], 1\n")
        out, _ = self.python("import yunti as y, mine\n@y.record\ndef two(line):\n    return line[:2], 1\n"
                             "open('in', 'w').write('abc\\n')\n"
                             "print(y.job(mine.first).run('in').table.to_list(), y.job(two).run('in').table.to_list())")
        self.assertEqual(out, "[(b'a', 1)] [(b'ab', 1)]\n")

    def test_classes_with_flush_and_state(self):
        @y.mapper(out=(y.text, y.i64))
        class Lines:
            def __init__(self):
                self.n = 0

            def map(self, b):
                self.n += len(b)

            def flush(self):
                return ["lines"], [self.n]

        self.assertEqual(y.job(Lines).run(self.file("in", "a\nb\r\nc")).table.to_list(), [("lines", 3)])

    def test_what_cannot_travel_is_named(self):
        import threading

        lock = threading.Lock()
        with self.assertRaisesRegex(TypeError, "cannot travel to its workers: .*lock"):
            y.job(y.record(lambda line: (line, lock.locked()))).run(self.file("in", "a\n"))

    def test_settings_side_files_counters_and_status(self):
        @y.record(out=(y.bytes, y.text))
        def shown(line):
            y.task.count("LINES", 2)
            y.task.status("busy")
            return line, f"{y.task.setting('my.key')} {y.task.side_file('side').decode()} {len(y.task.inputs)}"

        job = y.job(shown, settings={"my.key": True}, side_file=self.file("side", "content"))
        done = job.run(self.file("in", "a\nb\n"))
        self.assertEqual(done.table.to_list(), [(b"a", "true content 1"), (b"b", "true content 1")])
        self.assertEqual(done.report.counters["Python"], {"LINES": 4})

    def test_named_outputs(self):
        @y.record
        def divided(line):
            if line.startswith(b"#"):
                y.task.output("comments", str).write(line)
                y.task.output("lengths", (y.bytes, y.i32)).write([line[:1], b"all"], [len(line), 7])
                return None
            return line, 1

        lines = [f"# {n}" if n % 3 else f"{n}" for n in range(30000)]
        out = self.path("out")
        done = y.job(divided, named_output=["comments=text", "lengths=text"]).run(self.file("in", "\n".join(lines)), out)
        self.assertEqual(len(done.table), 10000)
        comments = [line for line in lines if line.startswith("#")]
        self.assertEqual(self.named(out, "comments"), comments)
        self.assertEqual(self.named(out, "lengths"), [row for c in comments for row in (f"#\t{len(c)}", "all\t7")])
        with self.assertRaisesRegex(y.JobError, "comments"):
            y.job(divided).run(self.path("in"), attempts=1)
        with self.assertRaisesRegex(RuntimeError, "outside of a job"):
            y.task.output("comments")

    def named(self, out, name):
        """Returns the lines of a named output."""
        rows = []
        for part in sorted(os.listdir(out)):
            if part.startswith(name):
                with open(os.path.join(out, part)) as file:
                    rows += file.read().splitlines()
        return rows

    def test_a_function_of_key_and_value(self):
        @y.record(out=(y.bytes, y.bytes))
        def swapped(key, value):
            return value, key

        source = self.file("in", "k1\tv1\nk2\tv2\n")
        rows = y.job(swapped, input_format="kv").run(source).table.to_list()
        self.assertEqual(rows, [(b"v1", b"k1"), (b"v2", b"k2")])

    def test_lines(self):
        for text in (b"", b"\n", b"a", b"a\nb", b"a\r\nb\r\n", b"a\rb\r", b"\r\r\n\n", b"a\x0bb\x0c\x1cc\x85d\n"):
            wanted = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
            if wanted[-1] == b"":
                wanted.pop()
            self.assertEqual(y.TextBatch.of(text).lines().tolist(), wanted, text)

    def test_words(self):
        import re

        rng = random.Random(1)
        for n in range(200):
            text = bytes(rng.choice(b" \t\n\r\f\x0b\0ab\xff") for _ in range(n))
            wanted = [word for word in re.split(rb"[ \t\n\r\f]+", text) if word]
            self.assertEqual(y.TextBatch.of(text).words().tolist(), wanted, text)


def is_running(pid):
    """Returns True for a process that is there and no zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Errors(Case):
    def test_a_traceback_names_line_file_and_batch(self):
        source = self.file("in", "good\n" * 10 + "bad\n")

        @y.record
        def picky(line):
            if line == b"bad":
                raise ValueError("this line is bad")
            return line, 1

        with self.assertRaises(y.JobError) as caught:
            y.job(picky).run(source, attempts=1)
        e = caught.exception
        self.assertEqual((e.code, e.exit_code, e.path, e.offset), ("user_code", 6, source, 0))
        self.assertIn("ValueError: this line is bad", str(e))
        self.assertIn('raise ValueError("this line is bad")', str(e))
        self.assertIn(f'File "{os.path.abspath(__file__)}", line {picky.made_of.__code__.co_firstlineno + 3}', str(e))
        self.assertNotIn("serve.py", str(e))

    def test_a_traceback_is_printed_once_for_all_attempts(self):
        _, err = self.python("import yunti as y\n@y.record\ndef bad(line):\n    return line, 1 // 0\n"
                             "open('in', 'w').write('a\\n')\n"
                             "try: y.job(bad).run('in', attempts=3, quiet=True)\nexcept y.JobError as e: pass\n")
        self.assertEqual(err.count("return line, 1 // 0\n"), 1, err)

    def test_errors_of_reducers(self):
        bad = y.reducer(lambda g: g.nothing)
        with self.assertRaisesRegex(y.JobError, "AttributeError"):
            y.job(words, reducer=bad).run(self.file("in", "a b\n"), attempts=1)

    def test_a_worker_that_ends_is_tried_again(self):
        mark = self.path("mark")

        @y.record
        def dies_once(line):
            import os

            if not os.path.exists(mark):
                open(mark, "w").close()
                os._exit(7)
            return line, 1

        self.assertEqual(y.job(dies_once).run(self.file("in", "a\n")).table.to_list(), [(b"a", 1)])

    def test_bad_records_are_left_out(self):
        source = self.file("in", "".join("bad\n" if n in (77, 1500) else f"line {n}\n" for n in range(3000)))

        @y.record
        def strict(line):
            if line == b"bad":
                raise ValueError("a bad line")
            return line, 1

        with self.assertRaises(y.JobError) as caught:
            y.job(strict).run(source)
        offset = sum(len(f"line {n}\n") for n in range(77))
        self.assertEqual(caught.exception.offset, offset)
        self.assertIn("ValueError: a bad line", caught.exception.traceback)
        done = y.job(strict, bad_records="skip:2").run(source)
        self.assertEqual(len(done.table), 2998)
        self.assertEqual(done.report.counters["Yunti"]["BAD_RECORDS"], 2)

    def test_a_sandbox(self):
        place = self.path("written")

        @y.record
        def writes(line):
            try:
                open(place, "w").close()
            except PermissionError:
                return line, 1
            return line, 2

        value = y.job(writes, sandbox=True, worker_memory="1GiB").run(self.file("in", "a\n")).table.to_list()[0][1]
        with self.assertRaises(y.JobError) as caught:
            y.job(y.record(lambda line: (line, 1 // 0))).run(self.path("in"), sandbox=True, attempts=1)
        self.assertIn("(line, 1 // 0)", caught.exception.traceback)
        # A kernel without landlock runs the job, and says so.
        self.assertEqual(value, 2 if os.path.exists(place) else 1)

    def test_a_worker_written_from_the_protocol_page(self):
        plain = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plain_worker.py")
        counted = y.job(mapper="lengths", reducer="totals").classes
        self.assertEqual(counted, {"mapper": "lengths", "reducer": "totals"})
        lines = [f"{'x' * (n % 5)} {'y' * (n % 3)}" for n in range(20000)]
        words = ["run", "--worker", f"{sys.executable} {plain}", "--mapper", "lengths", "--reducer", "totals", "--output", "-",
                 "--input", self.file("in", "\n".join(lines)), "--quiet"]
        wanted = collections.Counter(len(line) for line in lines)
        self.assertEqual(y.program.run(words).decode(), "".join(f"{k}\t{n}\n" for k, n in sorted(wanted.items())))

    def test_sys_exit_is_an_error(self):
        with self.assertRaisesRegex(y.JobError, "SystemExit: 3"):
            y.job(y.record(lambda line: sys.exit(3))).run(self.file("in", "a\n"), attempts=1)

    def test_standard_input_and_output_are_not_the_memory(self):
        @y.record(out=(y.bytes, y.bytes))
        def reads(line):
            print("printed by user code")
            return line, sys.stdin.buffer.read()

        self.assertEqual(y.job(reads).run(self.file("in", "a\n")).table.to_list(), [(b"a", b"")])

    def test_a_wrong_setting_is_refused_with_a_hint(self):
        with self.assertRaisesRegex(TypeError, "no setting reducers: did you mean reduces"):
            y.job(words, reducers=3)
        with self.assertRaisesRegex(TypeError, "no setting json"):
            y.job(words, json=True)

    def test_every_setting_is_a_flag_of_the_program(self):
        from yunti import jobs

        newer = jobs._newer_flags()
        self.assertIn("reduces", newer)
        self.assertEqual(jobs.FLAGS - newer, frozenset())

    def test_a_missing_input(self):
        with self.assertRaises(y.JobError) as caught:
            y.job(words).run(self.path("missing"))
        self.assertEqual(caught.exception.code, "input")

    def test_ctrl_c_stops_the_job(self):
        source = ("import os, signal, threading, time, yunti as y\n"
                  "@y.record\ndef slow(line):\n    open('started', 'w').close(); time.sleep(60)\n"
                  "def stop():\n"
                  "    while not os.path.exists('started'): time.sleep(0.01)\n"
                  "    os.kill(os.getpid(), signal.SIGINT)\n"
                  "open('in', 'w').write('a\\n')\nthreading.Thread(target=stop).start()\n"
                  "try: y.job(slow).run('in', 'out')\n"
                  "except KeyboardInterrupt: print('interrupted', sorted(os.listdir()))\n")
        out, _ = self.python(source)
        self.assertEqual(out, "interrupted ['in', 'program.py', 'started']\n")

    def test_ctrl_c_in_a_terminal(self):
        # The terminal signals the program, its workers and the caller; nothing is left but the caller's exception.
        import pty

        self.file("program.py", "import os, time, yunti as y\n"
                  "@y.record\ndef slow(line):\n    open('started', 'w').close(); time.sleep(60)\n"
                  "open('in', 'w').write('a\\n')\n"
                  "try: y.job(slow).run('in', 'out')\n"
                  "except KeyboardInterrupt: print('interrupted', sorted(os.listdir()))\n")
        place = os.path.dirname(os.path.dirname(y.program.__file__))
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(sys.executable, [sys.executable, "program.py"], {**os.environ, "PYTHONPATH": place})
        self.addCleanup(os.close, terminal)
        while not os.path.exists(self.path("started")):
            time.sleep(0.01)
        begin = time.monotonic()
        os.write(terminal, b"\x03")
        shown = b""
        try:
            while True:
                shown += os.read(terminal, 4096)
        except OSError:  # the end of a terminal
            pass
        self.assertEqual(os.waitpid(pid, 0)[1], 0, shown)
        self.assertIn(b"interrupted ['in', 'program.py', 'started']", shown)
        self.assertNotIn(b"Traceback", shown)
        self.assertLess(time.monotonic() - begin, 5)

    def test_a_job_that_another_process_cancels(self):
        out, _ = self.python("import os, signal, threading, time, yunti as y\n"
                             "@y.record\ndef slow(line):\n"
                             "    open('started', 'w').write(str(os.getppid())); time.sleep(60)\n"
                             "def stop():\n"
                             "    while not os.path.exists('started') or not open('started').read(): time.sleep(0.01)\n"
                             "    os.kill(int(open('started').read()), signal.SIGTERM)\n"
                             "open('in', 'w').write('a\\n')\nthreading.Thread(target=stop).start()\n"
                             "try: y.job(slow).run('in', 'out')\n"
                             "except y.JobError as e: print(e.code, e.exit_code)\n")
        self.assertEqual(out, "cancelled 130\n")

    def test_workers_end_with_the_engine(self):
        out, _ = self.python("import os, signal, threading, time, yunti as y\n"
                             "@y.record\ndef slow(line):\n"
                             "    open('started', 'w').write(f'{os.getppid()} {os.getpid()}'); time.sleep(60)\n"
                             "def stop():\n"
                             "    while not os.path.exists('started') or not open('started').read(): time.sleep(0.01)\n"
                             "    os.kill(int(open('started').read().split()[0]), signal.SIGKILL)\n"
                             "open('in', 'w').write('a\\n')\nthreading.Thread(target=stop).start()\n"
                             "try: y.job(slow).run('in', 'out')\n"
                             "except y.JobError as e: print(e.exit_code)\n")
        self.assertEqual(out, "-9\n")
        with open(self.path("started")) as file:
            worker = int(file.read().split()[1])
        end = time.monotonic() + 10
        while time.monotonic() < end and is_running(worker):
            time.sleep(0.05)
        self.assertFalse(is_running(worker))

    def test_cells_of_a_notebook_have_their_source_in_tracebacks(self):
        import linecache

        cell = "import yunti as y\n@y.record\ndef picky(line):\n    raise ValueError('in a cell')\n"
        linecache.cache["<cell 7>"] = (len(cell), None, cell.splitlines(True), "<cell 7>")
        made = {"__name__": "__main__"}
        exec(compile(cell, "<cell 7>", "exec"), made)
        with self.assertRaises(y.JobError) as caught:
            y.job(made["picky"]).run(self.file("in", "a\n"), attempts=1)
        self.assertIn("File \"<cell 7>\", line 4, in picky\n    raise ValueError('in a cell')", str(caught.exception))

    def test_a_worker_without_an_engine(self):
        done = subprocess.run([sys.executable, "-m", "yunti.worker", "x"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env=y.program.environment())
        self.assertEqual(done.returncode, 2)
        self.assertIn("start it by `yunti run --worker`", done.stderr)

    def test_a_source_file_as_job_file(self):
        path = self.file("my job.py", "import yunti as y\n@y.record\ndef first(line):\n    return line[:1], 1\n")
        command = y.program.worker_command(path)
        words = ["run", "--worker", command, "--mapper", "first", "--input", self.file("in", "ab\n"), "--output", "-"]
        self.assertEqual(y.program.run(words), b"a\t1\n")


if __name__ == "__main__":
    unittest.main()
