"""Tests programs of others on one machine: Pig, Hive and Mahout give the output that stock Hadoop gives."""

import glob
import os
import random
import re
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../../../.."))
YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
JAVA = os.path.join(ROOT, "dist/java")
BUILD = os.path.join(ROOT, "build/hadoop/outsiders")
TIMEOUT_S = 900
# Packages that Hive reflects on.
OPENED = ("java.base/java.lang", "java.base/java.util", "java.base/java.net", "java.base/java.io", "java.base/java.nio",
          "java.base/java.util.concurrent", "java.base/java.util.concurrent.atomic", "java.base/java.text",
          "java.base/java.time", "java.sql/java.sql")
# Jars that Hadoop has in another version.
HADOOPS = re.compile("/(commons-(cli|codec|compress|io|logging|text)|slf4j|curator|zookeeper|jersey|log4j-slf4j)[^/]*$")


def jars(name):
    """Returns the jars of a program, from Maven Central."""
    folder = os.path.join(BUILD, name)
    subprocess.run(["mvn", "-q", "-B", "-f", os.path.join(HERE, f"{name}.xml"), "dependency:copy-dependencies",
                    f"-DoutputDirectory={folder}", "-DincludeScope=runtime"], check=True)
    return sorted(glob.glob(f"{folder}/*.jar"))


def client():
    return sorted(glob.glob(f"{JAVA}/hadoop/*.jar"))


class Outsiders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(f"{self.folder}/data.csv", "w") as f:
            f.writelines(f"k{n % 37},{n},name{n % 11}\n" for n in range(3000))
        draw = random.Random(5)
        with open(f"{self.folder}/preferences.csv", "w") as f:
            for user in range(60):
                f.writelines(f"{user},{item},{draw.randint(1, 5)}\n" for item in sorted(draw.sample(range(40), 12)))

    def run_in(self, name, command, **variables):
        """Runs a command in a new directory with the inputs. Returns the lines of its output, and what it printed."""
        work = os.path.join(self.folder, name)
        os.mkdir(work)
        for data in ("data.csv", "preferences.csv"):
            os.symlink(f"{self.folder}/{data}", f"{work}/{data}")
        environment = {**os.environ, "XDG_STATE_HOME": f"{self.folder}/state", "XDG_RUNTIME_DIR": work, **variables}
        done = subprocess.run(command, capture_output=True, text=True, cwd=work, env=environment, timeout=TIMEOUT_S,
                              check=False)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-3000:])
        lines = []
        for part in sorted(glob.glob(f"{work}/out/*")):
            if not os.path.basename(part).startswith("_"):
                with open(part, encoding="utf-8") as f:
                    lines += f.read().splitlines()
        return lines, done.stdout + done.stderr

    def check(self, stock, ours, jobs):
        """Compares the outputs, and counts the jobs that ran natively on this machine."""
        self.assertEqual(ours[0], stock[0])
        self.assertGreater(len(ours[0]), 30)
        self.assertNotIn("job_local", ours[1])
        records = glob.glob(f"{self.folder}/state/yunti/hadoop/job_*/*.jhist")
        self.assertEqual(len(records), jobs)
        text = ""
        for path in records:
            with open(path, encoding="utf-8") as f:
                text += f.read()
        self.assertIn('"name":"Yunti","displayName":"Yunti","counts":[{"name":"native"', text)
        self.assertEqual(re.findall(r'"displayName":"(declined[^"]*)"', text), [])

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
