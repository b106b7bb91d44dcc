#!/usr/bin/env python3
"""Runs the suites of one part that take too long for every change:

    full.py engine [--minutes N] [--only NAME,..]   tests under sanitizers, and with masked vector instructions; every
                                                    file operation made to fail; a million rows of random tables in all
                                                    languages; random jobs and fuzz targets, N minutes each
    full.py hadoop [--only NAME,..]                 the native half under sanitizers; conformance jobs in all variants,
                                                    with JNI checks and in a JVM with the address sanitizer, and on other
                                                    versions of Hadoop and Java; faults on a cluster
                                                    (hadoop/tests/faults)
    full.py observe [--only NAME,..]                kernel programs by each installed clang: compiled, loaded, run; why,
                                                    on all programs with known causes, and on trials
    full.py namenode [--only NAME,..]               Hadoop's tests with and without each plug-in; lock and queue under
                                                    jcstress; the model of the lock; takes hours
    full.py web [--only NAME,..]                    100,000 random templates by stock Velocity and compiled, and 100,000
                                                    shrunk

RUSTC_BOOTSTRAP=1 enables the compiler's unstable flags. tests/results/PART-full.md keeps the last result of each suite.
The last line is `N passed, N failed, N skipped`.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import counts  # noqa: E402
import jdks  # noqa: E402
import results  # noqa: E402
import run  # noqa: E402
import skips  # noqa: E402
from suites import (  # noqa: E402
    BUILD, ROOT, YUNTI, Suite, cluster_suite, no_clang, no_jdk_25, observe_suite, on_jdk_25, sql_on_yarn,
)

HOST = next(line.split()[1]
            for line in subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout.splitlines()
            if line.startswith("host:"))
COVERAGE = ("-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 "
            "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters "
            "-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1")


def sanitized(package, name, flags, environment, target_folder):
    # With --target, build scripts and macros are compiled without these flags.
    env = {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": flags,
           "CARGO_TARGET_DIR": os.path.join(BUILD, target_folder)} | environment
    command = ["cargo", "test", "--locked", "-p", package, "--lib", "--tests", "--target", HOST, "--no-fail-fast", "--",
               "--show-output"]
    return Suite("full", name, [command], counts.read_cargo, env, minutes=90)


def fuzzing(target, minutes):
    folder = os.path.join(BUILD, "full-fuzz")
    env = {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": f"--cfg fuzzing -Zsanitizer=address -Cdebug-assertions {COVERAGE}",
           "CARGO_TARGET_DIR": folder}
    # The targets of formats/ are a workspace of their own, as the library is.
    workspace = "formats/fuzz" if target in OF_FORMATS else "fuzz"
    corpus, found = os.path.join(ROOT, workspace, "corpus", target), os.path.join(BUILD, "fuzz-found", target)
    for path in (corpus, found):
        os.makedirs(path, exist_ok=True)
    program = os.path.join(folder, HOST, "release", target)
    # libFuzzer writes new inputs to the first folder and only reads the committed corpus.
    fuzz = [program, found, corpus, f"-max_total_time={int(minutes * 60)}", "-timeout=20", "-rss_limit_mb=2048",
            "-print_final_stats=1",
            f"-artifact_prefix={found}/"]
    build = ["cargo", "build", "--release", "--manifest-path", f"{workspace}/Cargo.toml", "--bin", target, "--target", HOST]
    return Suite("full", f"fuzz {target}", [build, fuzz], counts.read_exit, env, minutes=minutes + 30)


def twice_sanitized(package):
    return [
        # C is instrumented too. gcc 12 reports a false use-after-scope for a local array that it made constant in zstd.
        sanitized(package, "address sanitizer", "-Zsanitizer=address",
                  {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1",
                   "CFLAGS": "-fno-sanitize-address-use-after-scope"}, "full-address"),
        sanitized(package, "debug assertions in the optimised build",
                  "-Copt-level=3 -Cdebug-assertions -Coverflow-checks", {},
                  "full-careful"),
    ]


def tested(name, test, env, minutes):
    """Returns the suite of one test program of the engine, with more work than in `make test`."""
    return Suite("full", name, [["cargo", "test", "--locked", "-p", "yunti-engine", "--test", test, "--",
                                 "--show-output"]], counts.read_cargo, env, minutes=minutes)


def examples_sanitized():
    """Returns the suite of the class libraries of examples/ with sanitizers.

    They run in the unchanged command, which preloads the runtimes of the sanitizers.
    """
    folder = os.path.join(BUILD, "full-examples")
    flags = "-g -fsanitize=address,undefined -fno-sanitize-recover=all"
    runtimes = [subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
                for name in ("libasan.so", "libubsan.so")]
    steps = [["cmake", "-S", "examples", "-B", folder, "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_BUILD_TYPE=Release",
              f"-DCMAKE_CXX_FLAGS={flags}"],
             ["cmake", "--build", folder, "--parallel", "2"],
             ["cargo", "build", "--release", "--locked", "-p", "yunti"],
             ["env", f"LD_PRELOAD={':'.join(runtimes)}", "ASAN_OPTIONS=detect_leaks=0", sys.executable,
              "tests/examples/examples_test.py"]]
    env = {"YUNTI": os.path.join(ROOT, "target/release/yunti"), "YUNTI_EXAMPLES": os.path.join(folder, "lib")}
    return Suite("full", "examples as jobs, address and undefined-behaviour sanitizers", steps, counts.read_unittest,
                 env, minutes=30)


def read_with_races(read):
    """Returns a reader that counts like `read` and also counts each report of the thread sanitizer as a failure."""
    def counted(text, code):
        found = read(text, code)
        reports = re.findall(r"^(?:SUMMARY|FATAL): ThreadSanitizer: .*$", text, re.M)
        # Remove local prefixes of paths: of this repository, of Rust's library, of a crate.
        found.failures += sorted({re.sub(r"\S*/(?:rust/library|registry/src/[^/ ]+)/", "", line.replace(ROOT + "/", ""))
                                  for line in reports})
        return found
    return counted


def compiler_with_source():
    """Returns the compiler that can compile its own library: None for the installed one, "" if there is none.

    tools/setup unpacks one if the installed compiler has no source.
    """
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
    if os.path.exists(os.path.join(sysroot, "lib/rustlib/src/rust/library/Cargo.lock")):
        return None
    unpacked = os.path.join(BUILD, "tools/rust/bin/rustc")
    return unpacked if os.access(unpacked, os.X_OK) else ""


def no_source():
    return skips.NO_SOURCE if compiler_with_source() == "" else None


# The thread sanitizer slows tests by a factor of ten, so run fewer random jobs.
RACES = {"TSAN_OPTIONS": "halt_on_error=0:second_deadlock_stack=1:history_size=4", "YUNTI_RANDOM_JOBS": "500",
         "YUNTI_SIMULATION_JOBS": "1000"}


def with_thread_sanitizer():
    """Returns the environment for the thread sanitizer. It also instruments std, to see its locks and fences."""
    compiler = compiler_with_source()
    env = {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": "-Zsanitizer=thread --cfg thread_sanitizer",
           "CARGO_TARGET_DIR": os.path.join(BUILD, "full-thread")}
    return env | RACES | ({"RUSTC": compiler} if compiler else {})


def races():
    """Returns the suite of the engine's tests under the thread sanitizer."""
    command = ["cargo", "test", "--locked", "-p", "yunti-engine", "--lib", "--tests", "--target", HOST, "-Zbuild-std",
               "--no-fail-fast", "--", "--show-output"]
    return Suite("full", "thread sanitizer", [command], read_with_races(counts.read_cargo), with_thread_sanitizer(),
                 minutes=90, skip=no_source)


