"""Shared by the `run` scripts: start peers and the program, print pid and rates, clean up."""
import atexit
import http.client
import os
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
sys.path.insert(0, os.path.join(LIB, '../..'))
import installed  # noqa: E402
from installed import python  # noqa: E402, F401  (for the scripts)


class Trial:
    def __init__(self):
        self.cured = '--cured' in sys.argv[1:]
        self.here = os.path.dirname(os.path.realpath(sys.argv[0]))
        self.out = os.environ['OUT']
        self.tmp = tempfile.mkdtemp(prefix='job-')
        self.procs, self.groups, self.files, self.end = [], [], [], time.time() + 150
        self.count, self.lock, self.ready = 0, threading.Lock(), threading.Event()
        self.stopping, self.ok = False, True
        atexit.register(self.cleanup)
        for s in (signal.SIGTERM, signal.SIGINT):
            signal.signal(s, lambda *a: sys.exit(0))

    def pick(self, slow, cured):
        return cured if self.cured else slow

    def port(self):
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            return s.getsockname()[1]

    def start(self, cmd, counted=False, env=None, pre=None, **kw):
        e = dict(os.environ)
        e.update({k: str(v) for k, v in (env or {}).items()})
        p = subprocess.Popen([str(c) for c in cmd], env=e, cwd=self.tmp, start_new_session=True,
                             stdin=kw.pop('stdin', subprocess.DEVNULL), preexec_fn=pre,
                             stdout=subprocess.PIPE if counted else subprocess.DEVNULL,
                             stderr=open(self.tmp + '/err.txt', 'ab'), **kw)
        self.procs.append(p)
        if counted:
            threading.Thread(target=self._read, args=(p.stdout,), daemon=True).start()
        return p

    def _read(self, f):
        for line in f:
            m = re.match(rb'done (\d+)', line)
            if m:
                self.count = int(m.group(1))
                if self.count:
                    self.ready.set()

    def java(self, main, *args, opts=(), jdk25=False, counted=True, heap='256m', **kw):
        java = installed.java(25 if jdk25 else 17) + '/bin/java'
        cp = self.out + '/classes:' + self.out + '/lib/*'
        p = self.start([java, '-Xmx' + heap, *opts, '-cp', cp, main, *args], counted, **kw)
        self.files.append('/tmp/.java_pid%d' % p.pid)  # left by a killed JVM if something attached to it
        return p

    def peer(self, delay_ms, *more):
        """a remote service (HTTP/1.1 or lines), answering after delay_ms"""
        port = self.port()
        self.start([sys.executable, LIB + '/peer.py', port, delay_ms, *more])
        self.wait_port(port)
        return port

    def wait_port(self, port, limit=40):
        t = time.time() + limit
        while time.time() < t:
            try:
                socket.create_connection(('127.0.0.1', port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit('port %d does not open' % port)

    def tick(self, n=1):
        with self.lock:
            self.count += n
        self.ready.set()

    def http_load(self, port, path, n, pace=0.0, body=None):
        """n closed-loop clients; pace = seconds between requests of one client"""
        self.wait_port(port)

        def one(i):
            c = None
            while not self.stopping:
                try:
                    if c is None:
                        c = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
                        c.connect()
                        c.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    c.request('POST' if body else 'GET', path.replace('%d', str(i)), body)
                    r = c.getresponse()
                    r.read()
                    if r.status < 500:
                        self.tick()
                except Exception:
                    c = None
                    time.sleep(0.2)
                if pace:
                    time.sleep(pace)
        for i in range(n):
            threading.Thread(target=one, args=(i,), daemon=True).start()

    def line_load(self, port, make, n, pace=0.0):
        """n closed-loop clients sending make(i) and waiting for one line back"""
        self.wait_port(port)

        def one(i):
            while not self.stopping:
                try:
                    s = socket.create_connection(('127.0.0.1', port), 30)
                    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    f = s.makefile('rb')
                    while not self.stopping:
                        s.sendall(make(i))
                        if not f.readline():
                            break
                        self.tick()
                        if pace:
                            time.sleep(pace)
                except OSError:
                    pass
                time.sleep(0.2)
        for i in range(n):
            threading.Thread(target=one, args=(i,), daemon=True).start()

    def cgroup(self, kind, name, settings):
        d = '/sys/fs/cgroup/%s/%s-%d' % (kind, name, os.getpid())
        os.mkdir(d)
        self.groups.append(d)
        for k, v in settings.items():
            with open(d + '/' + k, 'w') as f:
                f.write(str(v))
        return d

    def steady(self, pid, wait=3, need_count=True):
        pid = getattr(pid, 'pid', pid)
        if need_count and not self.ready.wait(60):
            sys.stderr.write(open(self.tmp + '/err.txt').read()[-2000:])
            self.ok = False
            raise SystemExit('never became ready')
        time.sleep(wait)
        print('pid', pid, flush=True)
        last, t0 = self.count, time.time()
        while time.time() < self.end:
            time.sleep(1)
            c, t = self.count, time.time()
            print('rate %.1f' % ((c - last) / (t - t0)), flush=True)
            last, t0 = c, t
            if not os.path.exists('/proc/%d' % pid):
                sys.stderr.write(open(self.tmp + '/err.txt').read()[-2000:])
                self.ok = False
                raise SystemExit('program ended')

    def cleanup(self):
        self.stopping = True
        for p in reversed(self.procs):
            if getattr(p, 'soft', None):  # has shared things to remove itself
                try:
                    os.kill(p.pid, p.soft)
                    p.wait(3)
                except Exception:
                    pass
            for s in (signal.SIGKILL, signal.SIGCONT):
                try:
                    os.killpg(p.pid, s)
                except OSError:
                    pass
        for p in self.procs:
            try:
                p.wait(5)
            except Exception:
                pass
        for d in self.groups:
            for _ in range(20):
                try:
                    os.rmdir(d)
                    break
                except OSError:
                    time.sleep(0.1)
        for f in self.files:
            if os.path.exists(f):
                os.unlink(f)
        shutil.rmtree(self.tmp, ignore_errors=True)
        try:
            sys.stdout.flush()
        except OSError:
            pass
        os._exit(0 if self.ok else 1)
