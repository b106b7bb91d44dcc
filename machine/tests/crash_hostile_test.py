"""Tests `yunti machine crash` with hostile logs, files and collectors: it is not delayed, and reports each crash once
and nothing else."""

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

# Time at the end for waiting reports and for calls that cannot be interrupted, and a margin for a busy machine.
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
    """Forwards between sender and collector, and can cut the next data short."""

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
                    # Both connections are reset.
                    for end in (source, sink):
                        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        end.shutdown(socket.SHUT_RD)
                        end.close()
                    return
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


class Logs(WithCollectors):
    def test_an_endless_log_delays_nothing(self):
        collector = self.collector()
        log, write = self.log()
        with Looking("crash", "--collect", collector.url, *log) as look:
            noise = subprocess.Popen(["sh", "-c", f"exec yes '6,1,1,-;noise' > {log[1]}"])
            self.addCleanup(noise.wait)
            self.addCleanup(noise.kill)
            time.sleep(1)
            begin = time.monotonic()
            document = look.stop()
        self.assertLess(time.monotonic() - begin, END_SECONDS_MAX)
        self.assertEqual(document["counts"]["oops"], 0)

    def test_process_names_with_any_characters(self):
        collector = self.collector()
        log, write = self.log()
        with Looking("crash", "--collect", collector.url, *log):
            write(
                "Out of memory: Killed process 77 (caf\\xc3\\xa9\\x0a\\x22]) "
                "total-vm:900kB, anon-rss:8kB, file-rss:8kB",
                3,
            )
            (message,) = collector.messages()
        self.assertEqual(message.data["process"], 'café \\"\\]')


class Files(WithCollectors):
    def leave(self, name, folder=None, text=HS_ERR, signal_name="SIGSEGV"):
        path = os.path.join(folder or self.folder, f"hs_err_pid{name}.log")
        with open(path, "w") as f:
            f.write(text.replace("NAME", f"crash_{name}").replace("SIGNAL", signal_name))
        return path

    def test_an_oversized_file_does_not_block_later_ones(self):
        collector = self.collector()
        with Looking("crash", "--collect", collector.url, "--hs-err", self.folder):
            self.leave("a", signal_name="SIG" + "A" * 100_000)
            self.leave("b")
            self.assertEqual([m.name for m in collector.messages()], ["crash_b"])

    def test_a_touched_or_read_file_is_not_reported_again(self):
        collector = self.collector()
        with Looking("crash", "--collect", collector.url, "--hs-err", self.folder) as look:
            path = self.leave("a")
            collector.messages()
            with open(path, "a"):
                os.utime(path)
            with open(path) as f:
                f.read()
            time.sleep(0.3)
            # Another crash in the same file.
            self.leave("a", text=HS_ERR.replace("4711", "4712"))
            time.sleep(0.3)
            document = look.stop()
        self.assertEqual((document["counts"]["jvm-fatal-error"], document["again"]), (2, 1), document)

    def test_endless_growing_and_special_files(self):
        collector = self.collector()
        with Looking("crash", "--collect", collector.url, "--hs-err", self.folder):
            # Larger than the read limit, still growing, and partly not text.
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

    def test_reports_many_files_at_once(self):
        collector = self.tls()
        with Looking(
            "crash", "--collect", collector.url, *self.ca, "--hs-err", self.folder, "--a-minute", 6000
        ) as look:
            names = [letters(n) for n in range(300)]
            for name in names:
                self.leave(name)
            got = collector.messages(300)
            document = look.stop()
        self.assertEqual(sorted(m.name for m in got), sorted(f"crash_{name}" for name in names))
        self.assertEqual(len({m.data["id"] for m in got}), 300)
        self.assertEqual((document["delivery"]["delivered"], document["delivery"]["waiting"]), (300, 0))

    @needs_namespaces
    def test_resolves_links_within_a_container(self):
        """The container's root is this root, mounted again; its /mnt is its own."""
        collector = self.collector()
        self.java("-XX:ErrorFile=/dev/null")
        root = os.path.join(self.folder, "root")
        os.mkdir(root)
        script = f"""mount --rbind / {root} && mount -t tmpfs none {root}/mnt && mkdir {root}/mnt/logs &&
            ln -s /mnt/logs {root}/mnt/link &&
            cp {self.folder}/*.class {root}/mnt && exec chroot {root} "$@" """
        with Looking("crash", "--collect", collector.url):
            subprocess.run(
                [
                    "unshare",
                    "--mount",
                    "sh",
                    "-c",
                    script,
                    "sh",
                    "java",
                    "-XX:-CreateCoredumpOnCrash",
                    "-XX:ErrorFile=/mnt/link/of-it.txt",
                    "-cp",
                    "/mnt",
                    "Crashing",
                ],
                capture_output=True,
                timeout=60,
            )
            (message,) = collector.messages()
        self.assertEqual(message.kind, "jvm-fatal-error")

    @needs_namespaces
    def test_process_numbers_in_file_names_are_of_the_container(self):
        collector = self.collector()
        self.java("-XX:ErrorFile=/dev/null")
        os.mkdir(os.path.join(self.folder, "of-1"))
        with Looking("crash", "--collect", collector.url):
            subprocess.run(
                [
                    "unshare",
                    "--pid",
                    "--fork",
                    "--mount-proc",
                    "java",
                    "-XX:-CreateCoredumpOnCrash",
                    f"-XX:ErrorFile={self.folder}/of-%p/crash_%p_%p.txt",
                    "-cp",
                    self.folder,
                    "Crashing",
                ],
                capture_output=True,
                timeout=60,
            )
            (message,) = collector.messages()
        self.assertEqual((message.kind, message.data["pid"]), ("jvm-fatal-error", "1"))


