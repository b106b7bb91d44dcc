"""Tests of the plug-ins in a NameNode: acknowledged changes survive a kill, no audit line is lost, queues are swapped
under load, wrong settings are reported."""

import collections
import getpass
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import unittest
from urllib.error import HTTPError
from urllib.request import Request, urlopen

sys.dont_write_bytecode = True
from stock import ROOT, NameNode  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "tools/tests"))
import twice  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
LOCK = "dfs.namenode.lock.model.provider.class"
PRESET = "yunti.namenode.lock.preset"
PHASED = "org.yunti.namenode.lock.PhasedLockManager"
APART = "org.yunti.namenode.lock.PhasedFineGrainedLockManager"
AUDIT = {"dfs.namenode.audit.loggers": "org.yunti.namenode.audit.RingAuditLogger"}
QUEUE = {"ipc.callqueue.impl": "org.yunti.namenode.queue.ShardedCallQueue"}
CHANGES = "mkdirs=2,create=3,rename=2,delete=1,getFileInfo=2"
ALL = (
    "null=1,getFileInfo=4,getListing=1,getBlockLocations=1,contentSummary=1,mkdirs=1,create=2,rename=1,delete=1,"
    "setPermission=1"
)
# Audit command of each call; complete has no line.
AUDITED = {
    "getFileInfo": "getfileinfo",
    "getListing": "listStatus",
    "getContentSummary": "contentSummary",
    "mkdirs": "mkdirs",
    "create": "create",
    "rename": "rename",
    "delete": "delete",
    "setPermission": "setPermission",
    "getBlockLocations": "open",
}


