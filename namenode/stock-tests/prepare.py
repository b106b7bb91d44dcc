"""Preparation of a run: jars from Maven (once), our two classes, and the web pages of HDFS as files."""

import glob
import hashlib
import os
import shutil
import subprocess
import zipfile

import layout
from failure import Failure

POM = os.path.join(layout.SOURCE, "pom.xml")
LISTENERS = "META-INF/services/org.junit.platform.launcher.TestExecutionListener"
# Seconds; Maven downloads 100 MB the first time.
SECONDS_MAX = 900


def digest(*paths):
    """Returns a digest of the files' contents."""
    sum_ = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            sum_.update(file.read())
    return sum_.hexdigest()[:16]


def digest_of_package(jar, class_name):
    """Returns a digest of all classes in this class's package: each plug-in is a package."""
    package, sum_ = class_name.rpartition(".")[0].replace(".", "/") + "/", hashlib.sha256()
    with zipfile.ZipFile(jar) as file:
        for name in sorted(name for name in file.namelist() if name.startswith(package)):
            sum_.update(file.read(name))
    return sum_.hexdigest()[:16]


def _run(what, *command):
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_MAX,
        )
    except FileNotFoundError:
        raise Failure(f"{command[0]} is missing: install a JDK and Maven (tools/setup test)") from None
    except subprocess.TimeoutExpired:
        raise Failure(f"{what}: {command[0]} did not end within {SECONDS_MAX} s") from None
    if done.returncode != 0:
        errors = (
            [line for line in done.stdout.splitlines() if "error" in line.lower()]
            or done.stdout.splitlines()
            or ["it printed no reason"]
        )
        raise Failure(f"{what}: {errors[0].strip()}")


def _jars():
    stamp = os.path.join(layout.BUILD, "jars.stamp")
    wanted = digest(POM, __file__)
    if os.path.exists(stamp):
        with open(stamp, encoding="ascii") as file:
            if file.read() == wanted:
                return
    print("stock-tests: Maven downloads Hadoop and its tests (once)", flush=True)
    shutil.rmtree(layout.LIB, ignore_errors=True)
    _run(
        "cannot download the jars; check the access to Maven Central",
        "mvn",
        "-q",
        "-B",
        "-f",
        POM,
        f"-Dstock.jars={layout.LIB}",
        "dependency:copy-dependencies@lib",
    )
    # A web server with its pages in a jar unpacks the whole jar at each start.
    shutil.rmtree(layout.RESOURCES, ignore_errors=True)
    for path in glob.glob(os.path.join(layout.LIB, "hadoop-*-tests.jar")):
        with zipfile.ZipFile(path) as jar:
            jar.extractall(layout.RESOURCES, [name for name in jar.namelist() if name.startswith("webapps/")])
    with open(stamp, "w", encoding="ascii") as file:
        file.write(wanted)


def classes_of(name):
    """Returns the folder of a variant's own classes; it exists if there are some."""
    return f"{layout.CLASSES}-{name}"


def _compile(what, sources, folder, services, *class_path):
    os.makedirs(os.path.join(folder, "META-INF/services"), exist_ok=True)
    path = ":".join([*class_path, os.path.join(layout.LIB, "*")])
    _run(f"{what} do not compile", "javac", "-proc:none", "-cp", path, "-d", folder, *sources)
    for service, text in services.items():
        with open(os.path.join(folder, service), "w", encoding="ascii") as file:
            file.write(text)


def prepare(is_plugin_needed):
    os.makedirs(layout.BUILD, exist_ok=True)
    _jars()
    _compile("Recorder and Probe", layout.JAVA, layout.CLASSES, {LISTENERS: "Recorder\n"})
    if is_plugin_needed:
        _run("the plug-in cannot be built", "mvn", "-q", "-B", "-f", layout.PLUGIN_POM, "package", "-DskipTests")
    for name, sources in layout.OF_VARIANT.items():
        if is_plugin_needed:
            _compile(f"the classes of {name}", sources, classes_of(name), layout.SERVICES[name], layout.PLUGIN)


def resource(jar, name):
    """Returns the text of a resource of Hadoop's own tests."""
    with zipfile.ZipFile(os.path.join(layout.LIB, jar)) as file:
        return file.read(name).decode()
