"""Shared tables (.ytab) in queries: scans, look-ups by keys, and joins by look-up, against DuckDB over the CSV that the
tables were built from.
"""

import csv
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import answers  # noqa: E402
import engines  # noqa: E402

CITIES = ["Oslo", "New York", "Zürich 云", "it's", "10", "a,b"]
LITTLE = "64MiB"
USERS = 30_000


def setUpModule():
    global here, yunti, duckdb
    here = tempfile.mkdtemp(prefix="yunti-shared-")
    unittest.addModuleCleanup(shutil.rmtree, here)
    yunti, duckdb = engines.Yunti(), engines.DuckDb()
    chance = random.Random(32)
    users = [(number * 7 - 50, f"user {number}", chance.choice(CITIES), chance.choice([None, number / 8]),
              chance.choice(["true", "false", None])) for number in range(USERS)]
    write("users.csv", ("user_id", "name", "city", "score", "is_new"), users)
    build("users.csv", "--key", "user_id:i32", "--columns", "name,city:dict,score:f64?,is_new:bool?", "--sorted",
          "-o", "users.ytab")
    sales = [(shop, day, chance.randrange(2**40), chance.choice([None, "rain", "sun"]))
             for shop in ("north", "south", "n") for day in range(-20, 400)]
    write("sales.csv", ("shop", "day", "sold", "sky"), sales)
    build("sales.csv", "--key", "shop,day:i16", "--columns", "sold:u64,sky:utf8?", "--sorted", "-o", "sales.ytab")
    visits = [(chance.randrange(2000), number, f"page {chance.randrange(50)}") for number in range(20_000)]
    visits += [(7, number, "loop") for number in range(20_000)]
    write("visits.csv", ("visitor", "seen", "page"), visits)
    build("visits.csv", "--key", "visitor:u64", "--columns", "seen:i64,page:dict", "--duplicates", "list", "-o",
          "visits.ytab")
    orders = [(number, chance.choice([None, chance.randrange(-100, 7 * USERS)]), chance.choice(["north", "west", None]),
               chance.randrange(-30, 30), chance.choice(CITIES)) for number in range(25_000)]
    os.mkdir(os.path.join(here, "orders"))
    for part in range(3):
        write(f"orders/{part}.csv", ("id", "user_id", "shop", "day", "town"), orders[part::3])
    for name in ("users", "sales", "visits"):
        duckdb.database.execute(f"create or replace view {name} as select * from read_csv('{here}/{name}.csv')")
    duckdb.database.execute(f"create or replace view orders as select * from read_csv('{here}/orders/*.csv')")
    # The same rows, with statistics.
    duckdb.database.execute(f"copy (from orders) to '{here}/bought.parquet'")
    duckdb.database.execute("create or replace view bought as select * from orders")


