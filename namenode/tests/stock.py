"""Stock NameNode of Hadoop 3.5.0 from the jars on Maven Central, in its own folder, on free ports."""

import atexit
import functools
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

PLUGIN = os.path.join(ROOT, "build/namenode/yunti-namenode/yunti-namenode.jar")
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
        rows = (
            f"<property><name>{escape(k)}</name><value>{escape(str(v))}</value></property>"
            for k, v in properties.items()
        )
        f.write(f"<configuration>{''.join(rows)}</configuration>\n")


@functools.cache
def _formatted():
    """Returns an empty name space, formatted once, since the start of a JVM takes a second or more."""
    one = NameNode()
    made = subprocess.run(one._command("-format", "-force", "-nonInteractive"), capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    atexit.register(shutil.rmtree, one.folder, True)
    return f"{one.folder}/name"


class NameNode:
    """A NameNode that runs within the context. `address` is its RPC address."""

    def __init__(self, properties=None, heap="1g", plugin=False):
        self.hadoop = jars.Jars()
        self.hadoop.fetch()
        self.folder = tempfile.mkdtemp(prefix="yunti-namenode-")
        self.port, self.web = free_ports(2)
        self.address = f"127.0.0.1:{self.port}"
        self.heap = heap
        self.plugin = [PLUGIN] if plugin else []
        self.log = os.path.join(self.folder, "log")
        _written(f"{self.folder}/core-site.xml", {"fs.defaultFS": f"hdfs://{self.address}"})
        self.properties = {
            "dfs.namenode.name.dir": f"file://{self.folder}/name",
            "dfs.namenode.http-address": f"127.0.0.1:{self.web}",
            "dfs.namenode.handler.count": 150,
            "ipc.server.read.threadpool.size": 5,
            **(properties or {}),
        }
        self._write()
        with open(f"{self.folder}/log4j.properties", "w") as f:
            f.write(LOG4J)

    def _write(self):
        _written(f"{self.folder}/hdfs-site.xml", self.properties)

    def set(self, key, value):
        """Sets a property for the next start."""
        self.properties[key] = value
        self._write()

    def java(self, main, *words):
        """Runs a command of Hadoop with this NameNode's configuration."""
        return subprocess.run(self._command(*words, main=main), capture_output=True, text=True, timeout=SECONDS_MAX)

    def _command(self, *words, main=MAIN):
        class_path = ":".join([self.folder, *self.plugin, self.hadoop.resources, *self.hadoop.class_path])
        return ["java", f"-Xmx{self.heap}", f"-Dhadoop.log.dir={self.folder}", "-cp", class_path, main, *words]

    def __enter__(self):
        shutil.copytree(_formatted(), f"{self.folder}/name")
        return self.start()

    def start(self):
        """Starts the NameNode, also again after its end."""
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(self._command(), stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + SECONDS_MAX
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    output = self.output()[-3000:]
                    self.__exit__()
                    raise AssertionError(f"the NameNode does not start:\n{output}") from None
                time.sleep(0.1)

    def output(self):
        with open(self.log) as f:
            return f.read()

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
