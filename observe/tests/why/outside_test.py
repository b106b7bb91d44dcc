"""`yunti observe why` on programs that others hold up, and on JVMs whose heap is too small or collected on request."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import looking  # noqa: E402
import twice  # noqa: E402  (looking.py knows where it is)

SECONDS = 3
CALLS = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  char bytes[64];
  int file = open("/dev/zero", O_RDONLY);
  puts("ready");
  fflush(stdout);
  while (read(file, bytes, sizeof bytes) > 0) {}
}
"""
# Takes memory that stays for a share of the heap, and short-lived arrays; or calls System.gc().
HEAP = """
import java.util.ArrayList;
import java.util.List;

public final class Heap {
  static volatile Object kept;

  static void cleansUp() {
    System.gc();
  }

  public static void main(String[] words) {
    List<byte[]> stays = new ArrayList<>();
    double share = Double.parseDouble(words[0]);
    boolean cleans = words.length > 1;
    for (long n = 0; n < Runtime.getRuntime().maxMemory() * share; n += 1016) {
      stays.add(new byte[1000]);
    }
    System.out.println("ready");
    for (int n = 0; ; n++) {
      kept = new byte[1000];
      if (n % 20 == 0) {
        stays.set(n / 20 % stays.size(), new byte[1000]);
      }
      if (cleans && n % 20_000 == 0) {
        cleansUp();
      }
    }
  }
}
"""
# Asks a JVM for thread dumps as jstack does. dumps.py PID
DUMPS = """
import os, signal, socket, sys, time
pid = int(sys.argv[1])
path, asks = f"/tmp/.java_pid{pid}", f"/proc/{pid}/cwd/.attach_pid{pid}"
open(asks, "w").close()
os.kill(pid, signal.SIGQUIT)
while not os.path.exists(path):
    time.sleep(0.05)
os.remove(asks)
print("ready", flush=True)
while True:
    with socket.socket(socket.AF_UNIX) as jvm:
        jvm.connect(path)
        jvm.sendall(b"1\\0threaddump\\0\\0\\0\\0")
        while jvm.recv(1 << 16):
            pass
    time.sleep(0.01)
"""
THREADS = """
public final class Threads {
  static volatile long sum;

  static void waits(int depth) {
    if (depth > 0) {
      waits(depth - 1);
      sum++;
    }
    try {
      Thread.sleep(1_000_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  public static void main(String[] words) {
    for (int n = 0; n < 300; n++) {
      Thread thread = new Thread(() -> waits(100));
      thread.setDaemon(true);
      thread.start();
    }
    System.out.println("ready");
    while (true) {
      sum++;
    }
  }
}
"""


def why(pid, seconds=SECONDS):
    return looking.answer("why", "-p", pid, "-s", seconds)


def found(document, cause):
    """Returns a cause of an answer; on a busy machine neighbours may stand before it."""
    causes = [it for it in document["causes"] if it["cause"] == cause]
    assert causes, (document["answer"], [(it["cause"], it["cost"]) for it in document["causes"]])
    return causes[0]


def causes(document):
    return [it["cause"] for it in document["causes"]]