def examples_in_threads():
    """Returns the suite of the class libraries of examples/ and the command, both with the thread sanitizer.

    The command exports the symbols of its runtime to the libraries. Libraries by gcc would bring a second runtime.
    """
    env = with_thread_sanitizer()
    libraries = os.path.join(BUILD, "full-examples-thread")
    steps = [["cmake", "-S", "examples", "-B", libraries, "-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++",
              "-DCMAKE_BUILD_TYPE=Release",
              # As programs, cmake's compiler checks would need clang's runtime.
              "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", "-DCMAKE_CXX_FLAGS=-g -fsanitize=thread"],
             ["cmake", "--build", libraries, "--parallel", "2"],
             ["cargo", "rustc", "--locked", "-p", "yunti", "--bin", "yunti", "--target", HOST, "-Zbuild-std", "--",
              "-Clink-arg=-Wl,--export-dynamic"],
             [sys.executable, "-m", "unittest", "-v", "tests/examples/examples_test.py", "tests/races/races_test.py"]]
    env |= {"YUNTI": os.path.join(env["CARGO_TARGET_DIR"], HOST, "debug/yunti"),
            "YUNTI_EXAMPLES": os.path.join(libraries, "lib")}
    return Suite("full", "examples as jobs, thread sanitizer", steps, counts.read_unittest, env, minutes=60,
                 skip=lambda: no_source() or no_clang())


