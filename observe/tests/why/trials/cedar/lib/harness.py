"""Starts the program of a case with its peers and clients, counts, and leaves nothing behind."""
import atexit
import ctypes
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

LIB = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(LIB, "../.."))
import installed  # noqa: E402
from installed import python as pyenv  # noqa: E402, F401  (for the scripts)

LIMIT = 150.0
JAVA17, JAVA25 = (os.path.join(installed.java(version) or "", "bin/java") for version in (17, 25))
_libc = ctypes.CDLL(None)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _child():
    os.setpgid(0, 0)
    _libc.prctl(1, signal.SIGKILL)


class Harness:
    def __init__(self):
        self.t0 = time.time()
        self.cured = "--cured" in sys.argv[1:]
        self.here = os.path.dirname(os.path.abspath(sys.argv[0]))
        self.out = os.path.abspath(os.environ.get("OUT") or os.path.join(self.here, "out"))
        self.tmp = tempfile.mkdtemp(prefix="case-")
        self.procs, self.undo, self.undo_first, self.count = [], [], [], {}
        self.ready = threading.Event()
        self.stopping = False
        signal.signal(signal.SIGTERM, self._signal)
        signal.signal(signal.SIGINT, self._signal)
        atexit.register(self.stop)

    def _signal(self, *_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.stop()
        os._exit(0)

    def stop(self):
        if self.stopping:
            return
        self.stopping = True
        for f in self.undo_first:
            f()
        for p in reversed(self.procs):
            for kill in (lambda: os.killpg(p.pid, signal.SIGKILL), p.kill):
                try:
                    kill()
                except OSError:
                    pass
        for p in self.procs:
            try:
                p.wait(5)
            except Exception:
                pass
        for f in self.undo:
            try:
                f()
            except Exception as e:
                print("undo:", e, file=sys.stderr)
        for _ in range(20):
            shutil.rmtree(self.tmp, ignore_errors=True)
            if not os.path.exists(self.tmp):
                break
            time.sleep(0.1)

    def start(self, cmd, env=None, cwd=None, program=False, pre=None):
        """Starts a process of this case; of the program itself the lines ready and total N are read."""
        def before():
            _child()
            if pre:
                pre()
        out = subprocess.PIPE if program else subprocess.DEVNULL
        p = subprocess.Popen([str(c) for c in cmd], env={**os.environ, **(env or {})}, cwd=cwd or self.tmp,
                             stdin=subprocess.DEVNULL, stdout=out, preexec_fn=before,
                             stderr=None if os.environ.get("CEDAR_DEBUG") else subprocess.DEVNULL)
        self.procs.append(p)
        if program:
            threading.Thread(target=self._read, args=(p,), daemon=True).start()
        return p

    def _read(self, p):
        for line in p.stdout:
            w = line.split()
            if w[:1] == [b"ready"]:
                self.ready.set()
            elif w[:1] == [b"total"]:
                self.count["program"] = (float(w[1]), time.time())

    def peer(self, delay_ms, *more):
        """A peer on 127.0.0.1 that answers each line or HTTP request after a delay."""
        port = free_port()
        self.start([sys.executable, os.path.join(LIB, "peer.py"), port, delay_ms, *more])
        self.wait_port(port)
        return port

    def wait_port(self, port, limit=30):
        end = time.time() + limit
        while time.time() < end:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("nobody listens on %d" % port)

    def wait_ready(self, limit=60):
        if not self.ready.wait(limit):
            raise SystemExit("the program did not get ready")

    def clients(self, n, act, pause=0.0):
        """n threads that call act(state, i) again and again; each return counts one."""
        def loop(k):
            state, i = {"k": k}, 0
            while not self.stopping:
                try:
                    act(state, i)
                    self.count[k] = self.count.get(k, 0) + 1
                except Exception:
                    state.clear()
                    state["k"] = k
                    time.sleep(0.05)
                i += 1
                if pause:
                    time.sleep(pause)
        for k in range(n):
            threading.Thread(target=loop, args=(k,), daemon=True).start()

    def http_clients(self, n, port, path, pause=0.0, body=None, headers=None):
        """path: a text, or a function of (client, number)."""
        def act(state, i):
            c = state.get("c")
            if c is None:
                c = state["c"] = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                c.connect()
                c.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            p = path(state["k"], i) if callable(path) else path
            c.request("POST" if body else "GET", p, body=body, headers=headers or {})
            r = c.getresponse()
            r.read()
            if r.status >= 500:
                raise IOError(r.status)
        self.clients(n, act, pause)

    def total(self):
        v = list(self.count.items())
        if any(k == "program" for k, _ in v):
            return self.count["program"]
        return sum(n for _, n in v), time.time()

    def report(self, pid, settle=0.0):
        """Prints the pid, then a rate each second, until the end."""
        time.sleep(settle)
        pid = pid if isinstance(pid, int) else pid.pid
        print("pid", pid, flush=True)
        last = self.total()
        while time.time() - self.t0 < LIMIT:
            time.sleep(1)
            now = self.total()
            if now[1] > last[1]:
                print("rate %.1f" % ((now[0] - last[0]) / (now[1] - last[1])), flush=True)
                last = now
            if not os.path.exists("/proc/%d" % pid):
                print("the program has ended", file=sys.stderr)
                break
        self.stop()
        os._exit(0)


PGBIN = (installed.postgres() or "") + "/"


def postgres(h, *options):
    """A PostgreSQL server with a data folder of its own; returns (process, port, data folder)."""
    import pwd
    u = pwd.getpwnam("postgres")

    def become():
        os.setgroups([])
        os.setgid(u.pw_gid)
        os.setuid(u.pw_uid)
    os.chmod(h.tmp, 0o755)
    data, port = h.tmp + "/data", free_port()
    os.mkdir(data)
    os.chown(data, u.pw_uid, u.pw_gid)
    subprocess.run([PGBIN + "initdb", "-D", data, "-A", "trust", "-U", "app", "--no-sync", "-E", "UTF8", "--locale=C"],
                   preexec_fn=become, check=True, stdout=subprocess.DEVNULL, cwd="/")
    p = h.start([PGBIN + "postgres", "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1",
                 "-c", "unix_socket_directories=" + data, "-c", "shared_buffers=32MB",
                 "-c", "dynamic_shared_memory_type=mmap", *options], pre=become, cwd="/")

    def down():
        try:
            p.send_signal(signal.SIGQUIT)
            p.wait(5)
        except Exception:
            pass
    h.undo_first.append(down)
    h.wait_port(port)
    for _ in range(100):
        if subprocess.run([PGBIN + "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]).returncode == 0:
            break
        time.sleep(0.1)
    return p, port, data
