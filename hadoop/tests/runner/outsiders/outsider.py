"""A program of others, from Maven Central: its jars, its runs on stock Hadoop and here, and what they wrote."""

import glob
import os
import random
import re
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../../../.."))
YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
JAVA = os.path.join(ROOT, "dist/java")
BUILD = os.path.join(ROOT, "build/hadoop/outsiders")
TIMEOUT_S = 900


def jars(name):
    """Returns the jars of a program, from Maven Central."""
    folder = os.path.join(BUILD, name)
    subprocess.run(["mvn", "-q", "-B", "-f", os.path.join(HERE, f"{name}.xml"), "dependency:copy-dependencies",
                    f"-DoutputDirectory={folder}", "-DincludeScope=runtime"], check=True)
    return sorted(glob.glob(f"{folder}/*.jar"))


def client():
    return sorted(glob.glob(f"{JAVA}/hadoop/*.jar"))


class Outsider(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(f"{self.folder}/data.csv", "w") as f:
            f.writelines(f"k{n % 37},{n},name{n % 11}\n" for n in range(3000))
        draw = random.Random(5)
        with open(f"{self.folder}/preferences.csv", "w") as f:
            for user in range(60):
                f.writelines(f"{user},{item},{draw.randint(1, 5)}\n" for item in sorted(draw.sample(range(40), 12)))

    def run_in(self, name, command, **variables):
        """Runs a command in a new directory with the inputs. Returns the lines of its output, and what it printed."""
        work = os.path.join(self.folder, name)
        os.mkdir(work)
        for data in ("data.csv", "preferences.csv"):
            os.symlink(f"{self.folder}/{data}", f"{work}/{data}")
        environment = {**os.environ, "XDG_STATE_HOME": f"{self.folder}/state", "XDG_RUNTIME_DIR": work, **variables}
        done = subprocess.run(command, capture_output=True, text=True, cwd=work, env=environment, timeout=TIMEOUT_S,
                              check=False)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-3000:])
        lines = []
        for part in sorted(glob.glob(f"{work}/out/*")):
            if os.path.isfile(part) and not os.path.basename(part).startswith("_"):
                with open(part, encoding="utf-8") as f:
                    lines += f.read().splitlines()
        return lines, done.stdout + done.stderr

    def files(self, name):
        """Returns the files of a run's output by path, without checksums."""
        out = os.path.join(self.folder, name, "out")
        found = {}
        for folder, _, names in os.walk(out):
            for file in names:
                if not file.startswith("."):
                    path = os.path.join(folder, file)
                    with open(path, "rb") as f:
                        found[os.path.relpath(path, out)] = f.read()
        return found

    def check(self, stock, ours, jobs):
        """Compares the outputs, and counts the jobs that ran natively on this machine."""
        self.assertEqual(ours[0], stock[0])
        self.assertGreater(len(ours[0]), 30)
        self.check_jobs(ours[1], jobs)

    def check_jobs(self, printed, jobs, native=True):
        """Counts the jobs of this machine. No task may have declined native code."""
        self.assertNotIn("job_local", printed)
        records = glob.glob(f"{self.folder}/state/yunti/hadoop/job_*/*.jhist")
        self.assertEqual(len(records), jobs)
        text = ""
        for path in records:
            with open(path, encoding="utf-8") as f:
                text += f.read()
        if native:
            self.assertIn('"name":"Yunti","displayName":"Yunti","counts":[{"name":"native"', text)
        self.assertEqual(re.findall(r'"displayName":"(declined[^"]*)"', text), [])
