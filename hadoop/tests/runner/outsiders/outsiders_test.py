"""Tests programs of others on one machine: Pig, Hive and Mahout give the output that stock Hadoop gives."""

import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from outsider import HERE, JAVA, YUNTI, Outsider, client, jars  # noqa: E402

# Packages that Hive reflects on.
OPENED = ("java.base/java.lang", "java.base/java.util", "java.base/java.net", "java.base/java.io", "java.base/java.nio",
          "java.base/java.util.concurrent", "java.base/java.util.concurrent.atomic", "java.base/java.text",
          "java.base/java.time", "java.sql/java.sql")
# Jars that Hadoop has in another version.
HADOOPS = re.compile("/(commons-(cli|codec|compress|io|logging|text)|slf4j|curator|zookeeper|jersey|log4j-slf4j)[^/]*$")


class Outsiders(Outsider):
    def test_pig(self):
        found = jars("pig")
        (pig,) = [jar for jar in found if "/pig-0" in jar]
        # Pig's jar on Maven Central lacks a class that it looks for before a job.
        os.makedirs(f"{self.folder}/stub")
        source = f"{self.folder}/RoaringBitmap.java"
        with open(source, "w") as f:
            f.write("package org.apache.pig.org.roaringbitmap; public class RoaringBitmap {}")
        subprocess.run(["javac", "-d", f"{self.folder}/stub", source], check=True)
        others = ":".join([jar for jar in found if jar != pig] + [f"{self.folder}/stub"])
        script = os.path.join(HERE, "words.pig")
        stock = self.run_in("stock", ["java", "-cp", ":".join([*client(), others]), "org.apache.hadoop.util.RunJar", pig,
                                      "-x", "local", script])
        ours = self.run_in("ours", [YUNTI, "hadoop", "run", pig, script], HADOOP_CLASSPATH=others)
        self.check(stock, ours, 5)

    def test_hive(self):
        own = [jar for jar in jars("hive") if not HADOOPS.search(jar)]
        class_path = ":".join([*own, *client(), f"{JAVA}/yunti-hadoop.jar"])

        def command(framework, warehouse):
            settings = {
                "mapreduce.framework.name": framework, "hive.execution.engine": "mr", "hive.exec.submitviachild": "false",
                "hive.exec.submit.local.task.via.child": "false", "datanucleus.schema.autoCreateAll": "true",
                "hive.metastore.schema.verification": "false", "hive.async.log.enabled": "false",
                "hive.auto.convert.join": "false", "hive.stats.autogather": "false",
                "hive.metastore.warehouse.dir": f"{warehouse}/warehouse", "hive.exec.scratchdir": f"{warehouse}/scratch",
                "hive.exec.local.scratchdir": f"{warehouse}/local", "hive.downloaded.resources.dir": f"{warehouse}/more",
                "hive.querylog.location": f"{warehouse}/log",
                "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={warehouse}/metastore;create=true",
            }
            return ["java", *[word for name in OPENED for word in ("--add-opens", f"{name}=ALL-UNNAMED")],
                    "-cp", class_path, "org.apache.hadoop.hive.cli.CliDriver",
                    *[word for key, value in settings.items() for word in ("--hiveconf", f"{key}={value}")],
                    "-f", os.path.join(HERE, "sums.sql")]

        stock = self.run_in("stock", command("local", f"{self.folder}/of-stock"))
        ours = self.run_in("ours", command("yunti", f"{self.folder}/of-ours"))
        self.check(stock, ours, 4)

    def test_mahout(self):
        found = jars("mahout")
        (mahout,) = [jar for jar in found if "/mahout-mr-" in jar]
        # Hadoop's commons-cli and logging come first; Mahout has older ones.
        others = ":".join(jar for jar in found if not re.search("/(slf4j|log4j|commons-cli-1)[^/]*$", jar))
        words = ["org.apache.mahout.cf.taste.hadoop.item.RecommenderJob", "--input", "preferences.csv", "--output", "out",
                 "--tempDir", "between", "--similarityClassname", "SIMILARITY_COSINE", "--numRecommendations", "5"]
        stock = self.run_in("stock", ["java", "-cp", ":".join([*client(), others]), "org.apache.hadoop.util.RunJar",
                                      mahout, *words])
        ours = self.run_in("ours", [YUNTI, "hadoop", "run", mahout, *words], HADOOP_CLASSPATH=others)
        self.check(stock, ours, 9)


if __name__ == "__main__":
    unittest.main()
