"""yunti table as a program: tables from CSV, what they answer, and wrong input.

    make table && YUNTI=dist/bin/yunti python3 table/tests/table_test.py
"""

import csv
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = os.environ.get("YUNTI", os.path.join(ROOT, "dist/bin/yunti"))
USERS = "user_id,name,city,score\n1,Ada,London,0.5\n2,\"Li, Wei\",上海,\n-3,Ödön,London,-1e3\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="yunti-table-")
        self.addCleanup(shutil.rmtree, self.folder)

    def table(self, *words, code=0, text=None):
        """Runs the program and returns standard output, or standard error if it must fail."""
        done = subprocess.run([YUNTI, "table", *map(str, words)], cwd=self.folder, input=text, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code in (0, 9) else done.stderr

    def build(self, text, *words, name="a.ytab", code=0):
        return self.table("build", "-", *words, "-o", name, code=code, text=text)


class Warm(Case):
    def test_pages_are_in_memory(self):
        self.build(USERS, "--key", "user_id:i64")
        size = os.path.getsize(os.path.join(self.folder, "a.ytab"))
        self.assertRegex(self.table("warm", "a.ytab"), rf"a.ytab: {size} bytes are in memory \([0-9.]+ s\)")
        self.assertIn("cannot open the table", self.table("warm", "b.ytab", code=3))

    def test_pages_are_kept_also_of_the_next_file(self):
        self.build(USERS, "--key", "user_id:i64")
        process = subprocess.Popen([YUNTI, "table", "warm", "a.ytab", "--lock"], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        try:
            self.assertIn("are kept in memory", process.stdout.readline())
            with open(f"/proc/{process.pid}/status") as status:
                locked = [int(line.split()[1]) for line in status if line.startswith("VmLck")]
            self.assertGreater(locked[0], 0)
            self.build(USERS + "7,Next,Paris,1\n", "--key", "user_id:i64")
            self.assertIn(f"{os.path.getsize(os.path.join(self.folder, 'a.ytab'))} bytes are kept", process.stdout.readline())
            process.terminate()
            self.assertEqual(process.wait(20), 0)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


class Tables(Case):
    def test_a_row_has_the_values_of_its_text(self):
        self.build(USERS, "--key", "user_id:i64", "--columns", "name,city:dict,score:f32?")
        self.assertEqual(self.table("get", "a.ytab", "2", "-3"),
                         "user_id=2\tname=Li, Wei\tcity=上海\tscore=-\nuser_id=-3\tname=Ödön\tcity=London\tscore=-1000\n")
        row = json.loads(self.table("get", "a.ytab", "1", "--json"))
        self.assertEqual(row, {"user_id": 1, "name": "Ada", "city": "London", "score": 0.5})
        self.assertIn("no row for 7", self.table("get", "a.ytab", "7", code=3))
        self.assertIn("3 keys, all found", self.table("verify", "a.ytab"))
        found = json.loads(self.table("info", "a.ytab", "--json"))
        self.assertEqual((found["keys"], [column["name"] for column in found["columns"]]),
                         (3, ["user_id", "name", "city", "score"]))

    def test_keys_of_several_columns(self):
        self.build("shop,day,sold\nnorth,1,10\nnorth,2,20\nsouth,1,30\n", "--key", "shop,day:i32", "--columns", "sold:u32")
        self.assertEqual(self.table("get", "a.ytab", "north,2"), "shop=north\tday=2\tsold=20\n")
        self.assertIn("a key has 2 values: shop,day", self.table("get", "a.ytab", "north", code=2))

    def test_many_rows_against_a_dictionary(self):
        rows = random.Random(5)
        expected = {f"{rows.getrandbits(40):x}": rows.randrange(10**9) for _ in range(50_000)}
        with open(os.path.join(self.folder, "a.csv"), "w", newline="") as file:
            csv.writer(file).writerows([("id", "n"), *expected.items()])
        self.table("build", "a.csv", "--key", "id", "--columns", "n:i64", "-o", "a.ytab", "-q")
        asked = rows.sample(sorted(expected), 500)
        found = [json.loads(line) for line in self.table("get", "a.ytab", "--json", *asked).splitlines()]
        self.assertEqual(found, [{"id": key, "n": expected[key]} for key in asked])
        size, data = os.path.getsize(os.path.join(self.folder, "a.ytab")), sum(len(key) + 8 for key in expected)
        self.assertLess(size, 1.15 * data + 6 * len(expected) + 8192)

    def test_types_are_those_of_the_first_rows(self):
        self.build("id,zip,n,t\n4711,007,1,x\n-1,01,,y\n", "--key", "id")
        self.assertEqual(self.columns(), {"id": "i64", "zip": "utf8", "n": "i64", "t": "utf8"})
        self.assertEqual(self.table("get", "a.ytab", "4711", "-1", "--json"),
                         '{"id":4711,"n":1,"t":"x","zip":"007"}\n{"id":-1,"n":null,"t":"y","zip":"01"}\n')
        late = "".join(f"{n}\n" for n in range(20_000)) + "A7\n"
        self.assertIn("line 20002: column id: \"A7\" is no i64", self.build("id\n" + late, "--key", "id", code=3))
        self.build("id\n" + late, "--key", "id:utf8")
        self.assertEqual(self.table("get", "a.ytab", "A7"), "id=A7\n")

    def columns(self, name="a.ytab"):
        return {column["name"]: column["type"] for column in json.loads(self.table("info", name, "--json"))["columns"]}

    def test_nested_values_of_json(self):
        rows = [{"id": 7, "home": {"zip": 1, "tags": ["a", None, "ü"]}, "scores": [1.5, 2]},
                {"id": 8, "home": {"zip": None}, "scores": []}, {"id": 9, "scores": None}]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        self.build(text, "--from", "json", "--key", "id")
        self.assertEqual(self.columns(), {"id": "i64", "scores": "list<f64>",
                                          "home": "record<tags:list<utf8?>?,zip:i64?>"})
        found = [json.loads(line) for line in self.table("get", "a.ytab", "7", "8", "9", "--json").splitlines()]
        self.assertEqual(found[0], rows[0])
        self.assertEqual(found[1:], [{"id": 8, "home": {"zip": None, "tags": None}, "scores": []},
                                     {"id": 9, "home": None, "scores": None}])
        self.assertIn('home={"tags":["a",null,"ü"],"zip":1}', self.table("get", "a.ytab", "7"))
        self.build('{"id": 1, "x": 0.24315421640653542, "y": [5e-324, 1.7976931348623157e308], "z": "a\\u00fc"}\n',
                   "--from", "json", "--key", "id")
        self.assertEqual(json.loads(self.table("get", "a.ytab", "1", "--json")),
                         {"id": 1, "x": 0.24315421640653542, "y": [5e-324, 1.7976931348623157e308], "z": "aü"})
        self.build("id,tags\n1,\"[1,2]\"\n", "--key", "id", "--columns", "tags:list<i16>", name="b.ytab")
        self.assertEqual(self.table("get", "b.ytab", "1"), "id=1\ttags=[1,2]\n")
        self.assertIn("line 2: column tags", self.build("id,tags\n1,x\n", "--key", "id", "--columns", "tags:list<i16>", code=3))

    def test_ranges_and_prefixes(self):
        shops = [f"{shop},{day},{day * 10}" for shop in ("north", "nord", "south") for day in range(-3, 200)]
        random.Random(2).shuffle(shops)
        self.build("shop,day,sold\n" + "\n".join(shops), "--key", "shop,day", "--sorted")
        def keys(*words):
            rows = [json.loads(line) for line in self.table("range", "a.ytab", "--json", *words).splitlines()]
            return [(row["shop"], row["day"]) for row in rows]
        self.assertEqual(keys("--from", "north,-2", "--to", "north,1"), [("north", day) for day in range(-2, 2)])
        self.assertEqual(keys("--from", "south"), [("south", day) for day in range(-3, 200)])
        self.assertEqual(keys("--prefix", "nor", "--limit", "2"), [("nord", -3), ("nord", -2)])
        self.assertEqual(len(keys("--prefix", "nor")), 406)
        self.assertEqual(keys("--from", "x"), [])
        self.build("id\n1\n", "--key", "id", name="b.ytab")
        self.assertIn("build it with --sorted", self.table("range", "b.ytab", code=2))
        self.build("id\n1\n", "--key", "id", "--sorted", name="b.ytab")
        self.assertIn("only text has a begin", self.table("range", "b.ytab", "--prefix", "1", code=2))

    def test_several_rows_of_a_key(self):
        text = "user,item\n1,a\n2,b\n1,c\n1,a\n"
        self.assertIn("4 rows", self.build(text, "--key", "user", "--duplicates", "list"))
        self.assertEqual(self.table("get", "a.ytab", "1"), "user=1\titem=a\nuser=1\titem=c\nuser=1\titem=a\n")
        self.assertIn("2 keys, all found", self.table("verify", "a.ytab"))
        for keep, item in (("first", "a"), ("last", "a")):
            self.build(text.replace("1,c\n1,a", "1,a\n1,c") if keep == "first" else text, "--key", "user",
                       "--duplicates", keep)
            self.assertEqual(self.table("get", "a.ytab", "1"), f"user=1\titem={item}\n")
        self.build(text, "--key", "user", "--duplicates", "list", name="old.ytab")
        self.build(text + "1,x\n", "--key", "user", "--duplicates", "list", name="new.ytab")
        self.assertEqual(self.table("diff", "old.ytab", "new.ytab", code=9).splitlines()[0], "~ 1")

    def test_from_another_table(self):
        self.build(USERS, "--key", "user_id", "--columns", "name,city:dict,score:f32?")
        self.table("build", "a.ytab", "--key", "name", "--columns", "city,user_id:utf8", "-o", "b.ytab", "--sorted")
        self.assertEqual(self.columns("b.ytab"), {"name": "utf8", "city": "dict", "user_id": "utf8"})
        self.assertEqual(self.table("range", "b.ytab", "--to", "Li, Wei"),
                         "name=Ada\tcity=London\tuser_id=1\nname=Li, Wei\tcity=上海\tuser_id=2\n")
        self.assertIn("missing values", self.table("build", "a.ytab", "--key", "user_id", "--columns", "score:f64", "-o",
                                                   "c.ytab", code=3))

    def test_the_same_bytes_for_any_memory_and_threads(self):
        rows = random.Random(7)
        with open(os.path.join(self.folder, "a.csv"), "w") as file:
            file.write("id,city,note\n")
            for n in range(200_000):
                file.write(f"k{rows.getrandbits(60)},c{rows.randrange(50)},\"note {n}\"\n")
        for name, words in (("a", ["--threads", "1"]), ("b", ["--memory", "8MiB"]), ("c", ["--memory", "1MiB", "-t", "3"])):
            self.table("build", "a.csv", "--key", "id", "--columns", "city:dict,note", "--sorted", "-o", name, *words)
        tables = []
        for name in "abc":
            with open(os.path.join(self.folder, name), "rb") as file:
                tables.append(file.read())
        self.assertEqual(tables[0], tables[1])
        self.assertEqual(tables[0], tables[2])
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "a.csv", "b", "c"])

    def test_a_killed_build_leaves_nothing(self):
        with open(os.path.join(self.folder, "a.csv"), "w") as file:
            file.write("id,v\n" + "".join(f"{n * 7919},{n}\n" for n in range(1_500_000)))
        self.build("id,v\n1,2\n", "--key", "id")
        for wait in (0.1, 0.3, 0.6):
            build = subprocess.Popen([YUNTI, "table", "build", "a.csv", "--key", "id", "-o", "a.ytab", "--memory", "16MiB"],
                                     cwd=self.folder, stdout=subprocess.DEVNULL)
            time.sleep(wait)
            build.kill()
            build.wait()
            self.assertEqual(sorted(os.listdir(self.folder)), ["a.csv", "a.ytab"])
            self.assertIn("all found", self.table("verify", "a.ytab"))

    def test_differences(self):
        self.build("id,v\n1,a\n2,b\n3,c\n", "--key", "id:i64", name="old.ytab")
        self.build("id,v\n2,b\n3,x\n4,d\n", "--key", "id:i64", name="new.ytab")
        lines = self.table("diff", "old.ytab", "new.ytab", code=9).splitlines()
        self.assertEqual((sorted(lines[:-1]), lines[-1]), (["+ 4", "- 1", "~ 3"], "1 removed, 1 added, 1 changed"))
        self.assertEqual(self.table("diff", "old.ytab", "old.ytab"), "0 removed, 0 added, 0 changed\n")


