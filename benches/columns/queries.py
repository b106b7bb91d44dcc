"""Questions about TPC-H's lineitem: SQL for the peers, and the command of Yunti for the same answer.

The SQL has `{lineitem}` for the table; the command has `{input}`.
"""

import re
from dataclasses import dataclass

Q1 = "sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)), " \
     "sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), avg(l_extendedprice), avg(l_discount), " \
     "count"
Q1_DAYS = "l_shipdate <= date '1998-09-02'"
Q6_ROWS = "l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 " \
          "and l_quantity < 24"
ONE_PERCENT = "l_quantity < 2 and l_tax < 0.04"
COUNT_SUM = "count, sum(l_extendedprice)"
WIDE = "l_orderkey, l_partkey, l_extendedprice, l_shipdate, l_shipmode, l_comment"


@dataclass(frozen=True)
class Query:
    name: str
    title: str
    sql: str
    command: tuple  # words after `yunti`
    goal: float = 1  # at least this many times faster than the best peer
    source: str = "parquet"  # form of the input: parquet or csv
    writes: str = "text"  # form of the output: text or parquet

    def text(self, lineitem):
        return self.sql.replace("{lineitem}", lineitem)

    def words(self, path):
        return [word.replace("{input}", path) for word in self.command]


def aggregate(name, title, aggregates, by="", where="", goal=1.0, source="parquet"):
    """Returns a query that both sides spell alike: groups, aggregates and a condition."""
    counted = re.sub(r"\bcount$|\bcount(?=,)", "count(*)", aggregates)
    sql = "select " + (f"{by}, " if by else "") + counted + " from {lineitem}"
    sql += (f" where {where}" if where else "") + (f" group by {by}" if by else "")
    command = ["run", "aggregate", "{input}", "--agg", aggregates]
    command += (["--by", by] if by else []) + (["--where", where] if where else [])
    return Query(name, title, sql, tuple(command), goal, source)


QUERIES = [
    aggregate("count", "count of all rows", "count"),
    aggregate("sum", "sum of a column", "sum(l_extendedprice)"),
    aggregate("q1", "TPC-H Q1: eight aggregates of four groups", Q1, "l_returnflag,l_linestatus", Q1_DAYS),
    aggregate("q6", "TPC-H Q6: sum of 2 % of the rows", "sum(l_extendedprice * l_discount)", where=Q6_ROWS, goal=1.5),
    Query("filter", "1 % of the rows, six columns", "select " + WIDE + " from {lineitem} where " + ONE_PERCENT,
          ("run", "filter", "{input}", "--columns", WIDE, "--where", ONE_PERCENT), 1.5),
    aggregate("point", "rows of one part, an integer", COUNT_SUM, where="l_partkey = 1234", goal=1.5),
    aggregate("day", "rows of one day", COUNT_SUM, where="l_shipdate = date '1995-05-05'", goal=1.5),
    aggregate("shipmode", "groups of a column of 7 texts", "count", "l_shipmode", goal=1.5),
    aggregate("suppkey", "10,000 groups x scale", "sum(l_extendedprice), max(l_shipdate)", "l_suppkey"),
    aggregate("orderkey", "1,500,000 groups x scale", "sum(l_quantity)", "l_orderkey"),
    aggregate("comment", "groups of texts, most of them distinct", "count", "l_comment"),
    aggregate("max-text", "largest text of a column of texts", "max(l_comment)"),
    Query("distinct", "distinct texts of a dictionary column", "select distinct l_shipinstruct from {lineitem}",
          ("run", "distinct", "{input}", "--key-columns", "l_shipinstruct"), 1.5),
    aggregate("csv-aggregate", "groups of 7 texts, from CSV", COUNT_SUM, "l_shipmode", source="csv"),
    Query("csv-to-parquet", "conversion of CSV to Parquet", "select * from {lineitem}",
          ("convert", "{input}", "{output}", "--output-format", "parquet", "--codec", "snappy"), 1.2, "csv", "parquet"),
]
BY_NAME = {query.name: query for query in QUERIES}