class Collectors(WithCollectors):
    def ends_soon(self, look, trouble):
        """Checks that the run reports the delivery error, and is not delayed at its end."""
        begin = time.monotonic()
        out, err = self.stop(look)
        self.assertLess(time.monotonic() - begin, END_SECONDS_MAX, err)
        self.assertEqual(look.run.returncode, 5, (out, err))
        self.assertRegex(out, f"1 NOT delivered: .*{trouble}")

    def test_an_endless_handshake_times_out(self):
        listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listening.close)
        self.tls().close()

        def drip():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with contextlib.suppress(OSError), connection:
                        # Record of a 16 KB handshake.
                        for byte in b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc" + bytes(1000):
                            connection.sendall(bytes([byte]))
                            time.sleep(0.2)

        threading.Thread(target=drip, daemon=True).start()
        log, write = self.log()
        with Looking(
            "crash", "--collect", f"tls://localhost:{listening.getsockname()[1]}", *self.ca, *log, json=False
        ) as look:
            write(OOPS.replace("NAME", "crash_a"))
            self.assertIn("cannot be reached: timed out", self.line_of(look, "cannot be reached"))
            self.ends_soon(look, "timed out")

    @staticmethod
    def line_of(look, text):
        for line in look.run.stderr:
            if text in line:
                return line
        raise AssertionError(f"no line with {text}")

    def test_attempts_do_not_increase_with_the_number_of_crashes(self):
        listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listening.close)
        self.tls().close()
        attempts = []

        def refuse():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    attempts.append(time.monotonic())
                    connection.close()

        threading.Thread(target=refuse, daemon=True).start()
        log, write = self.log()
        with Looking("crash", "--collect", f"tls://localhost:{listening.getsockname()[1]}", *self.ca, *log):
            for n in range(60):
                write(OOPS.replace("NAME", f"crash_{letters(n)}"))
                time.sleep(0.05)
        # Pauses of a quarter, a half, one and two seconds.
        self.assertLess(len(attempts), 10, attempts)

    @needs_namespaces
    def test_a_name_that_is_not_resolved(self):
        resolv = os.path.join(self.folder, "resolv.conf")
        with open(resolv, "w") as f:
            f.write("nameserver 10.9.9.9\noptions timeout:20 attempts:2\n")
        # A network without hosts, and a resolver that waits long for a response.
        script = f"""ip link add near type veth peer name far && ip address add 10.9.9.1/24 dev near &&
            ip link set near up && ip link set far up &&
            ip neighbour add 10.9.9.9 lladdr 02:00:00:00:00:01 dev near &&
            mount --bind {resolv} /etc/resolv.conf && exec "$@" """
        log, write = self.log()
        with Looking(
            "crash",
            "--collect",
            "udp://logs.example.org",
            *log,
            before=["unshare", "--net", "--mount", "sh", "-c", script, "sh"],
            json=False,
        ) as look:
            write(OOPS.replace("NAME", "crash_a"))
            time.sleep(1)
            self.ends_soon(look, "")

    def test_sends_a_truncated_record_again(self):
        collector = self.tls()
        line = Line(collector.port)
        self.addCleanup(line.listening.close)
        log, write = self.log()
        with Looking("crash", "--collect", f"tls://localhost:{line.port}", *self.ca, *log):
            write(OOPS.replace("NAME", "crash_a"))
            collector.messages()
            # After this time its arrival is certain.
            time.sleep(2.5)
            line.cuts = True
            write(OOPS.replace("NAME", "crash_b"))
            messages = collector.messages(2, quiet=1)
        self.assertEqual([m.name for m in messages], ["crash_a", "crash_b"])

    def test_refuses_wrong_and_expired_certificates(self):
        for subject, days, trouble in (
            ("another.example.org", 2, "not valid for name|NotValidForName"),
            ("localhost", -1, "expired|Expired"),
        ):
            with self.subTest(subject=subject):
                do(
                    "openssl",
                    "req",
                    "-newkey",
                    "rsa:2048",
                    "-nodes",
                    "-keyout",
                    f"{self.folder}/key.pem",
                    "-out",
                    f"{self.folder}/asked.pem",
                    "-subj",
                    "/CN=x",
                )
                with open(f"{self.folder}/names", "w") as f:
                    f.write(f"subjectAltName=DNS:{subject}\nbasicConstraints=CA:FALSE\n")
                do(
                    "openssl",
                    "x509",
                    "-req",
                    "-in",
                    f"{self.folder}/asked.pem",
                    "-signkey",
                    f"{self.folder}/key.pem",
                    "-days",
                    days,
                    "-extfile",
                    f"{self.folder}/names",
                    "-out",
                    f"{self.folder}/cert.pem",
                )
                collector = self.tls()
                log, write = self.log(subject)
                with Looking("crash", "--collect", collector.url, *self.ca, *log, json=False) as look:
                    write(OOPS.replace("NAME", "crash_a"))
                    self.line_of(look, "cannot be reached")
                    self.ends_soon(look, f"({trouble})")
                self.assertEqual(collector.got, [])

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_sends_nothing_else(self):
        collector = self.collector()
        log, write = self.log()
        calls = os.path.join(self.folder, "calls")
        traced = ["strace", "-f", "-qq", "-s", "64", "-e", "trace=network,write,writev", "-o", calls]
        with Looking("crash", "--collect", collector.url, *log, before=traced) as look:
            sent = [f"crash_{letters(n)}" for n in range(3)]
            for name in sent:
                write("audit: something else\n" + OOPS.replace("NAME", name))
            messages = collector.messages(3)
            children = subprocess.run(["pgrep", "-P", str(look.run.pid)], capture_output=True, text=True).stdout.split()
            os.kill(int(children[0]), 2)
            look.run.communicate(timeout=30)
        self.assertEqual([m.name for m in messages], sent)
        with open(calls) as f:
            lines = f.read().splitlines()
        outside = [line for line in lines if re.search(r"AF_INET|SOCK_DGRAM", line) and "connect(" in line]
        self.assertTrue(outside and all(f"sin_port=htons({collector.port})" in line for line in outside), outside)
        # Signals arrive as a byte within a socket pair.
        sends = [
            line
            for line in lines
            if re.search(r"\b(sendto|sendmsg|sendmmsg)\(", line)
            and not re.search(r'\(\d+, "X?", [01], MSG_DONTWAIT, NULL', line)
        ]
        self.assertEqual(len(sends), 3, sends)
        self.assertTrue(all('"<2>1 ' in line for line in sends), sends)


if __name__ == "__main__":
    unittest.main()