class Wrong(Case):
    def test_wrong_input_is_one_line_and_leaves_nothing(self):
        for text, words, code, what in (
                ("", ["--key", "id"], 3, "is empty"),
                ("id\n1\n1\n", ["--key", "id"], 3, "rows 2 and 3 have the same key"),
                ("id\nx\n", ["--key", "id:i64"], 3, "\"x\" is no i64"),
                ("id\n1\n", ["--key", "no"], 3, "there is no column no"),
                ("id\n1\n", ["--key", "id:int"], 2, "no type int"),
                ("id\n1\n", ["--key", "id:f64"], 2, "cannot be a key")):
            error = self.build(text, *words, code=code)
            self.assertIn(what, error)
            self.assertEqual(error.count("\n"), 1, error)
            self.assertEqual(os.listdir(self.folder), [])
        self.assertIn("cannot write the table", self.build("id\n1\n", "--key", "id", name="none/a.ytab", code=5))
        self.assertIn("line 1: no object of JSON", self.build("[1]\n", "--from", "json", "--key", "id", code=3))
        for text, what in (("a:int", "has no type int"), ("a,", "a name is needed"), ("a:list<i64", "> is needed")):
            self.assertIn(what, self.build("id,a\n1,2\n", "--key", "id", "--columns", text, code=2))

    def test_damage(self):
        self.build(USERS, "--key", "user_id:i64")
        path = os.path.join(self.folder, "a.ytab")
        with open(path, "rb") as file:
            whole = bytearray(file.read())
        for change, what in ((lambda b: b[:100], "damaged"), (lambda b: b[:-1], "damaged"), (lambda b: b"PK" + b[2:], "no table"),
                             (lambda b: b[:4200] + bytes([b[4200] ^ 1]) + b[4201:], "damaged")):
            with open(path, "wb") as file:
                file.write(change(bytes(whole)))
            done = subprocess.run([YUNTI, "table", "verify", path], capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (3, 4), done.stdout)
            self.assertIn(what, done.stderr)
        self.assertIn("cannot open the table", self.table("get", "none.ytab", "1", code=3))


if __name__ == "__main__":
    unittest.main(verbosity=2)