def masked(level):
    """Returns the suite of engine and command with the vector instructions of an older processor."""
    command = ["cargo", "test", "--locked", "-p", "yunti-engine", "-p", "yunti", "--lib", "--bins", "--tests",
               "--no-fail-fast", "--", "--show-output"]
    return Suite("full", f"vector instructions masked: {level}", [command], counts.read_cargo, {"YUNTI_SIMD": level},
                 minutes=60)


# Fuzz targets of observe and of formats; the engine has all others.
OF_OBSERVE = ("ext4", "gc_log", "heap_dump", "heap_snapshot", "hs_err", "kernel_log", "otlp_profiles", "pprof")
OF_FORMATS = ("avro", "orc", "parquet_snappy", "sequence")


def fuzz_targets():
    return sorted(os.path.basename(path)[:-3]
                  for folder in ("fuzz", "formats/fuzz")
                  for path in glob.glob(os.path.join(ROOT, folder, "fuzz_targets/**/*.rs"), recursive=True))


def engine(minutes):
    return twice_sanitized("yunti-engine") + [
        races(),
        examples_sanitized(),
        examples_in_threads(),
        masked("avx2"),
        masked("plain"),
        tested("every file operation made to fail", "faults", {"YUNTI_SWEEP": "full"}, 60),
        tested("random jobs", "random", {"YUNTI_RANDOM_SECONDS": str(int(minutes * 60))}, minutes + 20),
        long_tests("a million rows of random tables in Rust, C++, Java and Python", [["make", "-s", "table-readers"]],
                   ["table/tests"]),
        tested("simulated jobs", "simulation", {"YUNTI_SIMULATION_SECONDS": str(int(minutes * 60))}, minutes + 20),
    ] + [fuzzing(target, minutes) for target in fuzz_targets() if target not in OF_OBSERVE]


def read_checked_jobs(text, code):
    """Reads the conformance suite under -Xcheck:jni or a sanitizer, and counts each of their reports as a failure."""
    found = counts.read_conformance(text, code)
    reports = re.findall(r"^(?:WARNING in native method|FATAL ERROR in native method|WARNING: JNI|.*ERROR: "
                         r"AddressSanitizer).*$", text, re.M)
    found.failures += sorted(set(reports))
    return found


def jobs(name, variant, env, more=(), steps=(["make", "-s", "hadoop"],)):
    command = ["hadoop/conformance/run", "--variant", variant, *more]
    return Suite("full", name, [*steps, command], read_checked_jobs, env, minutes=60)


def in_a_sanitized_jvm():
    """Returns the suite of the plug-in's library with the address sanitizer; the JVM preloads its runtime.

    The JVM uses segmentation faults itself and frees little at its end, so both checks are off.
    """
    folder = os.path.join(BUILD, "full-address-jvm")
    runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    library = os.path.join(folder, HOST, "release/libyunti_hadoop.so")
    build = ["env", "RUSTC_BOOTSTRAP=1", "RUSTFLAGS=-Zsanitizer=address", f"CARGO_TARGET_DIR={folder}", "cargo",
             "build", "--release", "--locked",
             "-p", "yunti-hadoop", "--target", HOST]
    env = {"JAVA_OPTS": f"-Dyunti.hadoop.library={library}", "YUNTI_PRELOAD": runtime,
           "ASAN_OPTIONS": "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:allow_user_segv_handler=1:detect_leaks=0:"
                           "verify_asan_link_order=0"}
    themes = [word for theme in ("keys/", "combine/", "codecs/", "shape/") for word in ("--only", theme)]
    return jobs("jobs in a JVM with the address sanitizer", "shuffle", env, themes, [["make", "-s", "hadoop"], build])


