"""`yunti observe record`, `flame --at` and `changes` on programs with known costs."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looking import (  # noqa: E402
    NOBODY, YUNTI, InAFolder, Started, built, compiled, java_versions, needs_namespaces, needs_nobody, observe, until,
)

# Seconds until something that takes a slice or two has happened; a busy machine is slow.
PATIENCE = 60
GO = shutil.which("go") or next((go for go in ["/usr/local/go/bin/go"] if os.path.exists(go)), None)


def status(store):
    run = subprocess.run(
        [YUNTI, "observe", "record", "status", "--json", "--store", store], capture_output=True, text=True, timeout=60
    )
    assert run.returncode in (0, 3), run.stderr
    document = json.loads(run.stdout)
    assert document["running"] == (run.returncode == 0)
    return document


def slices(store, service):
    """Returns the number of slices that the recorder has written of a service."""
    recorder = status(store)["recorder"] or {"services": []}
    return sum(one["slices"] for one in recorder["services"] if one["service"] == service)


def files(store):
    return [os.path.join(folder, name) for folder, _, names in os.walk(store) for name in names if name.endswith(".slice")]


@contextlib.contextmanager
def recording(store, *words):
    """Records until the end of the block."""
    observe("record", "start", "--store", store, *words)
    try:
        yield
    finally:
        if status(store)["running"]:
            observe("record", "stop", "--store", store)


def shares(document):
    """Returns name -> share of the total in it and its callees, and the total."""
    names, nodes = document["tree"]["names"], document["tree"]["nodes"]
    total = nodes[0][3]
    spent, path = {}, {}
    for i, (parent, name, _, value, *_) in enumerate(nodes):
        above = path[parent] if parent is not None else frozenset()
        if names[name] not in above:
            spent[names[name]] = spent.get(names[name], 0) + value / max(1, total)
        path[i] = above | {names[name]}
    return spent, total


def flame(store, *words):
    return json.loads(observe("flame", "--json", "--store", store, *words).stdout)


def guards(pid):
    """Returns the processes that clean up after a measurement of a process."""
    found = []
    for other in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{other}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
            if words[1:3] == [b"release", str(pid).encode()]:
                found.append(int(other))
    return found


class Folder(InAFolder, unittest.TestCase):
    def setUp(self):
        self.store = tempfile.mkdtemp(dir=self.folder.name)

    def refused(self, code, expected, *words):
        errors = observe(*words, code=code).stderr
        self.assertEqual(len(errors.strip().splitlines()), 1, errors)
        self.assertIn(expected, errors)


class Programs(Folder):
    """A program of C and a JVM, recorded together."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.hot = cls.started(built(cls.folder.name, "hot"), "900")
        compiled(cls.folder.name, "Hot")
        cls.jvm = cls.started("java", "-Xmx200m", "-cp", cls.folder.name, "Hot", "900")

    def start(self, *words):
        return recording(self.store, "--slice", "2s", "--budget", "100", *words)

    def both(self):
        return self.start("--label", "v1", self.hot.pid, self.jvm.pid)

    def wait_for(self, service, count=2):
        until(lambda: slices(self.store, service) >= count, PATIENCE)

    def test_costs_of_functions(self):
        with self.both():
            self.wait_for("Hot", 4)
            self.wait_for("hot", 4)
        native = flame(self.store, "hot", "--at", "today")
        spent, total = shares(native)
        self.assertAlmostEqual(spent["costs_three_quarters"], 0.75, delta=0.15)
        self.assertAlmostEqual(spent["costs_a_quarter"], 0.25, delta=0.15)
        self.assertEqual(native["at"]["releases"], ["v1"])
        # One thread that is always busy uses a processor, or what others leave of it.
        self.assertLessEqual(total / 1e9, native["at"]["seconds"] * 1.25)
        self.assertGreater(total, 0)
        spent, _ = shares(flame(self.store, "Hot", "--at", "today"))
        self.assertAlmostEqual(spent["Hot.costsThreeQuarters"], 0.75, delta=0.2)
        for event, method in [("alloc", "Hot.allocates"), ("lock", "Hot.holdsTheLock"), ("wall", "Hot.holdsTheLock")]:
            spent, total = shares(flame(self.store, "Hot", "--at", "today", "--event", event))
            self.assertGreater(total, 0, event)
            self.assertGreater(spent[method], 0.05, event)

    def test_counters_and_cost(self):
        with self.both():
            self.wait_for("Hot", 3)
            document = status(self.store)
        recorder = document["recorder"]
        self.assertEqual({one["release"] for one in recorder["services"]}, {"v1"})
        self.assertEqual([one["failure"] for one in recorder["services"]], [None, None])
        self.assertGreater(recorder["cpu_percent"], 0)
        self.assertEqual((recorder["blocked"], recorder["lost"]), (None, 0))
        self.assertGreater(recorder["bytes_today"], 0)
        self.assertEqual(document["services"], ["Hot", "hot"])
        profile = os.path.join(self.folder.name, "all.pb.gz")
        observe("record", "export", "Hot", "--at", "today", "--store", self.store, "-o", profile)
        # The facts of a slice are its first text.
        one = subprocess.run(["gunzip", "-c", files(self.store)[0]], capture_output=True, check=True).stdout
        for word in [b"machine.cpu.busy", b"machine.pressure.cpu", b"process.memory.rss"]:
            self.assertIn(word, one)

    def test_stop_leaves_nothing_behind(self):
        with self.both():
            self.wait_for("Hot", 1)
        self.assertEqual(guards(self.jvm.pid), [])
        self.assertEqual([name for name in os.listdir("/tmp") if f"yunti-observe-{self.jvm.pid}-" in name], [])
        # No profiler runs in the JVM, so that another one can.
        observe("flame", "-p", self.jvm.pid, "-s", "0.5")
        self.refused(3, "nothing records into this store", "record", "stop", "--store", self.store)

    def test_a_killed_recorder_loses_a_slice(self):
        with self.both():
            self.wait_for("Hot", 2)
            recorder = status(self.store)["recorder"]
            os.kill(recorder["pid"], signal.SIGKILL)
            until(lambda: not status(self.store)["running"], PATIENCE)
            until(lambda: guards(self.jvm.pid) == [], PATIENCE)
            observe("flame", "-p", self.jvm.pid, "-s", "0.5")
            # What was written is whole.
            written = files(self.store)
            known = sum(one["slices"] for one in recorder["services"])
            self.assertIn(len(written), range(known, known + 3))
            observe("record", "export", "Hot", "--at", "today", "--store", self.store, "-o",
                    os.path.join(self.folder.name, "killed.pb.gz"))
            self.assertEqual(status(self.store)["slices"], len(written))
            # The next recorder goes on in the same store.
            with self.both():
                self.wait_for("Hot", 1)
            self.assertGreater(len(files(self.store)), len(written))

    def test_one_recorder_a_store(self):
        with self.start(self.hot.pid):
            self.refused(8, "records into this store already", "record", "start", self.hot.pid, "--store", self.store)

    def test_later_processes_of_a_name(self):
        program = shutil.copy(os.path.join(self.folder.name, "hot"), os.path.join(self.folder.name, "later-hot"))
        with self.start("--name", "later-hot"):
            self.assertEqual(status(self.store)["recorder"]["services"], [])
            with Started(program, "900"):
                self.wait_for("later-hot", 1)
        self.assertEqual(len({os.path.dirname(path) for path in files(self.store)}), 1)

    def test_the_end_of_all_processes_ends_the_recorder(self):
        program = shutil.copy(os.path.join(self.folder.name, "hot"), os.path.join(self.folder.name, "short-hot"))
        with Started(program, "900") as process:
            observe("record", "start", process.pid, "--slice", "2s", "--store", self.store)
            self.wait_for("short-hot", 1)
        until(lambda: not status(self.store)["running"], PATIENCE)

    @needs_namespaces
    def test_a_full_disk_stops_recording_alone(self):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", self.store], check=True)
        try:
            filler = os.path.join(self.store, "filler")
            with self.both():
                self.wait_for("hot", 1)
                with contextlib.suppress(OSError), open(filler, "wb") as f:
                    for _ in range(64):
                        f.write(bytes(1 << 18))
                until(lambda: status(self.store)["recorder"]["blocked"], PATIENCE)
                self.assertIsNone(self.hot.poll())
                self.assertIsNone(self.jvm.poll())
                until(lambda: not guards(self.jvm.pid), PATIENCE)
                before = len(files(self.store))
                os.remove(filler)
                until(lambda: len(files(self.store)) > before + 1, PATIENCE)
                self.assertIsNone(status(self.store)["recorder"]["blocked"])
        finally:
            # Lazily: a recorder that did not stop must not fail the other tests too.
            subprocess.run(["umount", "-l", self.store], check=True)

    @needs_nobody
    def test_processes_of_others_are_left_out(self):
        store = os.path.join(self.store, "nobody")
        os.mkdir(store)
        for path in [self.folder.name, self.store, store]:
            os.chmod(path, 0o755)
        os.chown(store, 65534, 65534)
        run = observe("record", "start", self.jvm.pid, "--slice", "1s", "--store", store, before=NOBODY)
        try:
            self.assertIn("SKIP", run.stdout)
        finally:
            observe("record", "stop", "--store", store, before=NOBODY)
        self.assertEqual(files(store), [])


