"""Jobs, their variants with **every command line**, and their goals: benches/README.md, "Goals on a cluster"."""

import glob
import os
import subprocess
import zipfile
from collections import namedtuple

import inputs
import outputs
from cluster import BUILD, EXAMPLES
from harness import commands
from harness.measure import Failed

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(BUILD, "bench-hadoop-jobs")
YUNTI_HADOOP = os.path.join(commands.ROOT, "dist/libexec/yunti-hadoop")
REDUCES = 2

STOCK = "stock"

# `check` takes (cluster, output, local input files); `goals` is variant -> figure -> factor below stock.
Job = namedtuple("Job", "name data title variants check goals")

JOBS = [
    Job("wordcount", "text", "word count, 1 GB of text",
        (STOCK, "stock-optimised", "nativetask", "settings", "settings-warm", "native", "native-warm"),
        outputs.lines,
        {"settings": {"map_cpu": 2.3}, "native": {"map_cpu": 6.0, "wall": 3.0}}),
    Job("terasort", "tera", "TeraSort, 1 GB of records",
        (STOCK, "nativetask", "settings", "settings-warm", "native", "native-warm"), outputs.records,
        {"settings": {"map_cpu": 2.0, "reduce_cpu": 1.8}, "native": {"map_cpu": 3.5, "wall": 1.6}}),
]
VARIANTS = list(dict.fromkeys(v for job in JOBS for v in job.variants))
# Variants whose figures are invalid if native code declines a task.
NATIVE = ("settings", "settings-warm", "native", "native-warm")
# Suffix of variants whose containers start from archives of classes.
WARM = "-warm"
# Clusters, by their folder, that have these archives.
_warmed = set()


class Missing(Exception):
    """Reason why a variant cannot run on this machine."""


def common(more):
    """Returns the settings of all variants, as KEY=VALUE."""
    codec = "org.apache.hadoop.io.compress.SnappyCodec"
    return ["mapreduce.map.output.compress=true", f"mapreduce.map.output.compress.codec={codec}", *more]


def command(cluster, job, variant, more):
    """Returns a function of (input, output) that gives the command line. Raises Missing if the variant cannot run."""
    defined = [word for setting in common(more) for word in ("-D", setting)]
    reduces = ["-D", f"mapreduce.job.reduces={REDUCES}"]
    through = []
    if variant.endswith(WARM):
        variant = variant.removesuffix(WARM)
        defined += ["-D", "yunti.hadoop.warm=true"]
        _warm(cluster)
        # An unmodified program needs the configuration directory with the plug-in's hook.
        through = ["bash", "-c", 'eval "$("$0" env)"; exec "$@"', YUNTI_HADOOP] if variant == "settings" else []
    if variant == "native":
        if not os.path.exists(commands.YUNTI):
            raise Missing("dist/bin/yunti is not built: make dist")
        plug_in_jar(cluster)
        return lambda source, target: [commands.YUNTI, "run", job.name, "--on", "yarn", "--name", job.name, *defined,
                                       "--input", source,
                                       "--output", target, "--reduces", str(REDUCES)]
    program = ["hadoop", "jar", _examples(), job.name]
    plug_in = []
    if variant == "stock-optimised":
        program = ["hadoop", "jar", _byte_word_count(cluster), "ByteWordCount"]
    elif variant == "nativetask":
        plug_in = _nativetask(cluster)
    elif variant == "settings":
        jar, site = plug_in_jar(cluster), os.path.join(BUILT, "yunti-site.xml")
        os.makedirs(BUILT, exist_ok=True)
        with open(site, "w") as f:
            f.write(cluster.call(YUNTI_HADOOP, "site"))
        plug_in = ["-conf", site, "-libjars", jar]
    return lambda source, target: [*through, *program, *plug_in, *defined, *reduces, source, target]


def _one(pattern):
    found = sorted(glob.glob(os.path.join(EXAMPLES, pattern)))
    if not found:
        raise Missing(f"there is no {pattern} in {os.path.relpath(EXAMPLES, commands.ROOT)}")
    return found[-1]


def _examples():
    return _one("hadoop-mapreduce-examples-*.jar")


def plug_in_jar(cluster):
    if not os.path.exists(YUNTI_HADOOP):
        raise Missing("dist/libexec/yunti-hadoop is not built: make hadoop")
    try:
        return cluster.call(YUNTI_HADOOP, "jar").strip()
    except Failed as failure:
        raise Missing(str(failure)) from None


def _warm(cluster):
    """Makes the archives of classes, once for a cluster."""
    if cluster.directory not in _warmed:
        plug_in_jar(cluster)
        cluster.call(YUNTI_HADOOP, "warm")
        _warmed.add(cluster.directory)


def _byte_word_count(cluster):
    """Returns the jar of java/ByteWordCount.java, rebuilt if the source is newer."""
    source, jar = os.path.join(HERE, "java/ByteWordCount.java"), os.path.join(BUILT, "byte-word-count.jar")
    if os.path.exists(jar) and os.path.getmtime(jar) > os.path.getmtime(source):
        return jar
    classes = compiled(cluster, source, "byte-word-count", [])
    with zipfile.ZipFile(jar, "w") as z:
        for name in sorted(os.listdir(classes)):
            z.write(os.path.join(classes, name), name)
    return jar


def compiled(cluster, source, name, jars):
    """Compiles a source and returns the folder with its classes."""
    classes = os.path.join(BUILT, "classes", name)
    os.makedirs(classes, exist_ok=True)
    class_path = os.pathsep.join([*jars, cluster.call("hadoop", "classpath").strip()])
    javac = os.path.join(os.environ["JAVA_HOME"], "bin/javac") if "JAVA_HOME" in os.environ else "javac"
    try:
        # Hadoop's classes use annotations outside its class path; -nowarn hides the warnings about them.
        cluster.call(javac, "-nowarn", "-proc:none", "--release", "17", "-cp", class_path, "-d", classes, source)
    except (OSError, Failed) as failure:
        raise Missing(f"javac: {failure}") from None
    return classes


def _nativetask(cluster):
    """Returns the options for Hadoop's native collector.

    Its library comes from the jar, or from the folder BENCH_NATIVETASK or its lib/native.
    """
    jar = _one("hadoop-mapreduce-client-nativetask-*.jar")
    folder = os.environ.get("BENCH_NATIVETASK", "")
    folder = next((f for f in (folder, os.path.join(folder, "lib/native")) if folder
                   and os.path.exists(f + "/libnativetask.so")), None)
    if not folder:
        with zipfile.ZipFile(jar) as z:
            inside = any(name.endswith(".so") for name in z.namelist())
        if not inside:
            raise Missing(f"{os.path.basename(jar)} has no libnativetask.so: set BENCH_NATIVETASK to a folder with one")
    collector = "org.apache.hadoop.mapred.nativetask.NativeMapOutputCollectorDelegator"
    plug_in = ["-libjars", jar, "-D", f"mapreduce.job.map.output.collector.class={collector}"]
    if folder:
        plug_in += ["-D", f"mapreduce.admin.user.env=LD_LIBRARY_PATH={os.path.realpath(folder)}"]
    return plug_in
