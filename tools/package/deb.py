"""Debian package: the layout below /usr with Debian's names, a control file and checksums, as an `ar` of two archives.

    debian-binary | control.tar.gz: control md5sums | data.tar.xz: ./usr/..

This module writes the format itself instead of calling dpkg-deb. So it needs neither Debian's tools nor root, and the
bytes are the same everywhere.
"""

import email.utils
import gzip
import hashlib
import lzma
import os
import platform
import re
import subprocess
import tempfile

import archive
from archive import Entry

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# Debian packages of the libraries that a program may need. Only libc has versioned symbols.
PACKAGES = {"libc.so.6": "libc6", "libm.so.6": "libc6", "ld-linux-x86-64.so.2": "libc6",
            "ld-linux-aarch64.so.1": "libc6",
            "libdl.so.2": "libc6", "libpthread.so.0": "libc6", "librt.so.1": "libc6", "libgcc_s.so.1": "libgcc-s1",
            "libstdc++.so.6": "libstdc++6",
            "libelf.so.1": "libelf1", "libz.so.1": "zlib1g"}
# Default until the project has an address; distributors set YUNTI_MAINTAINER.
MAINTAINER = os.environ.get("YUNTI_MAINTAINER", "Yunti authors <yunti@example.org>")
SUMMARY = "data jobs at the speed of the machine they run on"
DESCRIPTION = """ Yunti runs MapReduce-style jobs on one machine: records are read, mapped,
 sorted or folded, and written within a set amount of memory. Every job
 reports where its time went.
 .
 This package contains the command, its manual pages and completions, and the
 headers, the CMake package and the pkg-config file for class libraries in
 C and C++."""


def architecture():
    return ARCHITECTURES.get(platform.machine(), platform.machine())


def package(entries, version, when):
    files = _layout(entries, version, when)
    control = [Entry("control", 0o644, _control(files, version).encode()), Entry("md5sums", 0o644, _md5sums(files))]
    members = [("debian-binary", b"2.0\n"), ("control.tar.gz", archive.tar_gz(control, when, "./")),
               ("data.tar.xz", lzma.compress(archive.tar(files, when, "./"), preset=6))]
    out = b"!<arch>\n"
    for name, data in members:
        out += f"{name:<16}{when:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode()
        out += data + b"\n" * (len(data) % 2)
    return out


def _layout(entries, version, when):
    """Returns the files of `make dist` at Debian's places."""
    by_path = {e.path: e for e in entries}
    notice, licences = (by_path[f"share/doc/yunti/{name}"].data for name in ("NOTICE", "licenses.txt"))
    files = [Entry("usr/share/doc/yunti/copyright", 0o644, _copyright(notice)),
             Entry("usr/share/doc/yunti/third-party.txt.gz", 0o644, _gz(licences)),
             Entry("usr/share/doc/yunti/changelog.gz", 0o644, _gz(_changelog(version, when)))]
    # `yunti PART` starts a part, and its --help replaces a manual page.
    parts = [f"yunti: no-manual-page [usr/{path}]\n" for path in by_path if path.startswith("libexec/")
             and f"share/man/man1/{path.rpartition('/')[2]}.1" not in by_path]
    # Configurations of jobs and scripts name these jars, so their names have no version. Those of java/velocity/ have.
    parts += [f"yunti: bad-jar-name [usr/share/{path}]\n" for path in by_path if path.endswith(".jar")
              and os.path.dirname(path) == "java"]
    # For JVMs: a library as its authors distribute it, and a jar outside every class path.
    parts += [f"yunti: unstripped-binary-or-object [usr/{path}]\n" for path in by_path
              if path.endswith("/libasyncProfiler.so")]
    parts += [f"yunti: jar-not-in-usr-share [usr/{path}]\n" for path in by_path if path.startswith("lib/yunti/")
              and path.endswith(".jar")]
    if parts:
        files.append(Entry("usr/share/lintian/overrides/yunti", 0o644, "".join(parts).encode()))
    for entry in entries:
        path, data = entry.path, entry.data
        if path in ("share/doc/yunti/LICENSE", "share/doc/yunti/NOTICE", "share/doc/yunti/licenses.txt"):
            continue
        if path.startswith("share/man/"):
            path, data = path + ".gz", _gz(data)
        if path.startswith(("java/", "lib/pkgconfig/")):
            path = "share/" + path.removeprefix("lib/")
        path = path.replace("share/zsh/site-functions/", "share/zsh/vendor-completions/").replace("CHANGELOG.md",
                                                                                                  "NEWS.md")
        files.append(Entry("usr/" + path, entry.mode, data))
    return files


def _gz(data):
    return gzip.compress(data, 9, mtime=0)


def _control(files, version):
    kib = sum(len(f.data) // 1024 + 1 for f in files)
    return (f"Package: yunti\nVersion: {version}\nArchitecture: {architecture()}\nMaintainer: {MAINTAINER}\n"
            f"Installed-Size: {kib}\n"
            f"Depends: {', '.join(_depends(files))}\nSuggests: cmake, default-jre-headless, g++, pkgconf\nSection: "
            f"utils\nPriority: optional\n"
            f"Description: {SUMMARY}\n{DESCRIPTION}\n")


def _depends(files):
    """Returns the packages of the linked libraries; libc6 with the newest version whose symbols the programs use."""
    dynamic = ""
    for binary in (f.data for f in files if f.path.startswith(("usr/bin/", "usr/libexec/"))
                   and f.data.startswith(b"\x7fELF")):
        with tempfile.NamedTemporaryFile() as program:
            program.write(binary)
            program.flush()
            dynamic += subprocess.run(["readelf", "--wide", "--dynamic", "--version-info", program.name],
                                      capture_output=True, text=True, check=True).stdout
    packages = {PACKAGES[name] for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)}
    newest = max((tuple(map(int, v.split("."))) for v in re.findall(r"\bGLIBC_([0-9.]+)", dynamic)), default=(2, 17))
    return sorted(f"libc6 (>= {'.'.join(map(str, newest))})" if name == "libc6" else name for name in packages)


def _md5sums(files):
    return "".join(f"{hashlib.md5(f.data).hexdigest()}  {f.path}\n"
                   for f in sorted(files, key=lambda f: f.path)).encode()


def _changelog(version, when):
    date = email.utils.formatdate(when)
    return (f"yunti ({version}) unstable; urgency=medium\n\n  * See NEWS.md for the changes.\n\n"
            f" -- {MAINTAINER}  {date}\n").encode()


def _copyright(notice):
    head = ("Yunti, Copyright the Yunti authors.\n\nLicensed under the Apache License, Version 2.0. On Debian systems "
            "its text is in\n"
            "/usr/share/common-licenses/Apache-2.0. The\n"
            "licences of the linked libraries are in /usr/share/doc/yunti/third-party.txt.gz.\n\n")
    return head.encode() + notice