class Reading(Folder):
    """Slices of known profiles, put into a store at known times."""

    def put(self, text, at, service="shop", *words):
        path = os.path.join(self.folder.name, f"{service}.txt")
        with open(path, "w") as f:
            f.write(text)
        observe("record", "import", path, "--at", at, "--service", service, "--store", self.store, *words)

    def test_a_time_and_its_difference(self):
        self.put("main;parse 1000\nmain;price 3000\n", "2026-11-26 03:10", "shop", "--requests", "10", "--label", "v1")
        self.put("main;parse 2000\nmain;price 9000\n", "2026-11-27 03:10", "shop", "--requests", "20", "--label", "v2")
        self.put("main 1\n", "2026-11-27 03:10", "cart")
        document = flame(self.store, "shop", "--at", "2026-11-27 03:10", "--against", "2026-11-26")
        self.assertEqual((document["at"]["releases"], document["against"]["releases"]), (["v2"], ["v1"]))
        self.assertEqual(document["service"], "shop")
        # At 20 requests, the earlier slice would have cost 2000 in parse, and 6000 in price.
        names, nodes = document["tree"]["names"], document["tree"]["nodes"]
        values = {names[row[1]]: (row[3], row[5]) for row in nodes}
        self.assertEqual(values, {"all": (11000, 8000), "main": (11000, 8000), "parse": (2000, 2000), "price": (9000, 6000)})
        text = observe("flame", "shop", "--at", "2026-11-27 03:10", "--against", "2026-11-26", "--store", self.store).stdout
        self.assertIn("+37.5 % a request against 2026-11-26 03:10", text)
        page = os.path.join(self.folder.name, "at.html")
        observe("flame", "shop", "--at", "2026-11-27", "--store", self.store, "-o", page)
        with open(page) as f:
            self.assertIn("shop - flame", f.read())

    def test_errors_name_what_there_is(self):
        self.refused(3, "there is no store", "flame", "--at", "today", "--store", self.store + "/none")
        self.put("main 5\n", "2026-11-26 03:10")
        self.put("main 5\n", "2026-11-26 04:00")
        self.put("main 5\n", "2026-11-26 04:00", "cart")
        at = ["flame", "--store", self.store, "--at"]
        self.refused(3, "the nearest are at 2026-11-26 03:10 and 2026-11-26 04:00", *at, "2026-11-26 03:30", "shop")
        self.refused(3, "the nearest is at 2026-11-26 04:00", *at, "2026-11-26 04:30", "shop")
        self.refused(3, "no service is called 'x'", *at, "2026-11-26", "x")
        self.refused(2, "name one of cart, shop", *at, "2026-11-26")
        self.refused(2, "is no time", *at, "half past three", "shop")
        self.refused(2, "--store needs a time", "flame", "--store", self.store)
        self.refused(2, "is no time", "changes", "shop", "--since", "v9", "--store", self.store)
        self.put("main 5\n", "2026-11-26 05:00", "shop", "--label", "v1")
        self.refused(3, "'v9' is no release", "changes", "shop", "--since", "v9", "--store", self.store)
        self.refused(2, "partly the same time", "changes", "shop", "--between", "2026-11-26", "2026-11-26", "--store",
                     self.store)

    def test_a_damaged_slice_is_left_out(self):
        for minute in range(10, 14):
            self.put("main;work 100\n", f"2026-11-26 03:{minute}")
        with open(files(self.store)[0], "r+b") as f:
            f.truncate(30)
        document = flame(self.store, "--at", "2026-11-26")
        self.assertEqual((document["at"]["slices"], document["at"]["total"]), (3, 300))
        self.assertIn("1 damaged slices", document["skipped"][0])

    def test_formats_round_trip(self):
        self.put("main;parse 1000\nmain;price 3000\n", "2026-11-26 03:10", "shop", "--requests", "10")
        for form in ["pprof", "otlp", "collapsed"]:
            path, other = os.path.join(self.folder.name, f"x.{form}"), tempfile.mkdtemp(dir=self.folder.name)
            observe("record", "export", "--at", "2026-11-26", "--store", self.store, "--format", form, "-o", path)
            observe("record", "import", path, "--format", form, "--at", "2026-11-20", "--service", "again", "--store", other)
            spent, total = shares(flame(other, "again", "--at", "2026-11-20"))
            self.assertEqual((total, spent["price"], spent["main"]), (4000, 0.75, 1.0), form)
        self.refused(3, "cannot read the profile", "record", "import", self.folder.name + "/none", "--store", self.store)
        broken = os.path.join(self.folder.name, "broken.pb.gz")
        with open(broken, "wb") as f:
            f.write(b"\x1f\x8b\x08 broken")
        self.refused(4, broken, "record", "import", broken, "--store", self.store)
        self.refused(5, "cannot write", "record", "export", "--at", "2026-11-26", "--store", self.store, "-o", "/proc/none")

    @unittest.skipUnless(GO, "there is no go")
    def test_go_reads_an_export(self):
        self.put("main;parse 1000000000\nmain;price 3000000000\n", "2026-11-26 03:10")
        path = os.path.join(self.folder.name, "go.pb.gz")
        observe("record", "export", "--at", "2026-11-26", "--store", self.store, "-o", path)
        top = subprocess.run([GO, "tool", "pprof", "-top", path], capture_output=True, text=True, timeout=120)
        self.assertEqual(top.returncode, 0, top.stderr)
        self.assertRegex(top.stdout, r"3s +75.00% +75.00% +3s +75.00% +price")

    def test_a_recording_of_the_jdk(self):
        home = java_versions()["17"]
        compiled(self.folder.name, "Hot")
        path = os.path.join(self.folder.name, "hot.jfr")
        subprocess.run(
            [os.path.join(home, "bin/java"), f"-XX:StartFlightRecording=filename={path}", "-cp", self.folder.name, "Hot", "3"],
            check=True, capture_output=True,
        )
        observe("record", "import", path, "--service", "jdk", "--store", self.store)
        spent, total = shares(flame(self.store, "jdk", "--at", "today"))
        self.assertGreater(total, 0)
        # Against the JDK's own tool: on a busy machine, a recording of three seconds has few samples.
        printed = subprocess.run(
            [os.path.join(home, "bin/jfr"), "print", "--json", "--stack-depth", "64", "--events", "jdk.ExecutionSample", path],
            check=True, capture_output=True, text=True,
        )
        stacks = [
            {f["method"]["type"]["name"].replace("/", ".") + "." + f["method"]["name"] for f in trace["frames"]}
            for event in json.loads(printed.stdout)["recording"]["events"]
            if (trace := event["values"]["stackTrace"])
        ]
        for name in ["Hot.costsThreeQuarters", "Hot.costsAQuarter", "java.lang.Thread.run"]:
            share = sum(name in stack for stack in stacks) / len(stacks)
            self.assertAlmostEqual(spent.get(name, 0), share, places=6, msg=name)

    def test_a_store_over_ssh(self):
        self.put("main;work 100\n", "2026-11-26 03:10")
        ssh = os.path.join(self.folder.name, "ssh")
        with open(ssh, "w") as f:
            f.write('#!/bin/sh\n# Stands in for ssh: runs the command here.\nwhile [ "$1" != far ]; do shift; done\nshift\n'
                    'exec sh -c "$*"\n')
        os.chmod(ssh, 0o755)
        env = {**os.environ, "YUNTI_SSH": ssh, "XDG_CACHE_HOME": os.path.join(self.folder.name, "cache")}
        run = subprocess.run(
            [YUNTI, "observe", "flame", "--json", "--at", "2026-11-26", "--store", f"ssh://far{self.store}"],
            capture_output=True, text=True, env=env, timeout=60,
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["at"]["total"], 100)


