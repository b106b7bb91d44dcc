"""The core tests on every other CPython of pyenv, with the installed wheel, and on this one without NumPy.

Free-threaded builds (3.13t, 3.14t) run too, if pyenv has them.
"""

import glob
import os
import re
import subprocess
import sys
import unittest

from case import ROOT, Case

WHEEL = glob.glob(os.path.join(ROOT, "dist/yunti-*.whl"))
# A cut through the core tests: all kinds of answers, all types, groups, functions, tracebacks.
TESTS = ["core_test." + name for name in (
         "Words.test_slices_of_the_batch", "Words.test_slices_with_numbers", "Words.test_reducer_and_combiner",
         "Words.test_records", "Types.test_each_type_of_values_arrives",
         "Types.test_reducers_get_the_types_of_the_mapper", "Groups.test_joiner", "Functions",
         "Errors.test_a_traceback_names_line_file_and_batch")] + ["kinds_test", "tables_test.Keys"]


def interpreters():
    """Returns the interpreters that are there, by their version; not the one that runs."""
    found = {}
    for path in glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python")):
        version = re.match(r"(\d+)\.(\d+)\.\d+(t?)$", path.split("/")[-3])
        if version:
            found[int(version[1]), int(version[2]), version[3]] = path
    this = (*sys.version_info[:2], "")
    return {v: path for v, path in sorted(found.items()) if (3, 9) <= v[:2] <= (3, 14) and v != this}


@unittest.skipUnless("YUNTI_INSTALLED" in os.environ and WHEEL, "needs the installed wheel: make test-python")
class Pythons(Case):
    def core(self, python, **env):
        """Runs the cut of the core tests. Returns what they printed."""
        done = subprocess.run([python, "-m", "unittest", *TESTS], cwd=os.path.dirname(__file__), capture_output=True,
                              text=True, env={**os.environ, **env}, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertRegex(done.stderr, r"Ran [1-9]\d+ tests")

    def test_without_numpy(self):
        self.file("numpy.py", "raise ImportError('hidden for this test')\n")
        self.core(sys.executable, PYTHONPATH=self.folder)

    def test_import_needs_neither_numpy_nor_pyarrow(self):
        code = "import sys, yunti; yunti.job, yunti.read, yunti.mapper; print({'numpy', 'pyarrow'} & set(sys.modules))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "set()\n")

    def test_the_wheel_is_for_any_python_and_has_the_program_and_licences(self):
        import zipfile

        import yunti

        self.assertRegex(os.path.basename(WHEEL[0]), r"^yunti-[\d.]+-py3-none-(many)?linux_[\w.]+\.whl$")
        names = zipfile.ZipFile(WHEEL[0]).namelist()
        for wanted in ("yunti/bin/yunti", "yunti/py.typed", "licenses/LICENSE", "licenses/licenses.txt"):
            self.assertTrue(any(name.endswith(wanted) for name in names), f"{wanted}: {names}")
        self.assertEqual(yunti.program.program(), os.path.join(os.path.dirname(yunti.__file__), "bin/yunti"))
        self.assertNotIn("/src/", yunti.__file__)
        script = os.path.join(os.path.dirname(sys.executable), "yunti")
        listed = subprocess.run([script, "run", "--list"], capture_output=True, text=True, check=True)
        self.assertIn("wordcount", listed.stdout)
        version = subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(version.split()[1], yunti.__version__)


def python_test(version, path):
    def test(self):
        # The environment stays for the next run; the wheel is installed again.
        folder = os.path.join(ROOT, "build/pythons", f"{version[0]}.{version[1]}{version[2]}")
        python = os.path.join(folder, "bin/python")
        if not os.path.exists(python):
            subprocess.run([path, "-m", "venv", folder], check=True, capture_output=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        # Without a wheel of NumPy for this Python, its jobs run without NumPy.
        subprocess.run([*pip, "--only-binary", ":all:", "numpy"], capture_output=True)
        subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "yunti"], capture_output=True)
        done = subprocess.run([*pip, WHEEL[0]], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.core(python)

    test.__doc__ = f"CPython {version[0]}.{version[1]}{version[2]}"
    return test


for version, path in interpreters().items():
    setattr(Pythons, f"test_cpython_{version[0]}_{version[1]}{version[2]}", python_test(version, path))

if __name__ == "__main__":
    unittest.main()
