"""Input of the jobs, generated once on this machine and copied to HDFS. Each file is one block and thus one map."""

import os
import shutil
import subprocess

from harness import commands
from harness.data import DATA
from harness.measure import Failed

FILES = 8
# Bytes per file at size 1, one block of HDFS. Larger sizes give a file several maps.
FILE_BYTES = 128 << 20
FOLDER = "yunti-bench"


def _made(kind, size_bytes):
    """Returns the local folder with this kind ("text", "tera") of data, and generates it if it is missing."""
    folder = f"{DATA}/hadoop-{kind}-{size_bytes}"
    if os.path.exists(folder):
        return folder
    os.makedirs(DATA, exist_ok=True)
    part = folder + ".part"
    shutil.rmtree(part, ignore_errors=True)
    amount = ["--records", str(size_bytes // 100)] if kind == "tera" else ["--bytes", str(size_bytes)]
    done = subprocess.run([commands.YUNTI, "generate", kind, *amount, "--files", str(FILES), "--quiet", "--output",
                           part])
    if done.returncode:
        raise Failed(f"dist/bin/yunti cannot generate {kind}")
    os.rename(part, folder)
    return folder


def local(kind, scale):
    """Returns the local files."""
    folder = _made(kind, max(100 * FILES, int(FILES * FILE_BYTES * scale)))
    return [f"{folder}/{name}" for name in sorted(os.listdir(folder)) if name.startswith("part")]


def put(cluster, kind, scale):
    """Copies the input to HDFS and returns (path in HDFS, local files)."""
    files = local(kind, scale)
    target = f"{FOLDER}/{os.path.basename(os.path.dirname(files[0]))}"
    cluster.hdfs("-mkdir", "-p", FOLDER)
    # An interrupted bench may have left a part of it on a borrowed cluster.
    cluster.hdfs("-rm", "-r", "-f", "-skipTrash", target)
    cluster.hdfs("-mkdir", target)
    cluster.hdfs("-put", *files, target)
    return target, files
