"""Suites of `make test`: their parts, their commands, and the readers that count their output.

The steps of a suite run in order. All but the last prepare, for example with a build; the last one's output is counted.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Callable, Optional

import counts
import jdks

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
BUILD = os.path.join(ROOT, "build")
YUNTI = os.path.join(ROOT, "dist/bin/yunti")
PYTHON = sys.executable
# Parts whose suites measure times.
MEASURING = ("benches", "observe", "machine", "namenode", "capacity")
# Beginnings of the names of their suites that measure nothing: benches of tiny data have no figures that count.
COUNTING = ("unit tests", "licences of", "load and histories", "classes of", "comparison", "units", "engine/benches/", "limit programs", "make bench, ",
            "make bench-columns", "make bench-observe")
# Suites of these parts that use one processor and measure counts, or times of waiting: one of another part may run
# beside them.
IN_PAIRS = (
    "services recorded in slices", "native calls of known programs", "native calls under conditions, counted",
    "page faults of known programs", "garbage collection logs of every collector",
    "heap dumps of programs with known memory", "heap dumps of programs that leak or waste memory",
    "objects that waiting requests hold", "why, on programs of Python", "why, on programs of Go",
    "ext4 file systems with known blocks", "guard on failing devices", "crash reports arrive once over faulty networks",
    "crash reports with hostile logs, files and collectors", "plug-ins in a NameNode", "DataNodes without disks", "audit logs replayed",
)
PARTS = ("engine", "api", "formats", "conformance", "benches", "house", "hadoop", "observe", "machine", "namenode",
         "python", "stores", "sql", "table", "warmup", "capacity", "web")


@dataclass
class Suite:
    part: str
    name: str
    steps: list  # argument lists
    read: Callable = counts.read_exit
    env: dict = field(default_factory=dict)
    minutes: float = 20
    skip: Optional[Callable] = None  # returns the reason why the suite cannot run on this machine, or None
    shares: tuple = ()  # other parts whose folders the suite uses
    end: Optional[list] = None  # step after the last suite that names it, for example to stop what they share

    @property
    def alone(self):
        """True if the suite measures times, so that nothing else may run beside it."""
        return self.measures and not self.in_pairs

    @property
    def in_pairs(self):
        """True if only suites like it may run beside it."""
        return self.part in MEASURING and self.name in IN_PAIRS

    @property
    def measures(self):
        return self.part in MEASURING and not self.name.startswith(COUNTING)


def no_clang():
    return None if shutil.which("clang") and shutil.which("clang++") else "clang is not installed"


def no_avx2():
    with open("/proc/cpuinfo") as f:
        return None if "avx2" in f.read() else "the limit programs need AVX2"


def no_jdk_25():
    return None if jdks.find(["25"]) else "there is no JDK 25"


def no_pypi():
    """Returns the reason why pip cannot install packages, or None."""
    with tempfile.TemporaryDirectory() as folder:
        words = [PYTHON, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "cloudpickle"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    lines = done.stderr.strip().splitlines()
    return None if done.returncode == 0 else f"pip cannot reach PyPI: {lines[-1] if lines else 'no pip'}"


def no_llvm():
    """Returns the reason why queries cannot become machine code, or None."""
    prefix = os.environ.get("LLVM_SYS_191_PREFIX")
    config = os.path.join(prefix, "bin/llvm-config") if prefix else "llvm-config-19"
    return None if shutil.which(config) else "there is no LLVM 19: tools/setup sql"


def on_jdk_25(*modules, project="web/pom.xml"):
    """Returns the command for tests of web/, or of another project, on JDK 25; JDK 17 compiles them."""
    home = jdks.find(["25"]).get("25", ("", ""))[1]
    return ["mvn", "-B", "-f", project, *modules, f"-Djvm={home}/bin/java", "test"]


def cmake(source, build, compiler):
    options = ["-DCMAKE_BUILD_TYPE=Release"]
    if compiler == "clang":
        options += ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++"]
    else:
        options += ["-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++"]
    build = os.path.join(BUILD, build)
    return [["cmake", "-S", source, "-B", build] + options,
            ["cmake", "--build", build, "--parallel", str(os.cpu_count())]]


def unittest(folder):
    return [PYTHON, "-m", "unittest", "discover", "-v", "-s", folder, "-p", "*_test.py"]


def compiled_twice(compiler):
    skip = no_clang if compiler == "clang" else None
    build = f"test-api-{compiler}"
    # The test `with_clang` builds with clang from within the build of gcc; the suite of clang does that already.
    ctest = ["ctest", "--test-dir", os.path.join(BUILD, build), "--output-on-failure", "--parallel",
             str(os.cpu_count()), "-E", "with_clang"]
    lib = "examples" if compiler == "gcc" else f"test-examples-{compiler}"
    examples = {"YUNTI": YUNTI, "YUNTI_EXAMPLES": os.path.join(BUILD, lib, "lib")}
    return [
        Suite("api", f"C ABI and C++ API, {compiler}", cmake("api", build, compiler) + [ctest], counts.read_ctest,
              skip=skip),
        Suite("api", f"examples as jobs, {compiler}", cmake("examples", lib, compiler) + [unittest("tests/examples")],
              counts.read_unittest, examples, skip=skip),
    ]


# A job on a cluster takes half a minute, most of it to start JVMs. `make test` runs one job of each kind;
# `make test-full-hadoop` runs all of them.
JOBS = ("settings_alone_run_an_unmodified_job_natively", "a_job_of_one_machine_runs_unchanged",
        "a_class_library_runs_on_the_cluster", "report_needs_a_job")
# Each case in one of two variants; test-full-hadoop has all of them in both.
SETTINGS_CASES = ("keys/", "codecs/", "order/", "sizes/")
RUNNER_CASES = ("api/", "examples/", "failures/", "combine/")
NATIVE_CASES = ("native/library", "native/reader", "native/writer", "native/class", "native/input", "native/map", "native/total")
FALLBACKS = ("a_runtime_exception",)
JOB_FILES = ("NamedOutputs.test_mappers_and_reducers_write_named_outputs", "Chains.test_each_job_feeds_the_next")
USER_CODE = ("Isolated.test_a_crash_costs_an_attempt", "Python.test_a_batch_mapper_and_a_reducer")

# A query on a cluster takes a minute.
ON_YARN = ("Queries.test_stages_and_several_reduces", "Queries.test_errors_are_one_line_and_leave_nothing",
           "Queries.test_without_a_cluster_there_is_one_line", "SharedTables")

COLUMNS = ("aggregate_writes_the_same_parquet_file", "wrong_jobs_are_refused_in_one_line_before_they_are_submitted")


def observe_suite(name, test):
    """Returns the suite of a file in observe/tests; it builds the tested programs first."""
    return Suite("observe", name, [["make", "-s", "observe"], [PYTHON, f"observe/tests/{test}_test.py"]],
                 counts.read_unittest, {"YUNTI": YUNTI})


def machine_suite(name, test):
    """Returns the suite of a file in machine/tests; `make observe` builds the tested programs first."""
    return Suite("machine", name, [["make", "-s", "observe"], [PYTHON, f"machine/tests/{test}_test.py"]],
                 counts.read_unittest, {"YUNTI": YUNTI})


# Folder of the cluster that all suites share that need no special one.
CLUSTER = os.path.join(BUILD, "cluster-shared")


def cluster_suite(name, test, only=(), part="hadoop", shares=()):
    """Returns the suite of a file in hadoop/tests that runs on the shared cluster. The first suite starts it.

    `shares`: other parts that it uses, which are built.
    """
    steps = [["make", "-s", "hadoop", *shares], *cmake("examples", "examples", "gcc"),
             [PYTHON, "hadoop/tests/shared_cluster.py", CLUSTER],
             [PYTHON, f"hadoop/tests/{test}_test.py", *only]]
    env = {"YUNTI": YUNTI, "YUNTI_EXAMPLES": os.path.join(BUILD, "examples/lib"), "YUNTI_SHARED_CLUSTER": CLUSTER}
    return Suite(part, name, steps, counts.read_unittest, env, minutes=40,
                 end=["hadoop/cluster/down", "--dir", CLUSTER], shares=shares)


def sql_units():
    """Returns the suite of sql's unit tests. With LLVM it also has those of generated code: another choice of packages
    would build the crates of others once more, with other features."""
    packages = ["yunti-sql", *(f"yunti-sql-{name}" for name in ("arrow", "plan", "execute", "front", "cluster", "task"))]
    name, generated = "unit tests", []
    if no_llvm():
        generated = [Suite("sql", "machine code against kernels", [], skip=no_llvm)]
    else:
        packages.append("yunti-sql-generate")
        name = "unit tests, and machine code against kernels"
    chosen = [word for package in packages for word in ("-p", package)]
    return [Suite("sql", name, [["cargo", "test", "--profile", "tested", "--locked", "--manifest-path", "sql/Cargo.toml",
                                 "--target-dir", "target", *chosen, "--no-fail-fast", "--", "--show-output"]],
                  counts.read_cargo, minutes=50), *generated]


def sql_on_yarn(name, only=(), part="sql"):
    """Returns the suite of queries on the shared cluster. Its tables come from a generator of PyPI."""
    suite = cluster_suite(name, "sql", part=part, shares=("stores", "formats"))
    suite.steps[-1:] = [["make", "-s", "sql"], ["make", "-s", "sql-environment"],
                        [os.path.join(BUILD, "sql-environment/bin/python"), "-B", "hadoop/tests/sql_test.py", *only]]
    suite.skip = no_pypi
    return suite


def tables_of_java_tasks():
    """Returns the suite of Java jobs with tables, on the shared cluster and on one machine."""
    suite = cluster_suite("tables in Java tasks of Hadoop", "", part="table", shares=("hadoop", "table"))
    suite.steps[-1:] = [["make", "-s", "table", "table-hadoop"], [PYTHON, "table/tests/hadoop_test.py"]]
    return suite


def engine_bench(name):
    # Benches spell the flag for tiny data as `--tiny` or `tiny`, and ignore the other spelling.
    return Suite("benches", f"engine/benches/{name}.rs",
                 [["cargo", "bench", "--profile", "tested", "--locked", "-p", "yunti-engine", "--bench", name, "--", "--tiny", "tiny"]])


# The guides, packages and licences cover all parts.
EVERY_PART = [["make", "-s", part] for part in ("formats", "observe", "hadoop", "namenode", "warmup", "capacity")]

SUITES = [
    Suite("engine", "counting of test results", [unittest("tools/tests/units")], counts.read_unittest),
    Suite("engine", "engine and command, tiny limits", [
        ["cargo", "test", "--no-run", "--locked"],
        ["cargo", "test", "--locked", "--no-fail-fast", "--", "--show-output"],
    ], counts.read_cargo, minutes=40),
    Suite("engine", "licences, bans and sources of dependencies",
          [["cargo", "deny", "--locked", "check", "licenses", "bans", "sources"]]),
    # sql builds for minutes, and Cargo builds one thing at a time in a target directory: suites without it run beside.
    Suite("web", "templates: compiled against stock Velocity",
          [["mvn", "-B", "-f", "web/pom.xml", "-Pbench", "package"]], counts.read_surefire),
    Suite("sql", "licences of sql",
          [["cargo", "deny", "--manifest-path", "sql/Cargo.toml", "--locked", "check", "licenses", "bans", "sources"]]),
    *sql_units(),
    *compiled_twice("gcc"),
    *compiled_twice("clang"),
    Suite("conformance", "TeraGen and TeraChecksum against Hadoop", [["tests/conformance/teragen/check.sh", YUNTI]],
          counts.read_lines,
          {"YUNTI_TEST_CACHE": os.path.join(BUILD, "test-cache")}),
    Suite("conformance", "examples against Hadoop's examples",
          cmake("examples", "examples", "gcc") + [[PYTHON, "tests/conformance/examples/examples_test.py"]],
          counts.read_unittest, {"YUNTI": YUNTI, "YUNTI_EXAMPLES": os.path.join(BUILD, "examples/lib"),
                               "YUNTI_TEST_CACHE": os.path.join(BUILD, "test-cache")}),
    Suite("conformance", "yunti streaming against Hadoop Streaming",
          [[PYTHON, "tests/conformance/streaming/streaming_test.py"]], counts.read_unittest,
          {"YUNTI": YUNTI, "YUNTI_TEST_CACHE": os.path.join(BUILD, "test-cache")}),
    Suite("stores", "licences of stores",
          [["cargo", "deny", "--manifest-path", "stores/Cargo.toml", "--locked", "check", "licenses", "bans",
            "sources"]]),
    Suite("stores", "unit tests of stores",
          [["cargo", "test", "--profile", "tested", "--locked", "--manifest-path", "stores/Cargo.toml", "--target-dir",
            "target"]], counts.read_cargo),
    Suite("stores", "jobs on stand-ins of stores", [["make", "-s", "stores", "formats"], unittest("stores/tests")],
          counts.read_unittest, {"YUNTI": YUNTI}, shares=("formats",)),
    cluster_suite("jobs on HDFS from the node", "stores", part="stores", shares=("stores",)),
    Suite("sql", "queries against other engines",
          [["make", "-s", "sql", "table"], ["make", "-s", "sql-environment"],
           [os.path.join(BUILD, "sql-environment/bin/python"), "-B", "-m", "unittest", "discover", "-v", "-s", "sql/tests",
            "-p", "*_test.py"]], counts.read_unittest, {"YUNTI": YUNTI}, minutes=50, skip=no_pypi, shares=("formats",)),
    sql_on_yarn("queries on YARN", ON_YARN),
    Suite("formats", "unit tests", [["cargo", "test", "--profile", "tested", "--locked", "--manifest-path", "formats/Cargo.toml",
                                     "--target-dir", "target", "--no-fail-fast", "--", "--show-output"]], counts.read_cargo),
    Suite("formats", "licences, bans and sources of dependencies",
          [["cargo", "deny", "--locked", "--manifest-path", "formats/Cargo.toml", "check", "licenses", "bans",
            "sources"]]),
    Suite("formats", "files of columns of many writers, as jobs",
          [["make", "-s", "formats", "python-environment"],
           [os.path.join(BUILD, "python-environment/bin/python"), "-m", "unittest", "discover", "-v", "-s",
            "formats/tests", "-p", "*_test.py"]], counts.read_unittest, {"YUNTI": YUNTI}, skip=no_pypi, shares=("python",)),
    *(engine_bench(name) for name in ("vsort", "fold", "merge")),
    Suite("benches", "limit programs", [["make", "-s", "-C", "benches/limits", "test"]], skip=no_avx2),
    Suite("benches", "make bench, tiny data", cmake("examples", "examples", "gcc")
          + [[PYTHON, "tools/tests/tiny_bench.py", "engine"]], counts.read_lines, skip=no_avx2),
    Suite("benches", "make bench-code, tiny data", [["make", "-s", "python", "examples-built"],
                                                    [PYTHON, "tools/tests/tiny_bench.py", "code"]], counts.read_lines,
          skip=no_pypi),
    Suite("benches", "unit tests of make bench-columns", [unittest("benches/columns")], counts.read_unittest),
    Suite("benches", "make bench-columns, tiny data", [["make", "-s", "formats"],
                                                       [PYTHON, "tools/tests/tiny_bench.py", "columns"]],
          counts.read_lines, skip=no_pypi, shares=("formats",)),
    Suite("benches", "make bench-observe, tiny data", [["make", "-s", "bench-observe", "ARGS=--quick --no-save"]]),
    *(Suite("hadoop", f"{name} give the output of stock Hadoop",
            [["make", "-s", "hadoop"], ["hadoop/conformance/run", *options, "--only", "|".join(cases)]],
            counts.read_conformance)
      for name, options, cases in (("settings", ["--variant", "shuffle"], SETTINGS_CASES),
                                   ("jobs on one machine", ["--variant", "runner"], RUNNER_CASES),
                                   ("native tasks", ["--variant", "native"], NATIVE_CASES))),
    Suite("hadoop", "programs on one machine", [["make", "-s", "hadoop"], unittest("hadoop/tests/runner")],
          counts.read_unittest),
    Suite("hadoop", "make bench-one-machine, tiny data",
          [["make", "-s", "hadoop"], [PYTHON, "benches/hadoop/one_machine.py", "--size", "0.0005", "--rounds", "1",
                                      "--rows", "word count,TeraSort,mapper alone", "--no-save"]]),
    Suite("hadoop", "unit tests of the plug-in", [["mvn", "-B", "-f", "hadoop/plugin/pom.xml", "test"]],
          counts.read_surefire),
    Suite("hadoop", "licences in the jar", [[PYTHON, "hadoop/tests/licences_test.py"]], counts.read_unittest),
    Suite("hadoop", "Hadoop's own tests of the collector", [["make", "-s", "hadoop"], [PYTHON, "hadoop/stock-tests/run.py", "--quick"]]),
    cluster_suite("native code that fails, on a cluster", "faults/fallback",
                  [f"Fallback.test_{name}" for name in FALLBACKS]),
    cluster_suite("jobs on a cluster", "jobs", [f"Jobs.test_{name}" for name in JOBS]),
    Suite("hadoop", "archives of classes fit their containers", [[PYTHON, "hadoop/command/tests/warm_test.py", "Script"]],
          counts.read_unittest),
    cluster_suite("job files on a cluster", "job_files", JOB_FILES),
    cluster_suite("code of any language on a cluster", "user_code", USER_CODE),
    cluster_suite("files of columns on a cluster", "columns", [f"Columns.test_{name}" for name in COLUMNS],
                  shares=("formats",)),
    Suite("observe", "unit tests",
          [["cargo", "test", "--profile", "tested", "--locked", "-p", "yunti-observe", "-p", "yunti-probe", "-p",
            "yunti-machine", "-p", "yunti-crash", "-p", "yunti-ext4", "-p", "yunti-gc",
            "-p", "yunti-record",
            "--no-fail-fast", "--", "--show-output"]], counts.read_cargo),
    Suite("observe", "unit tests of heap dumps, tiny limits",
          [["cargo", "test", "--locked", "-p", "yunti-heap", "--no-fail-fast", "--", "--show-output"]], counts.read_cargo),
    observe_suite("flame graphs of programs with known call stacks", "profiles/flame"),
    observe_suite("flame graphs of programs that wait and allocate", "profiles/flame_native"),
    observe_suite("services recorded in slices", "profiles/record"),
    observe_suite("call traces of a program with known calls", "trace"),
    observe_suite("locks of programs that measure their waits", "locks"),
    observe_suite("native calls of known programs", "native"),
    observe_suite("native calls under conditions, counted", "native_conditions"),
    observe_suite("page faults of known programs", "memory/faults"),
    observe_suite("slow requests with known causes", "slow"),
    observe_suite("garbage collection logs of every collector", "memory/gc"),
    observe_suite("heap dumps of programs with known memory", "memory/heap"),
    observe_suite("heap dumps of programs that leak or waste memory", "memory/leaks"),
    observe_suite("objects that waiting requests hold", "memory/held"),
    machine_suite("ext4 file systems with known blocks", "ext4"),
    machine_suite("guard on failing devices", "guard"),
    machine_suite("page cache with known hits and misses", "cache"),
    machine_suite("control groups with known resource use", "cgroup"),
    machine_suite("TCP between services and callers that count", "net"),
    machine_suite("crash reports arrive once over faulty networks", "crash"),
    machine_suite("crash reports with hostile logs, files and collectors", "crash_hostile"),
    machine_suite("settings changed and restored", "settings"),
    machine_suite("settings bench, each setting once", "bench"),
    observe_suite("requests under way on event loops", "why/requests"),
    observe_suite("why, on programs with known causes", "why"),
    observe_suite("why, on programs of Python", "runtimes/python"),
    observe_suite("why, on programs of Go", "runtimes/go"),
    observe_suite("why and flame, on programs of Node.js", "runtimes/node"),
    observe_suite("why, on programs bound by files and connections", "why/machine"),
    observe_suite("why, on programs that others hold up", "why/outside"),
    Suite("namenode", "unit tests", [["cargo", "test", "--profile", "tested", "--locked", "-p", "yunti-namenode", "--no-fail-fast", "--",
                                      "--show-output"]], counts.read_cargo),
    Suite("namenode", "unit tests of the plug-in", [["mvn", "-B", "-f", "namenode/plugin/pom.xml", "test"]],
          counts.read_surefire),
    Suite("namenode", "plug-ins in a NameNode",
          [["make", "-s", "namenode"], [PYTHON, "namenode/tests/plugins_test.py"]], counts.read_unittest,
          {"YUNTI": YUNTI}),
    Suite("namenode", "load on a stock NameNode", [["make", "-s", "namenode"], [PYTHON, "namenode/tests/load_test.py"]],
          counts.read_unittest, {"YUNTI": YUNTI}),
    Suite("namenode", "DataNodes without disks",
          [["make", "-s", "namenode"], [PYTHON, "namenode/tests/datanodes_test.py"]], counts.read_unittest,
          {"YUNTI": YUNTI}),
    Suite("namenode", "audit logs replayed", [["make", "-s", "namenode"], [PYTHON, "namenode/tests/replay_test.py"]],
          counts.read_unittest, {"YUNTI": YUNTI}),
    Suite("namenode", "advice for a NameNode",
          [["make", "-s", "namenode"], [PYTHON, "namenode/tests/advise_test.py", "Advise.test_a_fair_lock", "Wrong"]],
          counts.read_unittest, {"YUNTI": YUNTI}),
    Suite("namenode", "comparison of results with stock", [[PYTHON, "namenode/stock-tests/compare_test.py"]],
          counts.read_unittest),
    *(Suite("python", name, [["make", "-s", "python-environment", "table"],
                             [os.path.join(BUILD, "python-environment/bin/python"), "-m", "unittest", "discover", "-v",
                              "-s", "python/tests", "-p", pattern]], counts.read_unittest, {"YUNTI_INSTALLED": "1"},
            skip=no_pypi)
      for name, pattern in (("the wheel in a fresh environment", "[acdkqt]*_test.py"),
                            ("the wheel on each CPython", "pythons_test.py"))),
    Suite("table", "unit tests, random and damaged tables",
          [["cargo", "test", "--profile", "tested", "--locked", "-p", "yunti-table", "-p", "yunti-table-remote",
            "-p", "yunti-table-serve", "--no-fail-fast", "--", "--show-output"]],
          counts.read_cargo),
    Suite("table", "tables by the command", [["make", "-s", "table"], [PYTHON, "table/tests/table_test.py"]],
          counts.read_unittest, {"YUNTI": YUNTI}),
    Suite("table", "tables of servers, by the command", [["make", "-s", "table"], [PYTHON, "table/tests/serve_test.py"]],
          counts.read_unittest, {"YUNTI": YUNTI}),
    Suite("table", "servers of tables at their limits", [["make", "-s", "table"], [PYTHON, "table/tests/limits_test.py"]],
          counts.read_unittest, {"YUNTI": YUNTI}),
    Suite("table", "client in C++", [["make", "-s", "table"], [PYTHON, "table/tests/client_test.py"]],
          counts.read_unittest, {"YUNTI": YUNTI}),
    Suite("table", "the same rows in Rust, C++, Java and Python",
          [["make", "-s", "table-readers"], [PYTHON, "table/tests/readers_test.py"]], counts.read_unittest, {"YUNTI": YUNTI}),
    Suite("table", "tables from queries", [["make", "-s", "sql", "table"], [PYTHON, "table/tests/query_test.py"]],
          counts.read_unittest, {"YUNTI": YUNTI}),
    tables_of_java_tasks(),
    Suite("table", "reader for Java", [["make", "-s", "table"], ["mvn", "-B", "-f", "table/pom.xml", "package"]],
          counts.read_surefire),
    Suite("table", "reader for Java on JDK 25", [["make", "-s", "table"], on_jdk_25(project="table/java/pom.xml")],
          counts.read_surefire, skip=no_jdk_25),
    Suite("warmup", "unit tests", [["cargo", "test", "--profile", "tested", "--locked", "-p", "yunti-warmup", "-p", "yunti-replay",
                                    "--no-fail-fast", "--", "--show-output"]], counts.read_cargo),
    Suite("warmup", "services that start warm", [["make", "-s", "warmup"], [PYTHON, "warmup/tests/warmup_test.py"]],
          counts.read_unittest, {"YUNTI": YUNTI}),
    Suite("capacity", "licences of capacity",
          [["cargo", "deny", "--manifest-path", "capacity/Cargo.toml", "--workspace", "--locked", "check", "licenses", "bans",
            "sources"]]),
    Suite("capacity", "unit tests of capacity",
          [["cargo", "test", "--profile", "tested", "--locked", "--manifest-path", "capacity/Cargo.toml", "--workspace",
            "--target-dir", "target", "--no-fail-fast", "--", "--show-output"]], counts.read_cargo),
    Suite("capacity", "load and histories",
          [["make", "-s", "capacity"],
           [PYTHON, "-m", "unittest", "discover", "-v", "-s", "capacity/tests", "-p", "[lw]*_test.py"]], counts.read_unittest,
          {"YUNTI": YUNTI}, shares=("observe",)),
    Suite("capacity", "services with known costs",
          [["make", "-s", "capacity"],
           [PYTHON, "-m", "unittest", "discover", "-v", "-s", "capacity/tests", "-p", "[cp]*_test.py"]],
          counts.read_unittest, {"YUNTI": YUNTI}, shares=("observe",)),
    Suite("capacity", "requests and places with known costs",
          [["make", "-s", "capacity"],
           [PYTHON, "-m", "unittest", "discover", "-v", "-s", "capacity/tests/demands", "-p", "*_test.py"]],
          counts.read_unittest, {"YUNTI": YUNTI}, shares=("observe",)),
    Suite("house", "commands of the guides", [*EVERY_PART, unittest("tests/guides")], counts.read_unittest,
          {"YUNTI": YUNTI}, minutes=40),
    Suite("house", "packages", [*EVERY_PART, unittest("tests/packages")], counts.read_unittest, minutes=40),
    Suite("house", "binary, dist layout and pages", [*EVERY_PART, unittest("tests/house")], counts.read_unittest,
          {"YUNTI": YUNTI}, minutes=40),
]
