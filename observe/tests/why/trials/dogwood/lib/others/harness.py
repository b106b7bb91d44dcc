"""Start a program, its peers and its clients; print its rate; leave nothing behind."""
import argparse
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

LIB = os.path.dirname(os.path.abspath(__file__))
OUT = os.environ.get("OUT", "/nonexistent")

GUARD = r'''
import os, shutil, signal, sys, time
for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)
groups, dirs, cgroups = [], [], []
for line in sys.stdin:
    kind, value = line.rstrip("\n").split(" ", 1)
    {"group": groups, "dir": dirs, "cgroup": cgroups}[kind].append(value)
def kill(sig):
    alive = False
    for g in groups:
        try:
            os.killpg(int(g), sig); alive = True
        except OSError: pass
    for c in cgroups:
        try:
            for p in open(c + "/cgroup.procs").read().split(): os.kill(int(p), sig); alive = True
        except OSError: pass
    return alive
kill(signal.SIGTERM)
end = time.time() + 0.7
while time.time() < end and kill(0): time.sleep(0.05)
kill(signal.SIGKILL)
for c in cgroups:
    for _ in range(40):
        try: os.rmdir(c); break
        except FileNotFoundError: break
        except OSError: kill(signal.SIGKILL); time.sleep(0.05)
for d in dirs:
    for _ in range(5):
        shutil.rmtree(d, ignore_errors=True)
        if not os.path.exists(d): break
        time.sleep(0.1)
'''


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Harness:
    def __init__(self):
        parser = argparse.ArgumentParser()
        parser.add_argument("--cured", action="store_true")
        self.cured = parser.parse_args().cured
        self.begin = time.time()
        self.done = 0
        self.lock = threading.Lock()
        self.procs = []
        self.ending = False
        self.guard = subprocess.Popen([sys.executable, "-c", GUARD], stdin=subprocess.PIPE, text=True,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0)
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(sig, lambda *_: self.stop(0))
        self.dir = tempfile.mkdtemp(prefix="w-")
        os.chmod(self.dir, 0o755)
        self.note("dir", self.dir)

    def note(self, kind, value):
        self.guard.stdin.write(f"{kind} {value}\n")
        self.guard.stdin.flush()

    def stop(self, code):
        if not self.ending:
            self.ending = True
            self.guard.stdin.close()
            self.guard.wait()
        os._exit(code)

    def path(self, name):
        return os.path.join(self.dir, name)

    def start(self, cmd, env=None, cwd=None, user=None, log=None, counts=None, nice=0, before=None):
        """counts: a regular expression; group 1 of the last match in its output is the total done so far."""
        full = {k: v for k, v in os.environ.items() if k not in ("OUT", "PYENV_VERSION")}
        full.update({k: str(v) for k, v in (env or {}).items()})
        out = subprocess.PIPE if counts else open(self.path(log or f"log{len(self.procs)}"), "ab")

        def first():
            if nice:
                os.nice(nice)
            if before:
                before()
        extra = {}
        if user:
            entry = pwd.getpwnam(user)
            extra = dict(user=entry.pw_uid, group=entry.pw_gid, extra_groups=[])
        p = subprocess.Popen([str(c) for c in cmd], env=full, cwd=cwd or self.dir, stdin=subprocess.DEVNULL, stdout=out,
                             stderr=open(self.path("err"), "ab"),
                             process_group=0, preexec_fn=first if nice or before else None, **extra)
        self.note("group", p.pid)
        self.procs.append(p)
        if counts:
            threading.Thread(target=self._read, args=(p.stdout, re.compile(counts.encode())), daemon=True).start()
        return p

    def _read(self, pipe, pattern):
        for line in pipe:
            m = pattern.search(line)
            if m:
                self.done = int(m.group(1))

    def cgroup(self, controller, **values):
        """A new control group (version 1); returns its folder."""
        base = f"/sys/fs/cgroup/{controller}/w-{os.path.basename(self.dir)}"
        os.makedirs(base, exist_ok=True)
        self.note("cgroup", base)
        for key, value in values.items():
            with open(f"{base}/{controller}.{key}", "w") as f:
                f.write(str(value))
        return base

    def wait_port(self, port, host="127.0.0.1", limit=20):
        end = time.time() + limit
        while time.time() < end:
            try:
                socket.create_connection((host, port), 0.5).close()
                return
            except OSError:
                time.sleep(0.03)
        self.fail(f"port {port} does not open")

    def fail(self, text):
        print("failed:", text, file=sys.stderr)
        for name in sorted(os.listdir(self.dir)):
            if name.startswith(("log", "err")):
                print(name, open(self.path(name), errors="replace").read()[-1500:], file=sys.stderr)
        self.stop(1)

    def add(self, n=1):
        with self.lock:
            self.done += n

    def remote(self, ms, body="ok", host="127.0.0.1", port=None):
        """A partner's HTTP service which answers after some milliseconds."""
        port = port or free_port()
        self.start([sys.executable, os.path.join(LIB, "partner.py"), host, port, ms, body])
        self.wait_port(port, host)
        return port

    def clients(self, n, work, pause=0.0):
        """n threads; work(index) returns a function for one operation."""
        def loop(i):
            time.sleep(pause * i / max(n, 1))
            one = None
            turn = time.time()
            while not self.ending:
                try:
                    one = one or work(i)
                    one()
                    self.add()
                except Exception as e:
                    self.error = repr(e)
                    one = None
                    time.sleep(0.05)
                if pause:
                    turn = max(turn + pause, time.time() - pause)
                    time.sleep(max(0, turn - time.time()))
        for i in range(n):
            threading.Thread(target=loop, args=(i,), daemon=True).start()

    def measure(self, proc, warm=4.0):
        pid = proc if isinstance(proc, int) else proc.pid
        last = 0
        end = time.time() + warm
        while time.time() < end:
            time.sleep(0.1)
            self.check(pid)
        if not self.done:
            time.sleep(2)
        if not self.done:
            self.fail("nothing done: " + getattr(self, "error", "?"))
        print("pid", pid, flush=True)
        last, t0 = self.done, time.time()
        while True:
            time.sleep(max(0, t0 + 1 - time.time()))
            now, t = self.done, time.time()
            rate = (now - last) / (t - t0)
            print(f"rate {rate:.1f}", flush=True)
            last, t0 = now, t
            self.check(pid)

    def check(self, pid):
        for p in self.procs:
            if p.poll() is not None and p.pid == pid:
                self.fail(f"the program ended with {p.returncode}")

    def postgres(self, *settings):
        """A fresh PostgreSQL; returns its port and its first process."""
        data = self.path("pg")
        port = free_port()
        tool = shutil.which("postgres") or next(
            os.path.join(d, "postgres") for d, _, files in os.walk("/usr/lib/postgresql") if "postgres" in files)
        self.start(["tar", "-xf", f"{OUT}/pgdata.tar", "-C", self.dir]).wait()
        args = [x for s in ("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off") + settings
                for x in ("-c", s)]
        p = self.start([tool, "-D", data, "-p", port] + args, user="postgres", cwd=data)
        self.wait_port(port)
        time.sleep(0.3)
        return port, p


