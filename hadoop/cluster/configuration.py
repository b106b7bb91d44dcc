"""Configuration files (*-site.xml) of the cluster, as on real machines but sized for one small machine.

Clients read conf/. The daemons of node i first read conf/node<i>/, which repeats three files with the ports and folders
of that node. Node 1 has the standard ports, and node i has them 1000 * (i - 1) higher.
"""

import os
import secrets
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from failure import Failure
from jvm import open_java_lang
from layout import SOURCE
from namespace import HOST, MARK

NAMENODE_PORT, NAMENODE_HTTP_PORT = 8020, 9870
RESOURCEMANAGER_HTTP_PORT = 8088
HISTORY_PORT, HISTORY_HTTP_PORT = 10020, 19888

# MB of memory for all nodes together. Two containers per core keep the cores busy while some wait for disk or network.
MEMORY_MB = 8192
CONTAINERS_PER_CORE = 2
AM_MB, TASK_MB = 1024, 1024
# Each node must have memory for an application master.
NODES_MAX = MEMORY_MB // AM_MB

# File of a property of --set, by the longest matching prefix; core-site.xml otherwise.
FILES = {"dfs.": "hdfs-site", "yarn.": "yarn-site", "mapreduce.": "mapred-site", "mapred.": "mapred-site",
         "yarn.app.mapreduce.": "mapred-site",
         "yarn.scheduler.capacity.": "capacity-scheduler", "ssl.server.": "ssl-server", "ssl.client.": "ssl-client"}


def file_of(key):
    prefixes = [prefix for prefix in FILES if key.startswith(prefix)]
    return FILES[max(prefixes, key=len)] if prefixes else "core-site"


def _sites(layout, hadoop, user, java_home):
    """Returns the files of the whole cluster: name -> properties."""
    # One absolute path for all, because containers see the same files as their NodeManager.
    class_path = ",".join((layout.conf, *hadoop.class_path))
    return {
        "core-site": {
            "fs.defaultFS": f"hdfs://{HOST}:{NAMENODE_PORT}",
            "hadoop.tmp.dir": layout.tmp,
            # User of the web pages and of WebHDFS.
            "hadoop.http.staticuser.user": user,
        },
        "hdfs-site": {
            "dfs.namenode.name.dir": f"file://{layout.hdfs}/namenode",
            "dfs.replication": 1,
            "dfs.blocksize": 128 << 20,
            "dfs.permissions.enabled": "false",
            # The default keeps a cluster that was stopped with --keep read-only for 30 s.
            "dfs.namenode.safemode.extension": 0,
        },
        "yarn-site": {
            "yarn.resourcemanager.hostname": HOST,
            "yarn.nodemanager.hostname": HOST,
            "yarn.nodemanager.aux-services": "mapreduce_shuffle",
            "yarn.nodemanager.aux-services.mapreduce_shuffle.class": "org.apache.hadoop.mapred.ShuffleHandler",
            "yarn.scheduler.minimum-allocation-mb": 128,
            "yarn.scheduler.maximum-allocation-mb": MEMORY_MB,
            "yarn.nodemanager.pmem-check-enabled": "true",
            # A JVM reserves far more address space than it uses.
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99,
            "yarn.nodemanager.delete.debug-delay-sec": 0,
            # Logs stay where they are written, for a week.
            "yarn.log-aggregation-enable": "false",
            "yarn.nodemanager.log.retain-seconds": 7 * 24 * 3600,
            # The default is in /tmp and is never removed.
            "yarn.node-attribute.fs-store.root-dir": f"file://{layout.tmp}/node-attributes",
            "yarn.application.classpath": class_path,
            # The default list, with the mark that lets `down` find containers that outlived their NodeManager.
            "yarn.nodemanager.env-whitelist": "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,"
                                              "HADOOP_CONF_DIR,CLASSPATH_PREPEND_DISTCACHE,"
                                              f"HADOOP_YARN_HOME,HADOOP_HOME,PATH,LANG,TZ,HADOOP_MAPRED_HOME,{MARK}",
        },
        "mapred-site": {
            "mapreduce.framework.name": "yarn",
            "mapreduce.application.classpath": class_path,
            "mapreduce.map.memory.mb": TASK_MB,
            "mapreduce.reduce.memory.mb": TASK_MB,
            "yarn.app.mapreduce.am.resource.mb": AM_MB,
            # The application master moves no data, so the optimising compiler costs more than it saves (daemons.py).
            "yarn.app.mapreduce.am.command-opts": " ".join([f"-Xmx{AM_MB * 3 // 4}m", "-XX:+UseSerialGC",
                                                            "-XX:TieredStopAtLevel=1", *open_java_lang(java_home)]),
            "mapreduce.job.ubertask.enable": "false",
            "mapreduce.jobhistory.address": f"{HOST}:{HISTORY_PORT}",
            "mapreduce.jobhistory.webapp.address": f"{HOST}:{HISTORY_HTTP_PORT}",
        },
        "capacity-scheduler": {
            "yarn.scheduler.capacity.root.queues": "default",
            "yarn.scheduler.capacity.root.default.capacity": 100,
            "yarn.scheduler.capacity.maximum-am-resource-percent": 0.5,
            # It counts cores as well as memory; the default would start 7 tasks at once on 2 cores.
            "yarn.scheduler.capacity.resource-calculator":
                "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
        },
    }


