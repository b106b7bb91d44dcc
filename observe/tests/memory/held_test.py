"""What requests hold over their remote calls: `yunti observe demands --held` on a program with known ways to hold."""

import os
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looking import YUNTI, InAFolder, Started, answer, compiled, java_versions, left_in_container, observe  # noqa: E402

UNIT = 100_000
# A remote call: longer than all else of a request, so that a dump meets all of them waiting.
CALL_MS = 250
# Requests under way, each with its way to hold memory. On a busy machine, one may not be waiting at the dump.
WAYS = 7
TRIES = 4


# A compiler that inlines the method keeps the object's fields apart, and the JVM writes no local variable for these.
ONE_OBJECT = "-XX:CompileCommand=dontinline,Holding$Order::total"


def left(process):
    """Returns the files that an observer of the process has left. Other processes may be observed now."""
    return [name for name in left_in_container(process.pid) if name.startswith(f".yunti-observe-{process.pid}-")]


@unittest.skipUnless(os.geteuid() == 0, "programs in the kernel are not allowed")
class Held(InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        compiled(cls.folder.name, "Holding")
        compiled(cls.folder.name, "Warehouse")

    def started(self, home, *options, warm_up=20_000):
        return Started(os.path.join(home, "bin/java"), *options, "-Xmx256m", "-cp", self.folder.name, "Holding",
                       str(CALL_MS), str(warm_up))

    def held(self, process):
        """Returns the held objects by units of their length, and the whole answer."""
        time.sleep(1)
        for _ in range(TRIES):
            document = answer("demands", "-p", process.pid, "-s", "1", "--method", "Holding.handle", "--held")["held"]
            self.assertEqual(left(process), [])
            if document["waiting"] == WAYS:
                break
        own = {}
        for found in document["objects"]:
            # Bytes are a mean over all waiting requests.
            each = found["bytes"] * document["waiting"] / found["requests"]
            own[round(each / UNIT)] = found
        return own, document

    def test_frames_alone_are_accused(self):
        for home in java_versions().values():
            with self.started(home, "-XX:CompileCommand=quiet", ONE_OBJECT) as process:
                own, document = self.held(process)
            self.assertEqual((document["waiting"], document["in_process"]), (WAYS, WAYS), document)
            # Neither what the compiler knows to be dead (1), nor a ThreadLocal (5), a shared field (6), a lambda (7).
            self.assertEqual(set(own), {2, 3, 4}, document)
            self.assertEqual((own[2]["class"], own[2]["call"]), ("byte[]", "Holding$Client.call"))
            self.assertRegex(own[2]["held_in"], r"^Holding\.used:\d+$")
            self.assertRegex(own[3]["held_in"], r"^Holding\.argument:\d+$")
            self.assertRegex(own[3]["handed_to"], r"^Holding\.send:\d+$")
            self.assertEqual(own[3]["call"], "Holding$Client.call")
            self.assertEqual(own[4]["class"], "Holding$Order")
            self.assertTrue(0 < document["stopped_seconds"][0] < 5 and document["dump_bytes"] > UNIT, document)

    def test_interpreted_frames_keep_what_is_dead(self):
        home = next(iter(java_versions().values()))
        with self.started(home, "-Xint", warm_up=10) as process:
            own, document = self.held(process)
        self.assertEqual(set(own), {1, 2, 3, 4}, document)
        self.assertRegex(own[1]["held_in"], r"^Holding\.dead:\d+$")

    def test_a_pause_that_is_too_long_is_refused(self):
        home = next(iter(java_versions().values()))
        java = os.path.join(home, "bin/java")
        with Started(java, "-Xmx200m", "-cp", self.folder.name, "Warehouse", "200000") as process:
            subprocess.run([os.path.join(home, "bin/jcmd"), str(process.pid), "GC.run"], check=True, capture_output=True)
            words = ["demands", "-p", process.pid, "-s", "1", "--method", "Warehouse.hold", "--held", "--pause-max"]
            error = observe(*words, "0.1", code=3).stderr
            self.assertRegex(error, r"a heap dump may stop the JVM \d+ for \d+\.\d s; the limit is 0\.1 s")
            self.assertIn("--pause-max", error)

    def test_the_flag_is_for_jvms(self):
        with subprocess.Popen(["sleep", "60"]) as process:
            error = observe("demands", "-p", process.pid, "--held", code=2).stderr
            process.kill()
        self.assertIn("is not a JVM, so it has no heap dump", error)

    def test_a_killed_observer_leaves_no_dump(self):
        home = next(iter(java_versions().values()))
        with self.started(home, warm_up=10) as process:
            words = [YUNTI, "observe", "demands", "-p", str(process.pid), "--method", "Holding.handle", "--held"]
            with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as observer:
                observer.stderr.readline()  # The dump begins.
                observer.send_signal(signal.SIGKILL)
            end = time.time() + 20
            while time.time() < end and left(process):
                time.sleep(0.1)
            # The JVM may still have been about to write.
            time.sleep(1)
            self.assertEqual(left(process), [])


if __name__ == "__main__":
    unittest.main()
