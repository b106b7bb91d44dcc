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


def tpcds(scale):
    """Returns the paths of the 24 tables of TPC-DS, in Parquet as tpcgen-cli writes it."""
    def make(folder):
        options = ["--scale-factor", f"{scale:g}", "--output-dir", folder]
        subprocess.run([program("tpcgen-cli"), "tpcds", "parquet", *options], check=True, stdout=subprocess.DEVNULL)

    folder = made(f"tpcds-{scale:g}", make)
    names = sorted(name.partition(".")[0] for name in os.listdir(folder))
    return files(folder, [name for name in names if name != "dbgen_version"])
