#!/usr/bin/env python3
"""Java tasks of Hadoop that look up shared tables: on a cluster, in stock MapReduce on one machine, and in Yunti's.

    python3 table/tests/hadoop_test.py

It needs `make hadoop table table-hadoop`. YUNTI_SHARED_CLUSTER names the cluster; without it, this test starts its own
(hadoop/cluster) and stops it. The program is JoinLines.java of the tests of table/hadoop; it counts the mappings of its
tasks by the inode of the mapped file.
"""

import collections
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(ROOT, "hadoop/tests"))

import live_cluster  # noqa: E402
from live_cluster import YUNTI  # noqa: E402

BUILT = os.path.join(ROOT, "build/table")
JARS = [os.path.join(BUILT, f"{name}/{name}.jar") for name in ("yunti-table", "yunti-table-hadoop")]
PROGRAM = "org.yunti.table.hadoop.JoinLines"
USERS, CITIES, MAPS, LINES = 1000, 7, 4, 2000
SECONDS_MAX = 240


def setUpModule():
    global files, jar, jar_with_all
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    files = folder.name
    build("users", [f"{i},city{i % CITIES}" for i in range(USERS)], "user_id,city", "user_id:i64")
    build("cities", [f"city{i},land{i % 3}" for i in range(CITIES)], "city,country", "city:utf8")
    os.mkdir(f"{files}/in")
    for part in range(MAPS):
        with open(f"{files}/in/{part}.txt", "w", encoding="utf-8") as file:
            file.writelines(f"{number},{user}\n" for number, user in lines_of(part))
    jar, jar_with_all = f"{files}/join.jar", f"{files}/join-all.jar"
    classes = os.path.join(BUILT, "yunti-table-hadoop/test-classes")
    subprocess.run(["jar", "cf", jar, "-C", classes, "."], check=True)
    os.mkdir(f"{files}/lib")
    for path in JARS:
        os.symlink(path, f"{files}/lib/{os.path.basename(path)}")
    subprocess.run(["jar", "cf", jar_with_all, "-C", classes, ".", "-C", files, "lib"], check=True)


def build(name, rows, header, key):
    with open(f"{files}/{name}.csv", "w", encoding="utf-8") as file:
        file.write("\n".join([header, *rows]) + "\n")
    subprocess.run([YUNTI, "table", "build", f"{files}/{name}.csv", "--key", key, "-o", f"{files}/{name}.ytab", "-q"],
                   check=True)


def lines_of(part):
    return [(number, (number * 7 + part) % (USERS + 200)) for number in range(LINES)]


def expected(city_of=lambda user: f"city{user % CITIES}"):
    numbers = collections.defaultdict(list)
    for part in range(MAPS):
        for number, user in lines_of(part):
            if user < USERS:
                numbers[city_of(user)].append(number)
    return sorted(f"{city}\tland{int(city[4:]) % 3} {len(all_)} {sum(all_)}" for city, all_ in numbers.items())


def mapped(printed):
    """Returns the tasks that mapped a table, by its name and inode."""
    found = collections.defaultdict(dict)
    for name, inode, tasks in re.findall(r"^(users|cities) (\S+)=(\d+)$", printed, re.M):
        found[name][inode] = int(tasks)
    return found


