"""Engines that answer a query over files: `yunti sql`, and the peers that check it.

Each engine has `query(sql, tables, ..)`, which returns `Rows` or raises `Refused` with one line. `tables` maps names to
paths of Parquet or CSV files.

    YUNTI=PROGRAM         the program to test (default: dist/bin/yunti)
    YUNTI_SQL_ENGINE=NAME another engine in its place, to try a test without the program: datafusion or duckdb
"""

import datetime
import decimal
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from generated import columns

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
sys.path.append(os.path.join(ROOT, "tools/tests"))
from long_tests import long_test  # noqa: E402,F401  (tests of this folder take it from here)
SECONDS = 600
# Types whose values have parts, by their names in Arrow.
NESTED = ("List", "LargeList", "FixedSizeList", "Struct", "Map")
# Exit code of a program that ended by a signal or a panic: never a refusal.
PANIC = 101


class Refused(Exception):
    """The engine does not run the query, and says why in one line."""


def is_not_native(error):
    """Returns true if Yunti's own executor lacks something, and the general one must not be used under --memory."""
    return isinstance(error, Refused) and "needs the general executor" in str(error)


class Broken(Exception):
    """The engine crashed, hung, or failed without a line that says why."""


@dataclass
class Rows:
    names: list
    rows: list  # tuples of Python values
    approximate: list  # True for each column of floats
    places: list = field(default_factory=list)  # digits after the point of each column of decimals, else None


def of_arrow(table):
    """Returns the rows of a table of Arrow. Times lose what is below a microsecond."""
    columns, approximate, places = [], [], []
    for column in table.columns:
        kind = column.type
        if pa.types.is_dictionary(kind):
            column = column.cast(kind.value_type)
            kind = column.type
        if pa.types.is_timestamp(kind) and kind.unit == "ns":
            column = column.cast(pa.timestamp("us", kind.tz), safe=False)
        if pa.types.is_time(kind) and kind.unit == "ns":
            column = column.cast(pa.time64("us"), safe=False)
        columns.append(column.to_pylist())
        approximate.append(pa.types.is_floating(kind))
        places.append(kind.scale if pa.types.is_decimal(kind) else None)
    rows = list(zip(*columns)) if columns else [()] * table.num_rows
    return Rows(list(table.column_names), rows, approximate, places)


def first_line(text):
    lines = [line for line in str(text).strip().splitlines() if line.strip()]
    return lines[0].strip() if lines else ""


