"""The suites of `make test`: what is run, in which part, and how its output is counted.

A suite's steps run one after the other; all but the last prepare (a build), and the last one's output is counted.
"""

import os
import shutil
import sys
from dataclasses import dataclass, field
from typing import Callable, Optional

import counts
import jdks

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.path.join(ROOT, "build")
YUNTI = os.path.join(ROOT, "dist/bin/yunti")
PYTHON = sys.executable
PARTS = ("engine", "api", "conformance", "benches", "house", "hadoop", "observe", "namenode", "web")


@dataclass
class Suite:
    part: str
    name: str
    steps: list  # argument lists
    read: Callable = counts.of_exit
    env: dict = field(default_factory=dict)
    minutes: float = 20
    skip: Optional[Callable] = None  # -> why it cannot run here, or None


def no_clang():
    return None if shutil.which("clang") and shutil.which("clang++") else "clang is not installed"


def no_avx512():
    with open("/proc/cpuinfo") as f:
        return None if "avx512_vbmi2" in f.read() else "the limit programs need AVX-512"


def no_jdk_25():
    return None if jdks.find(["25"]) else "there is no JDK 25"


def on_jdk_25(*modules):
    """Tests of web/, which JDK 17 compiles."""
    home = jdks.find(["25"]).get("25", ("", ""))[1]
    return ["mvn", "-B", "-f", "web/pom.xml", *modules, f"-Djvm={home}/bin/java", "test"]


def cmake(source, build, compiler):
    options = ["-DCMAKE_BUILD_TYPE=Release"]
    if compiler == "clang":
        options += ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++"]
    else:
        options += ["-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++"]
    build = os.path.join(BUILD, build)
    return [["cmake", "-S", source, "-B", build] + options, ["cmake", "--build", build, "--parallel", str(os.cpu_count())]]


def unittest(folder):
    return [PYTHON, "-m", "unittest", "discover", "-v", "-s", folder, "-p", "*_test.py"]


def compiled_twice(compiler):
    skip = no_clang if compiler == "clang" else None
    build = f"test-api-{compiler}"
    # With two compilers here, the build of the first need not start the second.
    ctest = ["ctest", "--test-dir", os.path.join(BUILD, build), "--output-on-failure", "--parallel", str(os.cpu_count()), "-E", "with_clang"]
    lib = f"test-examples-{compiler}"
    examples = {"YUNTI": YUNTI, "YUNTI_EXAMPLES": os.path.join(BUILD, lib, "lib")}
    return [
        Suite("api", f"C ABI and C++ API, {compiler}", cmake("api", build, compiler) + [ctest], counts.of_ctest, skip=skip),
        Suite("api", f"examples as jobs, {compiler}", cmake("examples", lib, compiler) + [unittest("tests/examples")], counts.of_unittest, examples, skip=skip),
    ]


# A job on a cluster takes half a minute, most of it JVMs that start: one of each kind here, all of them in `make test-full-hadoop`.
JOBS = ("an_unmodified_job_with_settings_alone", "the_fat_nodes_job_unchanged", "a_class_library", "side_files_and_compressed_output",
        "a_reduce_task_that_is_killed_while_it_fetches", "the_cluster_is_checked", "a_report_needs_a_job")
FALLBACKS = ("a_runtime_exception", "the_last_attempt", "jvms_that_die_once_stay_native")
JOB_FILES = ("Sources.test_each_split_goes_through_its_mapper", "NamedOutputs.test_of_mappers_and_of_reducers", "Chains.test_each_job_feeds_the_next",
             "Chains.test_a_failure_leaves_nothing", "KeyOrders.test_secondary_sort")


def of_observe(name, test):
    """A file of observe/tests, with what it tests built."""
    return Suite("observe", name, [["make", "-s", "observe"], [PYTHON, f"observe/tests/{test}_test.py"]], counts.of_unittest, {"YUNTI": YUNTI})


def on_a_cluster(name, test, only=(), part="hadoop"):
    """One file of hadoop/tests, which starts a cluster of its own."""
    steps = [["make", "-s", "hadoop"], *cmake("examples", "examples", "gcc"), [PYTHON, f"hadoop/tests/{test}_test.py", *only]]
    return Suite(part, name, steps, counts.of_unittest, {"YUNTI": YUNTI, "YUNTI_EXAMPLES": os.path.join(BUILD, "examples/lib")}, minutes=40)


def engine_bench(name):
    # Each bench has its own word for `tiny`; those that do not know the other pass it over.
    return Suite("benches", f"engine/benches/{name}.rs", [["cargo", "bench", "--locked", "-p", "yunti-engine", "--bench", name, "--", "--tiny", "tiny"]])