def _node(layout, node, nodes):
    """Returns the properties that differ on one node: name of a file -> properties."""
    def at(port):
        return f"{HOST}:{port + 1000 * (node - 1)}"

    data = layout.node_data(node)
    return {
        "hdfs-site": {
            "dfs.datanode.data.dir": f"file://{layout.node_blocks(node)}",
            "dfs.datanode.address": at(9866),
            "dfs.datanode.http.address": at(9864),
            "dfs.datanode.ipc.address": at(9867),
        },
        "yarn-site": {
            "yarn.nodemanager.address": at(8041),
            "yarn.nodemanager.localizer.address": at(8040),
            "yarn.nodemanager.webapp.address": at(8042),
            "yarn.nodemanager.local-dirs": f"{data}/local",
            "yarn.nodemanager.log-dirs": layout.container_logs(node),
            "yarn.nodemanager.resource.memory-mb": MEMORY_MB // nodes,
            "yarn.nodemanager.resource.cpu-vcores": max(1, CONTAINERS_PER_CORE * (os.cpu_count() or 1) // nodes),
        },
        "mapred-site": {
            "mapreduce.shuffle.port": 13562 + 1000 * (node - 1),
        },
    }


def _tls(layout, java_home):
    """Creates a key and a certificate for the ShuffleHandler. Returns the properties: name of a file -> properties.

    Every task trusts the certificate.
    """
    store, password = os.path.join(layout.conf, "shuffle.p12"), secrets.token_hex(16)
    done = subprocess.run([os.path.join(java_home, "bin", "keytool"), "-genkeypair", "-alias", "shuffle", "-keyalg",
                           "RSA", "-keysize", "2048",
                           "-dname", f"CN={HOST}", "-ext", f"SAN=dns:{HOST},ip:127.0.0.1", "-validity", "365",
                           "-storetype", "PKCS12",
                           "-keystore", store, "-storepass:env", "STORE_PASSWORD"],
                          env=os.environ | {"STORE_PASSWORD": password},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60)
    if done.returncode != 0:
        raise Failure("keytool could not make a certificate", done.stdout.strip())
    # A self-signed certificate is its own trust store.
    server = {f"ssl.server.{kind}.{key}": value for kind in ("keystore", "truststore")
              for key, value in (("location", store), ("password", password), ("type", "PKCS12"))}
    client = {key.replace("server", "client"): value for key, value in server.items()}
    return {"ssl-server": server | {"ssl.server.keystore.keypassword": password},
            "ssl-client": client | {"ssl.client.keystore.keypassword": password},
            "mapred-site": {"mapreduce.shuffle.ssl.enabled": "true"}}


def _read(path):
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError) as error:
        raise Failure(f"{path}: not a configuration file: {error}") from None
    return {(item.findtext("name") or "").strip(): item.findtext("value") or "" for item in root.iter("property")}


def _write(path, properties):
    root = ElementTree.Element("configuration")
    for name, value in properties.items():
        item = ElementTree.SubElement(root, "property")
        ElementTree.SubElement(item, "name").text = name
        ElementTree.SubElement(item, "value").text = str(value)
    ElementTree.indent(root)
    # Some files contain a password.
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def write(layout, hadoop, options, user, java_home):
    """Writes conf/ anew. Properties of --set override files of --conf; these override the defaults of this module."""
    shutil.rmtree(layout.conf, ignore_errors=True)
    os.makedirs(layout.conf)
    shutil.copy(os.path.join(SOURCE, "log4j.properties"), layout.conf)
    given = {}
    if options.conf:
        for name in sorted(os.listdir(options.conf)):
            stem, extension = os.path.splitext(name)
            path = os.path.join(options.conf, name)
            if extension == ".xml":
                given[stem] = _read(path)
            elif os.path.isfile(path):
                shutil.copy(path, layout.conf)
    for key, value in options.set:
        given.setdefault(file_of(key), {})[key] = value

    sites = _sites(layout, hadoop, user, java_home)
    if options.tls:
        _merge(sites, _tls(layout, java_home))
    for name in sites.keys() | given.keys():
        _write(os.path.join(layout.conf, f"{name}.xml"), sites.get(name, {}) | given.get(name, {}))
    for node in range(1, options.nodes + 1):
        os.makedirs(layout.node_conf(node))
        for name, properties in _node(layout, node, options.nodes).items():
            _write(os.path.join(layout.node_conf(node), f"{name}.xml"), sites[name] | properties | given.get(name, {}))


def _merge(sites, more):
    for name, properties in more.items():
        sites.setdefault(name, {}).update(properties)
