#!/usr/bin/env python3
"""Checks the limit programs against plain Python on small inputs with edge cases. `make test` runs it."""
import collections
import contextlib
import os
import random
import re
import socket
import subprocess
import tempfile
import threading

BIN = os.path.abspath(os.environ.get("BIN", "../../build/limits"))
rng = random.Random(7)


def run(program, *arguments):
    subprocess.run([os.path.join(BIN, program), *map(str, arguments)], check=True)


def store(folder, files):
    os.makedirs(folder)
    for i, data in enumerate(files):
        with open(f"{folder}/f{i:03}", "wb") as f:
            f.write(data)


def load(folder):
    return b"".join(open(f"{folder}/{n}", "rb").read() for n in sorted(os.listdir(folder)))


def words(count, distinct, longest, alphabet):
    pool = [bytes(rng.choices(alphabet, k=rng.randint(1, longest))) for _ in range(distinct)]
    return b"".join(rng.choice(pool) + rng.choice([b" ", b"\n", b"\t", b"\r\n", b"  ", b"\f"]) for _ in range(count))


def check_wordcount(inputs):
    with tempfile.TemporaryDirectory() as d:
        store(f"{d}/in", inputs)
        want = collections.Counter(w for data in inputs for w in re.split(rb"[ \t\n\r\f]+", data) if w)
        for threads in (1, 2, 3):
            run("wordcount", f"{d}/in", f"{d}/o{threads}", threads)
            lines = load(f"{d}/o{threads}").split(b"\n")[:-1]
            got = dict((w, int(n)) for w, n in (line.rsplit(b"\t", 1) for line in lines))
            assert len(got) == len(lines) and got == want, f"wordcount differs on {[len(i) for i in inputs]}"


def check_terasort(inputs, reduces):
    with tempfile.TemporaryDirectory() as d:
        store(f"{d}/in", inputs)
        records = [data[i:i + 100] for data in inputs for i in range(0, len(data), 100)]
        want = b"".join(sorted(records, key=lambda r: r[:10]))
        for threads in (1, 2):
            run("terasort", f"{d}/in", f"{d}/o{threads}", threads, reduces)
            assert load(f"{d}/o{threads}") == want, f"terasort differs: {len(records)} records, {reduces} reduces"
            assert len(os.listdir(f"{d}/o{threads}")) == reduces
        run("extsort", f"{d}/in", f"{d}/x", 1, 64 << 20)
        got = load(f"{d}/x")
        assert sorted(records) == sorted(got[i:i + 100] for i in range(0, len(got), 100))
        assert [r[:10] for r in sorted(records)] == [got[i:i + 10] for i in range(0, len(got), 100)]


def check_sortlines(inputs):
    with tempfile.TemporaryDirectory() as d:
        store(f"{d}/in", inputs)
        lines = [line for data in inputs for line in (data[:-1] if data.endswith(b"\n") else data).split(b"\n") if data]
        want = b"".join(line + b"\n" for line in sorted(lines))
        for threads in (1, 2):
            run("sortlines", f"{d}/in", f"{d}/o{threads}", threads)
            got = open(f"{d}/o{threads}", "rb").read()
            assert got == want, f"sortlines differs on {[len(i) for i in inputs]}"


def check_maxbykey(inputs):
    with tempfile.TemporaryDirectory() as d:
        store(f"{d}/in", inputs)
        want = {}
        for line in b"".join(inputs).split(b"\n")[:-1]:
            key, number = line.split(b"\t")
            want[key] = max(want.get(key, -2**63), int(number))
        for threads in (1, 2):
            run("maxbykey", f"{d}/in", f"{d}/o{threads}", threads)
            rows = load(f"{d}/o{threads}").split(b"\n")[:-1]
            got = {key: int(n) for key, n in (row.split(b"\t") for row in rows)}
            assert got == want