def write(name, columns, rows):
    with open(os.path.join(here, name), "w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def build(*words):
    subprocess.run([engines.YUNTI, "table", "build", *words, "-q"], cwd=here, check=True, timeout=120)


def tables():
    of = {name: os.path.join(here, f"{name}.ytab") for name in ("users", "sales", "visits")}
    return {**of, "orders": os.path.join(here, "orders"), "bought": os.path.join(here, "bought.parquet")}


def tables_of_several_files():
    """The same rows: users and sales in shards, visits in files that both have rows of most keys."""
    return {**tables(), **{name: os.path.join(here, "several", name) for name in ("users", "sales", "visits")}}


class Case(unittest.TestCase):
    maxDiff = None
    tables = staticmethod(tables)

    def same(self, sql, how=None, **limits):
        """Compares an answer with DuckDB's; `how`: words of the plan."""
        plan = yunti.explain(sql, self.tables())
        self.assertIn("native", plan.splitlines()[0], sql)
        if how is not None:
            self.assertIn(how, plan, sql)
        ours = yunti.query(sql, self.tables(), **limits)
        theirs = engines.of_arrow(duckdb.database.sql(sql).to_arrow_table())
        self.assertIsNone(answers.difference(ours, theirs, quotients=True), sql)
        return ours


class Scans(Case):
    QUERIES = """
        select count(*), count(score), count(is_new), sum(score), min(name), max(user_id) from users
        select city, count(*), sum(user_id), count(distinct is_new) from users group by city order by city
        select * from users where city = 'Oslo' and score > 1000
        select user_id, city from users where city like 'Z%' or is_new order by user_id desc limit 9
        select name from users where score is null and is_new is null
        select shop, sum(sold), count(sky), max(day) from sales group by shop order by shop
        select visitor, count(*), min(seen), max(page) from visits group by visitor order by 2 desc, 1 limit 5
        select page, count(*) from visits group by page order by page
        select count(*) from visits
        """

    def test_answers_are_those_of_the_text(self):
        for sql in self.QUERIES.strip().splitlines():
            with self.subTest(sql=sql):
                ours = self.same(sql.strip())
                for limits in ({"threads": 1, "memory": LITTLE}, {"threads": 3}):
                    self.assertIsNone(answers.difference(yunti.query(sql.strip(), tables(), **limits), ours), limits)
                general = yunti.query(sql.strip(), tables(), options=["--executor", "general"])
                self.assertIsNone(answers.difference(general, ours), "general")

    def test_types_are_those_of_the_table(self):
        def types(table):
            rows = yunti.query(f"describe {table}", tables()).rows
            return {row[0]: row[1] for row in rows}
        self.assertEqual(types("users"), {"user_id": "Int32", "name": "Utf8", "city": "Utf8", "score": "Float64",
                                          "is_new": "Boolean"})
        self.assertEqual(types("sales"), {"shop": "Utf8", "day": "Int16", "sold": "UInt64", "sky": "Utf8"})

    def test_nested_values_are_json(self):
        with open(os.path.join(here, "nested.json"), "w", encoding="utf-8") as file:
            file.write('{"id": 1, "home": {"street": "A", "zip": null}, "tags": ["x", "y"]}\n'
                       '{"id": 2, "home": {"street": "B", "zip": 7}, "tags": []}\n')
        build("nested.json", "--key", "id", "--columns", "home:record<street:utf8,zip:i32?>,tags:list<utf8>", "-o",
              "nested.ytab")
        rows = yunti.query("select id, home, tags from t order by id", {"t": os.path.join(here, "nested.ytab")}).rows
        self.assertEqual(rows, [(1, '{"street":"A","zip":null}', '["x","y"]'), (2, '{"street":"B","zip":7}', "[]")])

    def test_a_table_may_have_several_files(self):
        folder = os.path.join(here, "several")
        for day in (1, 2):
            os.makedirs(os.path.join(folder, f"day={day}"))
            shutil.copy(os.path.join(here, "users.ytab"), os.path.join(folder, f"day={day}"))
        sql = "select day, count(*), sum(score) from t group by day order by day"
        rows = yunti.query(sql, {"t": folder}).rows
        self.assertEqual([row[:2] for row in rows], [(1, USERS), (2, USERS)])
        self.assertEqual(yunti.query("select count(*) from t where user_id = 20 and day = 2", {"t": folder}).rows, [(1,)])

    def test_other_names_need_the_format(self):
        shutil.copy(os.path.join(here, "users.ytab"), os.path.join(here, "users.bin"))
        path = os.path.join(here, "users.bin")
        self.assertEqual(yunti.query("select count(*) from t", {"t": path}).rows, [(USERS,)])
        self.assertEqual(yunti.query("select count(*) from t", {"t": f"{path},format=ytab"}).rows, [(USERS,)])


class Keys(Case):
    def test_rows_are_looked_up(self):
        for sql, keys in (("select * from users where user_id = 48", 1), ("select name from users where user_id = 49", 1),
                          ("select * from users where user_id in (-50, -43, 20, 21, 34, null, 34)", 5),
                          ("select * from users where user_id = 55 or user_id = 62", 2),
                          ("select * from users where user_id in (6, 13, 20) and city <> 'Oslo'", 3),
                          ("select * from users where user_id in (6, 13, 20, 27) and user_id in (20, 6)", 2),
                          ("select * from users where user_id = 5 and user_id = 12", 0),
                          ("select * from sales where shop = 'north' and day = -3", 1),
                          ("select * from sales where day in (1, 2, 500) and shop in ('n', 'south')", 6),
                          ("select * from sales where (shop = 'north' and day = 1) or (shop = 'south' and day = 2)", 2),
                          ("select count(*), max(seen) from visits where visitor = 7", 1),
                          ("select * from visits where visitor in (3, 5, 100000) and page = 'page 1'", 3)):
            with self.subTest(sql=sql):
                how = f"look up {keys} key{'' if keys == 1 else 's'} in" if keys else None
                self.same(sql, how)

    def test_values_of_subqueries_and_parameters_are_keys(self):
        self.same("select name from users where user_id = (select max(user_id) - 7 from users)")
        rows = yunti.query("select name from users where user_id = $id", self.tables(), options=["--param", "id=48"]).rows
        self.assertEqual(rows, [("user 14",)])

    def test_ranges(self):
        for sql in ("select * from users where user_id between 100 and 200", "select * from users where user_id < 0",
                    "select count(*), sum(score) from users where user_id > 1000",
                    "select * from users where user_id >= 209900 and city = 'Oslo'",
                    "select * from sales where shop = 'south' and day > 390",
                    "select * from sales where shop > 'north' and day < -15",
                    "select * from sales where shop = 'n' and day between 5 and 6"):
            with self.subTest(sql=sql):
                self.same(sql)


class Joins(Case):
    LOOKED_UP = "look-up by the key of users"

    def test_each_kind(self):
        on = "o join users u on o.user_id = u.user_id"
        for sql in (f"select o.id, u.name, u.score, u.user_id from orders {on}",
                    f"select o.id, u.name, u.score, u.user_id from orders {on.replace('join', 'left join')}",
                    f"select o.id, u.name from users u right join orders o on o.user_id = u.user_id and u.is_new",
                    f"select o.id, u.city from orders {on} and o.town = u.city where u.score > 100",
                    f"select o.id, u.city from orders {on.replace('join', 'left join')} and o.town = u.city",
                    f"select o.id, u.name from orders {on.replace('join', 'left join')} and o.day < u.score - 500",
                    f"select u.city, count(*), sum(u.score), max(o.id) from orders {on} group by 1 order by 1",
                    f"select u.city, count(*), count(u.name) from orders {on.replace('join', 'left join')} group by 1",
                    "select id from orders where user_id in (select user_id from users where is_new)",
                    "select id from orders o where not exists (select 1 from users u where u.user_id = o.user_id)",
                    "select id, exists (select 1 from users u where u.user_id = o.user_id and u.is_new) or id < 9 from orders o",
                    f"select o.id from orders {on.replace('join', 'left join')} where u.user_id is null"):
            with self.subTest(sql=sql):
                ours = self.same(sql, self.LOOKED_UP)
                for limits in ({"threads": 1, "memory": LITTLE}, {"threads": 3}):
                    self.assertIsNone(answers.difference(yunti.query(sql, self.tables(), **limits), ours), limits)

    def test_other_keys(self):
        for sql, table in (
                ("select o.id, s.sold, s.sky from orders o join sales s on o.shop = s.shop and o.day = s.day", "sales"),
                ("select o.id, s.sold from orders o left join sales s on s.day = o.day and s.shop = o.shop", "sales"),
                ("select o.id, v.seen, v.page from orders o join visits v on o.user_id = v.visitor", "visits"),
                ("select o.id, count(v.seen) from orders o left join visits v on o.day = v.visitor group by 1", "visits"),
                ("select o.id, u.name, s.sold from orders o join users u on o.user_id = u.user_id "
                 "left join sales s on s.shop = o.shop and s.day = o.day", "users")):
            with self.subTest(sql=sql):
                self.same(sql, f"look-up by the key of {table}")

    def test_a_table_is_built_where_no_index_helps(self):
        for sql in ("select count(*) from orders o full join users u on o.user_id = u.user_id",
                    "select count(*), sum(u.score) from users u left join orders o on o.user_id = u.user_id",
                    "select count(*) from orders o join users u on o.town = u.city where u.user_id < 300",
                    "select count(*) from orders o join sales s on o.shop = s.shop"):
            with self.subTest(sql=sql):
                self.assertNotIn("look-up by", yunti.explain(sql, self.tables()))
                self.same(sql, "table of the")


class Semi(Case):
    """The table is outside: rows with a partner, and rows without one."""

    def test_few_keys_look_up_the_rows(self):
        # Of an inner side with nulls, with keys that are not there, and with each key several times.
        for inner in ("select user_id from bought where id < 500", "select user_id + 7 from bought where id < 90",
                      "select user_id from bought where id < 0",
                      "select cast(user_id as bigint) from bought where id < 50",
                      "select max(user_id) from bought group by town"):
            for sql in (f"select user_id, name, score from users where user_id in ({inner})",
                        f"select count(*), sum(score) from users where city <> 'Oslo' and user_id in ({inner})"):
                with self.subTest(sql=sql):
                    ours = self.same(sql, "look-up by the key of users")
                    for limits in ({"threads": 1, "memory": LITTLE}, {"threads": 3}):
                        self.assertIsNone(answers.difference(yunti.query(sql, self.tables(), **limits), ours), limits)
        for sql in ("select v.visitor, v.seen from visits v where v.visitor in "
                    "(select id from bought where id between 5 and 9)",
                    "select * from users u where exists "
                    "(select 1 from bought o where o.user_id = u.user_id and o.id < 70)",
                    "select shop, day, sold from sales where (shop, day) in "
                    "(select shop, day from bought where id < 60)"):
            with self.subTest(sql=sql):
                self.same(sql, "look-up by the key of")

    def test_many_keys_and_further_conditions_scan(self):
        for sql in ("select count(*), max(name) from users where user_id in (select user_id from bought)",
                    "select u.user_id from users u where exists "
                    "(select 1 from bought o where o.user_id = u.user_id and o.id < 200 and o.day < u.score)",
                    "select count(*) from users where city in (select town from bought where id < 3)"):
            with self.subTest(sql=sql):
                self.assertNotIn("look-up by", yunti.explain(sql, self.tables()))
                self.same(sql)

    def test_not_in_with_nulls(self):
        for inner, has_null in (("select user_id from bought where id < 500", True),
                                ("select user_id from bought where id < 500 and user_id is not null", False),
                                ("select user_id from bought where id < 0", False)):
            for sql in (f"select count(*), sum(user_id) from users where user_id not in ({inner})",
                        f"select count(*) from users where not (user_id in ({inner})) or name = 'user 3'",
                        "select count(*), min(user_id) from users u where not exists "
                        f"(select 1 from ({inner}) o where o.user_id = u.user_id)"):
                with self.subTest(sql=sql):
                    rows = self.same(sql).rows
                    if has_null and "count(*), sum" in sql:
                        self.assertEqual(rows[0][0], 0)


class SeveralFiles(Keys, Joins, Semi):
    """The same queries over tables of several files, each with an index of its own."""

    tables = staticmethod(tables_of_several_files)

    @classmethod
    def setUpClass(cls):
        for name, *words in (("users", "--key", "user_id:i32", "--columns",
                              "name,city:dict,score:f64?,is_new:bool?", "--sorted"),
                             ("sales", "--key", "shop,day:i16", "--columns", "sold:u64,sky:utf8?")):
            os.makedirs(os.path.join(here, "several", name))
            for shard in (1, 2, 3):
                build(f"{name}.csv", *words, "--shard", f"{shard}/3", "-o", f"several/{name}/{shard}.ytab")
        os.makedirs(os.path.join(here, "several", "visits"))
        with open(os.path.join(here, "visits.csv"), newline="", encoding="utf-8") as file:
            columns, *rows = csv.reader(file)
        for part in (0, 1):
            write(f"visits-{part}.csv", columns, rows[part::2])
            build(f"visits-{part}.csv", "--key", "visitor:u64", "--columns", "seen:i64,page:dict", "--duplicates",
                  "list", "-o", f"several/visits/{part}.ytab")

    def test_all_rows(self):
        for sql in ("select count(*), count(score), sum(score), min(name) from users",
                    "select page, count(*), sum(seen) from visits group by page order by page"):
            with self.subTest(sql=sql):
                self.same(sql)


class Damage(unittest.TestCase):
    def fails(self, path, code, what, sql="select count(name), max(score) from t"):
        words = [engines.YUNTI, "sql", "--table", f"t={path}", sql]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertIn(what, done.stderr)
        self.assertIn(path, done.stderr)

    def test_damage_is_one_line_and_exit_code_4(self):
        path = os.path.join(here, "damaged.ytab")
        with open(os.path.join(here, "users.ytab"), "rb") as file:
            whole = file.read()
        for begin in (4096, 8192, len(whole) // 2):
            with open(path, "wb") as file:
                file.write(whole[:begin] + bytes(byte ^ 0x55 for byte in whole[begin:begin + 64]) + whole[begin + 64:])
            self.fails(path, 4, "damaged")
        with open(path, "wb") as file:
            file.write(whole[:-1000])
        self.fails(path, 4, "damaged")
        join = f"select count(u.name) from (select 48 as id) o join t u on o.id = u.user_id"
        with open(path, "wb") as file:
            file.write(whole[:4300] + bytes(len(whole) - 4300))
        self.fails(path, 4, "damaged", join)
        self.fails(path, 4, "damaged", "select name from t where user_id = 48")

    def test_another_file_is_no_table(self):
        path = os.path.join(here, "text.ytab")
        with open(path, "w", encoding="utf-8") as file:
            file.write("user_id,name\n1,Ada\n")
        self.fails(path, 3, "table")


if __name__ == "__main__":
    unittest.main()
