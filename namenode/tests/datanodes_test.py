"""Tests of `yunti nn load` with DataNodes without disks, and on servers that end, refuse or require Kerberos."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from urllib.request import urlopen

sys.dont_write_bytecode = True
from stock import ROOT, NameNode  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "tools/tests"))
import twice  # noqa: E402

YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))


def load(*words, code=0):
    run = subprocess.run([YUNTI, "nn", "load", *map(str, words)], capture_output=True, text=True, timeout=120)
    assert run.returncode == code, (run.returncode, run.stdout, run.stderr)
    return run


class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # The redundancy monitor runs every second, so that deleted blocks are invalidated soon.
        cls.namenode = cls.enterClassContext(
            NameNode({"dfs.namenode.fs-limits.min-block-size": 0, "dfs.namenode.redundancy.interval.seconds": 1})
        )

    def bean(self, name):
        with urlopen(
            f"http://127.0.0.1:{self.namenode.web}/jmx?qry=Hadoop:service=NameNode,name={name}", timeout=20
        ) as answer:
            return json.load(answer)["beans"][0]

    def test_files_have_blocks(self):
        command = [
            YUNTI,
            "nn",
            "load",
            self.namenode.address,
            "--datanodes",
            "40",
            "--block-reports",
            "2",
            "-m",
            "create=2,delete=1,getBlockLocations=1",
            "-c",
            "20",
            "-s",
            "12",
            "--files",
            "300",
            "--jmx",
            f"127.0.0.1:{self.namenode.web}",
            "--json",
        ]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 40
        while self.bean("FSNamesystemState")["NumLiveDataNodes"] < 40 or self.bean("FSNamesystem")["BlocksTotal"] < 300:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.2)
        self.assertEqual(self.bean("FSNamesystem")["MissingBlocks"], 0)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, err)
        document = json.loads(out)
        self.assertEqual((document["failed"], document["errors"], document["datanodes"]), (0, [], 40))
        calls = {row["call"]: row["calls"] for row in document["by_call"]}
        # Heartbeats of a DataNode: one every 3 s, and one for the lease of each report.
        self.assertAlmostEqual(calls["sendHeartbeat"] / document["seconds"], 40 / 3 + 40 / 2, delta=6)
        self.assertGreater(calls["blockReport"], 20)
        self.assertGreater(calls["blockReceivedAndDeleted"], 20)
        # A file under way at the start of the measurement had its addBlock before.
        self.assertAlmostEqual(calls["addBlock"], calls["create"], delta=40)
        self.assertGreaterEqual(calls["complete"] + 40, calls["addBlock"])
        rpc = document["namenode_rpc"]
        self.assertGreater(rpc["processing_ms_mean"], 0)
        self.assertGreaterEqual(rpc["queue_ms_mean"], 0)

    def test_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            load(self.namenode.address, "-m", "getFileInfo", "--files", 100, "-s", 2, "--warm-up", 1, "--plot", page)
            with open(page) as f:
                text = f.read()
            for line in re.findall(r'polyline class="\w+" points="([^"]*)"', text):
                self.assertGreaterEqual(len(line.split()), 2)
            self.assertEqual(len(re.findall("<polyline", text)), 3)
            self.assertNotRegex(text, r'(src|href)="http')
            load(self.namenode.address, "--plot", os.path.join(folder, "no/such/page.html"), code=5)

    def test_a_restart(self):
        # The NameNode is up before the load. Its restart may take half a minute on a busy machine.
        load(self.namenode.address, "-m", "mkdirs", "-s", "0.2")
        run = subprocess.Popen(
            [
                YUNTI,
                "nn",
                "load",
                self.namenode.address,
                "-m",
                "mkdirs",
                "-c",
                "10",
                "-s",
                "120",
                "--warm-up",
                "0",
                "--json",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(3)
        self.namenode.process.kill()
        self.namenode.process.wait()
        self.namenode.start()
        time.sleep(1)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, err)
        document = json.loads(out)
        self.assertGreaterEqual(document["reconnects"], 10)
        self.assertGreater(document["calls"], 100)

    def test_kilobytes_a_connection(self):
        few, many = 100, 4000
        used = []
        for connections in (few, many):
            watched = [
                "python3",
                "-c",
                "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
            ]
            run = subprocess.run(
                [
                    *watched,
                    YUNTI,
                    "nn",
                    "load",
                    self.namenode.address,
                    "-m",
                    "null",
                    "-c",
                    str(connections),
                    "-s",
                    "2",
                    "--warm-up",
                    "1",
                ],
                capture_output=True,
                text=True,
                timeout=120,
            )
            self.assertEqual(run.returncode, 0, run.stderr)
            used.append(int(run.stdout))
        self.assertLess((used[1] - used[0]) / (many - few), 64)


class Refused(unittest.TestCase):
    def test_kerberos(self):
        """With hadoop.security.authentication=kerberos a server ends a SIMPLE connection by this response."""
        def text(tag, value):
            return bytes([tag << 3 | 2, len(value)]) + value
        exception, message = (
            b"org.apache.hadoop.security.AccessControlException",
            b"SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]",
        )
        # callId 2^32 - 1 (none), status FATAL, server version, exception, message.
        header = b"\x08\xff\xff\xff\xff\x0f\x10\x02\x18\x09" + text(4, exception) + text(5, message)
        answer = bytes([len(header) & 0x7f | 0x80, len(header) >> 7]) + header
        with socket.create_server(("127.0.0.1", 0)) as server:
            stop = threading.Event()

            def serve():
                server.settimeout(0.1)
                while not stop.is_set():
                    try:
                        one, _ = server.accept()
                    except TimeoutError:
                        continue
                    with one:
                        one.recv(1000)
                        one.sendall(struct.pack(">I", len(answer)) + answer)
            thread = threading.Thread(target=serve)
            thread.start()
            try:
                error = load(f"127.0.0.1:{server.getsockname()[1]}", code=3).stderr
            finally:
                stop.set()
                thread.join()
        self.assertEqual(len(error.strip().splitlines()), 1, error)
        self.assertIn("requires SASL (Kerberos, tokens), which yunti nn does not support", error)

    def test_conflicting_flags(self):
        self.assertIn("cannot be used with", load("--scenario", "yunti", "-r", 5, code=2).stderr)
        self.assertIn("--datanodes", load("--block-reports", 5, code=2).stderr)


if __name__ == "__main__":
    twice.main()