class Yunti:
    """The program under test, a fresh process for each query."""

    name = "yunti"
    # The same rows in the same order, whatever the threads and the memory.
    stable = True

    def __init__(self, program=YUNTI, options=()):
        self.program, self.options, self.has_statements = program, options, None

    def command(self, sql, tables, threads=None, memory=None, options=()):
        words = [self.program, "sql"]
        for name, path in tables.items():
            words += ["--table", f"{name}={path}"]
        words += ["--threads", str(threads)] if threads else []
        words += ["--memory", str(memory)] if memory else []
        words += self.options
        # A text may begin with a comment, which looks like an option.
        return [*words, *options, *([] if sql is None else ["--", sql])]

    def query(self, sql, tables, threads=None, memory=None, options=()):
        """Returns the rows as the program writes them in Parquet, which keeps all types."""
        folder = tempfile.mkdtemp(prefix="yunti-sql-")
        try:
            output = os.path.join(folder, "result")
            options = [*options, "--output-format", "parquet", "--output", output]
            self.run(self.command(sql, tables, threads, memory, options))
            return of_arrow(read_parquet(output))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def session(self, threads=None, memory=None, options=()):
        """Returns what answers many queries: one process, if the program has `--statements`."""
        if self.has_statements is None:
            shown = subprocess.run([self.program, "sql", "--help"], capture_output=True, check=False, text=True)
            self.has_statements = "--statements" in shown.stdout + shown.stderr
        return Session(self, threads, memory, options) if self.has_statements else Queries(self)

    def has_compiler(self):
        """Returns true if the program makes machine code of queries."""
        words = [self.program, "sql", "--compile", "on", "select 1"]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0

    def run(self, words):
        """Returns the standard output. A crash, a hang or an error of many lines raises Broken, one line Refused."""
        try:
            done = subprocess.run(words, capture_output=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Broken(f"no end after {SECONDS} s") from None
        if done.returncode == 0:
            return done.stdout
        lines = done.stderr.decode("utf-8", "replace").strip().split("\n")
        # A line before the error may say which executor runs the query.
        error = "\n".join(line for line in lines if "runs on the general executor" not in line).strip()
        if done.returncode < 0 or done.returncode == PANIC or "panicked" in error:
            raise Broken(f"exit code {done.returncode}: {error[-400:]}")
        if not error or "\n" in error:
            raise Broken(f"exit code {done.returncode}, not with one line: {error[-400:]}")
        raise Refused(error)

    def explain(self, sql, tables, options=()):
        """Returns the text of the plan. Its first line names the executor."""
        return self.run(self.command(sql, tables, options=[*options, "--explain"])).decode()


class Queries:
    """A session that is nothing more than queries, one after the other."""

    def __init__(self, engine):
        self.query = engine.query

    def close(self):
        pass


class Session:
    """One process of the program that answers many queries.

    `yunti sql --statements` reads a statement a line, as a string of JSON, and writes a line for each:
    {"columns": [{"name": TEXT, "type": TYPE OF ARROW}, ..], "rows": [[TEXT OR null, ..], ..]} or {"error": LINE}.
    Text is what CSV has, so that no number loses digits. An error ends nothing.
    """

    def __init__(self, engine, threads=None, memory=None, options=()):
        self.engine, self.limits, self.options = engine, (threads, memory), options
        self.tables, self.process = None, None

    def start(self, tables):
        self.close()
        words = self.engine.command(None, tables, *self.limits, options=[*self.options, "--statements"])
        pipe = subprocess.PIPE
        self.tables = dict(tables)
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=self.errors, text=True)

    def query(self, sql, tables, threads=None, memory=None, options=()):
        if self.process is None or self.tables != tables:
            self.start(tables)
        try:
            print(json.dumps(sql), file=self.process.stdin, flush=True)
            # A query that does not end is killed, and its line is empty.
            watch = threading.Timer(SECONDS, self.process.kill)
            watch.start()
            line = self.process.stdout.readline()
            watch.cancel()
        except BrokenPipeError:
            line = ""
        if not line:
            code = self.process.wait()
            self.errors.seek(0)
            error = self.errors.read().decode("utf-8", "replace").strip()
            self.process = None
            raise Broken(f"the session ended with {code}: {error[-400:]}")
        reply = json.loads(line)
        if "error" in reply:
            raise Refused(first_line(reply["error"]))
        kinds = [column["type"] for column in reply["columns"]]
        if any(kind.startswith(NESTED) for kind in kinds):
            # The text of a list or a struct does not say what its values are.
            return self.engine.query(sql, tables, *self.limits, options=self.options)
        rows = [tuple(None if cell is None else of_text(cell, kind) for cell, kind in zip(row, kinds))
                for row in reply["rows"]]
        places = [int(kind.rstrip(")").split(",")[1]) if kind.startswith("Decimal") else None for kind in kinds]
        names = [column["name"] for column in reply["columns"]]
        return Rows(names, rows, [kind.startswith("Float") for kind in kinds], places)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
            self.errors.close()
            self.process = None


def of_text(cell, kind):
    """Returns the value of a text of CSV, by the name of its type in Arrow."""
    if kind.startswith(("Int", "UInt")) and kind[-1].isdigit():
        return int(cell)
    if kind.startswith("Float"):
        return float(cell)
    if kind.startswith("Decimal"):
        return decimal.Decimal(cell)
    if kind == "Boolean":
        return cell == "true"
    if kind.startswith("Date"):
        return datetime.date.fromisoformat(cell[:10])
    if kind.startswith("Timestamp"):
        return datetime.datetime.fromisoformat(cell)
    if kind.startswith("Time"):
        return datetime.time.fromisoformat(cell[:15])
    return cell


