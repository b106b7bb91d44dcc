"""Tables of a Hive metastore: formats, partitions, views, and answers that are damaged. The metastore is a stand-in."""

import datetime
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

import engines
from foreign.metastore import Metastore

SECONDS = 120


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="yunti-hive-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, content):
        data = content.encode() if isinstance(content, str) else content
        pathlib.Path(self.path(name)).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)

    def serve(self, tables, **named):
        server = Metastore({"db": tables, **named.pop("databases", {})}, **named)
        self.addCleanup(server.close)
        return server

    def run_program(self, catalog, query, *flags):
        words = [engines.YUNTI, "sql", "--catalog", catalog, "--quiet", "--statements", *flags]
        return subprocess.run(words, input=json.dumps(query) + "\n", capture_output=True, text=True, timeout=SECONDS)

    def rows(self, server, query, *flags):
        done = self.run_program(server.catalog, query, *flags)
        answer = json.loads(done.stdout or "{}")
        self.assertIn("rows", answer, f"{query}: {answer.get('error')} {done.stderr}")
        return answer["rows"]

    def both(self, server, query):
        """Returns the rows, which both executors must agree on."""
        native = self.rows(server, query, "--executor", "native")
        self.assertEqual(native, self.rows(server, query, "--executor", "general"), query)
        return native

    def failure(self, server, query, *flags):
        done = self.run_program(server.catalog if isinstance(server, Metastore) else server, query, *flags)
        error = json.loads(done.stdout)["error"] if done.stdout else done.stderr
        self.assertTrue(error, query)
        self.assertNotIn("\n", error.strip())
        self.assertNotIn("panick", error)
        return error


