#!/usr/bin/env python3
"""Packs the layout of `make dist` as a relocatable archive and as a Debian package, reproducibly.

    tools/package/package.py DIST        -> DIST/yunti-VERSION-linux-ARCH.tar.gz, DIST/yunti_VERSION_ARCH.deb
"""

import os
import platform
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import archive  # noqa: E402
import deb  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
LAYOUT = ("bin", "include", "java", "lib", "libexec", "share")


def moment():
    """Returns the time of all files in seconds, taken from the commit, so that two builds of it are identical."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    log = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return int(log.stdout) if log.returncode == 0 and log.stdout.strip() else 0


def main():
    dist = os.path.abspath(sys.argv[1])
    version = subprocess.run([f"{dist}/bin/yunti", "--version"], capture_output=True, text=True,
                             check=True).stdout.split()[1]
    entries = archive.of_folder(dist, LAYOUT)
    when = moment()
    name = f"yunti-{version}-linux-{platform.machine()}"
    written = [f"{dist}/{name}.tar.gz", f"{dist}/yunti_{version}_{deb.architecture()}.deb"]
    with open(written[0], "wb") as out:
        out.write(archive.tar_gz(entries, when, name + "/"))
    with open(written[1], "wb") as out:
        out.write(deb.package(entries, version, when))
    for path in written:
        print(f"{path}  {os.path.getsize(path) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
