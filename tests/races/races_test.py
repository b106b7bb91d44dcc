"""The thread sanitizer sees the code of class libraries: a race that is planted in one is reported, and what is none is not.

YUNTI names a binary with the sanitizer's runtime in it (tools/tests/full.py); the class library is built here, by clang.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = os.path.abspath(os.environ["YUNTI"])


class Races(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="yunti-races-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        source = os.path.join(ROOT, "tests/class_libraries/racing.cpp")
        subprocess.run(["clang++", "-std=c++17", "-g", "-O1", "-fPIC", "-shared", "-fsanitize=thread", f"-I{ROOT}/api/include", source,
                        "-o", cls.folder / "racing.so"], check=True, timeout=300)
        (cls.folder / "in").write_bytes(b"".join(b"line %d\n" % (n % 100) for n in range(20_000)))

    def job(self, mapper):
        words = f"run --lib racing.so --mapper Racing.{mapper} --folder Yunti.SumFolder -i in -o {mapper} --threads 4 -D split.size=10KiB"
        done = subprocess.run([YUNTI, *words.split()], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stderr

    def test_a_planted_race_is_reported(self):
        code, said = self.job("Racing")
        self.assertIn("WARNING: ThreadSanitizer: data race", said)
        self.assertIn("unguarded", said)
        self.assertEqual(code, 66, said)

    def test_race_free_code_is_not_reported(self):
        code, said = self.job("Counting")
        self.assertNotIn("ThreadSanitizer", said)
        self.assertEqual(code, 0, said)
        parts = sorted((self.folder / "Counting").glob("part-*"))
        self.assertEqual(sum(int(line.split(b"\t")[1]) for part in parts for line in part.read_bytes().splitlines()), 20_000)


if __name__ == "__main__":
    unittest.main()
