"""The 24 services with known costs: builds them, and starts one with its remote peers.

    python3 capacity/tests/services/services.py --build
    python3 capacity/tests/services/services.py --start stock --threads 24     # until Ctrl-C; prints pid, port, urls

From Python:

    with services.running("stock", threads=24) as service:
        service.pid, service.port, service.peers, service.load(clients=4, seconds=5)
"""

import argparse
import contextlib
import ctypes
import json
import os
import platform
import re
import select
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
ROOT = os.path.dirname(os.path.dirname(TESTS))
BUILD = os.path.join(ROOT, "build/capacity/services")
YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
sys.path[:0] = [os.path.join(ROOT, "tools/tests"), TESTS]
import jdks  # noqa: E402
from servers import free_port  # noqa: E402

JDKS = {version: home for version, (_, home) in jdks.find(["17", "25"]).items()}
PATIENCE = 60  # seconds until a service must be ready
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
AUTOGROUP_NICE = -15  # of the session of a service, so that builds beside it slow it down less
REALTIME = os.environ.get("SERVICES_REALTIME") == "1"  # round robin ahead of all others: for a machine with other work

with open(os.path.join(HERE, "services.json"), encoding="utf-8") as _file:
    SERVICES = {service["name"]: service for service in json.load(_file)["services"]}


class Skip(Exception):
    """Program that a service needs and this machine lacks."""


def is_stale(target, *sources):
    """Returns whether a target is missing or older than a source; a folder stands for its files."""
    if not os.path.exists(target):
        return True
    built = os.path.getmtime(target)
    for source in sources:
        files = [source] if os.path.isfile(source) else [
            os.path.join(at, name) for at, _, names in os.walk(source) for name in names]
        if any(os.path.getmtime(file) > built for file in files):
            return True
    return False


def run(*command, **more):
    subprocess.run(command, check=True, **more)


def build_c(name, source, *flags):
    target = os.path.join(BUILD, "bin", name)
    source = os.path.join(HERE, source)
    if is_stale(target, source):
        run("cc", "-O2", "-g", "-Wall", "-Wextra", "-o", target, source, *flags)


def build_go():
    target, source = os.path.join(BUILD, "bin/resize"), os.path.join(HERE, "others/resize")
    if shutil.which("go") and is_stale(target, source):
        run("go", "build", "-o", target, ".", cwd=source)


def java_files(folder):
    return [os.path.join(at, name) for at, _, names in os.walk(os.path.join(HERE, "java", folder))
            for name in names if name.endswith(".java")]


def build_java():
    """Fetches the libraries with Maven and compiles; the services with virtual threads only when JDK 25 is there."""
    pom, lib = os.path.join(HERE, "java/pom.xml"), os.path.join(BUILD, "lib")
    if is_stale(lib, pom):
        shutil.rmtree(lib, ignore_errors=True)
        run("mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={lib}")
        os.utime(lib)
    for version, folder, path in (("17", "com", f"{lib}/*"), ("25", "virtual", f"{BUILD}/classes")):
        classes = os.path.join(BUILD, "classes" if version == "17" else "classes" + version)
        if version in JDKS and is_stale(classes, os.path.join(HERE, "java")):
            part = classes + ".part"
            shutil.rmtree(part, ignore_errors=True)
            run(f"{JDKS[version]}/bin/javac", "-g", "-Xlint:all,-serial,-processing,-classfile", "--release", version,
                "-cp", path, "-d", part, *java_files(folder))
            shutil.rmtree(classes, ignore_errors=True)
            os.rename(part, classes)
            os.utime(classes)


def build():
    """Builds everything that is not there or older than its source, under build/capacity/services."""
    os.makedirs(os.path.join(BUILD, "bin"), exist_ok=True)
    build_c("peer", "load/peer.c")
    build_c("clients", "load/clients.c", "-lm")
    build_c("counters", "others/counters.c", "-pthread")
    build_go()
    if "17" in JDKS:
        build_java()


