"""Tables of lineitem in build/bench-data: Parquet as tpchgen-cli writes it (snappy), a copy with zstd, and CSV."""

import os
import shutil
import subprocess

from harness import data, opponents

PACKAGES = ["tpchgen-cli", "pyarrow"]
# Copies row groups, with pyarrow's own pages, dictionaries and statistics.
COPY = """
import sys, pyarrow.parquet as parquet
table = parquet.ParquetFile(sys.argv[1])
with parquet.ParquetWriter(sys.argv[2], table.schema_arrow, compression="zstd") as copy:
    for group in range(table.num_row_groups):
        copy.write_table(table.read_row_group(group))
"""
# CSV and an output beside it: bytes of disk for one unit of scale.
CSV_BYTES = 1.1e9


class NoSpace(Exception):
    pass


def folder(scale):
    return f"{data.DATA}/tpch-{scale:g}"


def table(scale, form):
    """Returns the path of a table, made if it is missing. Form: snappy, zstd or csv."""
    path = f"{folder(scale)}/lineitem-{form}.{'csv' if form == 'csv' else 'parquet'}"
    if os.path.exists(path):
        return path
    made = folder(scale) + "/part"
    shutil.rmtree(made, ignore_errors=True)
    os.makedirs(made)
    if form == "zstd":
        run(opponents.VENV + "/bin/python", "-c", COPY, table(scale, "snappy"), made + "/lineitem.parquet")
    else:
        kind = "csv" if form == "csv" else "parquet"
        if kind == "csv" and shutil.disk_usage(made).free < CSV_BYTES * scale:
            raise NoSpace(f"CSV of scale {scale:g} needs {CSV_BYTES * scale / 1e9:.0f} GB of free disk")
        run(opponents.VENV + "/bin/tpchgen-cli", kind, "--quiet", "--scale-factor", f"{scale:g}",
            "--tables", "lineitem", "--output-dir", made)
    os.rename(f"{made}/lineitem{os.path.splitext(path)[1]}", path)
    shutil.rmtree(made)
    return path


def run(*command):
    subprocess.run(command, check=True)


def remove_large_csv(scale):
    path = f"{folder(scale)}/lineitem-csv.csv"
    if os.path.exists(path) and os.path.getsize(path) > 4e9:
        os.remove(path)
