"""What the tests share: a folder for each, the program, and plain references."""

import collections
import glob
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BOOKS = os.path.join(ROOT, "examples/books")
if "YUNTI_INSTALLED" not in os.environ:
    # Tests of the checkout; the suite of the wheel sets this variable, and tests what pip has installed.
    sys.path.insert(0, os.path.join(ROOT, "python/src"))
    os.environ.setdefault("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))


def without_numpy():
    """Returns True where NumPy is not installed."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return True
    return False


def words_of_books():
    """Returns the counts of words, by plain Python."""
    counts = collections.Counter()
    for book in glob.glob(BOOKS + "/*.gz"):
        text = gzip.decompress(pathlib.Path(book).read_bytes())
        counts.update(re.split(rb"[ \t\n\r\f]+", text))
    del counts[b""]
    return dict(counts)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="yunti-python-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, content):
        pathlib.Path(self.path(name)).write_bytes(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def python(self, source, code=0, **env):
        """Runs a program of Python in the folder. Returns its standard output and standard error."""
        import yunti

        place = os.path.dirname(os.path.dirname(yunti.__file__))
        self.file("program.py", source)
        env = {**os.environ, "PYTHONPATH": place, **env}
        done = subprocess.run([sys.executable, "program.py"], cwd=self.folder, env=env, capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr
