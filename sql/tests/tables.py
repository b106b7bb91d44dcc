"""Tables of the standard benches, made once into build/sql-data by the generators of PyPI."""

import os
import shutil
import subprocess
import sysconfig

from engines import ROOT

DATA = os.environ.get("YUNTI_SQL_DATA", os.path.join(ROOT, "build/sql-data"))
TPCH = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


def program(name):
    """Returns the path of a program of this environment."""
    return shutil.which(name, path=sysconfig.get_path("scripts")) or name


def made(folder, make):
    """Returns the folder, made by `make(temporary folder)` if it is missing, and whole at any time."""
    path = os.path.join(DATA, folder)
    if not os.path.isdir(path):
        begun = f"{path}.{os.getpid()}"
        shutil.rmtree(begun, ignore_errors=True)
        os.makedirs(begun)
        make(begun)
        os.rename(begun, path)
    return path


def files(folder, names):
    return {name: os.path.join(folder, f"{name}.parquet") for name in names}


def tpch(scale):
    """Returns the paths of the tables of TPC-H, in Parquet as tpchgen-cli writes it (snappy)."""
    def make(folder):
        options = ["--quiet", "--scale-factor", f"{scale:g}", "--output-dir", folder]
        subprocess.run([program("tpchgen-cli"), "parquet", *options], check=True)

    return files(made(f"tpch-{scale:g}", make), TPCH)
