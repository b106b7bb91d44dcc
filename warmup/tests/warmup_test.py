"""yunti warmup on a small service and a small batch program, on JDK 17 and 25.

    YUNTI=dist/bin/yunti python3 warmup/tests/warmup_test.py [JDK17.test_..]
"""

import glob
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools/tests"))
import jdks  # noqa: E402
from long_tests import long_test  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
JDKS = jdks.find(["17", "25"])
PATIENCE = 60  # seconds until a service must answer


def free_port():
    """Returns a port below the range for clients: a client that tries a port of that range may connect to itself."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def ask(port, path="/page", timeout=PATIENCE):
    """Returns the answer to one request over a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := s.recv(65536):
            answer += part
    return answer.decode()


def answers_before(port, process):
    """Returns how many answers the service had given before the first client that got in. Clients try all the time."""
    end = time.time() + PATIENCE
    while time.time() < end and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=0.1):
                pass
        except OSError:
            time.sleep(0.002)
            continue
        return int(ask(port).rsplit("\r\n", 1)[1]) - 1
    raise AssertionError(f"port {port} did not open; exit code {process.poll()}")


class Case(unittest.TestCase):
    """Folder with the jars of the programs. Tests run in it."""
    version = None

    @classmethod
    def setUpClass(cls):
        if cls.version is None or cls.version not in JDKS:
            raise unittest.SkipTest(f"there is no JDK {cls.version}")
        cls.home = JDKS[cls.version][1]
        cls.java = os.path.join(cls.home, "bin/java")
        os.chdir(HERE)
        cls.folder = tempfile.mkdtemp(prefix="yunti-warmup-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        classes = os.path.join(cls.folder, "classes")
        sources = [os.path.join(HERE, name) for name in ("Shop.java", "Batch.java")]
        subprocess.run([f"{cls.home}/bin/javac", "--release", "17", "-d", classes, *sources], check=True)
        for name, main in (("shop", "Shop"), ("batch", "Batch")):
            subprocess.run([f"{cls.home}/bin/jar", "--create", "--file", f"{cls.folder}/{name}.jar", "--main-class", main,
                            "-C", classes, "."], check=True)
        cls.recorded = False

    def setUp(self):
        os.chdir(self.folder)
        self.port = free_port()
        self.before = set(os.listdir("."))

    def tearDown(self):
        drafts = [name for name in os.listdir(self.folder) if name.startswith(".")]
        self.assertEqual(drafts, [], "a draft is left behind")
        for name in set(os.listdir(self.folder)) - self.before:
            if name not in ("shared.warmup",):
                (shutil.rmtree if os.path.isdir(name) else os.remove)(name)

    def words(self, *options, port=None, rest=()):
        return [self.java, "-XX:+UseSerialGC", *options, "-jar", "shop.jar", str(port or self.port), *rest]

    def run_yunti(self, *words, code=0, env=None):
        done = subprocess.run([YUNTI, "warmup", *words], capture_output=True, text=True, timeout=120, check=False,
                              env=dict(os.environ, **(env or {})))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def url(self, path="/page"):
        return f"http://127.0.0.1:{self.port}{path}"

    def shared(self):
        """Returns the flags of a profile of the service that tests share; its requests name port 18999."""
        if not type(self).recorded:
            self.run_yunti("record", "--profile", "shared.warmup", "--url", self.url(), "--url", self.url("/other"),
                           "--seconds", "1", "--", *self.words())
            path = "shared.warmup/requests.txt"
            with open(path) as f:
                text = re.sub(r":\d+/", ":18999/", f.read())
            with open(path, "w") as f:
                f.write(text)
            type(self).recorded = True
        return ["--profile", "shared.warmup"]

    def start(self, words, **more):
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

        def clean():
            process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()

        self.addCleanup(clean)
        return process

    def end(self, process, code=143):
        process.terminate()
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, code, out + err)
        return out, err