def calibrators():
    """Yields the commands that print the rounds of work in a millisecond, by language."""
    if "17" in JDKS:
        yield [f"{JDKS['17']}/bin/java", "-cp", f"{BUILD}/classes", "com.acme.work.Calibrate"]
    yield [f"{BUILD}/bin/counters", "--calibrate"]
    yield [sys.executable, f"{HERE}/others/invoices.py", "--calibrate"]
    if shutil.which("node"):
        yield ["node", f"{HERE}/others/render.js", "--calibrate"]
    if os.path.exists(f"{BUILD}/bin/resize"):
        yield [f"{BUILD}/bin/resize", "--calibrate"]


def calibration():
    """Returns the rounds of each kind of work in a millisecond, measured once a machine and then kept.

    Each request does a fixed number of rounds, so that a noisy moment during the calibration changes a nominal cost
    but never the work between two runs.
    """
    path = os.path.join(BUILD, f"calibration-{platform.node()}.json")
    if not os.path.exists(path):
        found = {}
        for command in calibrators():
            for _ in range(3):
                done = subprocess.run(command, check=True, capture_output=True, text=True, preexec_fn=tie)
                for kind, rate in json.loads(done.stdout).items():
                    found[kind] = max(rate, found.get(kind, 0))
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
        os.rename(path + ".part", path)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def tie(ahead=0):
    """Makes a child end with its parent and gives it the priority of a measured run, where this process may."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.setsid()
        with open("/proc/self/autogroup", "w", encoding="ascii") as file:
            file.write(str(AUTOGROUP_NICE))
    with contextlib.suppress(OSError):
        if REALTIME:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1 + ahead))
        elif ahead:
            os.nice(-15)


def tie_ahead():
    """Ties a peer or the clients: they run ahead of the service, as if on a machine of their own."""
    tie(ahead=1)


def wait_ready(process, what):
    """Waits for the line `ready ..` of a process."""
    end = time.time() + PATIENCE
    line = b""
    while time.time() < end and process.poll() is None and not line.startswith(b"ready"):
        if select.select([process.stdout], [], [], 0.2)[0]:
            line = process.stdout.readline()
    if not line.startswith(b"ready"):
        raise RuntimeError(f"{what} did not become ready; exit code {process.poll()}; see {BUILD}/log")


def end(process):
    """Ends the process group of a process that this module started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout:
        process.stdout.close()


