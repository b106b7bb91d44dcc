"""Tests of `yunti nn load --replay`: audit logs of a stock NameNode, replayed on it, and hostile logs."""

import collections
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

sys.dont_write_bytecode = True
from stock import ROOT, NameNode  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "tools/tests"))
import twice  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
LOG4J = """
log4j.logger.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit=INFO,AUDIT
log4j.additivity.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit=false
log4j.appender.AUDIT=org.apache.log4j.FileAppender
log4j.appender.AUDIT.File=${hadoop.log.dir}/hdfs-audit.log
log4j.appender.AUDIT.layout=org.apache.log4j.PatternLayout
log4j.appender.AUDIT.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
"""
LINE = "2026-11-25 09:{}:{},000 INFO FSNamesystem.audit: allowed={}\tugi={} (auth:SIMPLE)\tip=/10.0.0.1\tcmd={}\t" \
    "src={}\tdst={}\tperm={}\tproto=rpc\n"


def line(second, command, src, dst="null", user="al", allowed="true", perm="null"):
    return LINE.format(f"{second // 60:02}", f"{second % 60:02}", allowed, user, command, src, dst, perm)


def replayed(namenode, *words, code=0):
    command = [YUNTI, "nn", "load", namenode.address, "--jmx", f"127.0.0.1:{namenode.web}", *map(str, words)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == code, (run.returncode, run.stdout, run.stderr)
    return run


def web(namenode, path, operation, user="root", method="GET"):
    """Makes a call by the web server, and returns its status and its document."""
    url = f"http://127.0.0.1:{namenode.web}/webhdfs/v1{quote(path)}?op={operation}&user.name={user}"
    try:
        with urlopen(Request(url, method=method), timeout=30) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text else None
    except HTTPError as error:
        return error.code, None


class Replay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        namenode = NameNode({"dfs.namenode.fs-limits.min-block-size": 0, "dfs.webhdfs.user.provider.user.pattern": ".+"})
        with open(f"{namenode.folder}/log4j.properties", "a") as f:
            f.write(LOG4J)
        cls.namenode = cls.enterClassContext(namenode)
        cls.audit = os.path.join(namenode.folder, "hdfs-audit.log")
        # The web server forbids calls shortly after the start.
        until = time.monotonic() + 60
        while web(namenode, "/", "LISTSTATUS")[0] != 200:
            assert time.monotonic() < until
            time.sleep(0.2)
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())

    def lines(self, begin=0):
        with open(self.audit, newline="\n") as f:
            return f.read().split("\n")[:-1][begin:]

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", newline="\n") as f:
            f.write(text)
        return path

    def replay(self, *words, **options):
        return json.loads(replayed(self.namenode, "--json", *words, **options).stdout)

    @staticmethod
    def calls(lines, root=r"/yunti-nn/replay-\w+"):
        """Counts lines by result, user, command and paths, without the root of a replay."""
        counts = collections.Counter()
        for text in lines:
            fields = re.search(r"allowed=(\w+)\tugi=(\S+).*\tcmd=([^\t]+)\tsrc=(.*)\tdst=(.*)\tperm=", text)
            if fields:
                allowed, user, command, src, dst = fields.groups()
                src, dst = (re.sub(f"^{root}(?=/|$)", "", path) or "/" for path in (src, dst))
                counts[allowed, user, command, src, dst] += 1
        return counts

    def work(self):
        """Makes calls of several users, and returns their lines."""
        before = len(self.lines())
        for path, operation, user, method in (
            ("/jobs", "MKDIRS&permission=777", "root", "PUT"),
            ("/jobs/al", "MKDIRS&permission=750", "al", "PUT"),
            ("/jobs/al/a\tb", "MKDIRS", "al", "PUT"),
            ("/jobs/al/ä b", "MKDIRS", "al", "PUT"),
            ("/jobs/al/ä b", "GETFILESTATUS", "al", "GET"),
            ("/jobs/al", "LISTSTATUS", "al", "GET"),
            ("/jobs/al", "LISTSTATUS", "eve", "GET"),
            ("/jobs/al/x", "MKDIRS", "eve", "PUT"),
            ("/jobs/al", "DELETE", "eve", "DELETE"),
            ("/jobs/missing", "GETFILESTATUS", "al", "GET"),
            ("/jobs/al/ä b", "SETPERMISSION&permission=700", "al", "PUT"),
            ("/jobs/al/ä b", "SETOWNER&owner=bo&group=staff", "root", "PUT"),
            ("/jobs/al/a\tb", "SETTIMES&modificationtime=1000&accesstime=-1", "al", "PUT"),
            ("/jobs/al", "GETCONTENTSUMMARY", "al", "GET"),
            ("/jobs/al", "GETACLSTATUS", "al", "GET"),
            ("/jobs/al", "GETQUOTAUSAGE", "al", "GET"),
            ("/jobs/al/a\tb", "RENAME&destination=" + quote("/jobs/al/c"), "al", "PUT"),
            ("/jobs/al/c", "GETFILESTATUS", "al", "GET"),
            ("/jobs/al/c", "DELETE&recursive=true", "al", "DELETE"),
        ):
            web(self.namenode, path, operation, user, method)
        load = [YUNTI, "nn", "load", self.namenode.address, "-m", "create=3,delete=1,rename=1,getFileInfo=2", "-r", "60"]
        subprocess.run([*load, "-s", "2", "--warm-up", "0", "--files", "20"], check=True, capture_output=True)
        return self.lines()[before:]

    def test_a_log_of_a_stock_namenode(self):
        """The replay has the same lines, as the same users, with the same results, at the same times."""
        made = self.work()
        self.assertGreater(len(made), 80)
        log = self.file("work.log", "\n".join(made) + "\n")
        before = len(self.lines())
        document = self.replay("--replay", log, "-c", 20)
        fresh = self.lines(before)
        # Before and after: the name space, and its removal.
        of_replay = [text for text in fresh if re.search(r"src=/yunti-nn/replay-", text)]
        expected, found = self.calls(made), self.calls(of_replay)
        self.assertEqual(sorted((expected - found).elements()), [])
        self.assertEqual((document["failed"], document["unanswered"], document["not_created"]), (0, 0, []))
        self.assertEqual(document["calls"], document["log"]["calls"])
        rows = {row["command"]: row for row in document["by_command"]}
        denied = sum(count for call, count in expected.items() if call[0] == "false")
        self.assertGreaterEqual(denied, 3)
        self.assertEqual(sum(row["denied_as_in_log"] for row in rows.values()), denied)
        self.assertEqual(sum(row["allowed_here"] for row in rows.values()), 0)
        self.assertAlmostEqual(document["seconds"], document["log"]["seconds"], delta=2)
        for row in rows.values():
            self.assertLessEqual(row["p50_us"], row["max_us"] * 1.001)
        self.assertEqual(web(self.namenode, "/yunti-nn", "LISTSTATUS")[0], 200)
        names = [one["pathSuffix"] for one in web(self.namenode, "/yunti-nn", "LISTSTATUS")[1]["FileStatuses"]["FileStatus"]]
        self.assertEqual([name for name in names if name.startswith("replay-")], [])

    def test_speed_and_rotated_files(self):
        """Forty seconds of two files, the newer one first and one as gzip, ten times as fast."""
        newer = self.file("audit.log", "".join(line(second, "getfileinfo", "/a") for second in range(20, 41)))
        older = os.path.join(self.folder, "audit.log.1.gz")
        with gzip.open(older, "wt") as f:
            f.write("".join(line(second, "open", "/a") for second in range(20)))
        document = self.replay("--replay", newer, "--replay", older, "--speed", 10)
        self.assertEqual((document["calls"], document["failed"], document["created"]), (41, 0, 2))
        self.assertAlmostEqual(document["seconds"], 4, delta=1)
        self.assertAlmostEqual(document["intended_per_second"], 41 / 4, delta=0.1)
        self.assertAlmostEqual(document["achieved_per_second"], document["intended_per_second"], delta=2)

    def test_a_stall_shows_in_the_percentiles(self):
        """A stall of a second in four: the latency counts from the time of the log."""
        log = self.file("stall.log", "".join(line(n // 50, "getfileinfo", f"/s{n % 7}") for n in range(50 * 40)))
        run = subprocess.Popen(
            [YUNTI, "nn", "load", self.namenode.address, "--replay", log, "--speed", "10", "--json", "-c", "5"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        # The name space is created at once.
        self.assertIn("created", run.stderr.readline())
        time.sleep(1)
        self.namenode.process.send_signal(signal.SIGSTOP)
        time.sleep(1)
        self.namenode.process.send_signal(signal.SIGCONT)
        output, _ = run.communicate(timeout=60)
        document = json.loads(output)
        row, = document["by_command"]
        self.assertEqual((document["calls"], document["failed"]), (2000, 0))
        self.assertGreater(row["p90_us"], 400_000)
        self.assertGreater(row["max_us"], 800_000)

    def test_an_image(self):
        """Owners, groups, modes and times of an image, and calls that permissions refuse."""
        self.work()
        hdfs = "org.apache.hadoop.hdfs.tools."
        for words in ("-safemode enter", "-saveNamespace", "-safemode leave"):
            admin = self.namenode.java(f"{hdfs}DFSAdmin", *words.split())
            self.assertEqual(admin.returncode, 0, admin.stdout + admin.stderr)
        current = f"{self.namenode.folder}/name/current"
        image = max(name for name in os.listdir(current) if re.fullmatch(r"fsimage_\d+", name))
        xml = os.path.join(self.folder, "image.xml")
        viewed = self.namenode.java(
            f"{hdfs}offlineImageViewer.OfflineImageViewerPB", "-p", "XML", "-i", f"{current}/{image}", "-o", xml
        )
        self.assertEqual(viewed.returncode, 0, viewed.stdout + viewed.stderr)
        log = self.file(
            "image.log",
            line(0, "listStatus", "/jobs/al", user="eve", allowed="false") + line(0, "listStatus", "/jobs/al")
            + line(6, "open", "/none") + line(6, "getfileinfo", "/none"),
        )
        run = subprocess.Popen(
            [YUNTI, "nn", "load", self.namenode.address, "--replay", log, "--image", xml, "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.assertIn("created", run.stderr.readline())
        def listed(path):
            rows = web(self.namenode, path, "LISTSTATUS")[1]["FileStatuses"]["FileStatus"]
            keys = ("type", "owner", "group", "permission", "modificationTime", "accessTime")
            return {row["pathSuffix"]: [row[key] for key in keys] for row in rows}
        root, = [name for name in listed("/yunti-nn") if name.startswith("replay-")]
        for path in ("/jobs", "/jobs/al", "/yunti-nn/base-20", "/yunti-nn/base-20/d00000"):
            there, here = listed(f"/yunti-nn/{root}{path}"), listed(path)
            self.assertEqual(there, here, path)
            self.assertTrue(here)
        output, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, errors)
        document = json.loads(output)
        rows = {row["command"]: row for row in document["by_command"]}
        self.assertEqual((rows["listStatus"]["denied_as_in_log"], rows["listStatus"]["failed"]), (1, 0))
        self.assertEqual([(row["class"], row["calls"]) for row in rows["open"]["errors"]], [("FileNotFoundException", 1)])
        self.assertEqual(rows["getfileinfo"]["failed"], 0)
        self.assertEqual(document["not_created"], [])

    def test_users_are_known_before(self):
        """Each user has a line before the first line of the log."""
        before = len(self.lines())
        log = self.file("users.log", "".join(line(0, "getfileinfo", "/u", user=f"user{n}") for n in range(150)))
        document = self.replay("--replay", log, "-c", 10)
        self.assertEqual((document["calls"], document["failed"], document["users"]), (150, 0, 150))
        self.assertEqual((document["connections"], document["reconnects"]), (151, 0))
        seen = collections.Counter()
        for text in self.lines(before):
            if fields := re.search(r"ugi=(user\d+) .*src=/yunti-nn/replay-\w+(/u)?\t", text):
                seen[fields[1]] += 1
                self.assertEqual(fields[2] is None, seen[fields[1]] == 1, text)
        self.assertEqual(set(seen.values()), {2})

    def test_the_order_of_a_path(self):
        """Calls of one path in the same millisecond: each finds what the call before made."""
        text = ""
        for n in range(300):
            path = f"/order/{n}"
            for command, src, dst in (
                ("create", path, "null"), ("open", path, "null"), ("setPermission", path, "null"),
                ("rename", path, path + "r"), ("append", path + "r", "null"), ("open", path + "r", "null"),
                ("delete", path + "r", "null"), ("create", path, "null"),
            ):
                text += line(0, command, src, dst)
        document = self.replay("--replay", self.file("order.log", text), "-c", 200)
        self.assertEqual((document["calls"], document["failed"], document["unanswered"]), (2400, 0, 0), document)

    def test_hostile_logs(self):
        whole = line(5, "open", "/h/a")
        text = (
            whole + line(5, "fsck", "/") + line(5, "open", "/h/.snapshot/s") + line(6, "open", "/h/tab\tdst=x")
            + whole[:80] + "\n" + "java.io.IOException: cut\n\tat x\n" + "x" * 3_000_000 + "\n"
            + line(3000, "getfileinfo", "/h/b") .replace("09:50", "10:50")
            + line(6, "open", "/h/c") + line(7, "getDelegationToken", "null") + line(7, "mkdirs", "/h//x")
            + whole.replace("\t", " ") + "\x00\x01\xff allowed=true\tugi=\n"
        )
        document = self.replay("--replay", self.file("hostile.log", text), "--speed", 1_000_000)
        self.assertEqual((document["calls"], document["failed"]), (5, 0), document)
        log = document["log"]
        self.assertEqual(log["not_replayed"], {"fsck": 1, "getDelegationToken": 1})
        self.assertEqual((log["lines_cut"], log["lines_of_other_loggers"], log["paths_not_replayed"]), (2, 3, 2))
        self.assertEqual(log["clock_set_back"], 2)
        text = replayed(self.namenode, "--replay", self.file("again.log", text), "--speed", 1_000_000).stdout
        self.assertRegex(text, r"^5 of 5 calls of the log in \d+\.\d s, at 1000000 times its speed: 1 users")
        self.assertIn("not replayed, by command: fsck 1, getDelegationToken 1\n", text)
        self.assertIn("again.log, line 5\n", text)

    def test_an_interrupted_replay(self):
        log = self.file("long.log", "".join(line(second, "getfileinfo", "/i") for second in range(0, 3000, 1)))
        run = subprocess.Popen(
            [YUNTI, "nn", "load", self.namenode.address, "--replay", log, "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.assertIn("created", run.stderr.readline())
        time.sleep(2)
        run.send_signal(signal.SIGINT)
        output, _ = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130)
        self.assertIn(json.loads(output)["calls"], range(1, 10))
        # -s ends a replay, too, and is no error.
        document = self.replay("--replay", log, "-s", 2)
        self.assertIn(document["calls"], (2, 3))

    def test_wrong_words(self):
        def refused(code, expected, *words):
            run = replayed(self.namenode, *words, code=code)
            self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
            self.assertIn(expected, run.stderr)
        log = self.file("one.log", line(1, "open", "/a"))
        refused(3, "the file has no line of a NameNode's audit log", "--replay", self.file("none.log", "hello\n"))
        refused(3, "cannot read the file", "--replay", os.path.join(self.folder, "missing"))
        refused(3, "no call that can be replayed", "--replay", self.file("fsck.log", line(1, "fsck", "/")))
        refused(4, "the image is not the XML of an fsimage", "--replay", log, "--image", log)
        refused(2, "is not a speed", "--replay", log, "--speed", 0)
        refused(2, "cannot be used with", "--replay", log, "-m", "null")
        refused(3, "superuser: --user NAME", "--replay", self.file("eve.log", line(1, "open", "/a")), "--user", "eve")
        with open(os.path.join(self.folder, "cut.gz"), "wb") as f:
            f.write(gzip.compress(line(1, "open", "/a").encode() * 5000)[:-20])
        refused(4, "the file cannot be read to its end", "--replay", os.path.join(self.folder, "cut.gz"))


if __name__ == "__main__":
    twice.main()
