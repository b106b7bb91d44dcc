"""The client in C++ (yunti/table/remote.hpp) with servers of `yunti table serve`.

    make table && YUNTI=dist/bin/yunti python3 table/tests/client_test.py
"""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

from table_test import ROOT, YUNTI, Case

HAS_OPENSSL = os.path.exists("/usr/include/openssl/ssl.h")
TLS = ["-DYUNTI_TABLE_OPENSSL", "-lssl", "-lcrypto"] if HAS_OPENSSL else []
COUNT = 20_000


def setUpModule():
    global CLIENT
    folder = tempfile.mkdtemp(prefix="yunti-table-")
    unittest.addModuleCleanup(shutil.rmtree, folder)
    CLIENT = os.path.join(folder, "client")
    source = os.path.join(ROOT, "table/tests/client.cpp")
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", f"-I{ROOT}/api/include", source, "-o", CLIENT, *TLS],
                   check=True, timeout=120)


class Program:
    """A client that runs: one answer for each command."""

    def __init__(self, *words):
        self.process = subprocess.Popen([CLIENT, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.opened = self.process.stdout.readline().strip()

    def __call__(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.communicate(timeout=30)


class Client(Case):
    def serve(self, *words, listen="127.0.0.1:0"):
        """Starts a server and returns its process and its last address."""
        server = subprocess.Popen([YUNTI, "table", "serve", *words, "--listen", listen], cwd=self.folder,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        lines = [server.stdout.readline() for _ in range(1 + words.count("--listen"))]
        return server, lines[-1].strip().removeprefix("listening on ")

    def stop(self, server):
        server.terminate()
        server.wait(timeout=30)

    def client(self, *words):
        program = Program(*words)
        self.addCleanup(program.end)
        return program

    def numbers(self, *words, name="a.ytab", factor=3):
        self.build("".join(["id,n\n", *(f"{i},{i * factor}\n" for i in range(COUNT))]), "--key", "id:i64", "--columns",
                   "n:u32", *words, name=name)

    def test_values_of_all_types(self):
        rows = [{"id": "a", "n": 7, "city": "London", "yes": True, "score": 0.5, "tags": ["x", None],
                 "place": {"street": "Strand", "zip": None}},
                {"id": "a", "n": -8, "city": "上海", "yes": False, "score": None, "tags": [], "place": None},
                {"id": "b", "n": 9, "city": "London", "yes": True, "score": 2.25, "tags": ["y"],
                 "place": {"street": "", "zip": 5}}]
        columns = "n:i16,city:dict,yes:bool,score:f32?,tags:list<utf8?>,place:record<street:utf8,zip:i32?>?"
        self.build("".join(json.dumps(row) + "\n" for row in rows), "--from", "json", "--key", "id", "--columns", columns,
                   "--duplicates", "list")
        for listen in (f"unix:{self.folder}/socket", "127.0.0.1:0"):
            _, address = self.serve("a.ytab", listen=listen)
            program = self.client("a", address)
            found = json.loads("[" + program("get a").replace("} {", "}, {") + "]")
            self.assertEqual(found, rows[:2])
            self.assertEqual(json.loads(program("get b")), rows[2])
            self.assertEqual(program("get c"), "none")

    def test_shards_and_replicas(self):
        self.numbers()
        for shard in (1, 2, 3):
            self.numbers("--shard", f"{shard}/3", name=f"{shard}.ytab")
        expect = f"{COUNT} {3 * sum(range(COUNT))}"
        servers = [self.serve(f"a={shard}.ytab", "--threads", "2") for shard in (1, 3)]
        servers += [self.serve("a=2.ytab", listen=f"unix:{self.folder}/{name}") for name in ("first", "second")]
        program = self.client("", ",".join(address for _, address in servers))
        self.assertEqual(program.opened, "open 3")
        self.assertEqual([program(f"batch -100 {COUNT + 100}") for _ in range(3)], [expect] * 3)
        self.assertEqual((program("get 5"), program("get -5")), ('{"id": 5, "n": 15}', "none"))
        self.stop(servers[3][0])
        self.assertEqual([program(f"batch -100 {COUNT + 100}") for _ in range(3)], [expect] * 3)
        self.stop(servers[2][0])
        found = program(f"batch -100 {COUNT + 100}")
        self.assertRegex(found, r"^error: cannot connect to the table server unix:.*; start yunti table serve there$")

    def test_a_server_with_the_whole_file_stands_in_for_other_shards(self):
        self.numbers()
        self.numbers("--shard", "2/2", name="second.ytab")
        expect = f"{COUNT} {3 * sum(range(COUNT))}"
        whole = self.serve("a.ytab", "--shard", "1/2")[1]
        server, part = self.serve("a=second.ytab", listen=f"unix:{self.folder}/part")
        alone, both = self.client("a", whole), self.client("a", f"{part},{whole}")
        self.assertEqual((alone.opened, alone(f"batch -100 {COUNT + 100}"), both(f"batch 0 {COUNT}")),
                         ("open 2", expect, expect))
        counts = [int(count) for count in both("counters").rstrip(";").split(";")]
        self.assertTrue(COUNT / 3 < counts[0] < COUNT and COUNT < counts[1], counts)
        self.stop(server)
        for program in (both, self.client("a", f"{part},{whole}")):
            self.assertEqual([program(f"batch 0 {COUNT}"), program("get 5")], [expect, '{"id": 5, "n": 15}'])
            self.assertRegex(program("counters"), rf"^cannot connect to the table server {part}: .*; \d+; ?$")
        self.assertEqual(self.client("a", part).opened.split(":")[0], "error")

    def test_shards_with_and_without_several_rows_of_a_key(self):
        for shard in ("1/2", "2/2"):
            self.build("id\n1\n1\n", "--key", "id:i64", "--duplicates", "list", "--shard", shard, name=f"{shard[0]}.ytab")
        servers = [self.serve(f"a={number}.ytab")[1] for number in (1, 2)]
        for addresses in (servers, servers[::-1]):
            program = self.client("a", ",".join(addresses))
            self.assertEqual((program("lists"), program("get 1")), ("1", '{"id": 1} {"id": 1}'))

    def test_responses_beyond_a_frame(self):
        self.build("".join(["id,n,text\n", *(f"{i},{i},{i:020000}\n" for i in range(2000))]), "--key", "id:i64",
                   "--columns", "n:u32,text")
        _, address = self.serve("a.ytab", listen=f"unix:{self.folder}/socket")
        self.assertEqual(self.client("a", address)("batch 0 3000"), f"2000 {sum(range(2000))}")

    def test_a_server_starts_again_with_another_file(self):
        self.numbers()
        listen = f"unix:{self.folder}/socket"
        server, _ = self.serve("a.ytab", listen=listen)
        program = self.client("a", listen)
        self.assertEqual((program("get 2"), program("reopen")), ('{"id": 2, "n": 6}', "same"))
        self.stop(server)
        self.numbers(factor=5)
        self.serve("a.ytab", listen=listen)
        self.assertEqual((program("get 2"), program("reopen"), program("reopen")), ('{"id": 2, "n": 10}', "new", "same"))

    def test_a_token(self):
        self.numbers()
        with open(os.path.join(self.folder, "token"), "w") as file:
            file.write("secret\n")
        _, address = self.serve("a.ytab", "--token-file", "token")
        self.assertEqual(self.client("a", address, "secret").opened, "open 1")
        self.assertEqual(self.client("a", address, "other").opened,
                         f"error: the table server {address} refuses: the token is wrong: set the option token to the one "
                         "of its --token-file")

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl")
    @unittest.skipUnless(HAS_OPENSSL, "there is no openssl/ssl.h")
    def test_tls(self):
        for name, place in (("own", "DNS:localhost"), ("other", "DNS:example.org,IP:127.0.0.1")):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-subj", "/CN=table", "-addext", f"subjectAltName={place}", "-addext",
                            "basicConstraints=critical,CA:FALSE", "-days", "9", "-keyout", f"{name}.key", "-out",
                            f"{name}.pem"], cwd=self.folder, check=True, capture_output=True, timeout=60)
        self.numbers()
        own, other = (self.serve("a.ytab", "--tls-cert", f"{name}.pem", "--tls-key", f"{name}.key", "--listen",
                                 f"unix:{self.folder}/{name}")[1].removeprefix("127.0.0.1")
                      for name in ("own", "other"))
        authorities = [os.path.join(self.folder, name) for name in ("own.pem", "other.pem")]
        expect = f"{COUNT} {3 * sum(range(COUNT))}"
        program = self.client("a", f"localhost{own},unix:{self.folder}/own", "", authorities[0])
        self.assertEqual([program(f"batch 0 {COUNT}") for _ in range(2)], [expect] * 2)
        program = self.client("a", f"127.0.0.1{other}", "", authorities[1])
        self.assertEqual(program(f"batch 0 {COUNT}"), expect)
        for address, authority, part in ((f"127.0.0.1{own}", 0, "IP address mismatch"),
                                         (f"localhost{other}", 1, "hostname mismatch"),
                                         (f"localhost{own}", 1, "self.signed certificate")):
            error = self.client("a", address, "", authorities[authority]).opened
            self.assertRegex(error, f"^error: TLS with the table server {address} fails: {part}; see tls_ca")
        self.assertRegex(self.client("a", f"localhost{own}").opened, "at once: set tls if it has a certificate$")
        plain = self.serve("a.ytab")[1]
        self.assertRegex(self.client("a", plain, "", authorities[0]).opened, f"error: .*{plain}")


if __name__ == "__main__":
    unittest.main()