class Service:
    """Running service with its peers."""

    def __init__(self, name, threads=None):
        self.facts = SERVICES[name]
        self.name = name
        self.threads = threads or max(self.facts["levels"])
        self.port = free_port()
        self.peers = {peer: free_port() for peer in self.facts["peers_ms"]}
        self.scratch = os.path.join(BUILD, "scratch", f"{name}-{self.port}")
        self.processes = []

    def value(self, key):
        """Returns the value of a placeholder `{key}` in a start command."""
        kind, _, rest = key.partition(":")
        if kind == "peer":
            return self.peers[rest]
        if rest:
            return max(1, round(calibration()[kind] * float(rest)))
        if kind.startswith("java"):
            if kind[4:] not in JDKS:
                raise Skip(f"{self.name} needs JDK {kind[4:]}")
            return f"{JDKS[kind[4:]]}/bin/java"
        if kind == "node" and not shutil.which(kind):
            raise Skip(f"{self.name} needs node")
        classes = f"{BUILD}/classes:{BUILD}/lib/*"
        return {"port": self.port, "threads": self.threads, "scratch": self.scratch, "bin": f"{BUILD}/bin",
                "others": f"{HERE}/others", "python": os.path.realpath(sys.executable), "node": "node",
                "classes": classes, "classes25": f"{BUILD}/classes25:{classes}"}[kind]

    def command(self):
        """Returns the start command with its placeholders filled in."""
        if self.facts["language"] == "go" and not os.path.exists(f"{BUILD}/bin/resize"):
            raise Skip(f"{self.name} needs go")
        return [re.sub(r"\{([^}]+)\}", lambda found: str(self.value(found[1])), word) for word in self.facts["start"]]

    def start(self):
        command = self.command()
        os.makedirs(self.scratch, exist_ok=True)
        os.makedirs(f"{BUILD}/log", exist_ok=True)
        if self.peers:
            ports = [f"{self.peers[peer]}={round(ms * 1000)}" for peer, ms in self.facts["peers_ms"].items()]
            self.spawn([f"{BUILD}/bin/peer", *ports], tie_ahead, "peer")
        self.process = self.spawn(command, tie, self.name)
        return self

    def spawn(self, command, prepare, what):
        with open(f"{BUILD}/log/{self.name}.log", "ab") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL,
                                       preexec_fn=prepare, cwd=self.scratch)
        self.processes.append(process)
        wait_ready(process, what)
        return process

    def stop(self):
        for process in reversed(self.processes):
            end(process)
        shutil.rmtree(self.scratch, ignore_errors=True)

    @property
    def pid(self):
        return self.process.pid

    def urls(self):
        return [f"http://127.0.0.1:{self.port}{url['path']}" for url in self.facts["urls"]]

    def load_command(self, clients, seconds, warm=0.5, rate=0):
        """Returns the command of the clients: a closed loop, or Poisson arrivals at a rate."""
        command = [f"{BUILD}/bin/clients", "--port", str(self.port), "--clients", str(clients), "--seconds",
                   str(seconds), "--warm", str(warm), "--rate", str(rate)]
        for process in [self.process, *self.processes[:-1]]:
            command += ["--watch", str(process.pid)]
        for url in self.facts["urls"]:
            command += ["--url", f"{url['path']}={url['share']}"]
        return command

    def load(self, clients, seconds, warm=0.5, rate=0):
        """Returns what the clients measured. With a rate, give enough clients for all requests at once."""
        done = subprocess.run(self.load_command(clients, seconds, warm, rate), check=True, stdout=subprocess.PIPE,
                              preexec_fn=tie_ahead, timeout=seconds + warm + 30)
        return json.loads(done.stdout)

    def load_beside(self, clients, seconds, warm=0, rate=0):
        """Starts clients that run beside the caller; `json.load(process.stdout)` when they end."""
        return subprocess.Popen(self.load_command(clients, seconds, warm, rate), stdout=subprocess.PIPE,
                                preexec_fn=tie_ahead)

    def warm_up(self, seconds=8):
        """Loads the service until its code is compiled: until two rates of 2 s differ by less than 3 %, or for long."""
        before = self.load(min(8, self.threads), seconds, warm=0)["rate"]
        for _ in range(5):
            now = self.load(min(8, self.threads), 2, warm=0)["rate"]
            if abs(now - before) < 0.03 * now:
                return
            before = now


@contextlib.contextmanager
def running(name, threads=None):
    """Runs a service with its peers; everything ends with the block, and with this process."""
    service = Service(name, threads)
    try:
        yield service.start()
    finally:
        service.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="build, calibrate, and end")
    parser.add_argument("--start", choices=SERVICES, metavar="NAME", help="run a service until Ctrl-C")
    parser.add_argument("--threads", type=int, help="worker threads; default: the highest level of its sweep")
    options = parser.parse_args()
    build()
    print(json.dumps(calibration()), file=sys.stderr)
    if not options.start:
        return
    try:
        with running(options.start, options.threads) as service, contextlib.suppress(KeyboardInterrupt):
            print(json.dumps({"pid": service.pid, "port": service.port, "urls": service.urls(), "peers": service.peers,
                              "load": service.load_command(4, 10)}), flush=True)
            service.process.wait()
    except Skip as skip:
        sys.exit(f"skipped: {skip}")


if __name__ == "__main__":
    main()