SUITES = [
    Suite("engine", "how tests are counted", [unittest("tools/tests")], counts.of_unittest),
    Suite("engine", "engine and command, tiny limits", [
        ["cargo", "build", "--all-targets", "--locked"],
        ["cargo", "test", "--locked", "--no-fail-fast", "--", "--show-output"],
    ], counts.of_cargo, minutes=30),
    Suite("engine", "licences, bans, sources of dependencies", [["cargo", "deny", "--locked", "check", "licenses", "bans", "sources"]]),
    *compiled_twice("gcc"),
    *compiled_twice("clang"),
    Suite("conformance", "TeraGen and TeraChecksum of Hadoop", [["tests/conformance/teragen/check.sh", YUNTI]], counts.of_lines,
          {"YUNTI_TEST_CACHE": os.path.join(BUILD, "test-cache")}),
    Suite("conformance", "Hadoop's examples and ours", cmake("examples", "examples", "gcc") + [[PYTHON, "tests/conformance/examples/examples_test.py"]],
          counts.of_unittest, {"YUNTI": YUNTI, "YUNTI_EXAMPLES": os.path.join(BUILD, "examples/lib"), "YUNTI_TEST_CACHE": os.path.join(BUILD, "test-cache")}),
    *(engine_bench(name) for name in ("vsort", "fold", "merge")),
    Suite("benches", "limit programs", [["make", "-s", "-C", "benches/limits", "test"]], skip=no_avx512),
    Suite("benches", "make bench, tiny", cmake("examples", "examples", "gcc") + [[PYTHON, "tools/tests/tiny_bench.py"]], counts.of_lines, skip=no_avx512),
    Suite("benches", "make bench-observe, tiny", [["make", "-s", "bench-observe", "ARGS=--quick --no-save"]]),
    Suite("hadoop", "the same as stock, by settings", [["make", "-s", "hadoop"], ["hadoop/conformance/run", "--variant", "shuffle"]],
          counts.of_conformance),
    Suite("hadoop", "the same as stock, in native tasks", [["make", "-s", "hadoop"], ["hadoop/conformance/run", "--variant", "native"]],
          counts.of_conformance),
    Suite("hadoop", "classes of the plug-in", [["mvn", "-B", "-f", "hadoop/plugin/pom.xml", "test"]], counts.of_surefire),
    Suite("hadoop", "licences in the jar", [[PYTHON, "hadoop/tests/licences_test.py"]], counts.of_unittest),
    Suite("hadoop", "native code that fails, on a cluster",
          [["make", "-s", "hadoop"], [PYTHON, "hadoop/tests/faults/fallback_test.py", *(f"Fallback.test_{name}" for name in FALLBACKS)]], counts.of_unittest),
    Suite("hadoop", "Hadoop's own tests of the collector", [["make", "-s", "hadoop"], [PYTHON, "hadoop/stock-tests/run.py", "--quick"]]),
    on_a_cluster("jobs on a cluster", "jobs", [f"Jobs.test_{name}" for name in JOBS]),
    on_a_cluster("job files on a cluster", "job_files", JOB_FILES),
    Suite("hadoop", "the cluster itself", [[PYTHON, "hadoop/cluster/tests/cluster_test.py"]], counts.of_unittest),
    Suite("observe", "units", [["cargo", "test", "--locked", "-p", "yunti-observe", "-p", "yunti-crash", "-p", "yunti-ext4", "-p", "yunti-host", "--no-fail-fast", "--", "--show-output"]], counts.of_cargo),
    of_observe("flame graphs of known programs", "flame"),
    of_observe("flame graphs of programs that wait and allocate", "flame_native"),
    of_observe("calls of a known program", "trace"),
    of_observe("locks of programs that measure their waits", "locks"),
    of_observe("native calls of known programs", "native"),
    of_observe("page faults of known programs", "faults"),
    of_observe("slow requests of known causes", "slow"),
    of_observe("ext4 file systems whose blocks are known", "host/ext4"),
    of_observe("a guard of devices that fail", "host/guard"),
    of_observe("a page cache in patterns whose hits and misses are known", "host/cache"),
    of_observe("control groups whose use of the machine is known", "host/cgroup"),
    of_observe("services and callers whose answers are counted", "host/net"),
    of_observe("crashes that arrive once, whatever the network does", "host/crash"),
    of_observe("logs, files and collectors that do not behave", "host/crash_hostile"),
    of_observe("settings that are changed and undone", "host/settings"),
    of_observe("settings of old, each measured once", "host/bench"),
    of_observe("what bounds programs of known causes", "why"),
    of_observe("what bounds programs by files and connections", "host/why"),
    Suite("namenode", "units", [["cargo", "test", "--locked", "-p", "yunti-namenode", "--no-fail-fast", "--", "--show-output"]], counts.of_cargo),
    Suite("namenode", "classes of the plug-in", [["mvn", "-B", "-f", "namenode/plugin/pom.xml", "test"]], counts.of_surefire),
    Suite("namenode", "plug-ins in a NameNode", [["make", "-s", "namenode"], [PYTHON, "namenode/tests/plugins_test.py"]], counts.of_unittest, {"YUNTI": YUNTI}),
    Suite("namenode", "load on a stock NameNode", [["make", "-s", "namenode"], [PYTHON, "namenode/tests/load_test.py"]], counts.of_unittest, {"YUNTI": YUNTI}),
    Suite("namenode", "DataNodes without disks", [["make", "-s", "namenode"], [PYTHON, "namenode/tests/datanodes_test.py"]], counts.of_unittest, {"YUNTI": YUNTI}),
    Suite("namenode", "advice for a NameNode", [["make", "-s", "namenode"], [PYTHON, "namenode/tests/advise_test.py", "Advise.test_a_fair_lock", "Wrong"]],
          counts.of_unittest, {"YUNTI": YUNTI}),
    Suite("namenode", "what counts as worse than stock", [[PYTHON, "namenode/stock-tests/compare_test.py"]], counts.of_unittest),
    Suite("namenode", "a dozen of Hadoop's own tests, with our lock", [["make", "-s", "namenode"], [PYTHON, "namenode/stock-tests/run.py", "--quick"]]),
    Suite("web", "templates, by stock Velocity and compiled", [["mvn", "-B", "-f", "web/pom.xml", "-Pbench", "package"]], counts.of_surefire),
    Suite("web", "the same on JDK 25", [on_jdk_25("-pl", "velocity,oracle", "-Dyunti.fuzz.seed=2")], counts.of_surefire, skip=no_jdk_25),
    Suite("house", "commands of the guides", [unittest("tests/guides")], counts.of_unittest, {"YUNTI": YUNTI}),
    Suite("house", "packages", [unittest("tests/packages")], counts.of_unittest),
    Suite("house", "what a user is given", [unittest("tests/house")], counts.of_unittest, {"YUNTI": YUNTI}),
]
