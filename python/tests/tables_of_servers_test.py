"""`y.RemoteTable` at servers that `yunti table serve` runs, compared with the file that they serve.

    make table python-environment && build/python-environment/bin/python python/tests/tables_of_servers_test.py
"""

import contextlib
import os
import random
import shutil
import subprocess
import threading
import time
import unittest
from unittest import mock

from case import without_numpy
from tables_test import HAS_ARROW, PROGRAM, Shape, TableCase

import yunti as y


class Servers(TableCase):
    @contextlib.contextmanager
    def served(self, path, *words, name="socket", listen=None):
        """Runs a server until the end of the block, and yields its address."""
        address = listen or "unix:" + self.path(name)
        process = subprocess.Popen([PROGRAM, "serve", f"t={path}", "--listen", address, *words], stdout=subprocess.PIPE,
                                   text=True)
        try:
            said = process.stdout.readline()
            self.assertIn("listening on", said)
            yield said.split()[-1]
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

    def test_a_server_with_the_whole_file_stands_in_for_other_shards(self):
        rows = [{"id": n, "sold": n * 2} for n in range(3000)]
        path, keys = self.build(rows, "id:i64", "sold:u32"), [row["id"] for row in rows] + [-1, 1 << 70]
        with y.SharedTable.open(path) as own, self.served(path, "--shard", "1/2", name="whole") as whole:
            expected = own.get_batch(keys).to_list()

            def check(table):
                self.assertEqual(table.get_batch(keys).to_list(), expected)
                self.assertEqual([table.get(key) for key in keys[:40]], [own.get(key) for key in keys[:40]])
                self.assertEqual(len(table.get_all(7)), 1)

            with y.RemoteTable.connect("t", whole) as table:
                self.assertEqual(table.shards, 2)
                check(table)
            part = self.build(rows, "id:i64", "sold:u32", "--shard", "2/2", name="part")
            with contextlib.ExitStack() as stack:
                second = stack.enter_context(self.served(part, name="second"))
                table = y.RemoteTable.connect("t", [second, whole])
                check(table)
                counters = table.server_counters()
                self.assertEqual([one.address for one in counters], [second, whole])
                keys_of = [one.counters["yunti_table_keys_total"] for one in counters]
                self.assertTrue(all(count > 1000 for count in keys_of), keys_of)
                stack.close()
                check(table)
            self.assertIn("cannot connect", table.server_counters()[0].error)
            self.assertEqual(table.server_counters()[0].counters, {})
            self.assertIsNone(table.server_counters()[1].error)
            check(y.RemoteTable.connect("t", [second, whole]))
            table.close()
            self.assertRaises(ValueError, table.server_counters)

    def test_a_server_ends_in_the_middle_of_batches(self):
        rows = [{"id": n, "sold": n * 2} for n in range(3000)]
        path, keys = self.build(rows, "id:i64", "sold:u32"), [row["id"] for row in rows]
        part = self.build(rows, "id:i64", "sold:u32", "--shard", "2/2", name="part")
        expected = [{"id": key, "sold": key * 2} for key in keys]
        done, wrong, batches = threading.Event(), [], [0]
        with self.served(path, "--shard", "1/2", name="whole") as whole:
            with self.served(part, name="second") as second:
                table = y.RemoteTable.connect("t", [second, whole])

            def look_up():
                try:
                    while not done.is_set():
                        batches[0] += 1
                        if table.get_batch(keys).to_list() != expected or dict(table[7]) != expected[7]:
                            wrong.append("other rows")
                except Exception as e:
                    wrong.append(e)

            thread = threading.Thread(target=look_up)
            thread.start()
            try:
                for _ in range(4):
                    with self.served(part, name="second"):
                        before = batches[0]
                        while batches[0] < before + 3 and not wrong:
                            time.sleep(0.01)
            finally:
                done.set()
                thread.join()
            self.assertEqual(wrong, [])
            table.close()

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl")
    def test_tls_with_the_authorities_of_the_system(self):
        path = self.build([{"id": 1}], "id:i64", None)
        for name in ("own", "other"):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                            "-days", "2", "-subj", "/CN=table", "-addext", "subjectAltName=IP:127.0.0.1", "-addext",
                            "basicConstraints=critical,CA:FALSE", "-keyout", self.path(f"{name}.key"), "-out",
                            self.path(f"{name}.pem")], capture_output=True, check=True)
        words = ["--tls-cert", self.path("own.pem"), "--tls-key", self.path("own.key")]
        with self.served(path, *words, listen="127.0.0.1:0") as address:
            with mock.patch.dict(os.environ, {"SSL_CERT_FILE": self.path("own.pem")}):
                with y.RemoteTable.connect("t", address, tls=True) as table:
                    self.assertIn(1, table)
                    self.assertEqual(table.server_counters()[0].counters["yunti_table_keys_total"], 1)
                self.fails("input", y.RemoteTable.connect, "t", address)
            with mock.patch.dict(os.environ, {"SSL_CERT_FILE": self.path("other.pem")}):
                said = self.fails("input", lambda: y.RemoteTable.connect("t", address, tls=True))
                self.assertIn("certificate", said)
                with y.RemoteTable.connect("t", address, tls_ca=self.path("own.pem")) as table:
                    self.assertIn(1, table)

    def test_errors_are_one_line(self):
        path = self.build([{"id": 1}], "id:i64", None)
        with open(self.path("token"), "w") as file:
            file.write("secret")
        with self.served(path, "--token-file", self.path("token")) as address:
            self.assertIn("needs a token", self.fails("input", y.RemoteTable.connect, "t", address))
            self.assertIn("name of the table is empty", self.fails("usage", y.RemoteTable.connect, "", address, "secret"))
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
