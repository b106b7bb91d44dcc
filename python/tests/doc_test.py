"""Examples in the package's docstrings, and each block of code in the guide."""

import collections
import doctest
import glob
import gzip
import importlib
import importlib.util
import os
import pathlib
import random
import re
import subprocess
import sys
import unittest

from case import BOOKS, ROOT, Case, without_numpy

import yunti
from yunti.data import native

GUIDE = pathlib.Path(ROOT, "docs/guide/python.md")
TABLES = pathlib.Path(ROOT, "docs/guide/tables.md")
TABLE_PROGRAM = os.path.join(ROOT, "dist/libexec/yunti-table")
PACKAGE = pathlib.Path(yunti.__file__).parent


def blocks_of(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.S)


def load_tests(loader, tests, pattern):
    if without_numpy():
        return unittest.TestSuite()
    for path in sorted([*PACKAGE.glob("*.py"), *PACKAGE.glob("data/*.py"), *PACKAGE.glob("results/*.py")]):
        # `arrow` has no examples, and needs pyarrow.
        if path.stem not in ("__main__", "arrow"):
            name = ".".join(["yunti", *path.relative_to(PACKAGE).with_suffix("").parts]).replace(".__init__", "")
            tests.addTests(doctest.DocTestSuite(importlib.import_module(name)))
    return tests


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class TypeHints(Case):
    def mypy(self, *words):
        # mypy finds an installed package by itself, because it has py.typed.
        env = {**os.environ, "MYPYPATH": str(PACKAGE.parent)} if "YUNTI_INSTALLED" not in os.environ else None
        words = [sys.executable, "-m", "mypy", "--cache-dir", self.path("cache"), *words]
        return subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env=env)

    def test_the_package_is_typed(self):
        words = ["--config-file", os.path.join(ROOT, "python/pyproject.toml"), "-p", "yunti"]
        done = self.mypy(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_callers_get_types(self):
        self.file("caller.py", "import yunti as y\nreveal_type(y.job(mapper='M').run('in').table)\ny.read('in').top('3')\n")
        done = self.mypy("caller.py")
        self.assertIn('Revealed type is "yunti.results.table.Table"', done.stdout)
        self.assertIn('Argument 1 to "top" of "Dataset" has incompatible type "str"; expected "int"', done.stdout)


@unittest.skipUnless(GUIDE.exists(), "the guide is not here")
class Guide(Case):
    def test_each_block_runs(self):
        """Runs the blocks in order as one program, on the data that the guide names."""
        missing = [name for name in ("numpy", "pyarrow", "pandas") if importlib.util.find_spec(name) is None]
        if missing:
            self.skipTest(f"{', '.join(missing)} is not installed")
        blocks = blocks_of(GUIDE)
        self.assertGreater(len(blocks), 8)
        os.symlink(BOOKS, self.path("books"))
        rng = random.Random(3)
        visits = [(f"user{rng.randrange(7)}", rng.randrange(1 << 20)) for _ in range(2000)]
        self.file("visits.csv", "user,time\n" + "".join(f"{user},{time}\n" for user, time in visits))
        times = collections.defaultdict(list)
        for user, time in visits:
            times[user].append(time)
        sessions = {user: 1 + sum(b - a > 1800 for a, b in zip(sorted(t), sorted(t)[1:])) for user, t in times.items()}
        starts = collections.defaultdict(list)
        for book in glob.glob(BOOKS + "/*.gz"):
            for line in re.split(rb"\r\n|\n|\r", gzip.decompress(pathlib.Path(book).read_bytes())):
                if len(line) > 40:
                    starts[line[:8]].append(len(line))
        self.python("\n".join(blocks) + f"""
assert last_visit == { {user: max(t) for user, t in times.items()} }
assert counted == {sessions}
assert longest == { {key: max(n) for key, n in starts.items()} }
assert means == { {key: sum(n) / len(n) for key, n in starts.items()} }
""")

    @unittest.skipUnless(os.path.exists(TABLE_PROGRAM) and native.library(), "yunti-table is not built: make table")
    def test_blocks_of_shared_tables_run(self):
        missing = [name for name in ("numpy", "pyarrow", "pandas") if importlib.util.find_spec(name) is None]
        if missing:
            self.skipTest(f"{', '.join(missing)} is not installed")
        self.file("users.csv", "user_id,name,city,score\n4711,Ada,London,0.5\n4712,Li,Paris,\n")
        self.file("shops.csv", "shop,day,sold\nnorth,1,10\nnorth,31,20\nsouth,1,30\n")
        for name, *words in (["users", "--key", "user_id", "--columns", "name,city:dict,score:f32?"],
                             ["shops", "--key", "shop,day", "--sorted"]):
            build = [TABLE_PROGRAM, "build", name + ".csv", *words, "-q", "-o", name + ".ytab"]
            subprocess.run(build, cwd=self.folder, check=True)
        words = [TABLE_PROGRAM, "serve", "users.ytab", "--listen", "unix:users.socket"]
        with subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE, text=True) as server:
            try:
                self.assertIn("listening", server.stdout.readline())
                out, _ = self.python("\n".join(blocks_of(TABLES)))
            finally:
                server.terminate()
        self.assertIn("[0.5 -- --] [ True False  True]", out)
        self.assertIn("\n10\n20\n['north', 'north']\n", out)
        self.assertTrue(out.endswith("[{'name': 'Ada'}, None, {'name': 'Li'}] London\n"), out)


if __name__ == "__main__":
    unittest.main()
