"""Reader of tables in Python, for readers_test.py: answers queries as canonical text.

    reader.py LIBRARY    the native library of the package
    standard input       TABLE \\t QUERIES \\t ANSWERS    three files a line; table t of servers is remote:ADDRESS,..
    standard output      done | error: ..                a line for each

readers_test.py describes queries and answers. A range ends with its last key, as `y.SharedTable.range` has it.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python/src"))

import canonical  # noqa: E402
import yunti as y  # noqa: E402
from yunti.data import native  # noqa: E402


class Answers:
    """Answers to the queries of one table. Each kind of query decodes values by another call."""

    def __init__(self, table, fields, key):
        self.table, self.fields, self.key = table, fields, key
        self.batch, self.out = [], []

    def answer(self, query):
        name, *words = query.split(" ")
        if name != "batch":
            self.end_batch()
        getattr(self, "of_" + name)(*words)

    def one_key(self, word):
        values = canonical.values(self.key, word)
        return values[0] if len(values) == 1 else tuple(values)

    def limit(self, word):
        return None if word == "*" else tuple(canonical.values(self.key, word))

    def of_get(self, word):
        key = self.one_key(word)
        row = self.table.get(key)
        if (key in self.table) != (row is not None):
            raise ValueError(f"`in` differs from get: {word}")
        self.out.append("none" if row is None else canonical.row(self.fields, [row[f.name] for f in self.fields]))

    def of_all(self, word):
        self.rows(row.to_dict() for row in self.table.get_all(self.one_key(word)))

    def of_batch(self, word):
        self.batch.append(self.one_key(word))

    def end_batch(self):
        if self.batch:
            found = self.table.get_batch(self.batch).to_list()
            self.out += ["none" if row is None else self.text(row) for row in found]
            self.batch.clear()

    def of_range(self, begin, end):
        self.rows(row.to_dict() for row in self.table.range(self.limit(begin), self.limit(end)))

    def of_prefix(self, word):
        self.rows(row.to_dict() for row in self.table.prefix(self.limit(word)))

    def of_walk(self):
        self.rows(map(dict, self.table))

    def of_scan(self):
        self.rows(self.table.to_columns().to_list())

    def rows(self, rows):
        texts = [self.text(row) for row in rows]
        self.out += [f"{len(texts)} rows", *texts]

    def text(self, row):
        return canonical.row(self.fields, row.values())


def opened(place):
    """Returns a table, its columns and those of its key."""
    if place.startswith("remote:"):
        table = y.RemoteTable.connect("t", place.partition(":")[2].split(","))
        return table, table._fields, table._key
    table = y.SharedTable.open(place)
    fields = table._open().fields
    return table, fields, [fields[n] for n in table._open().key]


def run(place, queries, answers):
    table, fields, key = opened(place)
    with table, open(queries, encoding="ascii") as lines, open(answers, "w", encoding="ascii") as out:
        answering = Answers(table, fields, key)
        for query in lines:
            answering.answer(query.rstrip("\n"))
        answering.end_batch()
        out.writelines(line + "\n" for line in answering.out)


def main(library):
    native.PATH = library
    for line in sys.stdin:
        try:
            run(*line.rstrip("\n").split("\t"))
            print("done", flush=True)
        except Exception as e:
            print(f"error: {type(e).__name__}: {e}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
