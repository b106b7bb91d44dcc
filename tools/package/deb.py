"""The Debian package: the layout below /usr with Debian's names, a control file, checksums; an `ar` of two archives.

    debian-binary | control.tar.gz: control md5sums | data.tar.xz: ./usr/..

Made by hand, not by dpkg-deb: it needs no tool of Debian's, no root, and gives the same bytes everywhere.
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
# Of libraries that a program may need, the packages; the first has its versions among its symbols.
PACKAGES = {"libc.so.6": "libc6", "libm.so.6": "libc6", "ld-linux-x86-64.so.2": "libc6", "ld-linux-aarch64.so.1": "libc6",
            "libdl.so.2": "libc6", "libpthread.so.0": "libc6", "librt.so.1": "libc6", "libgcc_s.so.1": "libgcc-s1", "libstdc++.so.6": "libstdc++6",
            "libelf.so.1": "libelf1", "libz.so.1": "zlib1g"}
# There is no address yet; who gives packages to others names theirs.
MAINTAINER = os.environ.get("YUNTI_MAINTAINER", "Yunti authors <yunti@example.org>")
SUMMARY = "data jobs at the speed of the machine they run on"
DESCRIPTION = """ Yunti runs MapReduce-style jobs on one machine: records are read, mapped,
 sorted or folded, and written within a memory that is set. Every job says
 where its time went.
 .
 This package has the command, its manual pages and completions, and the
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
        out += f"{name:<16}{when:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    return out


def _layout(entries, version, when):
    """Where Debian has what `make dist` has elsewhere."""
    by_path = {e.path: e for e in entries}
    notice, licences = (by_path[f"share/doc/yunti/{name}"].data for name in ("NOTICE", "licenses.txt"))
    files = [Entry("usr/share/doc/yunti/copyright", 0o644, _copyright(notice)),
             Entry("usr/share/doc/yunti/third-party.txt.gz", 0o644, _gz(licences)),
             Entry("usr/share/doc/yunti/changelog.gz", 0o644, _gz(_changelog(version, when)))]
    # A part is started by `yunti PART`, whose --help is its manual.
    parts = [f"yunti: no-manual-page [usr/{path}]\n" for path in by_path if path.startswith("libexec/")]
    # Jobs name the jar in their configuration: its name has no version.
    parts += [f"yunti: bad-jar-name [usr/share/{path}]\n" for path in by_path if path.startswith("java/") and path.endswith(".jar")]
    # For JVMs: a library as its authors give it out, and a jar that no class path names.
    parts += [f"yunti: unstripped-binary-or-object [usr/{path}]\n" for path in by_path if path.endswith("/libasyncProfiler.so")]
    parts += [f"yunti: jar-not-in-usr-share [usr/{path}]\n" for path in by_path if path.startswith("lib/yunti/") and path.endswith(".jar")]
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
        path = path.replace("share/zsh/site-functions/", "share/zsh/vendor-completions/").replace("CHANGELOG.md", "NEWS.md")
        files.append(Entry("usr/" + path, entry.mode, data))
    return files


def _gz(data):
    return gzip.compress(data, 9, mtime=0)


def _control(files, version):
    kib = sum(len(f.data) // 1024 + 1 for f in files)
    return (f"Package: yunti\nVersion: {version}\nArchitecture: {architecture()}\nMaintainer: {MAINTAINER}\nInstalled-Size: {kib}\n"
            f"Depends: {', '.join(_depends(files))}\nSuggests: cmake, default-jre-headless, g++, pkgconf\nSection: utils\nPriority: optional\n"
            f"Description: {SUMMARY}\n{DESCRIPTION}\n")


def _depends(files):
    """The packages of the libraries that the programs are linked with, at least of the versions whose symbols they use."""
    told = ""
    for binary in (f.data for f in files if f.path.startswith(("usr/bin/", "usr/libexec/")) and f.data.startswith(b"\x7fELF")):
        with tempfile.NamedTemporaryFile() as program:
            program.write(binary)
            program.flush()
            told += subprocess.run(["readelf", "--wide", "--dynamic", "--version-info", program.name], capture_output=True, text=True, check=True).stdout
    packages = {PACKAGES[name] for name in re.findall(r"\(NEEDED\).*\[(.*)\]", told)}
    newest = max((tuple(map(int, v.split("."))) for v in re.findall(r"\bGLIBC_([0-9.]+)", told)), default=(2, 17))
    return sorted(f"libc6 (>= {'.'.join(map(str, newest))})" if name == "libc6" else name for name in packages)


def _md5sums(files):
    return "".join(f"{hashlib.md5(f.data).hexdigest()}  {f.path}\n" for f in sorted(files, key=lambda f: f.path)).encode()


def _changelog(version, when):
    date = email.utils.formatdate(when)
    return f"yunti ({version}) unstable; urgency=medium\n\n  * What it can do is in NEWS.md.\n\n -- {MAINTAINER}  {date}\n".encode()


def _copyright(notice):
    head = ("Yunti, Copyright the Yunti authors.\n\nLicensed under the Apache License, Version 2.0. On Debian systems its text is in\n"
            "/usr/share/common-licenses/Apache-2.0. The\n"
            "licences of all that is linked in are in /usr/share/doc/yunti/third-party.txt.gz.\n\n")
    return head.encode() + notice
