"""Images of ext4 file systems, and mounts of them."""

import contextlib
import os
import subprocess
import tempfile

MIB = 1 << 20
os.environ["PATH"] += ":/usr/sbin:/sbin"
FEATURES = (
    "none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,sparse_super,large_file,"
    "huge_file,dir_nlink,extra_isize,metadata_csum"
)


def do(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def image(path, *options, mib=64, features=FEATURES):
    with open(path, "wb") as f:
        f.truncate(mib * MIB)
    do("mke2fs", "-q", "-F", "-O", features, "-E", "lazy_itable_init=0,lazy_journal_init=0", *options, path)
    return path


@contextlib.contextmanager
def mounted(path, *options):
    """Mounts the image, and yields the mount point."""
    folder = tempfile.mkdtemp(prefix="yunti-ext4-")
    do("mount", "-o", ",".join(["loop", *options]), path, folder)
    try:
        yield folder
    finally:
        do("umount", folder)
        os.rmdir(folder)