def faults(name, test):
    """Returns the suite of a file in hadoop/tests/faults. Each starts its own cluster and logs its measurements."""
    return Suite("full", name, [["make", "-s", "hadoop"], [sys.executable, f"hadoop/tests/faults/{test}_test.py"]],
                 counts.read_unittest, minutes=60)


# Versions of Hadoop beside the one of hadoop/pom.xml; the versions with a shaded client on Maven Central.
OTHER_HADOOPS = ("3.1.4", "3.3.6", "3.4.2")
SHADED_HADOOPS = ("3.3.6", "3.5.0")
# Other versions of Java than 17, each with a Hadoop that runs on it.
OTHER_JAVAS = {"8": "3.3.6", "11": "3.4.2", "21": "3.5.0", "25": "3.5.0"}


def link():
    """Returns the suite that looks up all that the jar refers to on the class path of each Hadoop."""
    run = ["hadoop/conformance/run", "--link", "--hadoop"]
    return Suite("full", "the jar links on each Hadoop",
                 [["make", "-s", "hadoop"], *([*run, version] for version in (*OTHER_HADOOPS, "3.5.0")),
                  *([*run, version, "--shaded"] for version in SHADED_HADOOPS)])


def on_java(java, version, kind, variant):
    """Returns the suite of conformance jobs on a version of Java, which is skipped where that is not installed."""
    home = jdks.find([java]).get(java, ("", ""))[1]
    suite = jobs(f"{kind} on Hadoop {version}, Java {java}", variant, {}, ["--hadoop", version, "--java", home])
    suite.skip = lambda: None if home else f"there is no JDK {java}"
    return suite


def on_versions():
    """Returns the suites on other versions of Hadoop and Java, in one JVM and on clusters."""
    kinds = {"settings": "shuffle", "native tasks": "native", "jobs on one machine": "runner"}
    return [
        link(),
        *(jobs(f"{kind} on Hadoop {version}", variant, {}, ["--hadoop", version])
          for version in OTHER_HADOOPS for kind, variant in kinds.items()),
        *(jobs(f"settings on the shaded client of Hadoop {version}", "shuffle", {}, ["--shaded", "--hadoop", version])
          for version in SHADED_HADOOPS),
        *(on_java(java, version, kind, variant)
          for java, version in OTHER_JAVAS.items() for kind, variant in kinds.items()),
        Suite("full", "jobs on clusters of other versions",
              [["make", "-s", "hadoop"], [sys.executable, "hadoop/tests/versions_test.py"]], counts.read_unittest,
              {"YUNTI": YUNTI}, minutes=40),
    ]


