"""What the jobs read: a block a file, so that each file is one map; made once on this machine, then put into the cluster's HDFS."""

import os
import shutil
import subprocess

from harness import commands
from harness.data import DATA
from harness.measure import Failed

FILES = 8
# One block of HDFS a file at size 1; sizes above it give a file several maps.
FILE_BYTES = 128 << 20
FOLDER = "yunti-bench"


def _made(kind, size_bytes):
    """The local folder with that kind ("text", "tera") of data."""
    folder = f"{DATA}/hadoop-{kind}-{size_bytes}"
    if os.path.exists(folder):
        return folder
    os.makedirs(DATA, exist_ok=True)
    part = folder + ".part"
    shutil.rmtree(part, ignore_errors=True)
    amount = ["--records", str(size_bytes // 100)] if kind == "tera" else ["--bytes", str(size_bytes)]
    done = subprocess.run([commands.YUNTI, "generate", kind, *amount, "--files", str(FILES), "--quiet", "--output", part])
    if done.returncode:
        raise Failed(f"dist/bin/yunti cannot generate {kind}")
    os.rename(part, folder)
    return folder


def local(kind, scale):
    """The files on this machine."""
    folder = _made(kind, max(100 * FILES, int(FILES * FILE_BYTES * scale)))
    return [f"{folder}/{name}" for name in sorted(os.listdir(folder)) if name.startswith("part")]


def put(cluster, kind, scale):
    """(path in HDFS, local files)."""
    files = local(kind, scale)
    target = f"{FOLDER}/{os.path.basename(os.path.dirname(files[0]))}"
    cluster.hdfs("-mkdir", "-p", FOLDER)
    # A borrowed cluster may have half of it, from a bench that was interrupted.
    cluster.hdfs("-rm", "-r", "-f", "-skipTrash", target)
    cluster.hdfs("-mkdir", target)
    cluster.hdfs("-put", *files, target)
    return target, files
