#!/usr/bin/env python3
"""Programs of this machine that cases need: JDKs, versions of Python, PostgreSQL.

    installed.py java VERSION    print the folder of the JDK
"""

import glob
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../../../..")
sys.path.insert(0, os.path.join(ROOT, "tools/tests"))
import jdks  # noqa: E402

CGROUPS = "/sys/fs/cgroup/cpu/cgroup.procs"


def java(version):
    """Returns the folder of a JDK, or None."""
    return jdks.find([str(version)]).get(str(version), (None, None))[1]


def python(version):
    """Returns the interpreter of a version as `3.11`, else the one that runs this.

    A shim of pyenv would start a shell first, so its versions come before the path.
    """
    of_pyenv = sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python3")))
    return of_pyenv[-1] if of_pyenv else shutil.which(f"python{version}") or sys.executable


def postgres():
    """Returns the folder of PostgreSQL's programs, or None. Debian keeps them off the path."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    program = found[-1] if found else shutil.which("initdb")
    return os.path.dirname(program) if program else None


def missing(need):
    """Returns why a case with this need cannot start here, or None."""
    if need == "root":
        return None if os.geteuid() == 0 else "only root can start it"
    if need == "cgroup":
        return None if os.access(CGROUPS, os.W_OK) else "no control groups of the first version to write to"
    if version := re.fullmatch(r"jdk(\d+)", need):
        return None if java(version[1]) else f"there is no JDK {version[1]}"
    if need == "postgres":
        return None if postgres() else "there is no postgres"
    program = {"rust": "cargo"}.get(need, need)
    return None if shutil.which(program) else f"there is no {program}"


if __name__ == "__main__":
    home = java(sys.argv[2])
    if not home:
        sys.exit(f"installed.py: there is no JDK {sys.argv[2]}")
    print(home)