def hadoop(_):
    checked = {"JAVA_OPTS": "-Xcheck:jni"}
    return twice_sanitized("yunti-hadoop") + [
        jobs("stock against stock", "stock", {}),
        jobs("collector, JNI checked", "collector", checked),
        jobs("collector and shuffle, JNI checked", "shuffle", checked),
        jobs("native tasks, JNI checked", "native", checked),
        jobs("jobs on one machine, JNI checked", "runner", checked),
        jobs("jobs on one machine, in JVMs of their own", "runner", {}, ["-Dyunti.hadoop.isolation=jvms"]),
        in_a_sanitized_jvm(),
        jobs("sizes of records and buffers, swept", "shuffle", {},
             ["--sweep", "--only", "sizes/", "--only", "partitions"]),
        jobs("sizes of records and buffers in native tasks, swept", "native", {},
             ["--sweep", "--only", "sizes/", "--only", "partitions"]),
        Suite("full", "Hadoop's own tests of MapReduce",
              [["make", "-s", "hadoop"], [sys.executable, "hadoop/stock-tests/run.py", "--control", "needed",
                                          "--markdown", "tests/results/hadoop-tests-mapreduce.md"]], minutes=120),
        Suite("full", "Hadoop's own tests of MapReduce, on one machine",
              [["make", "-s", "hadoop"], [sys.executable, "hadoop/stock-tests/run.py", "--variant", "runner", "--control",
                                          "needed", "--markdown", "tests/results/hadoop-tests-runner.md"]],
              minutes=180),
        Suite("full", "programs on one machine: leaks, full disks, users, S3",
              [["make", "-s", "hadoop"], [sys.executable, "-m", "unittest", "discover", "-v", "-s",
                                          "hadoop/tests/runner/long", "-p", "*_test.py"]], counts.read_unittest,
              minutes=60),
        long_tests("long tests of programs on one machine", [["make", "-s", "hadoop"]], ["hadoop/tests/runner"]),
        Suite("full", "programs of others on one machine",
              [["make", "-s", "hadoop"], [sys.executable, "-m", "unittest", "discover", "-v", "-s",
                                          "hadoop/tests/runner/outsiders", "-p", "*_test.py"]], counts.read_unittest,
              minutes=30),
        Suite("full", "life cycle of the cluster", [[sys.executable, "hadoop/cluster/tests/cluster_test.py"]],
              counts.read_unittest),
        cluster_suite("conformance jobs on a cluster, all variants", "conformance", part="full"),
        cluster_suite("archives of classes on a cluster", "../command/tests/warm", ["Jobs"], part="full"),
        cluster_suite("jobs on a cluster, every test", "jobs", part="full"),
        cluster_suite("job files on a cluster, every test", "job_files", part="full"),
        cluster_suite("code of any language on a cluster, every test", "user_code", part="full"),
        cluster_suite("files of columns on a cluster, every test", "columns", part="full", shares=("formats",)),
        sql_on_yarn("queries on YARN, every test", part="full"),
        long_tests("long tests of sql", [["make", "-s", "sql"], ["make", "-s", "sql-environment"]], ["sql/tests"],
                   os.path.join(BUILD, "sql-environment/bin/python")),
        *on_versions(),
        faults("faults: killed tasks and nodes", "killed"),
        faults("faults: native code that fails", "fallback"),
        faults("faults: failing ShuffleHandlers and corrupt map outputs", "shuffle_server"),
        faults("faults: a full disk", "full_disk"),
        faults("faults: TLS", "tls"),
        faults("faults: memory of containers", "container_memory"),
        faults("faults: many outputs, many tasks", "many_tasks"),
    ]


def web(_):
    """Returns suites of random templates, with a new seed in each run. The log contains the seed."""
    seed = str(int(time.time()))
    one_test = ["mvn", "-B", "-f", "web/pom.xml", "-am", "-Dsurefire.failIfNoSpecifiedTests=false", "test"]
    fuzz = [*one_test, "-pl", "oracle", "-Dtest=FuzzTest", "-Dyunti.fuzz.cases=100000", f"-Dyunti.fuzz.seed={seed}"]
    shrunk = [*one_test, "-pl", "shrink", "-Dtest=RandomTemplatesTest"]
    return [
        Suite("full", "100,000 random templates", [fuzz], counts.read_surefire, minutes=120),
        Suite("full", "100,000 random templates, shrunk", [shrunk], counts.read_surefire,
              {"YUNTI_WEB_CASES": "100000", "YUNTI_WEB_SEED": seed}, minutes=60),
        Suite("full", "templates on JDK 25", [on_jdk_25("-pl", "velocity,oracle", "-Dyunti.fuzz.seed=2")],
              counts.read_surefire, skip=no_jdk_25),
    ]


def long_tests(name, builds, folders, python=sys.executable):
    """Returns the suite of the marked tests in folders, which `make test` leaves out."""
    return Suite("full", name, [*builds, [python, "tools/tests/long_tests.py", *folders]], counts.read_unittest,
                 {"YUNTI": YUNTI}, minutes=60)