def load(namenode, *words):
    """Starts a load; `ended` waits for it."""
    command = [YUNTI, "nn", "load", namenode.address, "--json", "--files", "1000", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(run, code=0):
    out, err = run.communicate(timeout=120)
    assert code is None or run.returncode == code, (run.returncode, out, err)
    return json.loads(out) if out.startswith("{") else None


def bean(namenode, name):
    with urlopen(f"http://127.0.0.1:{namenode.web}/jmx?qry=Hadoop:service=*,name={name}", timeout=20) as answer:
        return json.load(answer)["beans"][0]


def listed(namenode, path):
    """Entries of a directory, from the web server. A NameNode forbids it shortly after its start."""
    until = time.monotonic() + 30
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{namenode.web}/webhdfs/v1{path}?op=LISTSTATUS", timeout=60) as answer:
                return [
                    (f"{path}/{status['pathSuffix']}", status["type"])
                    for status in json.load(answer)["FileStatuses"]["FileStatus"]
                ]
        except HTTPError as error:
            if error.code != 403 or time.monotonic() > until:
                raise
            time.sleep(0.2)


def there(namenode, path, found=None):
    """All paths below one."""
    found = {} if found is None else found
    for child, kind in listed(namenode, path):
        found[child] = kind
        if kind == "DIRECTORY":
            there(namenode, child, found)
    return found


def changed(namenode, path, method, operation):
    """Makes a change by the web server, past the RPC client."""
    with urlopen(
        Request(
            f"http://127.0.0.1:{namenode.web}/webhdfs/v1{path}?op={operation}&user.name={getpass.getuser()}",
            method=method,
        ),
        timeout=20,
    ) as answer:
        assert json.load(answer)["boolean"], path


class HistoryChecker:
    """Paths that must exist, must not exist, or may exist, from the acknowledged changes. Operations under way never
    share a path."""

    def __init__(self, lines):
        self.certain, self.gone, self.unsure, self.count = set(), set(), set(), collections.Counter()
        for line in lines:
            word, operation, *paths = line.split()
            self.count[word] += 1
            if word == "unknown":
                self.unsure.update(paths)
                continue
            if operation in ("rename", "delete"):
                self.certain.discard(paths[0])
                self.gone.add(paths[0])
            if operation != "delete":
                self.certain.add(paths[-1])

    def lost(self, found):
        return sorted(self.certain - self.unsure - found.keys())

    def back(self, found):
        return sorted((self.gone - self.unsure - self.certain) & found.keys())

    def one_of_each(self):
        """Returns a path that must exist, with no path below it, and one that must not exist."""
        above = {os.path.dirname(path) for path in self.certain | self.unsure}
        return min(self.certain - self.unsure - above), min(self.gone - self.unsure - self.certain)


def grown(case, path, size):
    """Returns once the file has this size."""
    until = time.monotonic() + 60
    while not os.path.exists(path) or os.path.getsize(path) < size:
        case.assertLess(time.monotonic(), until)
        time.sleep(0.05)


class Killed(unittest.TestCase):
    """kill -9 under a load of changes, and a restart from the disk."""

    def check(self, properties):
        """Uses files with blocks, so that heartbeats and block reports take the other lock. The restarted NameNode does
        not wait for the DataNodes, which are gone. Two planted changes must be the only ones that the checker finds."""
        properties = {**properties, "dfs.namenode.safemode.threshold-pct": 0, "dfs.namenode.safemode.extension": 0}
        with NameNode(properties, plugin=True) as namenode:
            history = os.path.join(namenode.folder, "history")
            run = load(
                namenode,
                "-m",
                CHANGES,
                "-c",
                60,
                "-s",
                30,
                "--warm-up",
                0,
                "--history",
                history,
                "--datanodes",
                4,
                "--block-reports",
                2,
            )
            grown(self, history, 200_000)
            namenode.process.kill()
            namenode.process.wait()
            # The client would retry for some seconds more.
            run.send_signal(signal.SIGINT)
            ended(run, code=None)
            with open(history) as f:
                checker = HistoryChecker(f.read().splitlines())
            self.assertGreater(checker.count["ok"], 1000)
            namenode.start()
            root, = [path for path, _ in listed(namenode, "/yunti-nn") if "/run-" in path]
            lost, back = checker.one_of_each()
            changed(namenode, lost, "DELETE", "DELETE")
            changed(namenode, back, "PUT", "MKDIRS")
            found = there(namenode, root)
            self.assertEqual(checker.lost(found)[:5], [lost], "acknowledged, but missing")
            self.assertEqual(checker.back(found)[:5], [back], "deleted, but present")

    def test_throughput(self):
        self.check({LOCK: PHASED, PRESET: "throughput", **QUEUE, **AUDIT})

    def test_apart(self):
        self.check({LOCK: APART, PRESET: "balanced"})

    def test_the_checker_finds_errors(self):
        checker = HistoryChecker(
            [
                "ok mkdirs /a",
                "ok create /b",
                "ok rename /b /c",
                "ok delete /c",
                "ok create /d",
                "unknown delete /d",
                "unknown mkdirs /e",
            ]
        )
        self.assertEqual((checker.lost({"/a": 0}), checker.back({"/a": 0})), ([], []))
        self.assertEqual(checker.lost({}), ["/a"])
        self.assertEqual(checker.back({"/a": 0, "/b": 0, "/c": 0, "/d": 0, "/e": 0}), ["/b", "/c"])


class Together(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        properties = {
            LOCK: PHASED,
            PRESET: "throughput",
            "dfs.namenode.lock.detailed-metrics.enabled": "true",
            **QUEUE,
            **AUDIT,
        }
        cls.namenode = cls.enterClassContext(NameNode(properties, plugin=True))
        cls.log = os.path.join(cls.namenode.folder, "hdfs-audit.log")

    def lines(self):
        with open(self.log) as f:
            return f.read().splitlines()

    def test_each_call_has_its_audit_line(self):
        ended(load(self.namenode, "-m", "getFileInfo", "-s", 1))
        time.sleep(0.3)
        before = len(self.lines())
        document = ended(load(self.namenode, "-m", ALL, "-s", 3, "--warm-up", 0, "-c", 50, "--user", "root"))
        self.assertEqual((document["failed"], document["unanswered"], document["reconnects"]), (0, 0, 0))
        time.sleep(0.3)
        fresh = self.lines()[before:]
        for line in fresh:
            self.assertRegex(
                line,
                r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} INFO FSNamesystem.audit: allowed=true\t"
                r"ugi=root \(auth:SIMPLE\)\tip=/127.0.0.1\t"
                r"cmd=\w+\tsrc=[^\t]+\tdst=[^\t]+\tperm=[^\t]+\tproto=rpc$",
            )
        counts = collections.Counter(re.search(r"cmd=(\w+)", line)[1] for line in fresh)
        calls = {row["call"]: row["calls"] for row in document["by_call"]}
        for call, command in AUDITED.items():
            # Two further calls check for the files and remove the run's own files.
            self.assertIn(counts[command] - calls[call], (0, 1, 2), command)
        metrics = bean(self.namenode, "YuntiAudit")
        self.assertEqual((metrics["Overflows"], metrics["Errors"]), (0, 0))
        # The metrics are updated every ten seconds.
        self.assertLessEqual(metrics["Lines"], len(self.lines()))

    def test_stocks_metrics_of_the_lock_and_the_queue(self):
        ended(load(self.namenode, "-m", ALL, "-s", 1))
        detailed = bean(self.namenode, "FSNamesystem")
        self.assertIn("LockQueueLength", " ".join(detailed))
        self.assertEqual(len(bean(self.namenode, "FairCallQueue")["QueueSizes"]), 4)
        with urlopen(
            f"http://127.0.0.1:{self.namenode.web}/jmx?qry=Hadoop:service=NameNode,name=RpcDetailedActivityForPort*",
            timeout=20,
        ) as answer:
            rates = " ".join(json.load(answer)["beans"][0])
        self.assertIn("MkdirsNumOps", rates)

    def test_a_refresh_under_load(self):
        run = load(self.namenode, "-m", ALL, "-s", 8, "--warm-up", 0, "-c", 100)
        time.sleep(1)
        for _ in range(2):
            admin = self.namenode.java("org.apache.hadoop.hdfs.tools.DFSAdmin", "-refreshCallQueue")
            self.assertEqual(admin.returncode, 0, admin.stdout + admin.stderr)
        document = ended(run)
        self.assertEqual((document["failed"], document["unanswered"], document["reconnects"]), (0, 0, 0))

    def test_half_open_connections_and_floods(self):
        import socket
        idle = []
        stop = threading.Event()

        def flood():
            while not stop.is_set():
                for bytes_ in (
                    b"hrpc\x09\x00\x00",
                    b"GET / HTTP/1.1\r\n\r\n",
                    os.urandom(200),
                    b"hrpc\x09\x00\x00\x7f\xff\xff\xff" + os.urandom(50),
                ):
                    try:
                        with socket.create_connection(("127.0.0.1", self.namenode.port), timeout=2) as one:
                            one.sendall(bytes_)
                    except OSError:
                        pass
                time.sleep(0.005)
        for _ in range(200):
            one = socket.create_connection(("127.0.0.1", self.namenode.port), timeout=5)
            one.sendall(b"hrpc\x09")
            idle.append(one)
        thread = threading.Thread(target=flood)
        thread.start()
        try:
            document = ended(load(self.namenode, "-m", ALL, "-s", 3, "-c", 50))
        finally:
            stop.set()
            thread.join()
            for one in idle:
                one.close()
        self.assertEqual((document["failed"], document["unanswered"], document["reconnects"]), (0, 0, 0))


class AuditThatEnds(unittest.TestCase):
    def loaded(self, namenode, end):
        """Returns the acknowledged mkdirs and the audit log of a NameNode that gets a signal during a load."""
        history = os.path.join(namenode.folder, "history")
        run = load(namenode, "-m", "mkdirs", "-c", 40, "-s", 30, "--warm-up", 0, "--history", history)
        grown(self, history, 60_000)
        namenode.process.send_signal(end)
        namenode.process.wait()
        run.send_signal(signal.SIGINT)
        ended(run, code=None)
        with open(history) as f:
            done = {line.split()[2] for line in f if line.startswith("ok ")}
        self.assertGreater(len(done), 1000)
        with open(os.path.join(namenode.folder, "hdfs-audit.log")) as f:
            text = f.read()
        return done, text

    def test_ended(self):
        with NameNode(AUDIT, plugin=True) as namenode:
            done, text = self.loaded(namenode, signal.SIGTERM)
        audited = set(re.findall(r"cmd=mkdirs\tsrc=(\S+)", text))
        self.assertEqual(sorted(done - audited)[:5], [])
        self.assertTrue(text.endswith("\n"))

    def test_killed(self):
        with NameNode({**AUDIT, "yunti.namenode.audit.flush.ms": 5}, plugin=True) as namenode:
            done, text = self.loaded(namenode, signal.SIGKILL)
        audited = set(re.findall(r"cmd=mkdirs\tsrc=(\S+)", text))
        # Lines of the last milliseconds may be missing.
        self.assertLess(len(done - audited), 2000)

    def test_a_full_disk(self):
        with NameNode(
            {**AUDIT, "yunti.namenode.audit.file": "/tmp/never", "yunti.namenode.audit.block.max.ms": 300}, plugin=True
        ) as namenode:
            disk = os.path.join(namenode.folder, "disk")
            os.mkdir(disk)
            mounted = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=64k", "yunti-test", disk], capture_output=True
            )
            if mounted.returncode != 0:
                self.skipTest("only root can mount")
            try:
                namenode.process.kill()
                namenode.process.wait()
                namenode.set("yunti.namenode.audit.file", f"{disk}/audit.log")
                namenode.start()
                document = ended(load(namenode, "-m", "mkdirs", "-c", 20, "-s", 4, "--warm-up", 0))
                # Operations go on after the first have waited.
                self.assertEqual(document["failed"], 0)
                self.assertGreater(document["calls"], 500)
                message = namenode.output()
                self.assertEqual(message.count("audit lines cannot be written to"), 1)
                with open(f"{disk}/audit.log") as f:
                    text = f.read()
                self.assertTrue(text.endswith("\n"), "the last line is complete")
                subprocess.run(["mount", "-o", "remount,size=16m", disk], check=True, capture_output=True)
                until = time.monotonic() + 20
                while "are written to" not in namenode.output():
                    self.assertLess(time.monotonic(), until)
                    time.sleep(0.1)
                time.sleep(0.5)
                with open(f"{disk}/audit.log") as f:
                    text = f.read()
                in_file = re.findall(r"cmd=mkdirs\tsrc=(\S+)", text)
                elsewhere = re.findall(r"RingAuditLogger.overflow: allowed=.*cmd=mkdirs\tsrc=(\S+)", namenode.output())
                # Each event has exactly one line.
                everywhere = collections.Counter(in_file + elsewhere)
                self.assertEqual([path for path, count in everywhere.items() if count > 1][:5], [])
                self.assertGreaterEqual(len(everywhere), document["calls"])
            finally:
                subprocess.run(["umount", "-l", disk], capture_output=True)