class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = live_cluster.shared("cluster-tables")
        cls.addClassCleanup(cls.cluster.down)
        cls.ok = cls.cluster.ok
        cls.ok("hadoop", "fs", "-mkdir", "/java-tables")
        cls.ok("hadoop", "fs", "-put", f"{files}/in", f"{files}/users.ytab", f"{files}/cities.ytab", "/java-tables")
        cls.environment = {"HADOOP_CLASSPATH": os.pathsep.join(JARS)}

    def command(self, out, *words, options=()):
        return ["hadoop", "jar", jar, PROGRAM, "-Dmapreduce.job.reduces=2", *options, "/java-tables/in",
                f"/java-tables/{out}", *words]

    def join(self, out, *words, options=(), env=None):
        printed = self.ok(*self.command(out, *words, options=options), env=self.environment | (env or {}))
        return self.cluster.lines(f"/java-tables/{out}"), mapped(printed)

    def test_all_tasks_of_all_jobs_map_the_node_s_copy(self):
        words = ["users=/java-tables/users.ytab", "cities=/java-tables/cities.ytab"]
        found, first = self.join("first", *words)
        self.assertEqual(found, expected())
        self.assertEqual([list(first[name].values()) for name in ("users", "cities")], [[MAPS], [2]])
        # Everyone may read these files, so that another user's job maps the same copy; here with Yunti's collector and
        # shuffle.
        self.ok("hadoop", "fs", "-chmod", "777", "/java-tables")
        site = f"{files}/site.xml"
        with open(site, "w", encoding="utf-8") as file:
            file.write(self.ok(YUNTI, "hadoop", "site"))
        options = ["-conf", site, "-libjars", self.ok(YUNTI, "hadoop", "jar").strip(),
                   "-Dyarn.app.mapreduce.am.staging-dir=/java-tables/staging"]
        found, second = self.join("second", *words, options=options, env={"HADOOP_USER_NAME": "another"})
        self.assertEqual((found, second), (expected(), first))
        # A table that takes its place is the one of the next job; this job uploads the other table from this machine.
        build("moved", [f"{i},city{i % 2}" for i in range(USERS)], "user_id,city", "user_id:i64")
        self.ok("hadoop", "fs", "-put", "-f", f"{files}/moved.ytab", "/java-tables/users.ytab")
        found, third = self.join("third", words[0], f"cities=file://{files}/cities.ytab")
        self.assertEqual(found, expected(lambda user: f"city{user % 2}"))
        self.assertEqual([list(third[name].values()) for name in ("users", "cities")], [[MAPS], [2]])
        self.assertFalse(first["users"].keys() & third["users"].keys())

    def test_files_alone_name_the_tables(self):
        # The first is on this machine, and uploaded with the job.
        shipped = [f"file://{files}/users.ytab", "hdfs:///java-tables/cities.ytab"]
        options = ["-files", ",".join(shipped), "-libjars", ",".join(JARS)]
        found, tasks = self.join("by-files", options=options)
        self.assertEqual(found, expected())
        self.assertEqual([list(tasks[name].values()) for name in ("users", "cities")], [[MAPS], [2]])

    def test_readers_of_java_in_a_job_of_yunti(self):
        env = self.environment | {"HADOOP_CLASSPATH": os.pathsep.join([*JARS, jar])}
        jars = ",".join(f"file://{path}" for path in [*JARS, jar])
        self.ok(YUNTI, "run", "wordcount", "--on", "yarn", "--input", "/java-tables/in", "--output", "/java-tables/read",
                "-D", "yunti.hadoop.input.format=org.yunti.table.hadoop.CityLines", "-D", f"tmpjars={jars}",
                "--table", f"users={files}/users.ytab", env=env)
        counts = collections.Counter(f"city{user % CITIES}" for part in range(MAPS) for _, user in lines_of(part)
                                     if user < USERS)
        self.assertEqual(self.cluster.lines("/java-tables/read"), sorted(f"{city}\t{n}" for city, n in counts.items()))

    def test_wrong_tables_are_refused_before_the_job(self):
        with open(f"{files}/users.ytab", "rb") as file:
            whole = file.read()
        header = bytearray(whole)
        header[20] ^= 1
        for name, content in (("text", b"user_id,city\n" * 1000), ("cut", whole[:-100]), ("header", bytes(header)),
                              ("none", b"")):
            with open(f"{files}/{name}.ytab", "wb") as file:
                file.write(content)
            self.ok("hadoop", "fs", "-put", f"{files}/{name}.ytab", "/java-tables/")
        refused = [
            ("users=/java-tables/nowhere.ytab", r"there is no table hdfs://.*/nowhere\.ytab: check the path, or copy it"),
            ("users=/java-tables/in", r"hdfs://.*/in is a directory, and no table: name the file"),
            ("users=/java-tables/text.ytab", r"hdfs://.*/text\.ytab is no shared table; build one by: yunti table"),
            ("users=/java-tables/cut.ytab", r"hdfs://.*/cut\.ytab: the table is damaged: it is cut; build it again"),
            ("users=/java-tables/header.ytab", r"hdfs://.*: the table is damaged: the checksum of its header is wrong"),
            ("users=/java-tables/none.ytab", r"hdfs://.*/none\.ytab is empty, and no shared table; build one by"),
            ("a/b=/java-tables/cities.ytab", r"'a/b' is no name of a table: use letters"),
            ("cities=/java-tables/cities.ytab", None),
            ("cities=/java-tables/cities.ytab", None),  # the same once more
            ("cities=/java-tables/other.ytab", r"the job has another table cities: choose another name for hdfs://.*"),
        ]
        self.ok("hadoop", "fs", "-cp", "/java-tables/cities.ytab", "/java-tables/other.ytab")
        done = self.cluster.execute(*self.command("refused", *(word for word, _ in refused)), env=self.environment)
        self.assertEqual(done.returncode, 3, done.stderr)
        said = [line for line in done.stderr.splitlines() if line.startswith("join: ")]
        patterns = [says for _, says in refused if says]
        self.assertEqual(len(said), len(patterns), done.stderr)
        for line, says in zip(said, patterns):
            self.assertRegex(line, f"^join: {says}")
        self.assertNotIn("Running job", done.stderr)


