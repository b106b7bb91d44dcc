"""yunti table serve as a program: lookups over sockets, shards, TLS, tokens, counters, and its end under load.

    make table && YUNTI=dist/bin/yunti python3 table/tests/serve_test.py
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest
import urllib.request
from unittest import mock

from table_test import YUNTI, Case

CITIES = 40


class Serving(Case):
    def setUp(self):
        super().setUp()
        lines = [f"{n * 3},name {n},city{n % CITIES},{'' if n % 5 == 0 else n / 4}" for n in range(5000)]
        self.text = "\n".join(["user_id,name,city,score", *lines, ""])
        self.users()

    def users(self, *words, name="users.ytab"):
        self.build(self.text, "--key", "user_id:i64", "--columns", "name,city:dict,score:f32?", *words, name=name)

    @contextlib.contextmanager
    def served(self, *words, listen=("unix:socket",)):
        """Runs a server until the end of the block, and yields its process and the addresses that it prints."""
        listens = [word for address in listen for word in ("--listen", address)]
        with open(os.path.join(self.folder, "server.log"), "a+") as log:
            process = subprocess.Popen([YUNTI, "table", "serve", *words, *listens], cwd=self.folder, text=True,
                                       stdout=subprocess.PIPE, stderr=log)
            try:
                said = [process.stdout.readline() for _ in range(len(listen) + ("--metrics" in words))]
                log.seek(0)
                self.assertTrue(all(re.match("(listening|counters) on ", line) for line in said), f"{said} {log.read()}")
                yield process, [line.split()[-1] for line in said]
            finally:
                process.terminate()
                process.wait(30)
                process.stdout.close()

    def get(self, server, *keys, code=0, name="users"):
        return self.table("get", name, *keys, "--server", server, code=code)


class Lookups(Serving):
    def test_rows_over_both_sockets_are_those_of_the_file(self):
        keys = ["0", "3", "15", "14997"]
        own = self.table("get", "users.ytab", *keys)
        with self.served("users.ytab", listen=("unix:socket", "127.0.0.1:0")) as (process, addresses):
            for address in addresses:
                self.assertEqual(self.get(address, *keys), own)
            self.assertIn("no row for 4", self.get(addresses[0], "3", "4", code=3))
            self.assertIn("no i64", self.get(addresses[0], "x", code=2))
            self.assertIn("there is no table other; the server has users", self.get(addresses[0], "3", code=2, name="other"))
            self.assertEqual(os.stat(os.path.join(self.folder, "socket")).st_mode & 0o170000, 0o140000)
            process.terminate()
            self.assertEqual(process.wait(30), 0)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "socket")))
        self.assertIn("cannot connect", self.get("unix:socket", "3", code=3))

    def test_shards_and_replicas(self):
        own = self.table("get", "users.ytab", *map(str, range(0, 300, 3)))
        with contextlib.ExitStack() as stack:
            for shard in (1, 2, 3):
                self.users("--shard", f"{shard}/3", name=f"{shard}.ytab")
                stack.enter_context(self.served(f"users={shard}.ytab", listen=(f"unix:s{shard}",)))
            second, _ = stack.enter_context(self.served("users=2.ytab", listen=("unix:t2",)))
            servers = "unix:s1,unix:t2,unix:s2,unix:s3"
            self.assertEqual(self.get(servers, *map(str, range(0, 300, 3))), own)
            second.send_signal(signal.SIGKILL)
            second.wait()
            self.assertEqual(self.get(servers, *map(str, range(0, 300, 3))), own)
            self.assertIn("cannot connect: Connection refused: unix:t2", self.get("unix:s1,unix:t2,unix:s3", "3", code=3))
            # A socket that a killed server left is taken over.
            with self.served("users=2.ytab", listen=("unix:t2",)):
                self.assertEqual(self.get("unix:s1,unix:t2,unix:s3", *map(str, range(0, 300, 3))), own)
        said = self.table("serve", "1.ytab", "--shard", "2/3", "--listen", "unix:x", code=2)
        self.assertIn("the table is shard 1/3, not 2/3", said)

    def test_a_server_with_the_whole_file_stands_in_for_other_shards(self):
        keys = [str(n) for n in range(0, 600, 3)]
        own = self.table("get", "users.ytab", *keys)
        with self.served("users.ytab", "--shard", "1/2", listen=("unix:whole",)):
            self.users("--shard", "2/2", name="2.ytab")
            with self.served("users=2.ytab", listen=("unix:part",)):
                self.assertEqual(self.get("unix:part,unix:whole", *keys), own)
                self.assertEqual(self.get("unix:whole", *keys), own)
                self.assertIn("no server has shard 1 of 2", self.get("unix:part", "3", code=3))
            self.assertEqual(self.get("unix:part,unix:whole", *keys), own)

    def test_info_of_servers(self):
        self.users("--shard", "2/2", name="2.ytab")
        with self.served("users.ytab", "--shard", "1/2", listen=("unix:a",)), \
                self.served("users=2.ytab", listen=("unix:b",)):
            self.get("unix:a,unix:b", "3", "6", "9")
            text = self.table("info", "users", "--server", "unix:a,unix:b")
            head = "users: 2 of 2 servers answer\n  user_id  i64, key\n  name  utf8\n  city  utf8\n  score  f32, may be missing\n"
            self.assertTrue(text.startswith(head), text)
            self.assertRegex(text, r"\nunix:a: shard 1/2 in the whole file, 5000 keys, 5000 rows, version [0-9a-f]{16}\n")
            self.assertRegex(text, r"\nunix:b: shard 2/2, 2\d\d\d keys, 2\d\d\d rows, version [0-9a-f]{16}\n")
            self.assertEqual(sum(int(found) for found in re.findall(r"\n  keys_total (\d+)\n", text)), 3)
            done = subprocess.run([YUNTI, "table", "info", "users", "--server", "unix:a,unix:none", "--json"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (3, ""))
            document = json.loads(done.stdout)
            self.assertEqual([one["name"] for one in document["columns"] if one["key"]], ["user_id"])
            there, away = document["servers"]
            self.assertEqual((there["shard"], there["shards"], there["whole_file"], there["keys"]), (1, 2, True, 5000))
            self.assertGreater(there["counters"]["yunti_table_connections_total"], 1)
            self.assertEqual((away["address"], away["error"]["code"]), ("unix:none", "input"))
            said = self.table("info", "users", "--server", "unix:none,unix:a", code=3)
            self.assertIn("yunti: cannot connect: No such file or directory: unix:none\n", said)
            self.build("id\n1\n", "--key", "id:i64", name="other.ytab")
            with self.served("users=other.ytab", listen=("unix:c",)):
                said = self.table("info", "users", "--server", "unix:a,unix:c", code=3)
                self.assertIn("the server has a table with other columns: unix:c", said)
        self.assertIn("--server", self.table("info", "users.ytab", "--tls", code=2))

    def test_counters(self):
        with self.served("users.ytab", "--metrics", "127.0.0.1:0") as (_, addresses):
            self.get("unix:socket", "3", "4", code=3)
            with urllib.request.urlopen(f"http://{addresses[-1]}/metrics", timeout=10) as page:
                text = page.read().decode()
            for line in ("yunti_table_keys_total 2", "yunti_table_rows_total 1", "yunti_table_errors_total 0",
                         'yunti_table_table_keys{table="users",shard="1/1"} 5000', "yunti_table_lookup_seconds_count 1"):
                self.assertIn(line + "\n", text)
            with self.assertRaises(urllib.error.HTTPError):
                urllib.request.urlopen(f"http://{addresses[-1]}/other", timeout=10)

    def test_a_table_is_replaced(self):
        with self.served("users.ytab"):
            self.text = self.text.replace("name 1,", "another,")
            self.users()
            end = time.monotonic() + 20
            while "another" not in self.get("unix:socket", "3"):
                self.assertLess(time.monotonic(), end)

    def test_wrong_flags(self):
        for words, what in (
            (["users.ytab", "--listen", "0.0.0.0:0"], "there is no token: 0.0.0.0:0: write --token-file"),
            (["users.ytab", "--listen", "7070"], "7070 is no address"),
            (["users.ytab", "b/users.ytab", "--listen", "unix:x"], "two tables have the name users"),
            (["users.ytab", "--listen", "unix:x", "--shard", "4/3"], "1/4 is the first of four"),
            (["users.ytab", "--listen", "unix:x", "--tls-cert", "c.pem"], "--tls-key"),
        ):
            self.assertIn(what, self.table("serve", *words, code=2), words)
        self.assertIn("cannot open the table", self.table("serve", "nosuch.ytab", "--listen", "unix:x", code=3))
        with self.served("users.ytab"):
            self.assertIn("Address already in use: unix:socket",
                          self.table("serve", "users.ytab", "--listen", "unix:socket", code=5))


class Secure(Serving):
    def certificate(self, name, host):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", f"/CN={host}", "-addext", f"subjectAltName={host}", "-addext",
                        "basicConstraints=critical,CA:FALSE", "-keyout", f"{name}.key", "-out", f"{name}.pem"],
                       cwd=self.folder, capture_output=True, check=True)

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl")
    def test_tls_and_tokens(self):
        self.certificate("own", "IP:127.0.0.1")
        self.certificate("other", "IP:127.0.0.1")
        self.certificate("named", "DNS:tables.example")
        for name, text in (("token", "secret\n"), ("wrong", "secreT"), ("empty", "\n")):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
        flags = ["--tls-cert", "own.pem", "--tls-key", "own.key", "--token-file", "token"]
        own = self.table("get", "users.ytab", "3")
        with self.served("users.ytab", *flags, listen=("127.0.0.1:0",)) as (_, [address]):
            ask = ["get", "users", "3", "--server", address]
            self.assertEqual(self.table(*ask, "--tls-ca", "own.pem", "--token-file", "token"), own)
            self.assertIn("needs a token", self.table(*ask, "--tls-ca", "own.pem", code=3))
            self.assertIn("the token is wrong", self.table(*ask, "--tls-ca", "own.pem", "--token-file", "wrong", code=3))
            self.assertIn("a token has 1 to 4,096 bytes", self.table(*ask, "--token-file", "empty", code=2))
            self.assertIn("certificate", self.table(*ask, "--tls-ca", "other.pem", "--token-file", "token", code=3))
            for authorities, code, part in (("own.pem", 0, own), ("other.pem", 3, "certificate"),
                                            ("own.key", 2, "the system has no certificates of authorities")):
                with mock.patch.dict(os.environ, {"SSL_CERT_FILE": os.path.join(self.folder, authorities)}):
                    os.environ.pop("SSL_CERT_DIR", None)
                    self.assertIn(part, self.table(*ask, "--tls", "--token-file", "token", code=code))
            self.assertIn("the server", self.table(*ask, "--token-file", "token", code=3))
            self.assertIn("there is no certificate in PEM", self.table(*ask, "--tls-ca", "own.key", code=2))
            self.join(address)
        flags = ["--tls-cert", "own.pem", "--tls-key", "own.key", "--connections", "1"]
        with self.served("users.ytab", *flags, listen=("127.0.0.1:0",)) as (_, [address]):
            host, port = address.split(":")
            context = ssl.create_default_context(cafile=os.path.join(self.folder, "own.pem"))
            with socket.create_connection((host, int(port))) as plain, context.wrap_socket(plain, server_hostname=host):
                said = self.table("get", "users", "3", "--server", address, "--tls-ca", "own.pem", code=3)
                self.assertIn("the server has as many connections as it may have", said)
        flags = ["--tls-cert", "named.pem", "--tls-key", "named.key"]
        with self.served("users.ytab", *flags, listen=("127.0.0.1:0",)) as (_, [address]):
            said = self.table("get", "users", "3", "--server", address, "--tls-ca", "named.pem", code=3)
            self.assertIn("certificate", said)
        said = self.table("serve", "users.ytab", "--listen", "127.0.0.1:0", "--tls-cert", "own.pem", "--tls-key",
                          "other.key", code=2)
        self.assertIn("the certificate and the key do not fit", said)

    def join(self, address):
        """A job looks up its lines over TLS, with the token, and has the records of the mapped table."""
        with open(os.path.join(self.folder, "lines"), "w") as file:
            file.writelines(f"{n},x{n}\n" for n in range(9000))

        def run(place, *words, code=0):
            job = ["run", "hash-join", "lines", "-q", "-o", "-", "-D", "separator=,", "-D", "join.small=users"]
            done = subprocess.run([YUNTI, *job, "--table", f"users={place}", *words], cwd=self.folder, text=True,
                                  capture_output=True)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout if code == 0 else done.stderr

        servers, tls = f"server:{address}", ["--table-tls-ca", "own.pem"]
        expect = run("users.ytab")
        self.assertIn("\n9\tx9,name 3,city3,0.75\n", expect)
        self.assertEqual(run(servers, *tls, "--table-token-file", "token"), expect)
        self.assertIn("the table users: the token is wrong", run(servers, *tls, "--table-token-file", "wrong", code=3))
        self.assertIn("the table users: ", run(servers, "--table-token-file", "token", code=3))
        self.assertIn("certificate", run(servers, "--table-tls-ca", "other.pem", "--table-token-file", "token", code=3))


class Killed(Serving):
    def test_a_server_that_is_killed_under_load(self):
        keys = [str(n * 3) for n in range(0, 5000, 7)]
        own = [json.loads(line) for line in self.table("get", "users.ytab", "--json", *keys).splitlines()]
        is_done, wrong = threading.Event(), []

        def load():
            while not is_done.is_set():
                said = self.table("get", "users", "--json", *keys, "--server", "unix:a,unix:b")
                if [json.loads(line) for line in said.splitlines()] != own:
                    wrong.append(said)

        def start(name):
            process = subprocess.Popen([YUNTI, "table", "serve", "users.ytab", "--listen", f"unix:{name}"], cwd=self.folder,
                                       stdout=subprocess.PIPE, text=True)
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            self.assertIn("listening", process.stdout.readline())
            return process

        servers = {name: start(name) for name in "ab"}
        clients = [threading.Thread(target=load) for _ in range(2)]
        for client in clients:
            client.start()
        try:
            for name in "abab":
                time.sleep(0.15)
                servers[name].kill()
                servers[name].wait()
                time.sleep(0.1)
                servers[name] = start(name)
        finally:
            is_done.set()
            for client in clients:
                client.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
