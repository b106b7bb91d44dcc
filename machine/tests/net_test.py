"""Tests `yunti machine net` with services and clients that count their own responses, connections and refusals."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../observe/tests"))
from looking import Looking, Refusals, observe, require_programs_in_the_kernel  # noqa: E402

# Responds to each line, to each tenth only after 20 ms; or to one line only, and closes. Prints its port.
SERVICE = """
import socket, sys, threading, time
family = socket.AF_INET6 if sys.argv[1] == "6" else socket.AF_INET
listening = socket.socket(family)
listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listening.bind(("::1" if sys.argv[1] == "6" else "127.0.0.1", 0))
listening.listen(128)
print(listening.getsockname()[1], flush=True)
count = 0
def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        answer(connection)
    except ConnectionResetError:
        pass
    connection.close()
def answer(connection):
    global count
    for line in connection.makefile("rb"):
        count += 1
        if count % 10 == 0:
            time.sleep(0.02)
        # The response has several pieces; the first one counts.
        connection.sendall(b"an answer, ")
        connection.sendall(b"and its end" * 100 + b"\\n")
        if sys.argv[2:] == ["once"]:
            connection.shutdown(socket.SHUT_WR)
            return
while True:
    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()
"""


@contextlib.contextmanager
def service(version="4", words=()):
    """Starts a service, and yields its process and port."""
    process = subprocess.Popen([sys.executable, "-c", SERVICE, version, *words], stdout=subprocess.PIPE, text=True)
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def called(port, address="127.0.0.1"):
    connection = socket.create_connection((address, port), timeout=20)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def ask(connection, count, pieces=1):
    answers = connection.makefile("rb")
    for _ in range(count):
        for n in range(pieces):
            connection.sendall(b"x" * 50 + (b"\n" if n == pieces - 1 else b""))
            if pieces > 1:
                time.sleep(0.002)
        answers.readline()


def only(rows, **wanted):
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    assert len(found) == 1, (wanted, rows)
    return found[0]


class Net(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require_programs_in_the_kernel()

    def sample(self, act, *words):
        with Looking("net", "-s", 60, *words) as look:
            act()
            time.sleep(0.1)
            return look.stop()

    def answers_of(self, version, address, shown):
        with service(version) as (process, port):

            def act():
                with contextlib.closing(called(port, address)) as connection:
                    ask(connection, 300)

            document = self.sample(act, "--port", port)
        here = only(document["answers"], role="service", port=port)
        there = only(document["answers"], role="caller", port=port)
        self.assertEqual(
            (here["pid"], there["pid"], here["peer"], there["peer"]), (process.pid, os.getpid(), shown, shown)
        )
        for side in (here, there):
            self.assertAlmostEqual(side["count"], 300, delta=6, msg=document["answers"])
            # Nine of ten responses at once, one after 20 ms.
            self.assertLess(side["p50_seconds"], 0.01)
            self.assertGreater(side["p99_seconds"], 0.018)
            self.assertGreaterEqual(side["max_seconds"], side["p99_seconds"])
            self.assertGreater(side["mean_seconds"], 0.0018)
        self.assertLessEqual(here["p50_seconds"], there["p50_seconds"] * 1.15)
        return document, port

    def test_responses_of_both_sides(self):
        document, port = self.answers_of("4", "127.0.0.1", "127.0.0.1")
        row = only(document["services"], role="service", port=port)
        self.assertIn("python", row["process"])

    def test_responses_over_ipv6(self):
        self.answers_of("6", "::1", "::1")

    def test_a_request_in_pieces_is_timed_from_its_last_piece(self):
        with service() as (_, port):

            def act():
                with contextlib.closing(called(port)) as connection:
                    ask(connection, 40, pieces=5)

            document = self.sample(act, "--port", port)
        here = only(document["services"], role="service", port=port)
        self.assertAlmostEqual(here["count"], 40, delta=2)
        # Five pieces, 2 ms apart: that time does not count.
        self.assertLess(here["p50_seconds"], 0.006)

    def test_counts_responses_of_earlier_connections(self):
        with service() as (_, port), contextlib.closing(called(port)) as connection:
            ask(connection, 1)
            document = self.sample(lambda: ask(connection, 50), "--port", port)
        self.assertAlmostEqual(only(document["services"], role="service", port=port)["count"], 50, delta=2)
        self.assertAlmostEqual(only(document["services"], role="caller", port=port)["count"], 50, delta=2)

    def test_counts_active_closes_and_time_wait(self):
        for closes, here, there in (("caller", 0, 30), ("service", 30, 0)):
            with service(words=["once"] if closes == "service" else []) as (_, port):

                def act():
                    for _ in range(30):
                        connection = called(port)
                        connection.sendall(b"x\n")
                        reader = connection.makefile("rb")
                        reader.readline()
                        if closes == "service":
                            reader.read()
                        reader.close()
                        connection.close()
                        time.sleep(0.002)

                document = self.sample(act, "--port", port)
            counted = only(document["connections"], role="service", port=port)
            self.assertEqual(
                (counted["opened"], counted["closed_here_first"], counted["closed_there_first"]),
                (30, here, there),
                closes,
            )
            other = only(document["connections"], role="caller", port=port)
            self.assertEqual(
                (other["opened"], other["closed_here_first"], other["closed_there_first"]), (30, there, here), closes
            )
            self.assertGreater(counted["mean_life_seconds"], 0)
            # Linux keeps TIME_WAIT for a minute also between addresses of the same machine.
            waiting = only(document["time_wait"], role="caller" if closes == "caller" else "service", port=port)
            self.assertEqual(waiting["connections"], 30, document["time_wait"])
            if closes == "caller":
                self.assertGreaterEqual(waiting["ports_used"], 30)
                self.assertGreater(waiting["ports"], 1000)

    def test_counts_connections_refused_by_a_full_queue(self):
        listening = socket.socket()
        self.addCleanup(listening.close)
        listening.bind(("127.0.0.1", 0))
        listening.listen(4)
        port = listening.getsockname()[1]

        def act():
            callers = []
            for _ in range(12):
                caller = socket.socket()
                caller.setblocking(False)
                caller.connect_ex(("127.0.0.1", port))
                callers.append(caller)
            time.sleep(0.5)
            for caller in callers:
                caller.close()

        document = self.sample(act, "--port", port)
        queue = only(document["listen_queues"], port=port)
        self.assertEqual((queue["max"], queue["longest"]), (4, 5), queue)
        # Five are in the queue; the others were refused once each, before they would try again after a second.
        self.assertAlmostEqual(queue["refused"], 7, delta=2, msg=queue)
        self.assertTrue(any(str(os.getpid()) in process for process in queue["processes"]), queue)
        self.assertIn("were refused", document["answer"])

    def test_counts_resets(self):
        with service() as (_, port):

            def act():
                for _ in range(20):
                    connection = called(port)
                    ask(connection, 1)
                    # A reset without FIN.
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    connection.close()

            document = self.sample(act, "--port", port)
        self.assertEqual(only(document["connections"], role="service", port=port)["resets_received"], 20)
        self.assertEqual(only(document["connections"], role="caller", port=port)["reset"], 20)

    def test_counts_retransmissions(self):
        """The peer does not exist, so the request is sent again after one second, after three, .."""
        if os.geteuid() != 0:
            self.skipTest("only root can make a network namespace")
        script = (
            "ip link set lo up && ip link add v0 type veth peer name v1 && "
            "ip addr add 10.7.7.1/24 dev v0 && ip link set v0 up && "
            f"ip neigh add 10.7.7.2 lladdr 02:00:00:00:00:01 dev v0 && exec {sys.executable} -c '{LOST}'"
        )
        with Looking("net", "-s", 60, "--port", 7007) as look:
            done = subprocess.run(["unshare", "--net", "sh", "-c", script], capture_output=True, text=True, timeout=20)
            document = look.stop()
        if done.returncode != 0:
            self.skipTest(f"a network namespace with a pair of devices cannot be made: {done.stderr.strip()}")
        counted = only(document["connections"], port=7007)
        self.assertEqual((counted["peer"], counted["opened"]), ("10.7.7.2", 0))
        self.assertIn(counted["retransmitted_segments"], (1, 2), counted)

    def test_counts_many_connections_completely(self):
        with service() as (_, port):

            def act():
                def one():
                    with contextlib.closing(called(port)) as connection:
                        ask(connection, 20)

                threads = [threading.Thread(target=one) for _ in range(40)]
                [thread.start() for thread in threads]
                [thread.join() for thread in threads]

            document = self.sample(act, "--port", port)
        self.assertEqual(only(document["connections"], role="service", port=port)["opened"], 40)
        self.assertAlmostEqual(only(document["services"], role="service", port=port)["count"], 800, delta=16)
        self.assertEqual([skip for skip in document["skipped"] if "too many" in skip], [])

    def test_writes_text_and_page(self):
        with service() as (process, port), tempfile.TemporaryDirectory() as folder, contextlib.closing(
            called(port)
        ) as connection:
            page = os.path.join(folder, "page.html")
            with Looking("net", "-s", 2, "-p", process.pid, "-o", page, json=False) as look:
                ask(connection, 20)
                out = look.rest()
            with open(page, encoding="utf-8") as f:
                self.assertIn("Responses by peer", f.read())
        self.assertIn(f"port {port} (python3", out)
        self.assertIn("Responses sent here", out)


LOST = "import socket; s = socket.socket(); s.settimeout(1.7); s.connect_ex((\"10.7.7.2\", 7007))"


class Wrong(Refusals, unittest.TestCase):
    observer = "net"

    def test_refuses_missing_processes(self):
        self.refused(3, "process", "-p", 4_000_000)

    def test_refuses_wrong_ports(self):
        for port in ("0", "70000", "http"):
            self.assertNotEqual(observe("net", "--port", port, code=2).stderr, "")


if __name__ == "__main__":
    unittest.main()
