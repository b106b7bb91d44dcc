"""The ways in which the tests' NameNodes are configured, a row each."""

from typing import NamedTuple

LOCK = "dfs.namenode.lock.model.provider.class"
PHASED = "org.yunti.namenode.lock.PhasedLock"


class Variant(NamedTuple):
    # What is added to the tests' own hdfs-site.xml and core-site.xml.
    properties: dict
    # Of whose results its own must not be worse.
    control: str
    # What Probe.java must find: lock, queue or audit, and the class.
    probe: tuple
    # The class that is loaded once the plug-in is at work.
    plugin: str
    # What its sections of classes.txt begin with: a plug-in that is off the path of most tests is tried by those that look at it.
    sections: tuple = ("",)


VARIANTS = {
    "stock": Variant({}, "", ("lock", "org.apache.hadoop.hdfs.server.namenode.fgl.GlobalFSNamesystemLock"), ""),
    "lock": Variant({LOCK: f"{PHASED}Manager"}, "stock", ("lock", f"{PHASED}Manager"), PHASED),
    "throughput": Variant({LOCK: f"{PHASED}Manager", "yunti.namenode.lock.preset": "throughput"}, "stock", ("lock", f"{PHASED}Manager"), PHASED,
                          ("The lock", "Names", "RPC")),
    # Stock's own locks apart: some tests fail with them, which is not our doing.
    "fine-grained": Variant({LOCK: "org.apache.hadoop.hdfs.server.namenode.fgl.FineGrainedFSNamesystemLock"}, "",
                            ("lock", "org.apache.hadoop.hdfs.server.namenode.fgl.FineGrainedFSNamesystemLock"), ""),
    "apart": Variant({LOCK: "org.yunti.namenode.lock.PhasedFineGrainedLockManager"}, "fine-grained",
                     ("lock", "org.yunti.namenode.lock.PhasedFineGrainedLockManager"), PHASED, ("The lock", "Names", "Blocks")),
    # Stock's own queue with priorities, in whose place the plug-in is put: it tells clients of lower levels to come again, where the plain one sends them away.
    "fair-queue": Variant({"ipc.callqueue.impl": "org.apache.hadoop.ipc.FairCallQueue"}, "", ("queue", "org.apache.hadoop.ipc.FairCallQueue"), ""),
    "queue": Variant({"ipc.callqueue.impl": "org.yunti.namenode.queue.ShardedCallQueue"}, "fair-queue",
                     ("queue", "org.yunti.namenode.queue.ShardedCallQueue"), "org.yunti.namenode.queue.ShardedCallQueue",
                     ("The lock", "RPC", "More")),
    "audit": Variant({"dfs.namenode.audit.loggers": "org.yunti.namenode.audit.RingAuditLogger"}, "stock",
                     ("audit", "org.yunti.namenode.audit.RingAuditLogger"), "org.yunti.namenode.audit.AuditWriter",
                     ("The lock", "Audit", "RPC")),
}
