"""What jobs ship to a cluster. Whole jobs on a cluster are in hadoop/tests/user_code_test.py."""

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

from case import Case

import yunti as y
from yunti.shipping import cluster, job_file


class Shipped(Case):
    def test_the_worker_is_an_archive_that_python_runs(self):
        path = self.path("worker.zip")
        cluster.pack(path)
        names = set(zipfile.ZipFile(path).namelist())
        self.assertTrue({"__main__.py", "yunti/worker/serve.py", "cloudpickle/cloudpickle.py"} <= names, names)
        self.assertFalse([name for name in names if "/bin/" in name or "__pycache__" in name])
        # -S: without the packages of this interpreter.
        done = subprocess.run([sys.executable, "-S", path], cwd="/", env={}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.split(":")[0]), (2, "usage"), done.stderr)

    def test_arguments_name_the_python_of_the_tasks(self):
        venv, seed = self.file("venv.tar.gz", ""), os.environ.get("PYTHONHASHSEED", "0")
        for flags, python, more in [({}, sys.executable, []), ({"python": "/opt/a b/python"}, "/opt/a b/python", []),
                                    ({"environment": venv}, "./environment/bin/python", ["--archive", venv + "#environment"])]:
            words = cluster.arguments("/x/classes", self.folder, flags)
            self.assertEqual(words[:4], ["--ship", "/x/classes#yunti-classes", "--ship",
                                         self.path("yunti-worker.zip") + "#yunti-worker.zip"])
            self.assertEqual(words[4:-2], more)
            self.assertEqual(words[-1], f"env 'PYTHONHASHSEED={seed}' '{python}' './yunti-worker.zip' './yunti-classes'")
        with self.assertRaisesRegex(FileNotFoundError, "make one with venv-pack or conda-pack"):
            cluster.arguments("/x/classes", self.folder, {"environment": "none.tar.gz"})

    def test_arguments_of_a_cluster_need_one(self):
        job = y.job(y.record(lambda line: (line, 1)))
        for flags, what in [({"python": "python3"}, 'add on="yarn"'),
                            ({"on": "yarn", "python": "python3", "environment": "e"}, "exclude each other"),
                            ({"on": "yarn"}, "needs an output there"), ({"enviroment": "e"}, "did you mean environment")]:
            with self.assertRaisesRegex(TypeError, what):
                job.run("in", **flags)

    def test_a_table_says_why_it_cannot_be_copied(self):
        table = cluster.ClusterTable("/no/output", "text", (bytes, int))
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "hadoop")
            with open(program, "w") as file:
                file.write("#!/bin/sh\necho some noise; echo \"get: $3: No such file\" >&2; exit 1\n")
            os.chmod(program, 0o755)
            before = os.environ["PATH"]
            os.environ["PATH"] = folder + os.pathsep + before
            try:
                with self.assertRaisesRegex(OSError, r"/no/output: get: /no/output/part-\*: No such file"):
                    table.to_list()
            finally:
                os.environ["PATH"] = before


class Loaded(Case):
    def test_a_job_of_another_python_is_refused(self):
        path = self.path("classes")
        job_file.dump({"a": 1}, path)
        self.assertEqual(job_file.load(path), {"a": 1})
        with open(path, "rb") as file:
            rest = file.read()
        import pickle

        own = pickle.dumps(tuple(sys.version_info[:2]))
        self.assertTrue(rest.startswith(own))
        self.file("other", pickle.dumps((2, 7)) + rest[len(own):])
        with self.assertRaisesRegex(RuntimeError, r"come from Python 2\.7, and .* is Python 3\.\d+: name an interpreter"):
            job_file.load(self.path("other"))

    def test_modules_are_found_where_a_worker_starts(self):
        os.mkdir(self.path("here"))
        self.file("here/own_helper.py", "def f(line):\n    return line, 1\n")
        self.python("import sys\nsys.path.insert(0, 'here')\nimport own_helper\nfrom yunti.shipping.job_file import dump\n"
                    "dump({'f': own_helper.f}, 'classes')\n")
        os.mkdir(self.path("there"))
        os.rename(self.path("here/own_helper.py"), self.path("there/own_helper.py"))
        self.file("there/load.py", "import sys\nfrom yunti.shipping.job_file import load\n"
                                   "sys.path = sys.path[1:]\nprint(load('../classes')['f'](1))\n")
        place = os.path.dirname(os.path.dirname(y.__file__))
        done = subprocess.run([sys.executable, "load.py"], cwd=self.path("there"), capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": place})
        self.assertEqual(done.stdout.strip(), "(1, 1)", done.stderr)


if __name__ == "__main__":
    unittest.main()
