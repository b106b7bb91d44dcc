"""Programs of `Probe.java` on this machine, for tests of `yunti hadoop run`: a class of tests, with its jar and input."""

import collections
import contextlib
import glob
import os
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
JAVA = os.path.join(ROOT, "dist/java")
PROGRAMS = os.path.join(ROOT, "hadoop/tests/programs")
TIMEOUT_S = 120


class ProbeTest(unittest.TestCase):
    PROGRAM = "Probe"
    SECONDS_MAX = TIMEOUT_S

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        classes = os.path.join(cls.folder, "classes")
        os.mkdir(classes)
        cls.class_path = os.path.join(JAVA, "hadoop/*")
        subprocess.run(["javac", "-nowarn", "--release", "8", "-Xlint:-options", "-cp", cls.class_path, "-d", classes,
                        os.path.join(PROGRAMS, f"{cls.PROGRAM}.java")], check=True)
        cls.jar = os.path.join(cls.folder, "probe.jar")
        subprocess.run(["jar", "cf", cls.jar, "-C", classes, "."], check=True)
        cls.input = os.path.join(cls.folder, "in")
        os.mkdir(cls.input)
        cls.words = collections.Counter()
        for i in range(4):
            lines = [f"line {n % 7} of file {i} wird gezählt" for n in range(200)]
            cls.words.update(" ".join(lines).split())
            with open(f"{cls.input}/{i}.txt", "w", encoding="utf-8") as f:
                f.write("\n".join(lines) + "\n")

    def setUp(self):
        self.home = tempfile.mkdtemp(dir=self.folder)
        self.work = os.path.join(self.home, "work")
        self.temporary = os.path.join(self.home, "tmp")
        self.state = os.path.join(self.home, "state")
        os.mkdir(self.work)
        self.out = os.path.join(self.home, "out")
        # No Hadoop of this machine, and no configuration.
        self.environment = {
            "PATH": os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep)
                                    if not os.path.exists(os.path.join(p, "hadoop"))),
            "HOME": self.home, "XDG_STATE_HOME": self.state, "LANG": "C.UTF-8",
            # No pool of this machine.
            "XDG_RUNTIME_DIR": os.path.join(self.home, "run"),
        }
        os.mkdir(self.environment["XDG_RUNTIME_DIR"], 0o700)
        if "JAVA_HOME" in os.environ:
            self.environment["JAVA_HOME"] = os.environ["JAVA_HOME"]

    def command(self, mode, *options, jar=None, rest=()):
        settings = [f"-Dhadoop.tmp.dir={self.temporary}", f"-Dmapreduce.jobtracker.staging.root.dir={self.temporary}/s"]
        return [YUNTI, "hadoop", "run", jar or self.jar, self.PROGRAM, *settings, *options, mode, self.input, self.out, *rest]

    def run_probe(self, mode, *options, code=0, rest=()):
        done = subprocess.run(self.command(mode, *options, rest=rest), capture_output=True, text=True, cwd=self.work,
                              env=self.environment, timeout=self.SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.leaves_nothing()
        return done

    def leaves_nothing(self):
        self.assertEqual(os.listdir(self.work), [])
        left = [os.path.join(path, name) for path, _, names in os.walk(self.temporary) for name in names]
        self.assertEqual(left, [])
        running = subprocess.run(["pgrep", "-f", self.home], capture_output=True, text=True, check=False).stdout
        self.assertEqual(running, "")

    def lines(self, out=None):
        found = []
        for name in sorted(glob.glob(f"{out or self.out}/part-*")):
            with open(name, encoding="utf-8") as f:
                found += f.read().splitlines()
        return found

    def record(self):
        (job,) = glob.glob(f"{self.state}/yunti/hadoop/job_*")
        return job

    def start(self, mode, *options, until):
        """Starts a program, and waits until a file of its record exists."""
        process = subprocess.Popen(self.command(mode, *options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   cwd=self.work, env=self.environment)
        end = time.monotonic() + TIMEOUT_S
        while not glob.glob(f"{self.state}/yunti/hadoop/job_*/{until}"):
            self.assertLess(time.monotonic(), end)
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        return process

    def workers(self):
        """Returns the processes that work for programs of this test."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if self.home in os.readlink(f"/proc/{pid}/cwd") and f"{self.home}/work" != os.readlink(f"/proc/{pid}/cwd"):
                    found.append(int(pid))
        return found