class Both:
    """Tests on every JDK."""

    def test_record_keeps_an_archive_that_check_finds_used(self):
        self.assertIn("recorded", self.run_yunti(
            "record", "--url", self.url(), "--url", self.url("/missing"), "--seconds", "1", "--", *self.words()).stderr)
        with open("shop.warmup/requests.txt") as f:
            self.assertEqual(f.read(), f"GET {self.url()}\n")
        result = json.loads(self.run_yunti("check", "--json", "--rounds", "0", "--", *self.words()).stdout)
        self.assertEqual((result["used"], result["stale"]), (True, None), result)
        self.assertGreater(result["classes"]["archived"], 20 * result["classes"]["from_files"], result)

    def test_no_client_gets_a_cold_answer(self):
        """Clients connect all the time from the start on: the first of them is served after the replay."""
        plain = self.start(self.words())
        self.assertEqual(answers_before(self.port, plain), 0)
        self.end(plain)
        applied = self.start([YUNTI, "warmup", "apply", *self.shared(), "--port", str(self.port), "--", *self.words()])
        self.assertGreater(answers_before(self.port, applied), 10)
        # Nothing stays on the path: a second client connects at once.
        begin = time.time()
        ask(self.port)
        self.assertLess(time.time() - begin, 0.9, "a dropped packet is sent again after 1 s")
        self.end(applied)

    def test_streams_exit_code_signals_and_process_id_are_the_program_s(self):
        flags = [*self.shared(), "--port", str(self.port), "--replay-seconds", "0.2"]
        applied = self.start([YUNTI, "warmup", "apply", *flags, "--", *self.words()])
        answers_before(self.port, applied)
        self.assertEqual(os.readlink(f"/proc/{applied.pid}/exe"), os.path.realpath(self.java))
        children = subprocess.run(["pgrep", "-P", str(applied.pid)], capture_output=True, text=True, check=False).stdout
        self.assertEqual(children, "")
        self.assertEqual(self.end(applied), ("out of the shop\n", "err of the shop\n"))
        applied = self.start([YUNTI, "warmup", "apply", *flags, "--", *self.words()])
        answers_before(self.port, applied)
        try:
            ask(self.port, "/exit?7")
        except OSError:
            pass
        out, err = applied.communicate(timeout=PATIENCE)
        self.assertEqual((applied.returncode, out, err), (7, "out of the shop\n", "err of the shop\n"))

    def test_sigterm_during_the_replay_ends_the_program(self):
        applied = self.start([YUNTI, "warmup", "apply", *self.shared(), "--port", str(self.port), "--replay-seconds", "60",
                              "--", *self.words()])
        self.assertEqual(applied.stdout.readline(), "out of the shop\n")
        time.sleep(0.5)
        begin = time.time()
        self.end(applied)
        self.assertLess(time.time() - begin, 10)

    def test_a_program_that_ends_by_itself(self):
        batch = [self.java, "-cp", "batch.jar", "Batch"]
        self.run_yunti("record", "--", *batch)
        self.assertEqual(json.loads(self.run_yunti("check", "--json", "--", *batch).stdout)["used"], True)
        done = self.run_yunti("apply", "--", *batch, "5", code=5)
        self.assertEqual((done.stdout, done.stderr), ("{a=2, b=1}\n", ""))
        self.assertIn("ended by itself", self.run_yunti("record", "--", *batch, "5", code=3).stderr)

    def test_another_spelling_of_a_path_is_the_same_jar(self):
        words = [self.java, "-XX:+UseSerialGC", "-jar", f"../{os.path.basename(self.folder)}/./shop.jar", str(self.port)]
        result = json.loads(self.run_yunti("check", *self.shared(), "--json", "--rounds", "0", "--port", str(self.port), "--",
                                           *words).stdout)
        self.assertEqual((result["used"], result["stale"]), (True, None), result)

    def test_a_touched_jar_is_one_line_and_the_program_runs(self):
        batch = [self.java, "-cp", "touched.jar", "Batch"]
        shutil.copy("batch.jar", "touched.jar")
        self.run_yunti("record", "--", *batch)
        os.utime("touched.jar", (1, 1))
        done = self.run_yunti("apply", "--", *batch, "5", code=5)
        self.assertEqual(done.stdout, "{a=2, b=1}\n")
        self.assertEqual(done.stderr, f"yunti: starting without the profile: {self.folder}/touched.jar has another time: "
                                      "record the profile again\n")
        self.assertIn("touched.jar has another time", self.run_yunti("apply", "--strict", "--", *batch, code=3).stderr)
        self.assertIn("not valid: ", self.run_yunti("check", "--", *batch, code=9).stdout)

    def test_an_archive_that_the_jvm_refuses_silently_is_found_by_check(self):
        batch = [self.java, "-cp", "batch.jar", "Batch"]
        self.run_yunti("record", "--", *batch)
        archive = glob.glob("Batch.warmup/classes.*")[0]
        os.chmod(archive, 0o644)
        with open(archive, "r+b") as f:
            f.write(b"\0" * 4096)
        done = self.run_yunti("apply", "--", *batch)
        self.assertEqual((done.stdout, done.stderr), ("{a=2, b=1}\n", ""))
        self.assertIn("did not use it", self.run_yunti("check", "--", *batch, code=9).stdout)

    def test_other_options_and_another_collector(self):
        self.shared()
        for words, why in (
                ([self.java, "-XX:+UseParallelGC", "-jar", "shop.jar", "x"],
                 "recorded with -XX:+UseSerialGC, now -XX:+UseParallelGC"),
                ([self.java, "-XX:+UseSerialGC", "-cp", "batch.jar:shop.jar", "Shop", "x"], "the class path has "),
                ([self.java, "-XX:+UseSerialGC", "-Xshare:auto", "-jar", "shop.jar", "x"], "the command has -Xshare:auto")):
            line = self.run_yunti("apply", *self.shared(), "--", *words, code=1).stderr.splitlines()[0]
            self.assertIn(why, line)
        env = {"JAVA_TOOL_OPTIONS": "-XX:+UseParallelGC"}
        words = [self.java, "-jar", "shop.jar", "x"]
        self.assertIn("now -XX:+UseParallelGC", self.run_yunti("apply", *self.shared(), "--", *words, env=env, code=1).stderr)

    def test_a_start_script(self):
        with open("start.sh", "w") as f:
            f.write(f'#!/bin/sh\nexec "{self.java}" -XX:+UseSerialGC -jar shop.jar "$@"\n')
        os.chmod("start.sh", 0o755)
        script = ["--java", self.java, "--", "./start.sh", str(self.port)]
        self.run_yunti("record", "--url", self.url(), "--seconds", "1", *script)
        result = json.loads(self.run_yunti("check", "--json", "--rounds", "0", *script).stdout)
        self.assertEqual((result["used"], result["stale"]), (True, None), result)
        lines = self.run_yunti("env", *script).stdout
        self.assertRegex(lines, r"export JDK_JAVA_OPTIONS='.*classes\.")
        self.assertRegex(self.run_yunti("env", "--tool-options", *script).stdout, r"export JAVA_TOOL_OPTIONS='")
        service = self.start(["sh", "-c", f"{lines} exec ./start.sh {self.port}"])
        self.assertGreater(answers_before(self.port, service), 0)
        self.end(service)
        service = self.start([YUNTI, "warmup", "apply", *script])
        self.assertGreater(answers_before(self.port, service), 0)
        self.end(service)

    def test_a_class_path_with_a_directory(self):
        os.makedirs("conf")
        with open("conf/a.properties", "w") as f:
            f.write("a=1\n")
        words = [self.java, "-cp", "conf:shop.jar", "Shop", str(self.port)]
        error = self.run_yunti("record", "--seconds", "1", "--", *words, code=2).stderr
        self.assertIn(f"put it into a jar: jar cf conf.jar -C {self.folder}/conf .", error)
        done = self.run_yunti("record", "--url", self.url(), "--seconds", "0.5", "--", *words)
        self.assertIn("yunti: no archive: the class path has the directory", done.stderr)
        self.assertEqual(sorted(os.listdir("Shop.warmup")), ["profile.json", "requests.txt"])
        service = self.start([YUNTI, "warmup", "apply", "--", *words])
        self.assertGreater(answers_before(self.port, service), 0)
        self.assertEqual(self.end(service)[1], "err of the shop\n")

    def test_check_measures_both_in_turn(self):
        done = self.run_yunti("check", *self.shared(), "--json", "--rounds", "1", "--seconds", "1", "--rate", "50",
                              "--port", str(self.port), "--", *self.words())
        round_ = json.loads(done.stdout)["rounds"][0]
        for name in ("plain", "applied"):
            figures = round_[name]
            self.assertEqual((figures["requests"], figures["failed"]), (50, 0), figures)
            self.assertLessEqual(figures["open_s"], figures["first_answer_s"])
            self.assertTrue(0 < figures["p50_ms"] <= figures["p99_ms"] <= figures["max_ms"], figures)
            self.assertGreater(figures["cpu_s"], 0.05)
        self.assertGreater(round_["replay"]["answered"], 0)


