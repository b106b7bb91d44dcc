"""Rows of the table "Goals of the engine" in benches/README.md: data, programs, goals."""

from dataclasses import dataclass, field

GB = 10**9


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    data: str  # a kind of harness/data.py
    bytes: int
    ours: str  # key of commands.OURS
    same: str  # comparison of outputs: "unordered" lines or "exact" bytes
    limit: str = ""  # key of commands.LIMIT
    limit_goal: float = 0  # at most this many times slower than the limit program; 0: shown, not judged
    peers: dict = field(default_factory=dict)  # module in benches/peers -> at least this many times faster
    task: str = ""  # key of TASKS in the modules of the peers
    reduces: int = 1
    memory: int = 0  # budget in bytes; 0: none
    touch: int = 3 * GB  # memory to touch and free before a series
    wall_goal: float = 0  # seconds, for a row without opponents
    default: bool = True


ROWS = [
    Row("wordcount", "word count 1 GB, built in", "text", GB, "wordcount", "unordered", "wordcount", 1.2,
        {"chdb_peer": 4, "duckdb_peer": 7, "mawk_peer": 24, "spark_peer": 35, "hadoop_local_peer": 200,
         "polars_peer": 0}, "words"),
    Row("wordcount-folder", "word count 1 GB, class library with a Folder, header tokeniser", "text", GB,
        "wordcount-folder", "unordered", "wordcount", 1.4,
        {"chdb_peer": 3.2, "duckdb_peer": 5.5}, "words"),
    Row("wordcount-loop", "the same, words cut by a plain loop in user code", "text", GB, "wordcount-loop", "unordered",
        "wordcount", 2.8,
        {"chdb_peer": 1.5, "duckdb_peer": 2.7}, "words"),
    Row("wordcount-sorted", "word count 1 GB, mapper + combiner + reducer, sorted", "text", GB, "wordcount-sorted",
        "unordered", "wordcount", 1.7,
        {"chdb_peer": 2.5, "duckdb_peer": 4}, "words"),
    Row("zipf", "word count 2 GB Zipf", "zipf", 2 * GB, "wordcount", "unordered", "wordcount", 1.2,
        {"chdb_peer": 2.8, "duckdb_peer": 3.4, "spark_peer": 20, "polars_peer": 0}, "words", touch=5 * GB),
    Row("terasort", "TeraSort 1 GB, R = 1", "tera", GB, "terasort", "exact", "terasort", 1.3,
        {"chdb_peer": 7, "hadoop_local_peer": 60}, "records", touch=4 * GB),
    Row("terasort-32", "TeraSort 1 GB, R = 32", "tera", GB, "terasort", "exact", "terasort", 1.3,
        {"chdb_peer": 7}, "records", reduces=32, touch=4 * GB),
    Row("terasort-ascii", "TeraSort 1 GB, R = 1, printable records", "tera-ascii", GB, "terasort", "exact", "", 0,
        {"duckdb_peer": 10, "gnu_sort_peer": 10, "spark_peer": 40, "polars_peer": 0}, "records", touch=6 * GB),
    Row("terasort-ascii-32", "TeraSort 1 GB, R = 32, printable records", "tera-ascii", GB, "terasort", "exact", "", 0,
        {"duckdb_peer": 10, "gnu_sort_peer": 10, "spark_peer": 40}, "records", reduces=32, touch=6 * GB),
    Row("sortlines", "sort the lines of 1 GB text", "text", GB, "sortlines", "exact", "sortlines", 0,
        {"gnu_sort_peer": 10, "duckdb_peer": 6}, "lines", touch=6 * GB),
    Row("terasort-10g", "TeraSort 10 GB, memory budget 2 GiB", "tera-ascii", 10 * GB, "terasort-budget", "exact",
        "extsort", 1.3,
        {"duckdb_peer": 3}, "records", memory=2 << 30, default=False),
    Row("maxbykey", "maximum by key, 1 GB of pairs, class library", "pairs", GB, "maxbykey", "unordered", "maxbykey", 0,
        {"chdb_peer": 2.5}, "maximum"),
    Row("empty", "empty job, start to exit", "six-bytes", 6, "empty", "unordered", wall_goal=0.020),
]

BY_NAME = {row.name: row for row in ROWS}

# A limit program counts as one only if its best time beats chdb's best in the same run by this factor.
LIMIT_VALID = {"wordcount": 4, "zipf": 3, "terasort": 7}


def must_faster(goal):
    """Returns the must of a peer: three quarters of the goal's speed."""
    return goal * 0.75


def must_slower(goal):
    """Returns the must of a limit program: 1.6 times slower becomes 2.1 times."""
    return goal / 0.75