class Clients:
    """Clients of Orders that send a request each after the other, until closed."""

    def __init__(self, port, count=2):
        self.sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
        self.requests = 0
        self.is_open = True
        self.threads = [threading.Thread(target=self.send, args=[one]) for one in self.sockets]
        [thread.start() for thread in self.threads]

    def send(self, one):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while self.is_open:
            one.sendall(b"x")
            if not one.recv(1):
                return
            self.requests += 1
            time.sleep(0.002)

    def close(self):
        self.is_open = False
        [thread.join() for thread in self.threads]
        [one.close() for one in self.sockets]


class Changes(Folder):
    SLICES = 12

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        compiled(cls.folder.name, "Orders")

    def record(self, label, percent):
        """Records Orders as a release. Returns the requests that it served."""
        with Started("java", "-Xmx200m", "-XX:-UseDynamicNumberOfCompilerThreads", "-cp", self.folder.name, "Orders",
                     str(percent)) as process:
            clients = Clients(int(process.stdout.readline()))
            try:
                until(lambda: clients.requests > 300, 2 * PATIENCE)
                begun = clients.requests
                with recording(self.store, "--slice", "2s", "--rate", "199", "--budget", "100", "--service", "orders",
                               "--label", label, process.pid):
                    until(lambda: slices(self.store, "orders") >= self.SLICES, 3 * PATIENCE)
                return clients.requests - begun
            finally:
                clients.close()

    def test_a_planted_growth_is_found(self):
        self.record("v1", 0)
        # So few slices show a third of a large function at best; a day of minutes shows percents.
        self.record("v2", 150)
        # Changes compares minutes at least, and days best: the slices of two seconds move to a minute each, and those
        # of v1 to the same minutes of the days before.
        recorded = sorted(files(self.store), key=os.path.basename)
        half = len(recorded) // 2
        days = tempfile.mkdtemp(dir=self.folder.name)
        for number, (before, after) in enumerate(zip(recorded[:half], recorded[-half:])):
            minutes = half - number
            observe("record", "import", after, "--at", f"-{minutes}m", "--store", days)
            for day in (1, 2, 3):
                observe("record", "import", before, "--at", f"-{day}d{minutes}m", "--store", days)
        run = observe("changes", "orders", "--since", "v2", "--json", "--fail", "--store", days, code=9)
        document = json.loads(run.stdout)["services"][0]
        self.assertEqual((document["service"], document["per"]), ("orders", "request"))
        grown = {change["function"]["name"]: change for change in document["changes"] if change["difference"] > 0}
        found = [name for name in grown if "Orders.prices" in name]
        self.assertTrue(found, document["changes"])
        self.assertFalse([name for name in grown if "Orders.parses" in name and grown[name]["part"] == "own"], grown.keys())
        self.assertGreater(grown[found[0]]["low"], 0)
        page = os.path.join(self.folder.name, "changes.html")
        text = observe("changes", "orders", "--since", "v2", "--store", days, "-o", page).stdout
        self.assertIn("more processor time since v2", text)
        with open(page) as f:
            page = f.read()
        self.assertIn("Own cost of functions over time: orders, a request", page)
        self.assertIn("heat-9", page)
        # Equal days have no change.
        observe("changes", "orders", "--between", "-2d1h..-2d", "-1d1h..-1d", "--fail", "--store", days)

    def test_requests_are_counted(self):
        served = self.record("v1", 0)
        counted = flame(self.store, "orders", "--at", "today")["at"]["requests"]
        # Requests go on while the recorder starts and stops.
        self.assertGreater(counted, served * 0.5)
        self.assertLess(counted, served * 1.2)


if __name__ == "__main__":
    unittest.main()
