"""Programs that are looked at, `yunti observe` as a process that looks at them, and what test cases of both begin with."""

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/tests"))
import jdks  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
# The most that a look at a process lasts here; each ends when what is to be seen has been done.
LOOK_SECONDS_MAX = 100


@functools.cache
def java_versions():
    return {version: home for version, (_, home) in jdks.find(["17", "25"]).items()}


MACHINE = ("cache", "cgroup", "crash", "ext4", "net")


def part(command):
    """The part of Yunti that has a command."""
    return "machine" if command in MACHINE else "observe"


def observe(*words, code=0, before=()):
    run = subprocess.run([*before, YUNTI, part(words[0] if words else ""), *map(str, words)], capture_output=True, text=True, timeout=60)
    assert run.returncode == code, (run.returncode, run.stdout[-2000:], run.stderr)
    return run


def document_in(said):
    """The answer for programs, behind what the command that was looked at has said itself."""
    return json.loads(said[said.index("{"):])


def answer(observer, *words, **how):
    """What a look from its beginning to its end tells programs."""
    return document_in(observe(observer, "--json", *words, **how).stdout)


NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def may_be_others():
    return os.geteuid() == 0 and shutil.which("setpriv") is not None


needs_nobody = unittest.skipUnless(may_be_others(), "only root can be somebody else")
needs_namespaces = unittest.skipUnless(os.geteuid() == 0, "only root can make namespaces here")

needs_loop_devices = unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/dev/loop-control"), "loop devices are made by root, where there are any")


def container(*command):
    """A command in PID and mount namespaces of its own, with a /tmp that we do not see."""
    script = 'mount -t tmpfs none /tmp && exec "$@"'
    return ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script, "sh", *command]


def folder_for_containers():
    """A folder that a process with a /tmp of its own sees too, where we may make one."""
    build = os.path.join(ROOT, "build")
    with contextlib.suppress(PermissionError):
        os.makedirs(build, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=build if os.access(build, os.W_OK) else None)


def left_in_container(pid):
    """What is left of us in the /tmp of a process."""
    return [name for name in os.listdir(f"/proc/{pid}/root/tmp") if name.startswith(".yunti")]


def within(process):
    """The one process below `unshare`, by our number."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as f:
        return int(f.read().split()[0])


class Started:
    """A program that has said that it is ready, ended at the end."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __enter__(self):
        line = self.process.stdout.readline()
        assert line.strip() == "ready", line
        return self.process

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass


def compiled(folder, name):
    """A Java program of `targets/`, for JDK 17 and later."""
    subprocess.run(["javac", "--release", "17", "-d", folder, os.path.join(HERE, f"targets/{name}.java")], check=True)


def built(folder, name, *flags, compiler="gcc", suffix="c"):
    """A program of `targets/`, without frame pointers."""
    program = os.path.join(folder, name)
    subprocess.run([compiler, "-O2", "-fomit-frame-pointer", *flags, "-o", program, os.path.join(HERE, f"targets/{name}.{suffix}"), "-lpthread", "-ldl"], check=True)
    return program


def require_programs_in_the_kernel():
    """Skips the tests of a machine, or of rights, that allow none."""
    tried = subprocess.run([YUNTI, "observe", "native", "sys:getppid", "-s", "0.1", "-p", str(os.getpid())], capture_output=True, text=True, timeout=60)
    if tried.returncode == 3:
        raise unittest.SkipTest(f"programs in the kernel are not allowed here: {tried.stderr.strip()}")


class Looking:
    """An observer that has begun to look: at the process `at`, or at what its words name."""

    def __init__(self, observer, *words, at=None, before=(), json=True):
        words = ["--json"] * json + [*words]
        if at is not None:
            words += ["-s", LOOK_SECONDS_MAX, "-p", getattr(at, "pid", at)]
        command = [*before, YUNTI, part(observer), observer, *map(str, words)]
        self.run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.json, self.warning = json, ""
        # A program that it starts may say something too.
        while not (line := self.run.stderr.readline()).startswith(("watching ", "tracing ")):
            assert line.startswith("WARNING"), line + self.run.stderr.read() + self.run.stdout.read()
            self.warning += line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run.kill()
        self.run.communicate()

    def kill(self):
        self.run.kill()
        self.run.wait()

    def stop(self):
        """Ends the look, and what it says then."""
        self.run.send_signal(signal.SIGINT)
        return self.rest(130)

    def rest(self, code=0, told=None):
        """What it says at its end, which is that of its time or of its target; a command that it has started is told something first."""
        said, wrong = self.run.communicate(told, timeout=30)
        assert self.run.returncode == code, (self.run.returncode, said[-2000:], wrong)
        return document_in(said) if self.json else said


def say(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()


def do(process, line="go"):
    """Tells a target of ours to do what it does. Returns what it says then."""
    say(process, line)
    said = process.stdout.readline().split()
    assert said and said[0] == "done", (said, process.poll())
    return said[1:]


def do_all(process, *lines):
    """Tells a JVM of ours to do what each line names. Returns the lines that it says before each "done", without the JVM's own warnings."""
    said = []
    for line in lines:
        say(process, line)
        while (told := process.stdout.readline().strip()) != "done":
            assert told, "the program has ended"
            if "WARNING" not in told and "[warning]" not in told:
                said.append(told)
    return said


def done(process):
    """Lets a target end."""
    process.stdin.close()
    assert process.wait(timeout=20) == 0, process.returncode


def until(true, seconds=10):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.02)


def text_of(path):
    with open(path) as f:
        return f.read()


def stacks(document):
    """Each way of calls that ends somewhere, by names, with how much ended there: the root's name left away."""
    tree = document.get("tree") or {"names": [], "nodes": []}
    names, nodes = tree["names"], tree["nodes"]
    ways, found = {}, []
    for i, (parent, name, kind, _, own) in enumerate(nodes):
        ways[i] = [] if parent is None else ways[parent] + [(names[name], document["kinds"][kind])]
        if own:
            found.append((own, ways[i]))
    return found


class InAFolder:
    """Tests of programs that are built into a folder of their class."""

    new_folder = staticmethod(tempfile.TemporaryDirectory)

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.new_folder()
        cls.addClassCleanup(cls.folder.cleanup)

    @classmethod
    def started(cls, *command):
        """A program that all tests of the class look at."""
        started = Started(*command)
        process = started.__enter__()
        cls.addClassCleanup(started.__exit__)
        return process


class OfOneJdk(InAFolder):
    """Tests of a Java program of `targets/` on the JDK of a version."""

    version = program = ""

    @classmethod
    def setUpClass(cls):
        home = java_versions().get(cls.version)
        if not home:
            raise unittest.SkipTest(f"there is no JDK {cls.version}")
        super().setUpClass()
        compiled(cls.folder.name, cls.program)
        cls.java = [os.path.join(home, "bin/java"), "-cp", cls.folder.name]


class Refusals:
    """What is wrong is said in one line."""

    observer = ""

    def refused(self, code, expected, *words, before=()):
        wrong = observe(self.observer, *words, before=before, code=code).stderr
        self.assertEqual(len(wrong.strip().splitlines()), 1, wrong)
        self.assertIn(expected, wrong)