class JDK17(Both, Case):
    version = "17"

    def test_the_port_opens_although_no_answer_comes(self):
        service = self.start([YUNTI, "warmup", "apply", *self.shared(), "--port", str(self.port), "--replay-seconds", "1",
                              "--", *self.words(rest=["hang"])])
        self.assertEqual(service.stdout.readline(), "out of the shop\n")
        begin = time.time()
        while time.time() < begin + PATIENCE:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=0.2).close()
                break
            except OSError:
                time.sleep(0.01)
        self.assertTrue(0.9 <= time.time() - begin < 4.5, time.time() - begin)
        lines = iter(service.stderr.readline, "")
        self.assertIn("2 of 2 warm-up requests failed", next(line for line in lines if line.startswith("yunti: ")))
        service.kill()

    def test_listeners_on_one_address(self):
        flags = [*self.shared(), "--port", str(self.port), "--replay-seconds", "0.5", "--"]
        service = self.start([YUNTI, "warmup", "apply", *flags, *self.words(rest=["127.0.0.1"])])
        self.assertGreater(answers_before(self.port, service), 0)
        self.end(service)
        if not os.path.exists("/proc/net/if_inet6"):
            self.skipTest("this machine has no IPv6")
        service = self.start([YUNTI, "warmup", "apply", *flags, *self.words(rest=["::1"])])
        lines = [service.stderr.readline(), service.stderr.readline()]
        self.assertIn(f"yunti: port {self.port} takes IPv6 alone: it opens without a replay\n", lines)

    def test_a_port_in_use_is_found_before_the_start(self):
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", self.port))
            taken.listen()
            words = ["--", *self.words()]
            self.assertIn(f"port {self.port} is in use", self.run_yunti("record", "--url", self.url(), *words, code=2).stderr)
            flags = [*self.shared(), "--port", str(self.port)] if self.recorded else None
            if flags:
                self.assertIn("is in use", self.run_yunti("check", *flags, *words, code=2).stderr)

    def test_without_a_profile_the_program_runs(self):
        batch = [self.java, "-cp", "batch.jar", "Batch", "3"]
        done = self.run_yunti("apply", "--profile", "none", "--", *batch, code=3)
        self.assertEqual(done.stdout, "{a=2, b=1}\n")
        self.assertRegex(done.stderr, r"^yunti: starting without the profile: there is no profile: .*/none: .*\n$")
        for text, what in (("{", "is damaged"), ('{"version": 99}', "is not of version 1"), ('{"version": 1}', "is damaged")):
            os.makedirs("bad", exist_ok=True)
            with open("bad/profile.json", "w") as f:
                f.write(text)
            self.assertIn(what, self.run_yunti("apply", "--profile", "bad", "--", *batch, code=3).stderr)
            self.assertIn(what, self.run_yunti("check", "--profile", "bad", "--", *batch, code=4).stderr)
            self.assertIn(what, self.run_yunti("env", "--profile", "bad", "--", *batch, code=4).stderr)

    def test_wrong_arguments_are_one_line(self):
        os.makedirs("taken")
        with open("taken/file", "w"), open("requests", "w") as f:
            f.write("http://a/\n\nget http://a/\n")
        shop = self.words()
        for words, code, what in (
                ([], 2, "a command is missing"),
                (["record"], 2, "the command is missing"),
                (["record", "--url", "https://a/", "--", *shop], 2, "TLS is not supported"),
                (["record", "--url", "a", "--", *shop], 2, "is no URL of HTTP"),
                (["record", "--requests", "requests", "--", *shop], 2, "line 3 of the requests: 'get' is no method"),
                (["record", "--requests", "/dev/null", "--", *shop], 2, "has no request"),
                (["record", "--requests", "absent", "--", *shop], 3, "cannot read the requests"),
                (["record", "--seconds=-1", "--", *shop], 2, "a number of seconds"),
                (["record", "--seconds", "nan", "--", *shop], 2, "a number of seconds"),
                (["record", "--connections", "0", "--", *shop], 2, "0 is not in 1..=64"),
                (["record", "--", self.java, "-jar", "absent.jar"], 3, "there is no such jar"),
                (["record", "--", self.java, "-Xmx1g"], 2, "names no program"),
                (["record", "--", self.java, "-XX:AOTCache=x", "-jar", "shop.jar"], 2, "the command has -XX:AOTCache=x"),
                (["record", "--profile", "taken", "--url", self.url(), "--", *shop], 8, "this exists and is no profile"),
                (["record", "--profile", "/proc/x", "--url", self.url(), "--", *shop], 5, "cannot write the profile"),
                (["record", "--url", self.url(), "--", self.java, "-jar", "shop.jar", "x"], 3, "ended by itself"),
                (["record", "--url", self.url("/missing"), "--seconds", "0.2", "--", *shop], 3, "status 404"),
                (["record", "--profile", "a:b", "--url", self.url(), "--", *shop], 2, "options cannot hold this path"),
                (["record", "--java", "/bin/true", "--url", self.url(), "--", *shop], 3, "cannot tell the build"),
                (["apply", "--", "absent-program"], 2, "cannot start the program"),
                (["check", "--rate", "0", "--", *shop], 2, "a number above 0"),
                (["check", "--profile", "none", "--", *shop], 3, "there is no profile")):
            done = self.run_yunti(*words, code=code)
            lines = [line for line in done.stderr.splitlines() if line.startswith("yunti: ")]
            self.assertIn(what, lines[-1], done.stderr)
            self.assertEqual(lines[:-1], ["yunti: starting without the profile: there is no profile: "
                                          f"{self.folder}/absent-program.warmup: make it with 'yunti warmup record', or "
                                          "name another with --profile"] if words[:1] == ["apply"] else [], done.stderr)

    def test_an_old_jdk_has_requests_alone(self):
        os.makedirs("old/bin")
        with open("old/release", "w") as f:
            f.write('JAVA_VERSION="11.0.2"\n')
        with open("old/bin/java", "w") as f:
            f.write(f'#!/bin/sh\nexec "{self.java}" "$@"\n')
        os.chmod("old/bin/java", 0o755)
        words = ["old/bin/java", "-jar", "shop.jar", str(self.port)]
        done = self.run_yunti("record", "--url", self.url(), "--seconds", "0.5", "--", *words)
        self.assertIn("no archive: JDK 11 writes no archive in a training run", done.stderr)
        self.assertIn("Archive: none: JDK 11", self.run_yunti("check", "--rounds", "0", "--", *words).stdout)
        self.assertIn("nothing to record", self.run_yunti("record", "--", *words, code=2).stderr)

    def test_ctrl_c_ends_a_recording_and_its_program(self):
        recording = self.start([YUNTI, "warmup", "record", "--url", self.url(), "--seconds", "60", "--", *self.words()])
        answers_before(self.port, recording)
        recording.send_signal(signal.SIGINT)
        recording.communicate(timeout=PATIENCE)
        self.assertEqual(recording.returncode, 130)
        self.assertFalse(os.path.exists("shop.warmup"))
        with self.assertRaises(OSError):
            ask(self.port)

    def test_an_old_profile_is_replaced_whole(self):
        words = ["record", "--url", self.url(), "--seconds", "0.3", "--", *self.words()]
        self.run_yunti(*words)
        with open("shop.warmup/extra", "w"):
            pass
        self.run_yunti(*words)
        self.assertEqual(sorted(os.listdir("shop.warmup")), ["classes.jsa", "profile.json", "requests.txt"])

    def test_a_control_group(self):
        words = ["--no-replay", *self.shared(), "--", "cat", "/proc/self/cgroup"]
        error = self.run_yunti("apply", "--cgroup", "../x", *words, code=2).stderr
        self.assertIn("is no name of a group", error)
        with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
            top = [mount.split()[4] for mount in mounts if " - cgroup2 " in mount]
        name = f"yunti-test-{os.getpid()}"
        done = self.run_yunti("apply", "--cgroup", name, *words)
        if not top or os.geteuid() != 0 or done.stderr:
            self.assertRegex(done.stderr, r"(?m)^yunti: starting without the control group: .*\n")
            self.skipTest(done.stderr.strip().splitlines()[-1])
        self.assertRegex(done.stdout, rf"(?m)^0::/.*{name}$")
        for folder, names, _ in os.walk(top[0]):
            if name in names:
                os.rmdir(os.path.join(folder, name))

    def test_help_names_every_command(self):
        text = self.run_yunti("--help").stdout
        for command in ("record", "apply", "check", "env"):
            self.assertIn(f"  {command} ", text)


@long_test
class JDK25(Both, Case):
    version = "25"


if __name__ == "__main__":
    unittest.main(verbosity=2)
