"""Starts a case's program, its peers and its clients; prints the pid and the rate; cleans up."""
import argparse, atexit, ctypes, os, re, shutil, signal, socket, subprocess, sys, tempfile, threading, time

libc = ctypes.CDLL(None, use_errno=True)


def _child():
    libc.prctl(1, signal.SIGKILL)          # die with the harness


class Case:
    def __init__(self):
        ap = argparse.ArgumentParser()
        ap.add_argument("--cured", action="store_true")
        self.cured = ap.parse_args().cured
        self.mode = "b" if self.cured else "a"
        self.here = os.path.dirname(os.path.abspath(sys.argv[0]))
        self.out = os.environ["OUT"]
        with open(os.path.join(self.out, "jdk")) as f:
            self.jdk = f.read().strip()
        self.procs, self.count, self.cleanups = [], [], []
        self.lock = threading.Lock()
        self.tmp = tempfile.mkdtemp(prefix="run-")
        atexit.register(self.stop)
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(s, lambda *_: sys.exit(0))
        os.chmod(self.tmp, 0o755)

    # -- processes
    def spawn(self, argv, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        kw.setdefault("stdout", subprocess.DEVNULL)
        kw.setdefault("cwd", self.tmp)
        kw.setdefault("stderr", None if os.environ.get("VERBOSE") else subprocess.DEVNULL)
        old = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
        try:
            def pre():
                signal.pthread_sigmask(signal.SIG_SETMASK, ())
                _child()
            p = subprocess.Popen(argv, process_group=0, preexec_fn=pre, **kw)
            self.procs.append(p)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, old)
        return p

    def java(self, main, *args, opts=(), counted=False, port=None, env=None, stdout=None):
        """The program itself. counted: it prints 'done N' lines, which give the rate."""
        argv = [self.jdk + "/bin/java", *(opts or ("-Xmx512m",)), "-cp", f"{self.out}/app:{self.out}/libs/*",
                main, *map(str, args)]
        p = self.spawn(argv, stdout=stdout or (subprocess.PIPE if counted else subprocess.DEVNULL),
                       env={**os.environ, **(env or {})})
        if counted:
            self._read(p)
        if port:
            self.wait_port(port, p)
        return p

    def kit(self, main, *args, counted=False):
        argv = [self.jdk + "/bin/java", "-Xmx96m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData", "-cp", self.out + "/kit", main, *map(str, args)]
        p = self.spawn(argv, stdout=subprocess.PIPE if counted else subprocess.DEVNULL)
        if counted:
            self._read(p)
        return p

    def python(self, script, *args, **kw):
        return self.spawn([sys.executable, "-u", os.path.join(self.here, script), *map(str, args)], **kw)

    def backend(self, delay_ms, body='{"ok":true}', jitter_ms=0):
        """An HTTP peer that answers each request after delay_ms."""
        port = self.port()
        self.wait_port(port, self.kit("Backend", port, delay_ms, jitter_ms, body))
        return port

    def load(self, port, clients, path, pace=0, body=""):
        """Closed loop HTTP clients (pace: that many requests a second in all). {n} in the path: a random number."""
        return self.kit("Load", port, clients, pace, path, body, counted=True)

    # -- ports
    def port(self):
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        n = s.getsockname()[1]
        s.close()
        return n

    def wait_port(self, port, proc, secs=90):
        end = time.time() + secs
        while time.time() < end:
            if proc.poll() is not None:
                sys.exit(f"a process ended early: {proc.args}")
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit(f"port {port} did not open")

    # -- rate
    def _read(self, p):
        i = len(self.count)
        self.count.append(0)

        def go():
            for line in p.stdout:
                m = re.match(rb"done (\d+)", line)
                if m:
                    with self.lock:
                        self.count[i] = int(m[1])
                        self.stamp = time.time()
        self.stamp = time.time()
        threading.Thread(target=go, daemon=True).start()

    def total(self):
        with self.lock:
            return sum(self.count), self.stamp

    def go(self, p, warm=8):
        end = time.time() + warm
        while time.time() < end:
            time.sleep(0.1)
            if p.poll() is not None:
                sys.exit("the program ended early")
        print("pid", p.pid, flush=True)
        n0, t0 = self.total()
        while True:
            time.sleep(1)
            if p.poll() is not None:
                sys.exit("the program ended")
            n, t = self.total()
            print(f"rate {(n - n0) / max(0.2, t - t0) if t > t0 else 0:.1f}", flush=True)
            n0, t0 = n, t

    def stop(self):
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(s, signal.SIG_IGN)
        for p in reversed(self.procs):
            try:
                os.killpg(p.pid, getattr(p, "last", signal.SIGKILL))
            except OSError:
                pass
        for p in self.procs:
            try:
                p.wait(8)
            except subprocess.TimeoutExpired:
                p.kill()
        for c in self.cleanups:
            try:
                c()
            except OSError:
                pass
        shutil.rmtree(self.tmp, ignore_errors=True)

    # -- servers
    def redis(self):
        port = self.port()
        p = self.spawn(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                        "--dir", self.tmp])
        self.wait_port(port, p)
        return port

    def postgres(self):
        import glob
        bins = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        data = os.path.join(self.tmp, "pg")
        os.mkdir(data, 0o700)
        kw = {}
        if os.getuid() == 0:
            shutil.chown(data, "postgres", "postgres")
            kw = {"user": "postgres", "group": "postgres", "extra_groups": []}
        r = self.spawn([bins + "/initdb", "-D", data, "-A", "trust", "-N", "-U", "postgres"], cwd="/", **kw)
        r.wait()
        self.procs.remove(r)
        port = self.port()
        p = self.spawn([bins + "/postgres", "-D", data, "-p", str(port), "-k", data, "-c", "listen_addresses=127.0.0.1",
                        "-c", "shared_buffers=64MB", "-c", "max_connections=60"], cwd="/", **kw)
        p.last = signal.SIGQUIT            # immediate shutdown: it takes its children along
        self.wait_port(port, p)
        time.sleep(0.5)
        return port
