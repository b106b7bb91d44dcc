"""Valid reasons to skip a test, each with a check on this machine. A skipped test that can run here is a failure."""

import glob
import os
import re
import shutil
import subprocess

import jdks
import results
import suites


def _cpu_has(flag):
    with open("/proc/cpuinfo") as f:
        return re.search(rf"\b{flag}\b", f.read()) is not None


def _has(*programs):
    return all(shutil.which(p) for p in programs)


NO_SOURCE = "no compiler with the source of Rust's own library, for the thread sanitizer"


def _has_source():
    """Returns true if a compiler with its library's source exists, installed or unpacked by tools/setup."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True).stdout.strip()
    return any(os.path.exists(path) for path in (f"{sysroot}/lib/rustlib/src/rust/library/Cargo.lock",
                                                 os.path.join(os.path.dirname(__file__),
                                                              "../../build/tools/rust/bin/rustc")))


# (pattern in the reason of the skip, function that returns true if the test can run here)
PRECONDITIONS = [
    (re.escape(NO_SOURCE), _has_source),
    (re.escape(results.NEEDS_HISTORY), lambda: results.no_history() is None),
    (r"avx-?512", lambda: _cpu_has("avx512f") and _cpu_has("avx512vbmi2")),
    (r"avx-?2", lambda: _cpu_has("avx2")),
    *((rf"there is no JDK {version}\b", lambda version=version: bool(jdks.find([version])))
      for version in ("8", "11", "21", "25")),
    (r"no LLVM 19|install llvm-19-dev", lambda: suites.no_llvm() is None),
    (r"clang", lambda: _has("clang", "clang++")),
    (r"pip cannot reach PyPI", lambda: suites.no_pypi() is None),
    (r"GNU parallel is not installed", lambda: _has("parallel")),
    (r"there is no Go\b", lambda: _has("go")),
    *((rf"there is no {program}$", lambda program=program: _has(program))
      for program in ("cargo", "memcached", "nginx", "node", "openssl", "cc", "php", "redis-server", "ruby",
                      *(f"python3.{minor}" for minor in range(8, 14)))),
    (r"there is no openssl/ssl\.h$", lambda: os.path.exists("/usr/include/openssl/ssl.h")),
    (r"there is no postgres$", lambda: bool(glob.glob("/usr/lib/postgresql/*/bin/initdb")) or _has("initdb")),
    (r"node is not installed", lambda: _has("node")),
    (r"there is no strace", lambda: _has("strace")),
    (r"util-linux is absent", lambda: _has("unshare")),
    # Another program's port, or its load.
    (r"has the inspector's port|no processor is idle", lambda: False),
    (r"chromium", lambda: _has("chromium") or _has("chromium-browser") or _has("google-chrome")),
    (r"pkg-config", lambda: _has("pkg-config")),
    (r"\b(lintian|zsh|fish|groff|man|dpkg-deb) is not installed",
     lambda: _has("lintian", "zsh", "fish", "groff", "man", "dpkg-deb")),
    (r"programs in the kernel are not allowed", lambda: os.geteuid() == 0 and os.path.exists("/sys/kernel/btf/vmlinux")
        and os.readlink("/proc/self/ns/pid") == "pid:[4026531836]"),
    (r"only root can", lambda: os.geteuid() == 0 and _has("setpriv", "unshare")),
    (r"loop devices are made by root", lambda: os.geteuid() == 0 and os.path.exists("/dev/loop-control")),
    (r"tracepoints of page faults are x86's", lambda: os.uname().machine == "x86_64"),
    (r"this machine is so busy", lambda: os.getloadavg()[0] < 0.5),
    # Properties of the machine's memory, kernel and file systems, which are not probed.
    (r"huge pages are switched off|has no huge page to give|wants no notice of written pages|user namespaces are not "
     r"allowed", lambda: False),
    # File permissions do not restrict root.
    (r"not as root|root may", lambda: os.geteuid() != 0),
    # No Maven package contains Hadoop's native library.
    (r"native (zStandard|lz4) library not available|buildSupportsSnappy|no compressor without its native library",
     lambda: False),
    # A fault of an older Hadoop, which fails the job without a plug-in too.
    (r"stock Hadoop \d\S* cannot run it here", lambda: False),
    (r"sequence files with GzipCodec by its native library alone", lambda: False),
    # Damage by the JDK's zlib in stock Hadoop.
    (r"-Xcheck:jni damages", lambda: False),
    (r"network namespace", lambda: os.geteuid() == 0),
    (r"cannot be mounted", lambda: os.geteuid() == 0),
    (r"can be limited for all by control groups of the first version alone",
     lambda: os.access("/sys/fs/cgroup/blkio/blkio.throttle.read_iops_device", os.W_OK)),
    (r"no control groups of the first version to write to",
     lambda: os.access("/sys/fs/cgroup/cpu/cgroup.procs", os.W_OK)),
    (r"control group|cgroup",
     lambda: any(os.access(f"/sys/fs/cgroup/{folder}cgroup.procs", os.W_OK) for folder in ("", "cpu/"))),
]


def judge(name, reason, preconditions=PRECONDITIONS):
    """Returns None for a valid skip, else the fault."""
    for pattern, holds in preconditions:
        if re.search(pattern, reason, re.I):
            return f"{name}: skipped ({reason}), but it can run here" if holds() else None
    return f"{name}: skipped for an unknown reason ({reason}); see tools/tests/skips.py"