@contextlib.contextmanager
def killed(*command):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class Outside(looking.InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = os.path.join(cls.folder.name, "calls.c")
        with open(source, "w") as f:
            f.write(CALLS)
        cls.calls = os.path.join(cls.folder.name, "calls")
        subprocess.run(["gcc", "-O2", "-o", cls.calls, source], check=True)

    def test_a_tracer(self):
        if not looking.shutil.which("strace"):
            self.skipTest("there is no strace")
        with looking.Started(self.calls) as process:
            with killed("strace", "-o", "/dev/null", "-p", str(process.pid)) as tracer:
                status = f"/proc/{process.pid}/status"
                looking.until(lambda: f"TracerPid:\t{tracer.pid}\n" in looking.text_of(status))
                document = why(process.pid)
            self.assertIn(f"strace {tracer.pid} traces it", found(document, "traced")["sentence"])
            self.assertGreater(found(document, "traced")["cost"], 0.3)
            # Its state is as before.
            looking.until(lambda: "TracerPid:\t0\n" in looking.text_of(status))
            self.assertNotIn("traced", causes(why(process.pid, 1)))

    def test_stopped_for_a_part_of_the_time(self):
        with looking.Started(self.calls) as process:
            ends = threading.Event()

            def stop_and_continue():
                while not ends.is_set():
                    os.kill(process.pid, signal.SIGSTOP)
                    time.sleep(0.1)
                    os.kill(process.pid, signal.SIGCONT)
                    time.sleep(0.05)

            thread = threading.Thread(target=stop_and_continue)
            thread.start()
            try:
                document = why(process.pid)
            finally:
                ends.set()
                thread.join()
            one = found(document, "stopped")
            self.assertGreater(one["cost"], 0.3)
            self.assertLess(one["cost"], 0.95)
            if looking.may_be_others():
                self.assertIn(f" {os.getpid()}", one["sentence"])

    def test_stopped_all_the_time(self):
        with looking.Started(self.calls) as process:
            os.kill(process.pid, signal.SIGSTOP)
            document = why(process.pid, 1)
            self.assertEqual(causes(document)[:1], ["stopped"])
            self.assertIn("does not run at all", document["answer"])
            with open(f"/proc/{process.pid}/stat") as f:
                self.assertEqual(f.read().rsplit(") ", 1)[1][0], "T")

    def test_one_processor_of_two(self):
        idle = os.cpu_count() - os.getloadavg()[0]
        if os.cpu_count() < 2 or idle < 1:
            self.skipTest("no processor is idle")
        hot = looking.built(self.folder.name, "hot")
        with looking.Started("taskset", "-c", "1", hot, "60", "2") as process:
            one = found(why(process.pid), "affinity")
        self.assertIn("2 threads compete for processor 1 alone", one["sentence"])

    def test_descriptors_that_leak(self):
        text = ("import os, time\nprint('ready', flush=True)\nall = []\n"
                "while True:\n    all.append(os.pipe())\n    time.sleep(0.02)\n")
        with looking.Started(sys.executable, "-c", text) as process:
            document = why(process.pid)
        self.assertTrue(any("descriptors (mostly pipes) grow" in it for it in document["growth"]), document["growth"])


class Heaps(looking.InAFolder, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        homes = looking.java_versions()
        if not homes:
            raise unittest.SkipTest("there is no JDK")
        super().setUpClass()
        cls.java = [os.path.join(next(iter(homes.values())), "bin/java"), "-cp", cls.folder.name]
        for name, text in (("Heap", HEAP), ("Threads", THREADS)):
            with open(os.path.join(cls.folder.name, f"{name}.java"), "w") as f:
                f.write(text)
            subprocess.run(["javac", "--release", "17", "-d", cls.folder.name, f.name], check=True)

    def test_a_heap_that_is_nearly_full(self):
        for collector in ("G1", "Parallel", "Serial"):
            words = [f"-XX:+Use{collector}GC", "-Xmx120m"]
            share = "0.8" if collector == "G1" else "0.5"
            with self.subTest(collector), looking.Started(*self.java, *words, "Heap", share) as process:
                one = found(why(process.pid), "heap-too-small")
                self.assertTrue(one["cure"].startswith("a larger heap: -Xmx"), one)

    def test_system_gc_in_a_loop(self):
        with looking.Started(*self.java, "-Xmx200m", "Heap", "0.2", "cleans") as process:
            one = found(why(process.pid), "system-gc")
        self.assertIn("System.gc() in Heap.cleansUp", one["sentence"])

    def test_thread_dumps_in_a_loop(self):
        with looking.Started(*self.java, "Threads") as process:
            with looking.Started(sys.executable, "-c", DUMPS, str(process.pid)):
                one = found(why(process.pid), "thread-dumps")
            self.assertIn("stops all its threads", one["sentence"])
            self.assertNotIn("thread-dumps", causes(why(process.pid, 1)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
