"""A stock NameNode of Hadoop 3.5.0, alone, from the jars on Maven Central: formatted in a folder of its own, on ports that were free."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from xml.sax.saxutils import escape

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "hadoop/cluster"))
import jars  # noqa: E402

MAIN = "org.apache.hadoop.hdfs.server.namenode.NameNode"
LOG4J = """log4j.rootLogger=WARN,out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %c: %m%n
"""
SECONDS_MAX = 60


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _written(path, properties):
    with open(path, "w") as f:
        rows = (f"<property><name>{escape(k)}</name><value>{escape(str(v))}</value></property>" for k, v in properties.items())
        f.write(f"<configuration>{''.join(rows)}</configuration>\n")


class NameNode:
    """It runs while this is entered. `address` is that of its RPC."""

    def __init__(self, properties=None, heap="1g"):
        jars.fetch()
        self.folder = tempfile.mkdtemp(prefix="yunti-namenode-")
        self.port, self.web = free_ports(2)
        self.address = f"127.0.0.1:{self.port}"
        self.heap = heap
        self.log = os.path.join(self.folder, "log")
        _written(f"{self.folder}/core-site.xml", {"fs.defaultFS": f"hdfs://{self.address}"})
        _written(f"{self.folder}/hdfs-site.xml", {
            "dfs.namenode.name.dir": f"file://{self.folder}/name",
            "dfs.namenode.http-address": f"127.0.0.1:{self.web}",
            "dfs.namenode.handler.count": 150,
            "ipc.server.read.threadpool.size": 5,
            **(properties or {}),
        })
        with open(f"{self.folder}/log4j.properties", "w") as f:
            f.write(LOG4J)

    def _command(self, *words):
        class_path = ":".join([self.folder, jars.RESOURCES, *jars.CLASS_PATH])
        return ["java", f"-Xmx{self.heap}", "-cp", class_path, MAIN, *words]

    def __enter__(self):
        with open(self.log, "w") as log:
            subprocess.run(self._command("-format", "-force", "-nonInteractive"), stdout=log, stderr=log, check=True)
            self.process = subprocess.Popen(self._command(), stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + SECONDS_MAX
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    with open(self.log) as f:
                        said = f.read()[-3000:]
                    self.__exit__()
                    raise AssertionError(f"the NameNode does not start:\n{said}") from None
                time.sleep(0.1)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