class Http:
    """A keep-alive HTTP/1.1 client on one connection."""

    def __init__(self, port, host="127.0.0.1"):
        self.host, self.port = host, port
        self.sock = None

    def get(self, path, body=None, headers=""):
        if self.sock is None:
            self.sock = socket.create_connection((self.host, self.port), 30)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.file = self.sock.makefile("rb")
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: local\r\n{headers}"
        data = b"" if body is None else body.encode()
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        self.sock.sendall(head.encode() + b"\r\n" + data)
        status = self.file.readline()
        if not status:
            self.sock = None
            raise OSError("closed")
        length, chunked, close = 0, False, status.startswith(b"HTTP/1.0")
        while True:
            line = self.file.readline().strip().lower()
            if not line:
                break
            if line.startswith(b"content-length:"):
                length = int(line[15:])
            elif line.startswith(b"transfer-encoding:"):
                chunked = True
            elif line == b"connection: close":
                close = True
        if chunked:
            reply = b""
            while True:
                n = int(self.file.readline(), 16)
                reply += self.file.read(n)
                self.file.readline()
                if not n:
                    break
        else:
            reply = self.file.read(length) if length or not close else self.file.read()
        if close:
            self.sock.close()
            self.sock = None
        if b" 200" not in status:
            raise OSError(status.decode() + reply[:200].decode(errors="replace"))
        return reply
