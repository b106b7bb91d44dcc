"""Variants: configurations of the tests' NameNodes."""

from typing import NamedTuple

LOCK = "dfs.namenode.lock.model.provider.class"
PHASED = "org.yunti.namenode.lock.PhasedLock"


class Variant(NamedTuple):
    # Properties to add to the tests' own hdfs-site.xml and core-site.xml.
    properties: dict
    # Variant to compare with.
    control: str
    # Expected output of Probe.java: lock, queue or audit, and the class.
    probe: tuple
    # Class that is loaded once the plug-in is active.
    plugin: str
    # Prefixes of its sections in classes.txt: only tests that use the plug-in run with it.
    sections: tuple = ("",)


VARIANTS = {
    "stock": Variant({}, "", ("lock", "org.apache.hadoop.hdfs.server.namenode.fgl.GlobalFSNamesystemLock"), ""),
    "lock": Variant({LOCK: f"{PHASED}Manager"}, "stock", ("lock", f"{PHASED}Manager"), PHASED),
    "throughput": Variant(
        {LOCK: f"{PHASED}Manager", "yunti.namenode.lock.preset": "throughput"},
        "stock",
        ("lock", f"{PHASED}Manager"),
        PHASED,
        ("The lock", "Names", "RPC"),
    ),
    # Stock's separate locks: some tests fail with them, independent of our plug-ins.
    "fine-grained": Variant(
        {LOCK: "org.apache.hadoop.hdfs.server.namenode.fgl.FineGrainedFSNamesystemLock"},
        "",
        ("lock", "org.apache.hadoop.hdfs.server.namenode.fgl.FineGrainedFSNamesystemLock"),
        "",
    ),
    "apart": Variant(
        {LOCK: "org.yunti.namenode.lock.PhasedFineGrainedLockManager"},
        "fine-grained",
        ("lock", "org.yunti.namenode.lock.PhasedFineGrainedLockManager"),
        PHASED,
        ("The lock", "Names", "Blocks"),
    ),
    # Stock's queue with priorities, which the plug-in replaces. It tells clients of lower levels to retry, where the
    # plain queue refuses them.
    "fair-queue": Variant(
        {"ipc.callqueue.impl": "org.apache.hadoop.ipc.FairCallQueue"},
        "",
        ("queue", "org.apache.hadoop.ipc.FairCallQueue"),
        "",
    ),
    "queue": Variant(
        {"ipc.callqueue.impl": "org.yunti.namenode.queue.ShardedCallQueue"},
        "fair-queue",
        ("queue", "org.yunti.namenode.queue.ShardedCallQueue"),
        "org.yunti.namenode.queue.ShardedCallQueue",
        ("The lock", "RPC", "More"),
    ),
    "audit": Variant(
        {"dfs.namenode.audit.loggers": "org.yunti.namenode.audit.RingAuditLogger"},
        "stock",
        ("audit", "org.yunti.namenode.audit.RingAuditLogger"),
        "org.yunti.namenode.audit.AuditWriter",
        ("The lock", "Audit", "RPC"),
    ),
}