class Wrong(unittest.TestCase):
    """A NameNode that does not start gives the reason in one line."""

    def message(self, properties):
        """Returns the end of the log; it has the one line of the plug-in, and no stack trace."""
        namenode = NameNode(properties, plugin=True)
        with self.assertRaises(AssertionError) as caught, namenode:
            pass
        message = str(caught.exception)
        self.assertEqual(namenode.process.returncode, 1)
        self.assertEqual(message.count("the NameNode does not start: hdfs-site.xml: "), 1, message)
        self.assertNotIn("\tat ", message)
        return message

    def test_settings(self):
        for lock in (PHASED, APART):
            message = self.message({LOCK: lock, PRESET: "fast"})
            self.assertIn(
                "hdfs-site.xml: yunti.namenode.lock.preset is 'fast'; give throughput or balanced", message
            )

    def test_audit(self):
        message = self.message({**AUDIT, "yunti.namenode.audit.file": "/proc/no/audit"})
        self.assertIn("audit lines cannot be written to /proc/no/audit", message)

    def test_queue(self):
        namenode = NameNode(QUEUE, plugin=True)
        namenode.set(f"ipc.{namenode.port}.yunti.callqueue.shards", 0)
        with self.assertRaises(AssertionError) as caught, namenode:
            pass
        self.assertIn("shards is '0'; give a number from 1 to 1024", str(caught.exception))


if __name__ == "__main__":
    twice.main()