class Formats(Case):
    def table(self, format, columns, **more):
        return {"columns": columns, "location": f"file:{self.folder}/t", "format": format, **more}

    def test_text(self):
        columns = [("a", "int"), ("b", "string"), ("c", "double"), ("d", "date"), ("e", "array<int>"),
                   ("f", "varchar(2)")]
        self.write("t/1", "1\x01x\x011.5\x012026-11-01\x011\x022\x01abc\n\\N\x01\\N\x01x\x01\\N\x01\\N\x01\\N\n\n")
        self.write("t/2.gz", "2\x01y")
        self.write("t/_hidden", "9\x01z\n")
        server = self.serve({"t": self.table("text", columns)})
        self.assertEqual(self.both(server, "select * from db.t order by coalesce(a, 3), b nulls last"), [
            ["1", "x", "1.5", "2026-11-01", "[1,2]", "ab"], ["2", "y", None, None, None, None],
            [None] * 6, [None] * 6])
        self.assertEqual(self.both(server, "select count(*), sum(a) from db.t"), [["4", "3"]])
        self.assertEqual(self.both(server, "select b from db.t where a = 2"), [["y"]])

    def test_delimiters_and_headers(self):
        serde = {"field.delim": "|", "escape.delim": "\\", "serialization.null.format": "NULL"}
        self.write("t/1", "a|b\n1|x\\|y\r\nNULL|\\\\\n-- end\n")
        parameters = {"skip.header.line.count": "1", "skip.footer.line.count": "1"}
        table = self.table("text", [("a", "bigint"), ("b", "string")], serde=serde, parameters=parameters)
        self.assertEqual(self.both(self.serve({"t": table}), "select * from db.t"), [["1", "x|y"], [None, "\\"]])

    def test_many_lines_in_morsels(self):
        """A file of several morsels: each line is read once, wherever the cuts are."""
        lines = [f"{n},{'x' * (n % 97)}\n" for n in range(700_000)]
        self.write("t/1", "".join(lines))
        table = self.table("text", [("a", "int"), ("b", "string")], serde={"field.delim": ","})
        server = self.serve({"t": table})
        expect = [[str(len(lines)), str(sum(range(700_000))), str(sum(n % 97 for n in range(700_000)))]]
        query = "select count(*), sum(a), sum(length(b)) from db.t"
        for threads in ("1", "3"):
            self.assertEqual(self.rows(server, query, "--threads", threads, "--executor", "native"), expect)

    def test_csv_and_json(self):
        self.write("t/1", 'a,"b,c"\n"say ""hi""",x\n')
        csv = self.table("csv", [("a", "string"), ("b", "string")])
        self.write("j/1", '{"a": 1, "B": {"x": [1, null]}, "z": 0}\n{"a": null}\n{"a": "7"}\n')
        other = {**self.table("json", [("a", "int"), ("b", "string")]), "location": f"{self.folder}/j"}
        server = self.serve({"t": csv, "j": other})
        self.assertEqual(self.both(server, "select * from db.t"), [["a", "b,c"], ['say "hi"', "x"]])
        self.assertEqual(self.both(server, "select * from db.j"), [["1", '{"x":[1,null]}'], [None, None], ["7", None]])
        self.write("j/2", '{"a": 1}\n{"a"\n')
        self.assertIn("no JSON", self.failure(server, "select * from db.j"))

    def test_columns_by_name(self):
        table = pa.table({"B": ["x", "y"], "a": pa.array([1, 2], pa.int32()), "extra": [0, 0]})
        for format, write in (("parquet", pq.write_table), ("orc", orc.write_table)):
            write(table, self.path(f"{format}/1"))
            columns = [("a", "bigint"), ("b", "string"), ("later", "double")]
            server = self.serve({"t": {**self.table(format, columns), "location": f"file://{self.folder}/{format}"}})
            self.assertEqual(self.both(server, "select * from db.t"), [["1", "x", None], ["2", "y", None]], format)
            self.assertEqual(self.both(server, "select b from db.t where a > 1"), [["y"]])

    def test_files_of_several_ages(self):
        pq.write_table(pa.table({"a": pa.array([1], pa.int32())}), self.path("t/1"))
        pq.write_table(pa.table({"a": pa.array([2], pa.int64()), "b": ["new"]}), self.path("t/2"))
        server = self.serve({"t": self.table("parquet", [("a", "bigint"), ("b", "string")])})
        self.assertEqual(self.both(server, "select * from db.t order by a"), [["1", None], ["2", "new"]])

    def test_columns_by_place(self):
        orc.write_table(pa.table({"_col0": [1], "_col1": ["x"]}), self.path("t/1"))
        server = self.serve({"t": self.table("orc", [("k", "int"), ("v", "string")])})
        self.assertEqual(self.both(server, "select v, k from db.t"), [["x", "1"]])

    def test_avro_and_sequence_files(self):
        for format, name in (("avro", "avro"), ("sequence", "sequence")):
            rows = "select 1 as a, 'x' as b" if format == "avro" else "select 'k' as key, '1' || chr(1) || 'x' as value"
            source = self.path(f"{format}-in.parquet")
            done = subprocess.run([engines.YUNTI, "sql", rows, "--output", source, "--quiet", "--overwrite"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            target = self.path(f"{format}/")
            words = [engines.YUNTI, "convert", source, target + "out", "--output-format", name, "--quiet"]
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode != 0:
                self.skipTest(f"convert has no {name}: {done.stderr}")
            table = {**self.table(format, [("a", "int"), ("b", "string")]), "location": f"{target}out"}
            self.assertEqual(self.both(self.serve({"t": table}), "select * from db.t"), [["1", "x"]], format)

    def test_what_is_not_read_is_said(self):
        server = self.serve({"t": self.table("rc", [("a", "int")]), "u": self.table("text", [("a", "what<int>")])})
        self.assertIn("RCFileInputFormat", self.failure(server, "select * from db.t"))
        self.assertIn("column a: the type 'what<int>'", self.failure(server, "select * from db.u"))

    def test_a_missing_directory_has_no_rows(self):
        server = self.serve({"t": {**self.table("text", [("a", "int")]), "location": f"{self.folder}/nothing"}})
        self.assertEqual(self.both(server, "select count(*), max(a) from db.t"), [["0", None]])


class Partitions(Case):
    def setUp(self):
        super().setUp()
        parts = []
        for day in ("2026-11-01", "2026-11-02", "__HIVE_DEFAULT_PARTITION__"):
            for hour in ("0", "7", "12"):
                place = f"logs/day={day}/hour={hour}"
                self.write(f"{place}/1", f"{day[-2:]}{hour}\n")
                parts.append(([day, hour], f"file:{self.folder}/{place}"))
        self.logs = {"columns": [("n", "string")], "keys": [("day", "string"), ("hour", "int")], "format": "text",
                     "location": f"file:{self.folder}/logs", "partitions": parts}

    def test_only_matching_partitions_are_asked_for_and_listed(self):
        server = self.serve({"logs": self.logs})
        query = "select n, hour from db.logs where day = '2026-11-01' and hour >= 7 order by hour"
        # The others' directories would fail.
        for place in ("day=2026-11-02/hour=0", "day=2026-11-01/hour=0"):
            os.unlink(f"{self.folder}/logs/{place}/1")
            os.rmdir(f"{self.folder}/logs/{place}")
            self.write(f"logs/{place}", b"")
        self.assertEqual(self.both(server, query), [["017", "7"], ["0112", "12"]])
        asked = [call for call in server.calls if call[0] == "get_partitions_by_filter"]
        self.assertEqual({call[3] for call in asked}, {'day = "2026-11-01" and hour >= 7'})
        self.assertNotIn("get_partitions", [call[0] for call in server.calls])

    def test_conditions_that_the_metastore_has_no_words_for(self):
        for can_filter in (True, False):
            server = self.serve({"logs": self.logs}, can_filter=can_filter)
            for condition, expect in [
                ("day is null", "3"), ("day is null and hour = 7", "1"), ("substr(day, 10) = '2'", "3"),
                ("hour in (0, 12)", "6"), ("hour between 1 and 8", "3"), ("day = '2026-11-01' or hour = 0", "5"),
                ("hour <> 7", "6"), ("day = '2026-11-01' or n = '0212'", "4"), ("day > '2026-11-01'", "3"),
                ("hour = 99", "0"), ("hour + 1 = 8", "3"), ("1 = 1", "9"),
            ]:
                got = self.both(server, f"select count(*) from db.logs where {condition}")
                self.assertEqual(got, [[expect]], condition)

    def test_keys_are_columns_with_types(self):
        server = self.serve({"logs": self.logs})
        got = self.both(server, "select day, sum(hour), count(*) from db.logs group by day order by day nulls last")
        self.assertEqual(got, [["2026-11-01", "19", "3"], ["2026-11-02", "19", "3"], [None, "19", "3"]])
        self.assertEqual(self.both(server, "select distinct hour from db.logs order by hour"), [["0"], ["7"], ["12"]])

    def test_dates_and_names_that_are_encoded(self):
        self.write("d/when=2026-11-01/city=New%20York%2F1/1", "a\n")
        self.write("d/when=2026-11-02/city=x/1", "b\n")
        table = {"columns": [("n", "string")], "keys": [("when", "date"), ("city", "string")], "format": "text",
                 "location": f"{self.folder}/d", "partitions": [
                     (["2026-11-01", "New York/1"], f"{self.folder}/d/when=2026-11-01/city=New%20York%2F1"),
                     (["2026-11-02", "x"], f"{self.folder}/d/when=2026-11-02/city=x")]}
        server = self.serve({"t": table})
        query = "select n, city from db.t where \"when\" < date '2026-11-02'"
        self.assertEqual(self.both(server, query), [["a", "New York/1"]])

    def test_partitions_in_several_formats(self):
        pq.write_table(pa.table({"n": ["new"]}), self.path("p/1"))
        mixed = {**self.logs, "partitions": [*self.logs["partitions"][:1], (["x", "1"], f"{self.folder}/p", "parquet")]}
        server = self.serve({"t": mixed})
        self.assertEqual(self.both(server, "select n, day from db.t order by n"), [["010", "2026-11-01"], ["new", "x"]])

    def test_a_join_and_a_subquery(self):
        server = self.serve({"logs": self.logs})
        query = ("select a.n from db.logs a join db.logs b on a.hour = b.hour and b.day = '2026-11-02' "
                 "where a.day = '2026-11-01' and a.hour = (select max(hour) from db.logs) order by 1")
        self.assertEqual(self.both(server, query), [["0112"]])


class Names(Case):
    def setUp(self):
        super().setUp()
        self.write("t/1", "1\n2\n")
        self.table = {"columns": [("a", "int")], "location": f"{self.folder}/t", "format": "text"}

    def test_databases_and_the_default_one(self):
        server = self.serve({"t": self.table}, databases={"default": {"u": self.table}})
        self.assertEqual(self.rows(server, "select sum(a) from DB.T"), [["3"]])
        self.assertEqual(self.rows(server, "select sum(a) from u"), [["3"]])
        self.assertIn("there is no table 'db.missing'", self.failure(server, "select * from db.missing"))
        self.assertIn("there is no table", self.failure(server, "select * from missing"))

    def test_newer_and_framed_servers(self):
        for named in ({"old": False}, {"framed": True}):
            self.assertEqual(self.rows(self.serve({"t": self.table}, **named), "select sum(a) from db.t"), [["3"]])

    def test_views(self):
        server = self.serve({
            "t": self.table, "v": {"view": "SELECT `t`.`a` + 1 AS `b` FROM `db`.`t`"},
            "w": {"view": "select sum(`v`.`b`) as `s` from `db`.`v` where `v`.`b` > 2"},
            "loop": {"view": "select * from `db`.`loop`"}, "bad": {"view": "selec"},
        })
        self.assertEqual(self.both(server, "select s from db.w"), [["3"]])
        self.assertIn("view db.loop", self.failure(server, "select * from db.loop"))
        self.assertIn("view db.bad", self.failure(server, "select * from db.bad"))

    def test_allowed_paths_hold_for_tables(self):
        server = self.serve({"t": self.table})
        self.assertIn("outside of the allowed", self.failure(server, "select * from db.t", "--allow", "/nowhere"))
        self.assertEqual(self.rows(server, "select sum(a) from db.t", "--allow", self.folder), [["3"]])


class Damage(Case):
    def test_answers_that_are_damaged(self):
        long = b"\x80\x01\0\x02\0\0\0\x09get_table\0\0\0\x01"
        for answer in (b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0" * 100, b"\xff" * 100, long,
                       long + b"\x0c" * 10_000, long + b"\x0b\0\0\x7f\xff\xff\xff",
                       long + b"\x0f\0\0\x0c\x7f\xff\xff\xff" + b"\0" * 100,
                       long + b"\x0c\0\0\0\0", long + b"\x08\0\0\0\0\0\1\0", long.replace(b"get", b"put")):
            server = self.serve({}, answer=answer)
            self.failure(server, "select * from db.t")

    def test_no_server(self):
        self.assertIn("cannot reach the metastore", self.failure("hive:thrift://127.0.0.1:1", "select * from db.t"))
        self.assertIn("no address of a metastore", self.failure("hive:http://x", "select 1"))
        self.assertIn("there is no catalog", self.failure("glue:x", "select 1"))


if __name__ == "__main__":
    unittest.main()
