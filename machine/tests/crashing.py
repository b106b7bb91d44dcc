"""Shared parts of the tests of `yunti machine crash`: collectors, a simulated kernel log, a JVM that crashes."""

import contextlib
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

from images import do

SECRET = "hunter2"
OOPS = f"""BUG: kernel NULL pointer dereference, address: 0000000000000008
#PF: supervisor read access in kernel mode
Oops: Oops: 0000 [#1] SMP NOPTI
CPU: 1 UID: 0 PID: 4711 Comm: java Tainted: G           OE       6.18.5 #1
RIP: 0010:NAME+0x5/0x10 [crasher]
Code: 0f 1f 44 {SECRET}
RAX: {SECRET}
Call Trace:
 <TASK>
 NAME+0x5/0x10 [crasher]
 vfs_read+0xa1/0x2f0
 </TASK>
---[ end trace 0000000000000000 ]---"""
HUNG = """INFO: task kworker/u8:2:1234 blocked for more than 122 seconds.
      Not tainted 6.18.5 #1
Call Trace:
 <TASK>
 schedule+0x27/0x90
 io_schedule+0x46/0x70
 jbd2_log_wait_commit+0x1/0x2 [jbd2]
 </TASK>"""
MESSAGE = re.compile(
    r"<(?P<priority>\d+)>1 (?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) (?P<host>\S+) "
    r"yunti-observe \d+ (?P<kind>[a-z-]+) "
    r'\[crash@32473(?P<data>(?: [a-z-]+="(?:[^"\\\]]|\\["\\\]])*")+)\] \ufeff(?P<text>[^\n]+)'
)
CRASHING = """
public class Crashing {
    static void deeper(sun.misc.Unsafe unsafe) { unsafe.putInt(0L, 1); }
    public static void main(String[] args) throws Exception {
        var field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        deeper((sun.misc.Unsafe) field.get(null));
    }
}
"""


class Message:
    def __init__(self, text):
        found = MESSAGE.fullmatch(text)
        assert found, text
        self.priority, self.kind, self.text = int(found["priority"]), found["kind"], found["text"]
        self.data = dict(re.findall(r'([a-z-]+)="((?:[^"\\\]]|\\.)*)"', found["data"]))

    @property
    def name(self):
        return re.search(r"crash_[a-z]+", self.text)[0]

    def __repr__(self):
        return f"{self.kind} {self.text} {self.data}"


class UdpCollector:
    """Collector of UDP messages on a port, open until it is closed."""

    def __init__(self, port=0, at="127.0.0.1"):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((at, port))
        self.port = self.socket.getsockname()[1]
        self.url = f"udp://{at}:{self.port}"

    def messages(self, count=1, within=10, quiet=0.5):
        """Returns `count` messages, and any that follow within `quiet` seconds."""
        got, end = [], time.monotonic() + within
        while len(got) < count:
            self.socket.settimeout(max(0.01, end - time.monotonic()))
            try:
                got.append(self.socket.recv(65536))
            except TimeoutError:
                raise AssertionError(f"{len(got)} of {count} arrived: {got}") from None
        self.socket.settimeout(quiet)
        with contextlib.suppress(TimeoutError):
            got.append(self.socket.recv(65536))
        return [Message(m.decode()) for m in got]

    def close(self):
        self.socket.close()


class TlsCollector:
    """Collector of TLS messages; with `reads` false it leaves them unread."""

    def __init__(self, folder, port=0, reads=True, at=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem"))
        self.context, self.reads, self.got, self.connections = context, reads, [], []
        self.listening = socket.create_server((at or "127.0.0.1", port))
        self.port = self.listening.getsockname()[1]
        self.url = f"tls://{at or 'localhost'}:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                plain, _ = self.listening.accept()
                self.connections.append(plain)
                connection = self.context.wrap_socket(plain, server_side=True)
            except OSError:
                if self.listening.fileno() < 0:
                    return
                continue
            self.connections[-1] = connection
            if self.reads:
                threading.Thread(target=self.read, args=(connection,), daemon=True).start()

    def read(self, connection):
        stream = connection.makefile("rb")
        with contextlib.suppress(OSError, ValueError):
            while length := b"".join(iter(lambda: stream.read(1).strip(), b"")):
                self.got.append(Message(stream.read(int(length)).decode()))

    def messages(self, count=1, within=15, quiet=0.5):
        end = time.monotonic() + within
        while len(self.got) < count and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(quiet)
        assert len(self.got) >= count, f"{len(self.got)} of {count} arrived: {self.got}"
        return list(self.got)

    def close(self):
        """Closes all connections, as if the process were killed."""
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR) if self.reads else None
                connection.close()


@unittest.skipUnless(os.geteuid() == 0, "needs root for the kernel's log and the folders of other users' JVMs")
class WithCollectors(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory())

    def collector(self, **how):
        collector = UdpCollector(**how)
        self.stack.callback(collector.close)
        return collector

    def tls(self, address="127.0.0.1", **how):
        if not os.path.exists(os.path.join(self.folder, "cert.pem")):
            do(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-keyout",
                os.path.join(self.folder, "key.pem"),
                "-out",
                os.path.join(self.folder, "cert.pem"),
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost,IP:" + address,
                "-addext",
                "basicConstraints=CA:FALSE",
            )
        collector = TlsCollector(self.folder, **how)
        self.stack.callback(lambda: collector.listening.fileno() >= 0 and collector.close())
        return collector

    @property
    def ca(self):
        return ["--ca", os.path.join(self.folder, "cert.pem")]

    def log(self, name="kmsg"):
        """Creates a simulated kernel log. Returns its options, and a function that writes lines to it."""
        path = os.path.join(self.folder, name)
        os.mkfifo(path)
        pipe = os.open(path, os.O_RDWR)
        self.stack.callback(os.close, pipe)
        self.sequence = 0

        def write(text, priority=4):
            for line in text.splitlines():
                self.sequence += 1
                os.write(pipe, f"{priority},{self.sequence},{time.monotonic_ns() // 1000},-;{line}\n".encode())

        return ["--kernel-log", path], write

    def java(self, *words, environment=None, cwd=None):
        source = os.path.join(self.folder, "Crashing.java")
        if not os.path.exists(source):
            with open(source, "w") as f:
                f.write(CRASHING)
            do("javac", "-nowarn", "-d", self.folder, source)
        run = subprocess.run(
            ["java", "-XX:-CreateCoredumpOnCrash", *words, "-cp", self.folder, "Crashing", SECRET],
            cwd=cwd or self.folder,
            env=dict(os.environ, **environment or {}),
            capture_output=True,
            timeout=60,
        )
        self.assertIn(run.returncode, (1, -signal.SIGABRT), run.stderr)

    @staticmethod
    def stop(look):
        look.run.send_signal(signal.SIGINT)
        return look.run.communicate(timeout=30)
