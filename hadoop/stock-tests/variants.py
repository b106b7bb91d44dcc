"""The settings that the tests' jobs run with, a row each."""

from typing import NamedTuple


class Variant(NamedTuple):
    # Added to the tests' own core-site.xml and mapred-site.xml.
    properties: dict
    # The variant whose results its own must not be worse than.
    control: str
    # No daemon is queried: classes.txt has classes whose tasks run in the test's JVM, which reports the plug-in.
    probe: tuple
    # The class that is loaded once native code is in use.
    plugin: str
    # First words of its sections of classes.txt.
    sections: tuple = ("The collector", "Counters", "Orders", "Programs", "Clusters", "YARN")


VARIANTS = {
    "stock": Variant({}, "", (), ""),
    "settings": Variant({
        "mapreduce.job.map.output.collector.class": "org.yunti.hadoop.collect.NativeMapOutputCollector,org.apache.hadoop.mapred.MapTask$MapOutputBuffer",
        "mapreduce.job.reduce.shuffle.consumer.plugin.class": "org.yunti.hadoop.shuffle.NativeShuffle",
    }, "stock", (), "org.yunti.hadoop.NativeLibrary"),
    # Every job runs in the test's JVM, or in JVMs of its own; stock runs it by LocalJobRunner or on a cluster.
    "runner": Variant({
        "mapreduce.framework.name": "yunti", "yunti.hadoop.record.dir": "${java.io.tmpdir}/record",
    }, "stock", (), "org.yunti.hadoop.runner.RunnerProvider",
       ("The collector", "Counters", "Orders", "Programs", "Clusters", "On one machine")),
}
