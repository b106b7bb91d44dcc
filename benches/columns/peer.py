"""Peer that answers a query over one file, run in the bench's venv.

    peer.py duckdb|polars|chdb SQL INPUT OUTPUT --threads N [--parquet] [--again FILE]

`--again` answers the query a second time in this process, and writes the second run's seconds to FILE.
"""

import argparse
import json
import os
import resource
import sys
import time


def duckdb(a):
    import duckdb as peer

    db = peer.connect()
    db.execute(f"SET threads = {a.threads}; SET preserve_insertion_order = false")
    text = "FORMAT csv, HEADER false, DELIMITER '\t', QUOTE '', ESCAPE ''"
    form = "FORMAT parquet, COMPRESSION snappy" if a.parquet else text
    return lambda output: db.execute(f"COPY ({a.sql.format(lineitem=repr(a.input))}) TO '{output}' ({form})")


def polars(a):
    os.environ["POLARS_MAX_THREADS"] = str(a.threads)
    import polars as peer

    def answer(output):
        csv = a.input.endswith(".csv")
        table = peer.scan_csv(a.input, try_parse_dates=True) if csv else peer.scan_parquet(a.input)
        rows = peer.SQLContext(lineitem=table).execute(a.sql.format(lineitem="lineitem"))
        if a.parquet:
            rows.sink_parquet(output, compression="snappy", engine="streaming")
        else:
            rows.sink_csv(output, separator="\t", include_header=False, quote_style="never", engine="streaming")

    return answer


def chdb(a):
    import chdb as peer

    form = "'CSVWithNames'" if a.input.endswith(".csv") else "'Parquet'"
    end = f"FORMAT {'Parquet' if a.parquet else 'TSVRaw'} SETTINGS max_threads = {a.threads}, " \
          "output_format_parquet_compression_method = 'snappy'"
    sql = a.sql.format(lineitem=f"file('{a.input}', {form})")
    return lambda output: peer.query(f"{sql} INTO OUTFILE '{output}' {end}", "CSV")


def timed(answer, output):
    """Returns the wall and CPU seconds of one answer in this process."""
    usage, begin = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    answer(output)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_SELF)
    return {"wall": wall, "cpu": after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime}


def main():
    p = argparse.ArgumentParser()
    for name in ("peer", "sql", "input", "output"):
        p.add_argument(name)
    p.add_argument("--threads", type=int, required=True)
    p.add_argument("--parquet", action="store_true")
    p.add_argument("--again")
    a = p.parse_args()
    answer = {"duckdb": duckdb, "polars": polars, "chdb": chdb}[a.peer](a)
    answer(a.output + ".tmp")
    if a.again:
        os.remove(a.output + ".tmp")
        with open(a.again, "w") as f:
            json.dump(timed(answer, a.output + ".tmp"), f)
    os.rename(a.output + ".tmp", a.output)
    sys.stdout.flush()
    os._exit(0)  # the figure excludes the shutdown of the interpreter


if __name__ == "__main__":
    main()