def check_rpcload(connections, path):
    """Checks rpcload against a server that parses Hadoop RPC and answers in two pieces."""
    answered, wrong = [0], []

    def serve(stream):
        def frame():
            length = int.from_bytes(stream.recv(4, socket.MSG_WAITALL), "big")
            return stream.recv(length, socket.MSG_WAITALL)
        # The client closes the connection in the middle of a call.
        with stream, contextlib.suppress(ConnectionError):
            if stream.recv(7, socket.MSG_WAITALL) != b"hrpc\x09\0\0" or b"ClientProtocol" not in frame():
                wrong.append("hello")
            while request := frame():
                if b"\x0bgetFileInfo" not in request or not request.endswith(bytes([len(path) + 2, 10, len(path)])
                                                                             + path.encode()):
                    wrong.append(request)
                answered[0] += 1
                answer = (5 + answered[0] % 300 * 100).to_bytes(4, "big") + bytes(5 + answered[0] % 300 * 100)
                stream.sendall(answer[:3])
                stream.sendall(answer[3:])

    with socket.create_server(("127.0.0.1", 0)) as server:
        def accept():
            for _ in range(connections):
                threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        output = subprocess.run([os.path.join(BIN, "rpcload"), "127.0.0.1", str(server.getsockname()[1]),
                                 str(connections), "0.3", path],
                              check=True, capture_output=True, text=True, timeout=30).stdout
    calls = int(output.split()[0])
    assert not wrong and calls > connections and 0 <= answered[0] - calls <= connections, (output, answered, wrong[:1])


anything = [c for c in range(256) if c not in b" \t\n\r\f"]
check_wordcount([b""])
check_wordcount([b"hello\n"])
check_wordcount([b"no end", b"a\0 a a\0\0 " + b"\0" * 24 + b" " + b"\0" * 16 + b" \0", b" \v \x1c "])
check_wordcount([b"x" * 24 + b" " + b"x" * 25 + b" " + b"x" * 23])
check_wordcount([b"y" * 9_000_000 + b" z " + b"w" * 5_000_000])
check_wordcount([words(2000, 50, 70, anything) for _ in range(40)])
check_wordcount([words(900_000, 60_000, 30, range(97, 123))])
check_wordcount([words(200_000, 200_000, 60, anything)])

random_records = lambda n: b"".join(rng.randbytes(10) + b"%090d" % i for i in range(n))
for reduces in (1, 2, 7):
    check_terasort([b""], reduces)
    check_terasort([random_records(1)], reduces)
    check_terasort([random_records(60_000), b"", random_records(777)], reduces)
    check_terasort([b"".join(b"SAMEKEY!" + rng.randbytes(2) + b"%090d" % i for i in range(20_000))], reduces)
    check_terasort([b"".join(bytes(rng.choices(b"\0\xff", k=10)) + b"%090d" % i for i in range(20_000))
                    + b"Z" * 100_000], reduces)
    check_terasort([b"".join(b"%010d%090d" % (i, i) for i in range(30_000))], reduces)
check_terasort([random_records(500_000)], 3)



def text_lines(n, distinct):
    row = lambda: b" ".join(b"word%d" % rng.randrange(distinct) for _ in range(rng.randrange(9)))
    return b"".join(row() + b"\n" for _ in range(n))



check_sortlines([b""])
check_sortlines([b"\n", b"one", b"b\na"])
check_sortlines([b"a\0\na\na\0\0\n\na\0b\n" * 20])
check_sortlines([text_lines(40_000, 3), text_lines(5_000, 1000)])
check_sortlines([text_lines(150_000, 100)])
check_sortlines([b"same line\n" * 50_000 + b"same line" + b"\0" * 9])
check_sortlines([b"".join(rng.randbytes(rng.randrange(30)) + b"\n" for _ in range(100_000))])
check_sortlines([b"p" * 3_000_000 + b"\n" + b"p" * 2_999_999 + b"\n" + b"z\n" * 100])
check_sortlines([b"x" * 4095 + b"\n"])
check_sortlines([b"x" * 4096])

check_maxbykey([b""])
keys = [bytes(rng.choices(anything, k=rng.choice([0, 1, 4, 16, 40, 44, 45, 60, 200]))) for _ in range(5000)]
number = lambda: rng.choice([rng.randrange(-2**63, 2**63), rng.randrange(-99, 99), -2**63, 2**63 - 1])
check_maxbykey([b"".join(rng.choice(keys) + b"\t%d\n" % number() for _ in range(200_000)) for _ in range(2)])
check_rpcload(1, "/a")
check_rpcload(7, "/yunti-nn/base-10000/d00003/f0003777")
print("limit programs: ok")
