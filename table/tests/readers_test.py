"""The readers of tables in Rust, C++, Java and Python give the same rows for random tables, byte by byte.

    make table-readers && YUNTI=dist/bin/yunti python3 table/tests/readers_test.py
    SEED=17 YUNTI=dist/bin/yunti python3 table/tests/readers_test.py Readers.test_random_tables    one table

`yunti table build` makes the table of a seed. A program for each language (readers/) answers the same queries, a line
each, in canonical text (readers/canonical.py), and the answers are compared with the rows that were generated:

    get KEY         a row | none: the first row of a key
    all KEY         N rows, and these rows
    batch KEY       a row | none; keys in lines one behind the other are looked up together
    range KEY KEY   N rows, and these in the order of keys; keys may have their first columns only, * is an open end
    prefix KEY      N rows, and these: the key's last column is the begin of a text
    walk            N rows, and these in the order of the file
    scan            the same, by another call

The answers to the last two come last: their order is the index's, so that all readers must have the one of the first.
In Rust and Python a range ends with its last key, in C++ and Java before it.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from table_test import ROOT, YUNTI

sys.path[:0] = [os.path.join(ROOT, path) for path in ("table/tests/readers", "tools/tests")]

import jdks  # noqa: E402
from long_tests import long_test  # noqa: E402
from random_table import HUGE_SIZE, LARGE_SIZES, SIZES, RandomTable  # noqa: E402

BUILT = os.path.join(ROOT, "build/table")
SOURCES = os.path.join(ROOT, "table/tests/readers")


def setUpModule():
    global PROGRAMS
    PROGRAMS = tempfile.mkdtemp(prefix="yunti-readers-")
    unittest.addModuleCleanup(shutil.rmtree, PROGRAMS)
    jar = os.path.join(BUILT, "yunti-table/yunti-table.jar")
    for words in ([os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-Wall", "-Wextra", f"-I{ROOT}/api/include",
                   f"{SOURCES}/reader.cpp", "-o", f"{PROGRAMS}/reader"],
                  ["javac", "--release", "17", "-Xlint:all", "-cp", jar, "-d", PROGRAMS, f"{SOURCES}/Reader.java"]):
        subprocess.run(words, check=True, timeout=300)


class Reader:
    """A program that answers queries, for all tables of a test."""

    def __init__(self, name, words, is_closed):
        self.name, self.is_closed = name, is_closed
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, place, queries):
        """Sends queries, a file; `answers` returns what comes."""
        self._place = f"{queries}.{self.name}"
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._place)
        self.process.stdin.write(f"{place}\t{queries}\t{self._place}\n")
        self.process.stdin.flush()

    def answers(self):
        """Returns what the reader reports instead of answers, or None, and the bytes of the answers."""
        line = self.process.stdout.readline().strip()
        if line != "done":
            return line or f"ended with code {self.process.wait(30)}", b""
        with open(self._place, "rb") as file:
            return None, file.read()

    def end(self):
        self.process.communicate(timeout=30)


def readers():
    """Returns a reader for each language, and each JDK."""
    homes = jdks.find(["17", "25"])
    path = f"{BUILT}/yunti-table/yunti-table.jar{os.pathsep}{PROGRAMS}"
    return [Reader("rust", [f"{BUILT}/reader"], is_closed=True),
            Reader("cpp", [f"{PROGRAMS}/reader"], is_closed=False),
            *(Reader(f"java{version}", [f"{home}/bin/java", "-Xmx2g", "-XX:+UseSerialGC", "-cp", path, "Reader"], is_closed=False)
              for version, (_, home) in homes.items()),
            Reader("python", [sys.executable, "-B", f"{SOURCES}/reader.py", f"{BUILT}/libyunti_python.so"], is_closed=True)]


class Readers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="yunti-readers-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.readers = readers()
        for reader in self.readers:
            self.addCleanup(reader.end)

    def path(self, name):
        return os.path.join(self.folder, name)

    def built(self, table, shard, name="t"):
        """Builds a table or one of its shards, and returns its place."""
        source = self.path("source.csv" if table.is_csv else "source.jsonl")
        with open(source, "wb") as file:
            file.write(table.source)
        path = self.path(f"{name}.ytab")
        for words in table.builds(source, path, shard):
            done = subprocess.run([YUNTI, "table", *words], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def check(self, place, table, readers, is_remote=False):
        """Compares the answers of readers with the rows of a table. Servers have lookups alone."""
        lookups = list(table.lookups())
        ranges = {is_closed: [] if is_remote else list(table.ranges(is_closed)) for is_closed in (True, False)}
        walks = [] if is_remote else ["walk"] if table.is_huge else ["walk", "scan"]
        queries = self.path("queries")
        for is_closed in (True, False):
            lines = [query for query, _ in lookups + ranges[is_closed]] + walks
            with open(f"{queries}.{is_closed}", "w") as file:
                file.writelines(f"{line}\n" for line in lines)
        for reader in readers:
            reader.ask(place, f"{queries}.{reader.is_closed}")
        # All have ended before one is judged: a reader that goes on would read the queries of the next table.
        found = {reader.name: reader.answers() for reader in readers}
        faults, walked = [], None
        for reader in readers:
            error, answers = found[reader.name]
            expected = lookups + ranges[reader.is_closed]
            head = "".join(f"{line}\n" for _, lines in expected for line in lines).encode()
            tail = answers[len(head):].decode()
            if error or not answers.startswith(head):
                faults.append(f"{reader.name}: {error or first_difference(expected, answers.decode().splitlines())}")
            elif walked is None:
                walked = tail
                self.check_walks(table, tail.splitlines(), len(walks))
            elif tail != walked:
                fault = first_difference([("walk, by another reader", walked.splitlines())], tail.splitlines())
                faults.append(f"{reader.name}: {fault}")
        if faults:
            self.fail("\n".join(faults))

    def check_walks(self, table, lines, times):
        """Checks that a walk yields each key once, with its rows in their order."""
        key_of = {row: key for key, rows in table.rows.items() for row in rows}
        count = sum(map(len, table.rows.values()))
        self.assertEqual(len(lines), times * (count + 1))
        for begin in range(0, len(lines), count + 1):
            self.assertEqual(lines[begin], f"{count} rows")
            left = dict(table.rows)
            at = begin + 1
            while at < begin + 1 + count:
                self.assertIn(lines[at], key_of, "the walk has a row that was not built")
                rows = left.pop(key_of[lines[at]], None)
                self.assertIsNotNone(rows, f"the walk has a key twice: {lines[at]}")
                self.assertEqual(lines[at:at + len(rows)], rows)
                at += len(rows)

    @contextlib.contextmanager
    def served(self, places):
        """Runs a server for each shard, from its file, and yields the place of the table of all."""
        addresses = []
        with contextlib.ExitStack() as stack:
            for number, place in enumerate(places):
                listen = f"unix:{self.folder}/socket{number}" if number % 2 == 0 else "127.0.0.1:0"
                server = subprocess.Popen([YUNTI, "table", "serve", f"t={place}", "--listen", listen, "--threads", "1", "--shard",
                                           f"{number + 1}/{len(places)}"], stdout=subprocess.PIPE, text=True)
                stack.callback(server.stdout.close)
                stack.callback(server.wait, 30)
                stack.callback(server.terminate)
                addresses.append(server.stdout.readline().strip().removeprefix("listening on "))
            yield "remote:" + ",".join(addresses)

    def table(self, seed, table):
        place = self.built(table, table.shard)
        self.check(place, table, self.readers)
        if seed % 12 == 0 and not table.shard:
            # Each server has the whole file, or the one of its shard.
            count = 1 + seed // 12 % 3
            places = [place] * count
            if seed % 24 == 0:
                places = [self.built(table, (number + 1, count), f"shard{number}") for number in range(count)]
            # The one in Python has the client in Rust.
            remote = [reader for reader in self.readers if reader.name != "rust"]
            with self.served(places) as servers:
                self.check(servers, table, remote, is_remote=True)

    def tables(self, first, rows, sizes):
        """Checks tables from a seed on, until they have these rows; with SEED, the one of that seed."""
        begin = time.monotonic()
        only = os.environ.get("SEED")
        seed, count = int(only or first), 0
        while count < rows:
            table = RandomTable(seed, sizes)
            try:
                self.table(seed, table)
            except AssertionError as e:
                columns = f"--key {table.names(table.key)} --columns {table.names(table.others)}"
                e.args = (f"SEED={seed} repeats {columns}\n{e}",)
                raise
            count += sum(map(len, table.rows.values()))
            seed += 1
            if only:
                break
        print(f"{seed - int(only or first)} tables, {count} rows, {time.monotonic() - begin:.0f} s", file=sys.stderr)

    def test_random_tables(self):
        self.tables(0, 30_000, SIZES * 10 + LARGE_SIZES)

    @long_test
    def test_a_million_rows(self):  # 4 min
        self.tables(10_000, 400_000, SIZES + LARGE_SIZES)
        self.tables(20_113, 2 * HUGE_SIZE, [HUGE_SIZE])


def first_difference(expected, found):
    """Returns the first line that differs, with its query."""
    at = 0
    for query, lines in expected:
        for line in lines:
            other = found[at] if at < len(found) else "(nothing)"
            if line != other:
                return f"line {at + 1}, for {query}:\n  expected {line}\n  found    {other}"
            at += 1
    return f"{len(found)} lines instead of {at}, the next is {found[at]}"


if __name__ == "__main__":
    unittest.main()