def read_parquet(path):
    """Returns the table in a file, or in the parts of a folder in the order of their names."""
    if not os.path.isdir(path):
        return pq.ParquetFile(path).read()
    parts = sorted(name for name in os.listdir(path) if not name.startswith(("_", ".")))
    return pa.concat_tables([pq.ParquetFile(os.path.join(path, name)).read() for name in parts])


class DuckDb:
    name = "duckdb"
    stable = False

    def __init__(self):
        self.database = duckdb.connect(config={"threads": 2})
        # As in PostgreSQL.
        self.database.execute("set default_null_order = 'nulls_last_on_asc_first_on_desc'")
        self.database.execute("set integer_division = true")
        self.views = {}

    def session(self, threads=None, memory=None):
        return Queries(self)

    def query(self, sql, tables, threads=None, memory=None, options=()):
        if self.views != tables:
            for name in self.views:
                self.database.execute(f'drop view if exists "{name}"')
            for name, path in tables.items():
                self.database.execute(f"""create view "{name}" as select * from '{path}'""")
            self.views = dict(tables)
        try:
            return of_arrow(self.database.sql(sql).to_arrow_table())
        except (duckdb.Error, pa.ArrowException) as error:
            raise Refused(first_line(error)) from None


class DataFusion:
    """DataFusion's own executor, from Python: the front end of `yunti sql` without the rest."""

    name = "datafusion"
    stable = False

    def __init__(self):
        import datafusion

        self.package = datafusion
        self.context, self.tables = None, None

    def session(self, threads=None, memory=None):
        return Queries(self)

    def query(self, sql, tables, threads=None, memory=None, options=()):
        if self.tables != tables:
            config = self.package.SessionConfig().with_target_partitions(threads or 2)
            self.context, self.tables = self.package.SessionContext(config), dict(tables)
            for name, path in tables.items():
                register = self.context.register_csv if path.endswith(".csv") else self.context.register_parquet
                register(name, path)
        try:
            frame = self.context.sql(sql)
            batches = frame.collect()
            # The schema of the frame may differ from the batches' in what can be null.
            return of_arrow(pa.Table.from_batches(batches, batches[0].schema if batches else frame.schema()))
        except Exception as error:  # the package has no class of its own
            raise Refused(first_line(error)) from None


class Sqlite:
    """SQLite, whose values have a type each and whose dates are texts."""

    name = "sqlite"

    def __init__(self):
        self.tables, self.database = None, None

    def query(self, sql, tables, threads=None, memory=None, options=()):
        if self.tables != tables:
            self.load(tables)
        try:
            cursor = self.database.execute(sql)
            rows = cursor.fetchall()
        except sqlite3.Error as error:
            raise Refused(first_line(error)) from None
        names = [column[0] for column in cursor.description]
        floats = [any(isinstance(row[at], float) for row in rows) for at in range(len(names))]
        return Rows(names, rows, floats, [None] * len(names))

    def load(self, tables):
        self.database, self.tables = sqlite3.connect(":memory:"), dict(tables)
        for name, path in tables.items():
            table = columns.read(path)
            names = ", ".join(f'"{column}"' for column in table.column_names)
            self.database.execute(f'create table "{name}" ({names})')
            marks = ", ".join("?" * table.num_columns)
            rows = [list(map(sqlite_value, row)) for row in of_arrow(table).rows]
            self.database.executemany(f'insert into "{name}" values ({marks})', rows)


def sqlite_value(value):
    return value if value is None or isinstance(value, (int, float, str, bytes)) else str(value)


def under_test():
    """Returns the engine that the tests test."""
    name = os.environ.get("YUNTI_SQL_ENGINE", "yunti")
    return {"yunti": Yunti, "datafusion": DataFusion, "duckdb": DuckDb}[name]()
