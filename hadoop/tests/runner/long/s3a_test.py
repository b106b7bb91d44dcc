"""Tests jobs on one machine from S3 to S3, by Hadoop's own file system for it, against the stand-in of the stores' tests."""

import glob
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(HERE, "../../../../stores/tests")]

import stand_in  # noqa: E402
from probe import ROOT, ProbeTest  # noqa: E402

BUCKET = "lake"


def jars():
    """Returns the jars of hadoop-aws, from Maven Central: 650 MB the first time."""
    folder = os.path.join(ROOT, "build/hadoop/s3a")
    subprocess.run(["mvn", "-q", "-B", "-f", os.path.join(HERE, "s3a.xml"), "dependency:copy-dependencies",
                    f"-DoutputDirectory={folder}", "-DincludeScope=runtime"], check=True)
    return sorted(glob.glob(f"{folder}/*.jar"))


class S3a(ProbeTest):
    SECONDS_MAX = 400

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.jars = jars()

    def setUp(self):
        super().setUp()
        self.server = self.enterContext(stand_in.Server())
        self.store = self.server.store
        for name in os.listdir(self.input):
            with open(f"{self.input}/{name}", "rb") as f:
                self.store.put(BUCKET, f"in/{name}", f.read())
        self.environment["HADOOP_CLASSPATH"] = ":".join(self.jars)
        self.input, self.out = f"s3a://{BUCKET}/in", f"s3a://{BUCKET}/out"
        self.settings = [f"-Dfs.s3a.{key}={value}" for key, value in {
            "access.key": stand_in.KEY, "secret.key": stand_in.SECRET, "endpoint": self.server.address,
            "endpoint.region": "us-east-1", "path.style.access": "true", "connection.ssl.enabled": "false",
            "committer.staging.tmp.path": f"{self.temporary}/staging",  # The default is in the working directory.
            "multiobjectdelete.enable": "false",  # The stand-in deletes one object a request.
        }.items()]

    def check(self, *options):
        done = self.run_probe("Words", *self.settings, "-Dmapreduce.job.reduces=2", *options)
        found = {}
        for key in self.store.keys(BUCKET, "out/part-r-"):
            found.update(line.split("\t") for line in self.store.get(BUCKET, key).decode().splitlines())
        self.assertEqual(found, {k: str(n) for k, n in self.words.items()})
        # S3A marks directories by empty objects with a slash at the end.
        others = [key for key in self.store.keys(BUCKET, "out/") if not key.startswith("out/part-r-") and key[-1] != "/"]
        self.assertEqual(others, ["out/_SUCCESS"])
        self.assertEqual(self.store.uploads, {})
        return done

    def test_the_committer_that_renames(self):
        for isolation in ("threads", "jvms"):
            self.check("-Dfs.s3a.committer.name=file", f"-Dyunti.hadoop.isolation={isolation}")
            for key in self.store.keys(BUCKET, "out/"):
                del self.store.objects[BUCKET, key]

    def test_committers_of_uploads(self):
        # Names of classes in settings are most often the job's own code; these are not.
        classes = ["-Dmapreduce.outputcommitter.factory.scheme.s3a=org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory",
                   "-Dfs.s3a.aws.credentials.provider=org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"]
        for name in ("directory", "magic"):
            done = self.check(f"-Dfs.s3a.committer.name={name}", *classes)
            self.assertIn("runs in this JVM", done.stderr)
            for key in self.store.keys(BUCKET, "out/"):
                del self.store.objects[BUCKET, key]


if __name__ == "__main__":
    unittest.main(verbosity=2 if "-v" in sys.argv else 1)
