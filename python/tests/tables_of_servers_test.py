"""`y.RemoteTable` at servers that `yunti table serve` runs, compared with the file that they serve.

    make table python-environment && build/python-environment/bin/python python/tests/tables_of_servers_test.py
"""

import contextlib
import random
import subprocess
import unittest

from case import without_numpy
from tables_test import HAS_ARROW, PROGRAM, Shape, TableCase

import yunti as y


class Servers(TableCase):
    @contextlib.contextmanager
    def served(self, path, *words, name="socket"):
        """Runs a server until the end of the block, and yields its address."""
        address = "unix:" + self.path(name)
        process = subprocess.Popen([PROGRAM, "serve", f"t={path}", "--listen", address, *words], stdout=subprocess.PIPE,
                                   text=True)
        try:
            self.assertIn("listening on", process.stdout.readline())
            yield address
        finally:
            process.terminate()
            process.wait(30)
            process.stdout.close()

    def test_every_type(self):
        for seed in range(12):
            rng = random.Random(seed)
            shapes = {f"c{n}": Shape(rng) for n in range(rng.randint(0, 9))}
            keys = rng.sample(range(1, 1 << 40), rng.choice([1, 2, 40, 3000]))
            rows = [{"id": key, **{name: shape.value(rng) for name, shape in shapes.items()}} for key in keys]
            columns = ",".join(f"{name}:{shape.type}{'?' * shape.is_nullable}" for name, shape in shapes.items())
            path = self.build(rows, "id:i64", columns or None)
            with self.subTest(seed=seed, columns=columns), y.SharedTable.open(path) as own, self.served(path) as address, \
                    y.RemoteTable.connect("t", address) as table:
                self.assertEqual((table.columns, table.key, table.shards), (own.columns, own.key, 1))
                asked = rng.sample(keys, min(len(keys), 20)) + [-7, 1 << 90]
                for key in asked:
                    self.assertEqual(table.get(key), own.get(key))
                    self.assertEqual(table.get_all(key), own.get_all(key))
                    self.assertEqual(key in table, key in own)
                asked = [*keys, -7]
                found, expected = table.get_batch(asked), own.get_batch(asked)
                self.assertEqual(found.to_list(), expected.to_list())
                self.assertEqual(list(found.found), list(expected.found))
                if HAS_ARROW:
                    self.assertEqual(found.to_arrow().to_pylist(), expected.to_arrow().to_pylist())

    def test_shards_columns_and_keys_of_several_columns(self):
        rows = [{"shop": f"shop{n % 90}", "day": n, "sold": n * 2, "city": f"c{n % 7}"} for n in range(3000)]
        words = [rows, "shop,day:i32", "sold:u32,city:dict"]
        whole = y.SharedTable.open(self.build(*words))
        with contextlib.ExitStack() as stack:
            servers = []
            for shard in (1, 2):
                part = self.build(*words, "--shard", f"{shard}/2", name=f"part{shard}")
                servers.append(stack.enter_context(self.served(part, name=f"s{shard}")))
            table = stack.enter_context(y.RemoteTable.connect(None, servers, columns=["city", "sold"]))
            self.assertEqual((table.shards, table.columns, table.key), (2, ["city", "sold"], ["shop", "day"]))
            self.assertEqual([(one.name, one.type, one.is_key) for one in table.schema],
                             [("city", "utf8", False), ("sold", "u32", False)])
            keys = [(row["shop"], row["day"]) for row in rows] + [("shop1", -1), ("", 0)]
            self.assertEqual(dict(table[keys[5]]), {"city": "c5", "sold": 10})
            self.assertRaises(KeyError, lambda: table["shop1", -1])
            self.assertRaises(TypeError, lambda: table["shop1"])
            found, expected = table.get_batch(keys, ["sold"]), whole.get_batch(keys, ["sold"])
            self.assertEqual(found.to_list(), expected.to_list())
            if not without_numpy():
                self.assertEqual(int(found["sold"].sum()), sum(row["sold"] for row in rows))
            self.assertRaises(KeyError, table.get_batch, keys, ["nosuch"])
            said = self.fails("input", y.RemoteTable.connect, None, servers[1:])
            self.assertEqual(said, "no server has shard 1 of 2")

    def test_errors_are_one_line(self):
        path = self.build([{"id": 1}], "id:i64", None)
        with open(self.path("token"), "w") as file:
            file.write("secret")
        with self.served(path, "--token-file", self.path("token")) as address:
            self.assertIn("needs a token", self.fails("input", y.RemoteTable.connect, "t", address))
            self.assertIn("there is no table u", self.fails("usage", y.RemoteTable.connect, "u", address, "secret"))
            table = y.RemoteTable.connect("t", address, token="secret")
            self.assertIn(f"<table t at {address}: id:i64>", repr(table))
        self.assertIn("cannot connect", self.fails("input", table.get, 1))
        table.close()
        self.assertRaises(ValueError, table.get, 1)
        self.assertIn("no address", self.fails("usage", y.RemoteTable.connect, "t", "nowhere"))
        self.assertRaises(TypeError, y.RemoteTable.connect, "t", address, columns="id")


if __name__ == "__main__":
    unittest.main()