def trials(collection):
    """Returns the suite of `why` on a collection of observe/tests/why/trials/.

    Only right verdicts count as passed, and only bounds that are not kept as failed; the page has the others too.
    """
    judge = [sys.executable, "observe/tests/why/trials.py", f"observe/tests/why/trials/{collection}", "--page",
             f"tests/results/trials-{collection}.md"]
    return Suite("full", f"why, trials of {collection}", [["make", "-s", "observe"], judge], counts.read_trials,
                 {"YUNTI": os.path.join(ROOT, "dist/bin/yunti")}, minutes=120)


def observe(minutes):
    """Returns suites with each clang, because the kernel's verifier may refuse the program of one compiler only."""
    return [Suite("full", "kernel programs by each clang",
                  [["make", "-s", "observe"], [sys.executable, "observe/tests/verifier_test.py"]],
                  counts.read_unittest, minutes=60),
            long_tests("long tests of observe, machine, capacity and warmup", [["make", "-s", "capacity", "warmup"]],
                       ["observe/tests", "machine/tests", "capacity/tests", "warmup/tests"]),
            observe_suite("why, on cases of the trials", "why/trials"),
            Suite("full", "why, on all programs with known causes",
                  [["make", "-s", "observe"], [sys.executable, "observe/tests/why/all_test.py"]],
                  counts.read_unittest, {"YUNTI": os.path.join(ROOT, "dist/bin/yunti")}, minutes=90),
            trials("birch"),
            trials("alder"),
            trials("cedar"),
            trials("dogwood"),
            Suite("full", "programs with known causes", [[sys.executable, "observe/tests/why/programs_test.py"]],
                  counts.read_unittest, minutes=30),
            *(fuzzing(target, minutes) for target in OF_OBSERVE)]


def namenode(_):
    stock = [sys.executable, "namenode/stock-tests/run.py"]
    made = ["make", "-s", "namenode"]
    return [*(Suite("full", f"Hadoop tests: {variant}",
                    [made, [*stock, "--variant", variant, "--jobs", "5", "--control", "needed", "--markdown",
                            f"tests/results/hadoop-tests-{variant}.md"]], minutes=600)
              for variant in ("lock", "throughput", "apart", "queue", "audit")),
            Suite("full", "lock and queue under jcstress", [made, ["namenode/jcstress/run"]], minutes=120),
            Suite("full", "model of the lock, larger", [["mvn", "-B", "-f", "namenode/plugin/pom.xml", "test",
                                                         "-Dtest=PhasedLockModelTest", "-Dyunti.model=all"]],
                  counts.read_surefire, minutes=60),
            Suite("full", "advice for NameNodes", [made, [sys.executable, "namenode/tests/advise_test.py"]],
                  counts.read_unittest, {"YUNTI": YUNTI})]


PARTS = {"engine": engine, "hadoop": hadoop, "namenode": namenode, "observe": observe, "web": web}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--minutes", type=float, default=10, help="minutes per fuzz target (default 10)")
    parser.add_argument("--only", default="", help="run suites whose names begin so, separated by commas")
    options = parser.parse_args()
    total = counts.Counts()
    suites = PARTS[options.part](options.minutes)
    # Some names have commas.
    is_one = any(suite.name.startswith(options.only) for suite in suites)
    only = (options.only,) if options.only and is_one else tuple(n for n in options.only.split(",") if n)
    if results.state().endswith("+"):
        print("full.py: the checkout has uncommitted changes: test-house refuses these results; commit first",
              file=sys.stderr, flush=True)
    chosen = [suite for suite in suites if not only or suite.name.startswith(only)]
    ends = run.Ends(chosen)
    for suite in chosen:
        print(f"{suite.name} ..", flush=True)
        commit, begin = results.state(), time.monotonic()
        found = run.run(suite)
        ends.after(suite)
        total.add(found)
        if found.failures:
            print(f"  failed: {'; '.join(found.failures)}\n{run.excerpt(suite.log, found.failures)}", flush=True)
        # Written after each suite, so that an interrupted run keeps its results.
        results.keep(options.part, suite, found, f"{time.monotonic() - begin:.0f}", commit, [s.name for s in suites])
    print(f"{total.passed} passed, {len(total.failures)} failed, {len(total.skips)} skipped", flush=True)
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
