"""Jars of Hadoop, which Maven fetches once by pom.xml, and the other files on the class path."""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import zipfile

from failure import Failure
from layout import DEFAULT, SOURCE

# Folders that the HTTP servers of HDFS require; the jars on Maven Central lack them.
WEBAPPS = ("hdfs", "datanode", "secondary")
# Seconds for Maven, which downloads 100 MB the first time.
SECONDS_MAX = 900


def _digest():
    """Returns a digest of the inputs that determine the jars: this file, the pom, and the versions in its parent."""
    digest = hashlib.sha256()
    for path in (os.path.join(SOURCE, "pom.xml"), os.path.join(SOURCE, "jars.py")):
        with open(path, "rb") as file:
            digest.update(file.read())
    with open(os.path.join(os.path.dirname(SOURCE), "pom.xml"), encoding="utf-8") as file:
        digest.update("".join(re.findall(r"<hadoop[.\w]*version>[^<]*", file.read())).encode())
    return digest.hexdigest()


def _sort(lib):
    for folder in ("hadoop", "third-party"):
        os.mkdir(os.path.join(lib, folder))
    for path in glob.glob(os.path.join(lib, "*.jar")):
        own = os.path.basename(path).startswith("hadoop-")
        os.rename(path, os.path.join(lib, "hadoop" if own else "third-party", os.path.basename(path)))


def _unpack_webapps(fresh):
    """Unpacks the web pages of YARN. A server that finds them in a jar would unpack the whole jar at every start."""
    resources = os.path.join(fresh, "resources")
    for path in glob.glob(os.path.join(fresh, "lib", "hadoop", "hadoop-yarn-common-*.jar")):
        with zipfile.ZipFile(path) as jar:
            jar.extractall(resources, [name for name in jar.namelist() if name.startswith("webapps/")])
    for name in WEBAPPS:
        os.makedirs(os.path.join(resources, "webapps", name), exist_ok=True)


class Jars:
    """Jars of one version of Hadoop. The default version, from pom.xml, has its place in build/cluster itself."""

    def __init__(self, version=None):
        self.version = version
        self.folder = os.path.join(DEFAULT, f"hadoop-{version}") if version else DEFAULT
        self.lib = os.path.join(self.folder, "lib")
        # Hadoop's own jars come first, because the JVM searches jars in order and 150 others might precede them. This
        # order saves a fifth of a short command's processor time.
        self.class_path = (os.path.join(self.lib, "hadoop", "*"), os.path.join(self.lib, "third-party", "*"))
        self.examples = os.path.join(self.folder, "examples")
        self.resources = os.path.join(self.folder, "resources")

    def fetch(self):
        """Creates the folders. It does not call Maven if the stamp shows that they are current."""
        stamp = os.path.join(self.folder, "jars.stamp")
        try:
            with open(stamp, encoding="ascii") as file:
                if file.read() == _digest():
                    return
        except FileNotFoundError:
            pass
        if not shutil.which("mvn"):
            raise Failure("mvn is missing: install Maven (tools/setup test)")
        print("cluster: Maven fetches the jars of Hadoop (once)", flush=True)
        fresh = os.path.join(self.folder, "jars.new")
        shutil.rmtree(fresh, ignore_errors=True)
        os.makedirs(fresh)
        try:
            done = subprocess.run(["mvn", "-q", "-B", "-f", os.path.join(SOURCE, "pom.xml"), f"-Dcluster.jars={fresh}",
                                   *self._versions(), "dependency:copy-dependencies@lib", "dependency:copy@examples"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            raise Failure(f"Maven did not end within {SECONDS_MAX} s; is Maven Central reachable?") from None
        if done.returncode != 0:
            raise Failure("Maven could not fetch the jars; is Maven Central reachable?",
                          "\n".join(done.stdout.splitlines()[-20:]))
        _sort(os.path.join(fresh, "lib"))
        _unpack_webapps(fresh)
        for target in (self.lib, self.examples, self.resources):
            shutil.rmtree(target, ignore_errors=True)
            os.rename(os.path.join(fresh, os.path.basename(target)), target)
        os.rmdir(fresh)
        with open(stamp, "w", encoding="ascii") as file:
            file.write(_digest())

    def _versions(self):
        """Returns the properties of Maven for the version. The examples end with 3.4.2."""
        if not self.version:
            return []
        own = re.match(r"3\.[0-4]\.", self.version)
        return [f"-Dhadoop.version={self.version}"] + ([f"-Dhadoop.examples.version={self.version}"] if own else [])
