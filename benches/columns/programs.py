"""Command lines: Yunti's, and the forms of each peer's."""

import glob
import os

from harness import commands, measure, opponents
from harness.measure import Program

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer.py")
NAMES = {"duckdb": "DuckDB", "polars": "Polars", "chdb": "chdb"}
# Where a peer that answers twice writes the seconds of its second answer.
AGAIN = measure.WORK + "/again.json"
TEXT = "FORMAT csv, HEADER false, DELIMITER '\t', QUOTE '', ESCAPE ''"


def ours(query, path, threads):
    def command(output):
        words = [word.replace("{output}", output) for word in query.words(path)]
        to = [] if output in words else ["--output", output]
        return [commands.YUNTI, *words, *to, "--threads", str(threads), "--quiet"]

    return Program("yunti", command)


def whole(peer, query, path, threads):
    """Returns the forms of a peer's whole command: a program of Python, and DuckDB's own command."""
    return [python(peer, query, path, threads), *(duckdb_command(query, path, threads) if peer == "duckdb" else [])]


def python(peer, query, path, threads, again=()):
    flags = ["--threads", str(threads), *(["--parquet"] if query.writes == "parquet" else []), *again]
    start = [opponents.VENV + "/bin/python", PEER, peer, query.sql, path]
    return Program(NAMES[peer], lambda output: [*start, output, *flags], "Python")


def warm(peer, query, path, threads):
    return python(peer, query, path, threads, ["--again", AGAIN])


def duckdb_command(query, path, threads):
    """Returns the command of the package duckdb-cli, which may be an older release than the one for Python."""
    binary = glob.glob(opponents.VENV + "/lib/*/site-packages/duckdb_cli/duckdb")
    if not opponents.install(["duckdb-cli"]) or not binary:
        return []
    form = "FORMAT parquet, COMPRESSION snappy" if query.writes == "parquet" else TEXT
    sql = f"SET threads = {threads}; SET preserve_insertion_order = false; COPY ({query.text(repr(path))}) TO "
    return [Program("DuckDB", lambda output: [binary[0], "-c", f"{sql} '{output}' ({form})"], "command")]
