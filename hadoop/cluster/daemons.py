"""Daemons of the cluster: their commands, their start, and checks that each works."""

import collections
import http.client
import json
import os
import shlex
import socket
import subprocess

from configuration import HISTORY_PORT, NAMENODE_HTTP_PORT, RESOURCEMANAGER_HTTP_PORT
from failure import Failure
from jvm import open_java_lang
from namespace import HOST, MARK

# The optimising compiler takes half of a JVM's processor time at the start. Daemons that move no data run without it
# (QUICK). Daemons that move data use it after ten times more calls than by default (STEADY).
QUICK = ("-XX:TieredStopAtLevel=1",)
STEADY = ("-XX:Tier4InvocationThreshold=50000", "-XX:Tier4MinInvocationThreshold=6000",
          "-XX:Tier4CompileThreshold=150000",
          "-XX:Tier4BackEdgeThreshold=400000")

# `options` names stock Hadoop's variable for more JVM options. They come last, so they win.
Daemon = collections.namedtuple("Daemon", "name java_class heap_mb compiler options node")

NAMENODE = Daemon("namenode", "org.apache.hadoop.hdfs.server.namenode.NameNode", 512, QUICK, "HDFS_NAMENODE_OPTS", None)
RESOURCEMANAGER = Daemon("resourcemanager", "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
                         512, QUICK, "YARN_RESOURCEMANAGER_OPTS", None)
HISTORYSERVER = Daemon("historyserver", "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer", 256, QUICK,
                       "MAPRED_HISTORYSERVER_OPTS", None)


def datanode(node):
    return Daemon(f"datanode{node}", "org.apache.hadoop.hdfs.server.datanode.DataNode", 384, STEADY,
                  "HDFS_DATANODE_OPTS", node)


def nodemanager(node):
    # It runs the ShuffleHandler, whose buffers depend on the size of the heap.
    return Daemon(f"nodemanager{node}", "org.apache.hadoop.yarn.server.nodemanager.NodeManager", 512, STEADY,
                  "YARN_NODEMANAGER_OPTS", node)


class Daemons:
    """Daemons that this process starts. The process is already inside the namespace."""

    def __init__(self, layout, hadoop, java_home):
        self.layout = layout
        self.hadoop = hadoop
        self.java_home = java_home
        self.running = {}

    def environment(self):
        # Defaults that the user can override: few arenas, as in the stock scripts, and UTF-8, which containers inherit.
        return {"MALLOC_ARENA_MAX": "4", "LANG": "C.UTF-8"} | os.environ | {
            MARK: self.layout.root, "JAVA_HOME": self.java_home, "HADOOP_HOME": self.layout.root,
            "HADOOP_CONF_DIR": self.layout.conf, "YARN_CONF_DIR": self.layout.conf}

    def command(self, daemon, *arguments):
        conf = [self.layout.conf] if daemon.node is None else [self.layout.node_conf(daemon.node), self.layout.conf]
        given = [path for path in [os.environ.get("HADOOP_CLASSPATH")] if path]
        class_path = conf + [self.hadoop.resources, *self.hadoop.class_path, *given]
        return [os.path.join(self.java_home, "bin", "java"), f"-Dproc_{daemon.name}", f"-Xmx{daemon.heap_mb}m",
                # Many JVMs share few cores, so parallel garbage collectors would compete for them.
                "-XX:+UseSerialGC", *daemon.compiler, "-Djava.net.preferIPv4Stack=true",
                f"-Dhadoop.log.dir={self.layout.logs}", f"-Dyarn.log.dir={self.layout.logs}",
                f"-Djava.io.tmpdir={self.layout.tmp}",
                *open_java_lang(self.java_home), *shlex.split(os.environ.get(daemon.options, "")),
                "-cp", ":".join(class_path), daemon.java_class, *arguments]

    def spawn(self, command, log):
        with open(log, "ab") as output:
            return subprocess.Popen(command, env=self.environment(), cwd=self.layout.logs, stdin=subprocess.DEVNULL,
                                    stdout=output,
                                    stderr=subprocess.STDOUT, start_new_session=True)

    def hold(self):
        """Starts and returns a process that only keeps the namespace. Clients can enter it even after a daemon died."""
        process = self.spawn(["sleep", "infinity"], os.devnull)
        self._note("holder", process)
        return process

    def format(self):
        """Starts the formatting of an empty HDFS and returns its process."""
        return self.spawn(self.command(NAMENODE, "-format", "-nonInteractive"), self.layout.log("format"))

    def start(self, daemon):
        process = self.spawn(self.command(daemon), self.layout.log(daemon.name))
        self._note(daemon.name, process)
        self.running[daemon] = process

    def _note(self, name, process):
        with open(self.layout.pid(name), "w", encoding="ascii") as file:
            file.write(f"{process.pid}\n")

    def check(self):
        """Fails if a daemon has ended."""
        for daemon, process in self.running.items():
            if process.poll() is not None:
                raise Failure(f"the {daemon.name} ended unexpectedly (exit code {process.returncode}); its log is "
                              f"{self.layout.log(daemon.name)}",
                              tail(self.layout.log(daemon.name)))


def tail(log, lines=15):
    try:
        with open(log, errors="replace", encoding="utf-8") as file:
            return "".join(collections.deque(file, lines)).rstrip()
    except OSError:
        return ""


# ---- checks; each raises OSError, HTTPException or ValueError until the daemon answers ----


def _request(method, port, path, body=None):
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        text = response.read()
        if response.status >= 400:
            raise ValueError(f"{response.status} {response.reason} for {path}")
        return response, text
    finally:
        connection.close()


def _bean(port, name):
    # JMX, because the first request to a REST page costs seconds of processor time.
    return json.loads(_request("GET", port, f"/jmx?qry=Hadoop:service={name}")[1])["beans"][0]


def _namenode():
    return _bean(NAMENODE_HTTP_PORT, "NameNode,name=NameNodeInfo")


def hdfs_serves():
    """Returns True once HDFS has left safe mode."""
    return _namenode()["Safemode"] == ""


def hdfs_works(nodes):
    """Returns True once all DataNodes are registered."""
    return len(json.loads(_namenode()["LiveNodes"])) == nodes


def yarn_works(nodes):
    return _bean(RESOURCEMANAGER_HTTP_PORT, "ResourceManager,name=ClusterMetrics")["NumActiveNMs"] == nodes


def history_works():
    socket.create_connection((HOST, HISTORY_PORT), timeout=5).close()
    return True


def make_folders(user, names):
    for name in names:
        _request("PUT", NAMENODE_HTTP_PORT, f"/webhdfs/v1{name}?op=MKDIRS&permission=1777&user.name={user}")


def write_file(user):
    """Writes a file through a DataNode and removes it."""
    path = f"/webhdfs/v1/tmp/.cluster-up?user.name={user}&op="
    response, _ = _request("PUT", NAMENODE_HTTP_PORT, f"{path}CREATE&overwrite=true")
    address, _, target = response.headers["Location"].removeprefix("http://").partition("/")
    _request("PUT", int(address.rpartition(":")[2]), f"/{target}", b"up\n")
    _request("DELETE", NAMENODE_HTTP_PORT, f"{path}DELETE")
