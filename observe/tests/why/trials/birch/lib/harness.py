"""Start a trial program with its peers and clients, count its work, and leave nothing behind."""
import asyncio
import ctypes
import json
import mmap
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import installed  # noqa: E402
from installed import python  # noqa: E402, F401  (for the scripts)

libc = ctypes.CDLL("libc.so.6", use_errno=True)
SLOTS = 512


def _die_with_parent():
    libc.prctl(1, signal.SIGKILL)


def children_of_all():
    kids = {}
    for d in os.listdir("/proc"):
        if d.isdigit():
            try:
                with open(f"/proc/{d}/stat") as f:
                    ppid = int(f.read().rsplit(")", 1)[1].split()[1])
                kids.setdefault(ppid, []).append(int(d))
            except OSError:
                pass
    return kids


class Run:
    def __init__(self):
        self.cured = "--cured" in sys.argv[1:]
        self.here = os.path.dirname(os.path.abspath(sys.argv[0]))
        self.out = os.environ["OUT"]
        self.tmp = tempfile.mkdtemp(prefix="birch-")
        os.chmod(self.tmp, 0o755)
        self.began = time.time()
        self.map = mmap.mmap(-1, 8 * SLOTS)
        self.next_slot = 1
        self.printed = 0
        self.cgroups = []
        self.undo = []
        self.me = os.getpid()
        libc.prctl(36, 1)                      # orphans of ours come to us
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(s, lambda *_: self.stop())
        signal.alarm(150)

    # ---- counting
    def slot(self):
        s = self.next_slot
        self.next_slot += 1
        return s

    def add(self, slot, n=1):
        o = slot * 8
        struct.pack_into("q", self.map, o, struct.unpack_from("q", self.map, o)[0] + n)

    def total(self):
        return sum(struct.unpack_from(f"{SLOTS}q", self.map, 0)) + self.printed

    # ---- starting
    def port(self):
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        p = s.getsockname()[1]
        s.close()
        return p

    def start(self, cmd, count=False, env=None, pre=None, quiet=False, **kw):
        """Start a program; with count=True its lines 'done N' (a running total) are the rate."""
        e = dict(os.environ)
        e.update({k: str(v) for k, v in (env or {}).items()})

        def pre_exec():
            _die_with_parent()
            if pre:
                pre()
        if count:
            kw["stdout"] = subprocess.PIPE
        elif "stdout" not in kw:
            kw["stdout"] = subprocess.DEVNULL if quiet else sys.stderr
        if quiet:
            kw["stderr"] = subprocess.DEVNULL
        kw.setdefault("stdin", subprocess.DEVNULL)
        p = subprocess.Popen([str(c) for c in cmd], env=e, preexec_fn=pre_exec, start_new_session=True, **kw)
        if count:
            def reader():
                for line in p.stdout:
                    if line.startswith(b"done "):
                        self.printed = int(float(line.split()[1]))
            threading.Thread(target=reader, daemon=True).start()
        return p

    def java(self, main, *args, opts=(), jdk=17, count=False, **kw):
        cp = f"{self.out}/classes:{self.out}/lib/*"
        return self.start([f"{installed.java(jdk)}/bin/java", *opts, "-cp", cp, main, *args], count=count, **kw)

    def fork(self, fn, *args):
        """Run fn in a process of its own."""
        pid = os.fork()
        if pid == 0:
            try:
                for s in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
                    signal.signal(s, signal.SIG_DFL)
                signal.alarm(0)
                os.setsid()
                _die_with_parent()
                fn(*args)
            except BaseException as ex:
                sys.stderr.write(f"{fn.__name__}: {ex!r}\n")
            os._exit(0)
        return pid

    def wait_port(self, port, host="127.0.0.1", limit=60):
        end = time.time() + limit
        while time.time() < end:
            try:
                socket.create_connection((host, port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        sys.stderr.write(f"nothing listens on {port}\n")
        self.stop(1)

    def cgroup(self, controller, **settings):
        d = f"/sys/fs/cgroup/{controller}/birch-{self.me}"
        os.makedirs(d, exist_ok=True)
        if controller not in [c for c, _ in self.cgroups]:
            self.cgroups.append((controller, d))
        for k, v in settings.items():
            with open(f"{d}/{k.replace('__', '.')}", "w") as f:
                f.write(str(v))
        return d

    def join(self, directory):
        """For pre=: the child enters the control group before it executes."""
        def enter():
            with open(directory + "/cgroup.procs", "w") as f:
                f.write(str(os.getpid()))
        return enter

    # ---- peers and clients
    def http_peer(self, delay=0.0, body=b'{"ok":true}', port=None, jitter=0.2):
        """An HTTP server that answers each request after `delay` seconds."""
        port = port or self.port()

        async def serve(r, w):
            try:
                while True:
                    head = await r.readuntil(b"\r\n\r\n")
                    m = re.search(rb"(?i)content-length: *(\d+)", head)
                    if m and int(m[1]):
                        await r.readexactly(int(m[1]))
                    if delay:
                        await asyncio.sleep(delay * random.uniform(1 - jitter, 1 + jitter))
                    w.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                            b"Content-Length: %d\r\n\r\n" % len(body) + body)
                    await w.drain()
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                w.close()

        def main():
            async def go():
                s = await asyncio.start_server(serve, "127.0.0.1", port, backlog=1024)
                await s.serve_forever()
            asyncio.run(go())
        self.fork(main)
        self.wait_port(port)
        return port

    def line_peer(self, delay=0.0, answer=b"OK", port=None, jitter=0.2):
        """A line protocol server: one answer line a request line."""
        port = port or self.port()

        async def serve(r, w):
            try:
                while True:
                    line = await r.readline()
                    if not line:
                        break
                    if delay:
                        await asyncio.sleep(delay * random.uniform(1 - jitter, 1 + jitter))
                    w.write(answer + b"\n")
                    await w.drain()
            except ConnectionError:
                pass
            finally:
                w.close()

        def main():
            async def go():
                s = await asyncio.start_server(serve, "127.0.0.1", port, backlog=1024)
                await s.serve_forever()
            asyncio.run(go())
        self.fork(main)
        self.wait_port(port)
        return port

    def http_load(self, port, path, conns=8, think=0.0, fresh=False, stagger=True):
        """Clients in a closed loop; path is a string or a function of the client's number."""
        slots = [self.slot() for _ in range(conns)]

        def client(i):
            p = path if callable(path) else (lambda _: path)
            f = None
            while True:
                try:
                    if f is None:
                        s = socket.create_connection(("127.0.0.1", port), 30)
                        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        f = s.makefile("rb", 65536)
                    s.sendall(f"GET {p(i)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                    n, chunked, status = 0, False, f.readline()
                    if not status:
                        raise OSError("closed")
                    while True:
                        h = f.readline()
                        if h in (b"\r\n", b""):
                            break
                        h = h.lower()
                        if h.startswith(b"content-length:"):
                            n = int(h[15:])
                        elif h.startswith(b"transfer-encoding: chunked"):
                            chunked = True
                    if chunked:
                        while True:
                            k = int(f.readline(), 16)
                            f.read(k + 2)
                            if k == 0:
                                break
                    elif n:
                        f.read(n)
                    if b" 200" in status or b" 204" in status:
                        self.add(slots[i])
                    if fresh:
                        s.close()
                        f = None
                    if think:
                        time.sleep(think * random.uniform(0.5, 1.5))
                except (OSError, ValueError):
                    f = None
                    time.sleep(0.1)

        def main():
            for i in range(conns):
                threading.Thread(target=client, args=(i,), daemon=True).start()
                if think and stagger:
                    time.sleep(min(0.01, think / conns))
            while True:
                time.sleep(60)
        return self.fork(main)

    def redis(self, *opts, port=None):
        port = port or self.port()
        p = self.start(["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", self.tmp,
                        "--daemonize", "no", *opts], quiet=True)
        self.wait_port(port)
        return p, port

    def postgres(self, sql="", *opts):
        """A cluster of our own; returns (process, port). User postgres, database postgres, trust."""
        b = installed.postgres()
        d = f"{self.tmp}/pg"
        os.makedirs(d)
        shutil.chown(d, "postgres", "postgres")
        as_pg = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
        subprocess.run(as_pg + [b + "/initdb", "-D", d, "-A", "trust", "-N", "-U", "postgres"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        port = self.port()
        p = self.start(as_pg + [b + "/postgres", "-D", d, "-p", port, "-c", "listen_addresses=127.0.0.1",
                                "-c", f"unix_socket_directories={d}", "-c", "fsync=off", "-c", "synchronous_commit=off",
                                "-c", "shared_buffers=32MB", *opts], quiet=True, cwd="/")
        self.wait_port(port)
        for _ in range(100):
            q = subprocess.run(["psql", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-qc", sql or "select 1"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if q.returncode == 0:
                break
            time.sleep(0.2)
        else:
            sys.stderr.write(q.stderr.decode())
            self.stop(1)
        return p, port

    def dns(self, delay, resolv="/etc/resolv.conf"):
        """A name server on an address of its own; returns a pre= function that makes a child use it."""
        ip = f"127.77.{random.randint(1, 250)}.{random.randint(1, 250)}"
        conf = f"{self.tmp}/resolv.conf"
        with open(conf, "w") as f:
            f.write(f"nameserver {ip}\noptions timeout:1 attempts:4\n")
        os.chmod(conf, 0o644)

        def server():
            async def go():
                loop = asyncio.get_running_loop()

                class P(asyncio.DatagramProtocol):
                    def connection_made(self, t):
                        self.t = t

                    def datagram_received(self, q, addr):
                        end = q.index(b"\0", 12) + 5
                        a = q[end - 4:end - 2] == b"\0\1"
                        m = q[:2] + b"\x81\x80\0\1" + (b"\0\1" if a else b"\0\0") + b"\0\0\0\0" + q[12:end]
                        if a:
                            m += b"\xc0\x0c\0\1\0\1\0\0\0\x05\0\4\x7f\0\0\1"
                        loop.call_later(delay * random.uniform(0.8, 1.2), self.t.sendto, m, addr)
                u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                u.setsockopt(socket.SOL_SOCKET, 33, 4 << 20)       # SO_RCVBUFFORCE
                u.bind((ip, 53))
                u.setblocking(False)
                await loop.create_datagram_endpoint(P, sock=u)
                await asyncio.sleep(1e6)
            asyncio.run(go())
        self.fork(server)

        def pre():
            libc.unshare(0x20000)
            libc.mount(b"none", b"/", None, 0x44000, None)
            if libc.mount(conf.encode(), b"/etc/resolv.conf", None, 4096, None):
                raise OSError("mount")
        time.sleep(0.3)
        return pre

    # ---- the end
    def steady(self, target, warm=2.0, count=None):
        """Print the pid once it is warm, then the rate once a second, until stopped."""
        pid = target if isinstance(target, int) else target.pid
        count = count or self.total
        end = time.time() + warm
        limit = time.time() + 60
        while time.time() < end:
            time.sleep(0.05)
            if count() == 0 and time.time() < limit:      # a busy machine: not yet at work
                end = max(end, time.time() + warm / 2)
            if not os.path.exists(f"/proc/{pid}"):
                sys.stderr.write("the program ended\n")
                self.stop(1)
        print(f"pid {pid}", flush=True)
        last, at = count(), time.time()
        while True:
            time.sleep(1)
            if not isinstance(target, int) and target.poll() is not None:
                sys.stderr.write(f"the program ended: {target.returncode}\n")
                self.stop(1)
            n, t = count(), time.time()
            print(f"rate {(n - last) / (t - at):.1f}", flush=True)
            last, at = n, t

    def stop(self, rc=0):
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(s, signal.SIG_IGN)
        for fn in self.undo:
            try:
                fn()
            except Exception:
                pass
        dead = set()
        for _ in range(50):
            kids, todo, mine = children_of_all(), [self.me], []
            while todo:
                for k in kids.get(todo.pop(), ()):
                    mine.append(k)
                    todo.append(k)
            if not mine:
                break
            for k in mine:
                try:
                    os.kill(k, signal.SIGKILL)
                except OSError:
                    pass
                dead.add(k)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                pass
            time.sleep(0.05)
        for _, d in self.cgroups:
            for _ in range(20):
                try:
                    os.rmdir(d)
                    break
                except OSError:
                    time.sleep(0.1)
        for k in dead:                         # what a killed JVM leaves
            for f in (f"/tmp/hsperfdata_root/{k}", f"/tmp/.java_pid{k}", f"/tmp/.attach_pid{k}"):
                if os.path.lexists(f):
                    os.unlink(f)
        shutil.rmtree(self.tmp, ignore_errors=True)
        sys.stdout.flush()
        os._exit(rc)