class OneMachine(unittest.TestCase):
    """Without a cluster: Hadoop's LocalJobRunner, and the runner of `yunti hadoop run`."""

    def setUp(self):
        self.work = tempfile.mkdtemp(dir=files)
        self.environment = {"PATH": os.pathsep.join(
            p for p in os.environ["PATH"].split(os.pathsep) if not os.path.exists(os.path.join(p, "hadoop"))),
            "HOME": self.work, "XDG_STATE_HOME": f"{self.work}/state", "XDG_RUNTIME_DIR": self.work}
        self.arguments = ["-Dmapreduce.job.reduces=2", f"{files}/in", f"{self.work}/out", f"users={files}/users.ytab",
                          f"cities={files}/cities.ytab"]

    def execute(self, *command, code=0):
        done = subprocess.run([*command, *self.arguments], cwd=self.work, env=self.environment, capture_output=True,
                              text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertFalse(glob.glob(f"{self.work}/*.ytab"), "links are left")
        return done.stdout + done.stderr

    def join(self, *command):
        """Runs the program, and returns the inodes of both tables."""
        tasks = mapped(self.execute(*command))
        found = []
        for path in glob.glob(f"{self.work}/out/part-*"):
            with open(path, encoding="utf-8") as file:
                found += file.read().splitlines()
        self.assertEqual(sorted(found), expected())
        self.assertEqual([list(tasks[name].values()) for name in ("users", "cities")], [[MAPS], [2]])
        return [int(inode.partition(",")[2]) for name in ("users", "cities") for inode in tasks[name]]

    def in_runner(self, isolation):
        # No copy: the pages of the files themselves.
        inodes = self.join(YUNTI, "hadoop", "run", jar_with_all, PROGRAM, f"-Dhadoop.tmp.dir={self.work}/tmp",
                           f"-Dyunti.hadoop.isolation={isolation}")
        self.assertEqual(inodes, [os.stat(f"{files}/{name}.ytab").st_ino for name in ("users", "cities")])

    def stock(self):
        class_path = os.pathsep.join([os.path.join(ROOT, "dist/java/hadoop/*"), *JARS, jar])
        return ["java", "-XX:TieredStopAtLevel=1", "-cp", class_path, PROGRAM, f"-Dhadoop.tmp.dir={self.work}/tmp"]

    def test_stock_mapreduce(self):
        self.join(*self.stock())

    def test_a_table_that_the_job_does_not_have(self):
        self.arguments[-1:] = []
        said = self.execute("java", f"-Dlog4j.configuration=file:{ROOT}/hadoop/cluster/log4j.properties", *self.stock()[1:],
                            code=1)
        self.assertIn("FileNotFoundException: the job has no table cities (", said)
        self.assertIn("add it by SharedTables.add, or by -files FILE#cities.ytab", said)

    def test_threads_of_yunti_s_runner(self):
        self.in_runner("threads")

    def test_jvms_of_yunti_s_runner(self):
        self.in_runner("jvms")


if __name__ == "__main__":
    unittest.main(verbosity=2)
