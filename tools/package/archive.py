"""Files of a package, and reproducible tar archives of them: sorted names, one time, one owner."""

import gzip
import io
import os
import tarfile
from dataclasses import dataclass


@dataclass
class Entry:
    path: str  # relative, with /
    mode: int
    data: bytes


def of_folder(root, tops):
    """Returns the files below the folders `tops` of `root`. Links are followed, so a package has none that leave it."""
    entries = []
    for top in tops:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    data = f.read()
                mode = 0o755 if os.access(path, os.X_OK) else 0o644
                entries.append(Entry(os.path.relpath(path, root), mode, data))
    return sorted(entries, key=lambda e: e.path)


def tar(entries, when, prefix):
    """Returns a tar archive with all folders, each before its content. `when` is the time of all entries in seconds."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        made = set()
        for entry in sorted(entries, key=lambda e: e.path):
            parts = (prefix + entry.path).split("/")
            for n in range(1, len(parts)):
                folder = "/".join(parts[:n])
                if folder not in made:
                    made.add(folder)
                    archive.addfile(_header(folder, 0o755, when, tarfile.DIRTYPE))
            header = _header(prefix + entry.path, entry.mode, when, tarfile.REGTYPE)
            header.size = len(entry.data)
            archive.addfile(header, io.BytesIO(entry.data))
    return out.getvalue()


def tar_gz(entries, when, prefix):
    """Returns the same archive, compressed by gzip."""
    return gzip.compress(tar(entries, when, prefix), 9, mtime=0)


def _header(name, mode, when, kind):
    header = tarfile.TarInfo(name)
    header.mode, header.mtime, header.type = mode, when, kind
    header.uname = header.gname = "root"
    return header
