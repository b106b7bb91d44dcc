"""The jars of Hadoop, fetched by Maven once (pom.xml says which), and what else has to be on the class path."""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import zipfile

from failure import Failure
from layout import DEFAULT, SOURCE

LIB = os.path.join(DEFAULT, "lib")
# Hadoop's own jars first: a class is looked for in one jar after the other, and 150 other jars would come before by chance.
# A fifth of a short command's processor time.
CLASS_PATH = (os.path.join(LIB, "hadoop", "*"), os.path.join(LIB, "third-party", "*"))
EXAMPLES = os.path.join(DEFAULT, "examples")
RESOURCES = os.path.join(DEFAULT, "resources")
# The HTTP servers of HDFS refuse to start without these folders; the jars on Central do not have them.
WEBAPPS = ("hdfs", "datanode", "secondary")
# Maven downloads 100 MB the first time.
SECONDS_MAX = 900


def _version():
    """Names what decides which jars there are and how they lie: this file, the pom, the versions in its parent."""
    digest = hashlib.sha256()
    for path in (os.path.join(SOURCE, "pom.xml"), os.path.join(SOURCE, "jars.py")):
        with open(path, "rb") as file:
            digest.update(file.read())
    with open(os.path.join(os.path.dirname(SOURCE), "pom.xml"), encoding="utf-8") as file:
        digest.update("".join(re.findall(r"<hadoop[.\w]*version>[^<]*", file.read())).encode())
    return digest.hexdigest()


def _sort(lib):
    for folder in CLASS_PATH:
        os.mkdir(os.path.join(lib, os.path.basename(os.path.dirname(folder))))
    for path in glob.glob(os.path.join(lib, "*.jar")):
        own = os.path.basename(path).startswith("hadoop-")
        os.rename(path, os.path.join(lib, "hadoop" if own else "third-party", os.path.basename(path)))


def _unpack_webapps(fresh):
    """The web pages of YARN, as files: a server that finds them in a jar first unpacks all of it, at every start."""
    resources = os.path.join(fresh, "resources")
    for path in glob.glob(os.path.join(fresh, "lib", "hadoop", "hadoop-yarn-common-*.jar")):
        with zipfile.ZipFile(path) as jar:
            jar.extractall(resources, [name for name in jar.namelist() if name.startswith("webapps/")])
    for name in WEBAPPS:
        os.makedirs(os.path.join(resources, "webapps", name), exist_ok=True)


def fetch():
    """Makes LIB, EXAMPLES and RESOURCES. Without Maven when the stamp says that they are the ones wanted."""
    stamp = os.path.join(DEFAULT, "jars.stamp")
    try:
        with open(stamp, encoding="ascii") as file:
            if file.read() == _version():
                return
    except FileNotFoundError:
        pass
    if not shutil.which("mvn"):
        raise Failure("mvn is missing: install Maven (tools/setup test)")
    print("cluster: Maven fetches the jars of Hadoop (once)", flush=True)
    fresh = os.path.join(DEFAULT, "jars.new")
    shutil.rmtree(fresh, ignore_errors=True)
    os.makedirs(fresh)
    try:
        done = subprocess.run(["mvn", "-q", "-B", "-f", os.path.join(SOURCE, "pom.xml"), f"-Dcluster.jars={fresh}",
                               "dependency:copy-dependencies@lib", "dependency:copy@examples"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise Failure(f"Maven did not end within {SECONDS_MAX} s; is Maven Central reachable?") from None
    if done.returncode != 0:
        raise Failure("Maven could not fetch the jars; is Maven Central reachable?", "\n".join(done.stdout.splitlines()[-20:]))
    _sort(os.path.join(fresh, "lib"))
    _unpack_webapps(fresh)
    for target in (LIB, EXAMPLES, RESOURCES):
        shutil.rmtree(target, ignore_errors=True)
        os.rename(os.path.join(fresh, os.path.basename(target)), target)
    os.rmdir(fresh)
    with open(stamp, "w", encoding="ascii") as file:
        file.write(_version())
