"""`yunti machine crash` with logs, files and collectors that do not behave: it is not held up, tells each report once, and nothing else."""

import contextlib
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../observe/tests")]
from crashing import OOPS, WithCollectors  # noqa: E402
from images import do  # noqa: E402
from looking import Looking, needs_namespaces  # noqa: E402

# What is left at the end for what waits, and for what cannot be interrupted; and for a machine that is busy.
END_SECONDS_MAX = 6 + 4
HS_ERR = """#
# A fatal error has been detected by the Java Runtime Environment:
#
#  SIGNAL (0xb) at pc=0x00007f0a1c0d5f1a, pid=4711, tid=4712
#
# Problematic frame:
# C  [libshop.so+0x12]  NAME+0x9a
#

---------------  T H R E A D  ---------------

Native frames: (J=compiled Java code, j=interpreted, Vv=VM code, C=native code)
C  [libshop.so+0x12]  NAME+0x9a
"""


def letters(n):
    return "".join(chr(ord("a") + int(digit)) for digit in f"{n:03}")


class Line(threading.Thread):
    """Between who sends and who collects: all goes through, but what is sent next can be cut short."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.to, self.cuts, self.listening = port, False, socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listening.accept()
                far = socket.create_connection(("127.0.0.1", self.to))
                for ends in ((near, far, True), (far, near, False)):
                    threading.Thread(target=self.carry, args=ends, daemon=True).start()

    def carry(self, source, sink, is_sent):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if is_sent and self.cuts:
                    self.cuts = False
                    sink.sendall(data[:10])
                    # Reset, at both ends.
                    for end in (source, sink):
                        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        end.shutdown(socket.SHUT_RD)
                        end.close()
                    return
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


class Logs(WithCollectors):
    def test_a_log_that_never_ends_holds_nothing_up(self):
        collector = self.collector()
        log, say = self.log()
        with Looking("crash", "--collect", collector.url, *log) as look:
            noise = subprocess.Popen(["sh", "-c", f"exec yes '6,1,1,-;noise' > {log[1]}"])
            self.addCleanup(noise.wait)
            self.addCleanup(noise.kill)
            time.sleep(1)
            begin = time.monotonic()
            document = look.stop()
        self.assertLess(time.monotonic() - begin, END_SECONDS_MAX)
        self.assertEqual(document["counts"]["oops"], 0)

    def test_names_of_processes_in_any_letters(self):
        collector = self.collector()
        log, say = self.log()
        with Looking("crash", "--collect", collector.url, *log):
            say("Out of memory: Killed process 77 (caf\\xc3\\xa9\\x0a\\x22]) total-vm:900kB, anon-rss:8kB, file-rss:8kB", 3)
            message, = collector.messages()
        self.assertEqual(message.data["process"], 'café \\"\\]')


class Files(WithCollectors):
    def leave(self, name, folder=None, text=HS_ERR, signal_name="SIGSEGV"):
        path = os.path.join(folder or self.folder, f"hs_err_pid{name}.log")
        with open(path, "w") as f:
            f.write(text.replace("NAME", f"crash_{name}").replace("SIGNAL", signal_name))
        return path

    def test_one_that_would_not_fit_does_not_stop_those_behind_it(self):
        collector = self.collector()
        with Looking("crash", "--collect", collector.url, "--hs-err", self.folder):
            self.leave("a", signal_name="SIG" + "A" * 100_000)
            self.leave("b")
            self.assertEqual([m.name for m in collector.messages()], ["crash_b"])

    def test_a_file_that_is_only_touched_or_read_is_not_told_again(self):
        collector = self.collector()
        with Looking("crash", "--collect", collector.url, "--hs-err", self.folder) as look:
            path = self.leave("a")
            collector.messages()
            with open(path, "a"):
                os.utime(path)
            with open(path) as f:
                f.read()
            time.sleep(0.3)
            # By another, in its place.
            self.leave("a", text=HS_ERR.replace("4711", "4712"))
            time.sleep(0.3)
            document = look.stop()
        self.assertEqual((document["counts"]["jvm-fatal-error"], document["again"]), (2, 1), document)

    def test_files_that_have_no_end_or_are_none(self):
        collector = self.collector()
        with Looking("crash", "--collect", collector.url, "--hs-err", self.folder):
            # Larger than is read, still written to, and of what is not text.
            path = self.leave("a", text=HS_ERR + "x" * (64 << 20))
            with open(path, "a") as growing:
                growing.write("y" * 1000)
                growing.flush()
                self.leave("b", text=HS_ERR.replace("# C ", "# \x00\x01 C "))
                os.symlink("/dev/zero", os.path.join(self.folder, "hs_err_pidc.log"))
                shutil.copy(sys.executable, os.path.join(self.folder, "hs_err_pidd.log"))
                os.mknod(os.path.join(self.folder, "hs_err_pide.log"), 0o600 | 0o020000, os.makedev(1, 5))
                with open(os.path.join(self.folder, "hs_err_pide.log"), "wb"):
                    pass
                self.assertEqual([m.name for m in collector.messages(2)], ["crash_a", "crash_b"])

    def test_many_at_once_each_once(self):
        collector = self.tls()
        with Looking("crash", "--collect", collector.url, *self.ca, "--hs-err", self.folder, "--a-minute", 6000) as look:
            names = [letters(n) for n in range(300)]
            for name in names:
                self.leave(name)
            got = collector.messages(300)
            document = look.stop()
        self.assertEqual(sorted(m.name for m in got), sorted(f"crash_{name}" for name in names))
        self.assertEqual(len({m.data["id"] for m in got}), 300)
        self.assertEqual((document["delivery"]["delivered"], document["delivery"]["waiting"]), (300, 0))

    @needs_namespaces
    def test_links_of_a_container_lead_within_it(self):
        """Its root is ours mounted once more; its /mnt is its own."""
        collector = self.collector()
        self.java("-XX:ErrorFile=/dev/null")
        root = os.path.join(self.folder, "root")
        os.mkdir(root)
        script = f"""mount --rbind / {root} && mount -t tmpfs none {root}/mnt && mkdir {root}/mnt/logs && ln -s /mnt/logs {root}/mnt/link &&
            cp {self.folder}/*.class {root}/mnt && exec chroot {root} "$@" """
        with Looking("crash", "--collect", collector.url):
            subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", "java", "-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/mnt/link/of-it.txt",
                            "-cp", "/mnt", "Crashing"], capture_output=True, timeout=60)
            message, = collector.messages()
        self.assertEqual(message.kind, "jvm-fatal-error")

    @needs_namespaces
    def test_a_folder_named_by_the_number_that_a_jvm_has_within_its_container(self):
        collector = self.collector()
        self.java("-XX:ErrorFile=/dev/null")
        os.mkdir(os.path.join(self.folder, "of-1"))
        with Looking("crash", "--collect", collector.url):
            subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "java", "-XX:-CreateCoredumpOnCrash",
                            f"-XX:ErrorFile={self.folder}/of-%p/crash_%p_%p.txt", "-cp", self.folder, "Crashing"], capture_output=True, timeout=60)
            message, = collector.messages()
        self.assertEqual((message.kind, message.data["pid"]), ("jvm-fatal-error", "1"))


class Collectors(WithCollectors):
    def ends_soon(self, look, trouble):
        """It is told why nothing arrives, and the end is not held up."""
        begin = time.monotonic()
        out, err = self.told_at_the_end(look)
        self.assertLess(time.monotonic() - begin, END_SECONDS_MAX, err)
        self.assertEqual(look.run.returncode, 5, (out, err))
        self.assertRegex(out, f"1 NOT delivered: .*{trouble}")

    def test_a_handshake_that_goes_on_for_ever(self):
        listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listening.close)
        self.tls().close()

        def drip():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with contextlib.suppress(OSError), connection:
                        # A record of a handshake, of 16 KB.
                        for byte in b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc" + bytes(1000):
                            connection.sendall(bytes([byte]))
                            time.sleep(0.2)

        threading.Thread(target=drip, daemon=True).start()
        log, say = self.log()
        with Looking("crash", "--collect", f"tls://localhost:{listening.getsockname()[1]}", *self.ca, *log, json=False) as look:
            say(OOPS.replace("NAME", "crash_a"))
            self.assertIn("cannot be reached: timed out", self.line_of(look, "cannot be reached"))
            self.ends_soon(look, "timed out")

    @staticmethod
    def line_of(look, text):
        for line in look.run.stderr:
            if text in line:
                return line
        raise AssertionError(f"{text} is not told")

    def test_a_collector_that_is_away_is_not_asked_more_often_the_more_crashes(self):
        listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listening.close)
        self.tls().close()
        asked = []

        def refuse():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    asked.append(time.monotonic())
                    connection.close()

        threading.Thread(target=refuse, daemon=True).start()
        log, say = self.log()
        with Looking("crash", "--collect", f"tls://localhost:{listening.getsockname()[1]}", *self.ca, *log):
            for n in range(60):
                say(OOPS.replace("NAME", f"crash_{letters(n)}"))
                time.sleep(0.05)
        # After a quarter of a second, half a second, one, two.
        self.assertLess(len(asked), 10, asked)

    @needs_namespaces
    def test_a_name_that_nobody_resolves(self):
        resolv = os.path.join(self.folder, "resolv.conf")
        with open(resolv, "w") as f:
            f.write("nameserver 10.9.9.9\noptions timeout:20 attempts:2\n")
        # A network without anybody; a resolver that waits for an answer for a long time.
        script = f"""ip link add near type veth peer name far && ip address add 10.9.9.1/24 dev near && ip link set near up && ip link set far up &&
            ip neighbour add 10.9.9.9 lladdr 02:00:00:00:00:01 dev near && mount --bind {resolv} /etc/resolv.conf && exec "$@" """
        log, say = self.log()
        with Looking("crash", "--collect", "udp://logs.example.org", *log, before=["unshare", "--net", "--mount", "sh", "-c", script, "sh"], json=False) as look:
            say(OOPS.replace("NAME", "crash_a"))
            time.sleep(1)
            self.ends_soon(look, "")

    def test_a_record_that_is_cut(self):
        collector = self.tls()
        line = Line(collector.port)
        self.addCleanup(line.listening.close)
        log, say = self.log()
        with Looking("crash", "--collect", f"tls://localhost:{line.port}", *self.ca, *log):
            say(OOPS.replace("NAME", "crash_a"))
            collector.messages()
            # By then it is certain that it has arrived.
            time.sleep(2.5)
            line.cuts = True
            say(OOPS.replace("NAME", "crash_b"))
            messages = collector.messages(2, quiet=1)
        self.assertEqual([m.name for m in messages], ["crash_a", "crash_b"])

    def test_certificates_of_others_and_of_yesterday(self):
        for subject, days, trouble in (("another.example.org", 2, "not valid for name|NotValidForName"), ("localhost", -1, "expired|Expired")):
            with self.subTest(subject=subject):
                do("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{self.folder}/key.pem", "-out", f"{self.folder}/asked.pem", "-subj", "/CN=x")
                with open(f"{self.folder}/names", "w") as f:
                    f.write(f"subjectAltName=DNS:{subject}\nbasicConstraints=CA:FALSE\n")
                do("openssl", "x509", "-req", "-in", f"{self.folder}/asked.pem", "-signkey", f"{self.folder}/key.pem", "-days", days, "-extfile",
                   f"{self.folder}/names", "-out", f"{self.folder}/cert.pem")
                collector = self.tls()
                log, say = self.log(subject)
                with Looking("crash", "--collect", collector.url, *self.ca, *log, json=False) as look:
                    say(OOPS.replace("NAME", "crash_a"))
                    self.line_of(look, "cannot be reached")
                    self.ends_soon(look, f"({trouble})")
                self.assertEqual(collector.got, [])

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_nothing_else_is_sent(self):
        collector = self.collector()
        log, say = self.log()
        calls = os.path.join(self.folder, "calls")
        traced = ["strace", "-f", "-qq", "-s", "64", "-e", "trace=network,write,writev", "-o", calls]
        with Looking("crash", "--collect", collector.url, *log, before=traced) as look:
            sent = [f"crash_{letters(n)}" for n in range(3)]
            for name in sent:
                say("audit: something else\n" + OOPS.replace("NAME", name))
            messages = collector.messages(3)
            children = subprocess.run(["pgrep", "-P", str(look.run.pid)], capture_output=True, text=True).stdout.split()
            os.kill(int(children[0]), 2)
            look.run.communicate(timeout=30)
        self.assertEqual([m.name for m in messages], sent)
        with open(calls) as f:
            lines = f.read().splitlines()
        outside = [line for line in lines if re.search(r"AF_INET|SOCK_DGRAM", line) and "connect(" in line]
        self.assertTrue(outside and all(f"sin_port=htons({collector.port})" in line for line in outside), outside)
        # It tells itself of signals by a byte, within a pair of sockets.
        told = [line for line in lines if re.search(r"\b(sendto|sendmsg|sendmmsg)\(", line) and not re.search(r'\(\d+, "X?", [01], MSG_DONTWAIT, NULL', line)]
        self.assertEqual(len(told), 3, told)
        self.assertTrue(all('"<2>1 ' in line for line in told), told)


if __name__ == "__main__":
    unittest.main()
