"""Hadoop's examples in one Java process (LocalJobRunner), with jars from Maven Central."""

import os
import shutil
import subprocess

NAME = "Hadoop local"
PACKAGES = []
VERSION = "3.4.2"
TASKS = {"words": ["WordCount"], "binary records": ["terasort.TeraSort"]}
JARS = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../build/bench-hadoop"))
POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>bench</groupId><artifactId>hadoop-local</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.hadoop</groupId>
<artifactId>hadoop-client</artifactId><version>{VERSION}</version></dependency>
<dependency><groupId>org.apache.hadoop</groupId>
<artifactId>hadoop-mapreduce-examples</artifactId><version>{VERSION}</version></dependency>
</dependencies></project>
"""


def available():
    """Fetches the jars once. Returns True if they are available."""
    if os.path.exists(JARS + "/fetched"):
        return True
    if not shutil.which("mvn") or not shutil.which("java"):
        return False
    os.makedirs(JARS, exist_ok=True)
    with open(JARS + "/pom.xml", "w") as f:
        f.write(POM)
    done = subprocess.run(["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={JARS}/lib"],
                          cwd=JARS)
    if done.returncode == 0:
        open(JARS + "/fetched", "w").close()
    return done.returncode == 0


def command(task, input_dir, output, memory, form):
    return ["java", "-Xmx4g", "-cp", JARS + "/lib/*", "org.apache.hadoop.examples." + TASKS[task][form],
            "-Dmapreduce.framework.name=local", "-Dfs.defaultFS=file:///", "-Dmapreduce.job.reduces=1",
            "-Dmapreduce.local.map.tasks.maximum=2", "-Dmapreduce.task.io.sort.mb=256",
            f"-Dhadoop.tmp.dir={output}.spill", input_dir, output]
