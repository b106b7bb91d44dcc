"""Observed programs, `yunti observe` as a process, and base classes of test cases."""

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
# Longest measurement in seconds; each ends when the program has done its work.
LOOK_SECONDS_MAX = 100


@functools.cache
def java_versions():
    return {version: home for version, (_, home) in jdks.find(["17", "25"]).items()}


MACHINE = ("cache", "cgroup", "crash", "ext4", "net")


def part(command):
    """Returns the part of Yunti that has a command."""
    return "machine" if command in MACHINE else "observe"


def observe(*words, code=0, before=()):
    run = subprocess.run(
        [*before, YUNTI, part(words[0] if words else ""), *map(str, words)], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == code, (run.returncode, run.stdout[-2000:], run.stderr)
    return run


def document_in(output):
    """Returns the JSON answer, which follows the output of the observed command."""
    return json.loads(output[output.index("{"):])


def answer(observer, *words, **how):
    """Returns the JSON answer of a whole run."""
    return document_in(observe(observer, "--json", *words, **how).stdout)


NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def may_be_others():
    return os.geteuid() == 0 and shutil.which("setpriv") is not None


needs_nobody = unittest.skipUnless(may_be_others(), "only root can become another user")
needs_namespaces = unittest.skipUnless(os.geteuid() == 0, "only root can create namespaces here")

needs_loop_devices = unittest.skipUnless(
    os.geteuid() == 0 and os.path.exists("/dev/loop-control"), "loop devices need root and /dev/loop-control"
)


def container(*command):
    """Returns a command in PID and mount namespaces of its own, with a /tmp of its own.

    A checkout below /tmp stays visible at its place.
    """
    script = 'mount -t tmpfs none /tmp && exec "$@"'
    if ROOT.startswith("/tmp/"):
        script = ('root=$1; shift; mount -t tmpfs none /mnt && mkdir /mnt/root && mount --bind "$root" /mnt/root && '
                  'mount -t tmpfs none /tmp && mkdir -p "$root" && mount --move /mnt/root "$root" && umount /mnt && '
                  'cd "$root" && exec "$@"')
        command = (ROOT, *command)
    return ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script, "sh", *command]


def folder_for_containers():
    """Returns a folder that a process with a /tmp of its own sees too, if one can be created."""
    build = os.path.join(ROOT, "build")
    with contextlib.suppress(PermissionError):
        os.makedirs(build, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=build if os.access(build, os.W_OK) else None)


def left_in_container(pid):
    """Returns the files of Yunti that are left in the /tmp of a process."""
    return [name for name in os.listdir(os.path.join("/proc", str(pid), "root", "tmp")) if name.startswith(".yunti")]


def within(process):
    """Returns the PID of the process below `unshare`, in this PID namespace."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as f:
        return int(f.read().split()[0])


class Started:
    """A program that has printed `ready`, perhaps with more in the line. It is killed at the end."""

    def __init__(self, *command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def __enter__(self):
        line = self.process.stdout.readline()
        assert line.split()[:1] == ["ready"], line
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
    """Compiles a Java program of `targets/jvm/`, for JDK 17 and later."""
    subprocess.run(["javac", "--release", "17", "-d", folder, os.path.join(HERE, f"targets/jvm/{name}.java")], check=True)


def built(folder, name, *flags, compiler="gcc", suffix="c"):
    """Builds a program of `targets/native/`, without frame pointers."""
    program = os.path.join(folder, name)
    subprocess.run(
        [
            compiler,
            "-O2",
            "-fomit-frame-pointer",
            *flags,
            "-o",
            program,
            os.path.join(HERE, f"targets/native/{name}.{suffix}"),
            "-lpthread",
            "-ldl",
        ],
        check=True,
    )
    return program


def require_programs_in_the_kernel():
    """Skips the tests if the machine or the privileges allow no programs in the kernel."""
    tried = subprocess.run(
        [YUNTI, "observe", "native", "sys:getppid", "-s", "0.1", "-p", str(os.getpid())],
        capture_output=True,
        text=True,
        timeout=60,
    )
    if tried.returncode == 3:
        raise unittest.SkipTest(f"programs in the kernel are not allowed here: {tried.stderr.strip()}")


class Looking:
    """An observer that has begun to measure the process `at`, or the one that its arguments name."""

    def __init__(self, observer, *words, at=None, before=(), json=True):
        words = ["--json"] * json + [*words]
        if at is not None:
            words += ["-s", LOOK_SECONDS_MAX, "-p", getattr(at, "pid", at)]
        command = [*before, YUNTI, part(observer), observer, *map(str, words)]
        self.run = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.json, self.warning = json, ""
        # A program that it starts may print lines too.
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
        """Ends the measurement. Returns its output."""
        self.run.send_signal(signal.SIGINT)
        return self.rest(130)

    def rest(self, code=0, line=None):
        """Waits for the end of its time or of its target. Returns its output. Sends a line to a command that it
        started first."""
        output, errors = self.run.communicate(line, timeout=30)
        assert self.run.returncode == code, (self.run.returncode, output[-2000:], errors)
        return document_in(output) if self.json else output


def send_line(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()


def do(process, line="go"):
    """Makes a target do its work. Returns the words that it prints after `done`."""
    send_line(process, line)
    answer = process.stdout.readline().split()
    assert answer and answer[0] == "done", (answer, process.poll())
    return answer[1:]


def do_all(process, *lines):
    """Makes a JVM do what each line names. Returns the lines before each "done", without the JVM's own warnings."""
    answers = []
    for line in lines:
        send_line(process, line)
        while (answer := process.stdout.readline().strip()) != "done":
            assert answer, "the program has ended"
            if "WARNING" not in answer and "[warning]" not in answer:
                answers.append(answer)
    return answers


def done(process):
    """Closes a target's input and waits for its end."""
    process.stdin.close()
    assert process.wait(timeout=20) == 0, process.returncode


def until(true, seconds=10):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "the condition did not become true in time"
        time.sleep(0.02)


def text_of(path):
    with open(path) as f:
        return f.read()


def stacks(document):
    """Returns each call path with its own value: a list of (name, kind), without the root."""
    tree = document.get("tree") or {"names": [], "nodes": []}
    names, nodes = tree["names"], tree["nodes"]
    ways, found = {}, []
    for i, (parent, name, kind, _, own) in enumerate(nodes):
        ways[i] = [] if parent is None else ways[parent] + [(names[name], document["kinds"][kind])]
        if own:
            found.append((own, ways[i]))
    return found


class InAFolder:
    """Tests of programs in a folder of the test class."""

    new_folder = staticmethod(tempfile.TemporaryDirectory)

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.new_folder()
        cls.addClassCleanup(cls.folder.cleanup)

    @classmethod
    def started(cls, *command):
        """Starts a program that all tests of the class observe."""
        started = Started(*command)
        process = started.__enter__()
        cls.addClassCleanup(started.__exit__)
        return process


class OfOneJdk(InAFolder):
    """Tests of a Java program of `targets/jvm/` on one JDK version."""

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
    """Tests that errors are one line."""

    observer = ""

    def refused(self, code, expected, *words, before=()):
        errors = observe(self.observer, *words, before=before, code=code).stderr
        self.assertEqual(len(errors.strip().splitlines()), 1, errors)
        self.assertIn(expected, errors)
