"""Layout of the files of a cluster.

    build/cluster/
      lib/ examples/ resources/  Hadoop, shared by all clusters (jars.py)
      bin/                       hadoop hdfs yarn mapred in-cluster: one launcher, five names
      conf/ conf/node<i>/        configuration for clients; settings that differ on node i
      data/hdfs/ node<i>/ tmp/   kept by `down --keep`; local folders of NodeManager i; temporary files
      logs/                      one file per daemon; logs/containers/node<i>/<application>/<container>/
      run/                       pids, the namespace, the lock

With --dir DIR everything except the jars is in DIR. Several clusters can run at once, each in its own namespace.
"""

import os
import re

from failure import Failure

SOURCE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(SOURCE))
DEFAULT = os.path.join(REPOSITORY, "build", "cluster")


class Layout:
    def __init__(self, directory=DEFAULT):
        self.root = os.path.realpath(directory)
        # Class paths split at colons, Hadoop's lists of folders at commas, HADOOP_OPTS at blanks.
        for path in (DEFAULT, self.root):
            if re.search(r"[^\w./+@%=~-]", path):
                raise Failure(f"{path}: Hadoop cannot use a folder name with blanks or special characters; move it")
        self.bin = os.path.join(self.root, "bin")
        self.conf = os.path.join(self.root, "conf")
        self.data = os.path.join(self.root, "data")
        self.hdfs = os.path.join(self.data, "hdfs")
        # Mark that this HDFS was up once; without it, `up` discards the data.
        self.worked = os.path.join(self.hdfs, "worked")
        self.tmp = os.path.join(self.data, "tmp")
        self.logs = os.path.join(self.root, "logs")
        self.run = os.path.join(self.root, "run")
        self.namespace = os.path.join(self.run, "namespace")
        self.settings = os.path.join(self.root, "launcher.settings")
        # File for a user's shell. The file of the default cluster is at the root of the repository.
        self.env = os.path.join(REPOSITORY if self.root == os.path.realpath(DEFAULT) else self.root, "cluster.env")

    def node_conf(self, node):
        return os.path.join(self.conf, f"node{node}")

    def node_data(self, node):
        return os.path.join(self.data, f"node{node}")

    def node_blocks(self, node):
        return os.path.join(self.hdfs, f"datanode{node}")

    def container_logs(self, node):
        return os.path.join(self.logs, "containers", f"node{node}")

    def log(self, daemon):
        return os.path.join(self.logs, f"{daemon}.log")

    def pid(self, daemon):
        return os.path.join(self.run, f"{daemon}.pid")
