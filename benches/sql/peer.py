"""Peer that answers queries over Parquet files as they come, run in the bench's venv.

    peer.py duckdb|polars|datafusion|chdb --threads N TABLE=PATH ..

A request is one line of JSON on standard input, {"sql": TEXT} with perhaps {"answer": PATH}, which keeps the answer
in a file of Parquet. The reply is one line with the seconds of wall and CPU of this process, or with the failure.
The files are read anew for each request; the interpreter, imports and tables are ready before it.
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
    db.execute(f"SET threads = {a.threads}; SET enable_object_cache = false")
    for name, path in a.tables:
        db.execute(f"CREATE VIEW {name} AS SELECT * FROM '{path}'")
    return lambda sql: db.sql(sql).to_arrow_table()


def polars(a):
    os.environ["POLARS_MAX_THREADS"] = str(a.threads)
    import polars as peer

    def answer(sql):
        tables = {name: peer.scan_parquet(path) for name, path in a.tables}
        return peer.SQLContext(tables).execute(sql).collect(engine="streaming").to_arrow()

    return answer


def datafusion(a):
    import datafusion as peer
    import pyarrow

    context = peer.SessionContext(peer.SessionConfig().with_target_partitions(a.threads))
    for name, path in a.tables:
        context.register_parquet(name, path)

    def answer(sql):
        frame = context.sql(sql)
        batches = frame.collect()
        return pyarrow.Table.from_batches(batches, batches[0].schema if batches else frame.schema())

    return answer


def chdb(a):
    from chdb import session

    peer = session.Session()
    peer.query("CREATE DATABASE IF NOT EXISTS bench ENGINE = Atomic")
    peer.query("USE bench")
    for name, path in a.tables:
        peer.query(f"CREATE VIEW {name} AS SELECT * FROM file('{path}', 'Parquet')")
    # Outer joins give nulls, as the standard has it.
    settings = f" SETTINGS max_threads = {a.threads}, join_use_nulls = 1, output_format_arrow_string_as_string = 1"

    def answer(sql):
        import pyarrow

        return pyarrow.ipc.open_file(peer.query(sql + settings, "Arrow").bytes()).read_all()

    return answer


def timed(answer, sql):
    """Returns the wall and CPU seconds of one answer in this process, and the answer."""
    usage, begin = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    table = answer(sql)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
    return {"wall": wall, "cpu": cpu, "rss": after.ru_maxrss * 1024}, table


def main():
    p = argparse.ArgumentParser()
    p.add_argument("peer")
    p.add_argument("tables", nargs="+", type=lambda text: text.split("=", 1))
    p.add_argument("--threads", type=int, required=True)
    a = p.parse_args()
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no reply
    answer = {"duckdb": duckdb, "polars": polars, "datafusion": datafusion, "chdb": chdb}[a.peer](a)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply, table = timed(answer, request["sql"])
            if "answer" in request:
                import pyarrow.parquet as parquet
                parquet.write_table(table, request["answer"])
            reply["rows"] = table.num_rows
        except BaseException as error:  # panics of Polars are no exceptions
            reply = {"failure": (str(error).strip().splitlines() or [repr(error)])[0][:300]}
        print(json.dumps(reply), file=replies, flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
