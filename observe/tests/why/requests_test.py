"""Requests under way in `yunti observe why`, on event loops that wait without a thread."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from looking import HERE, answer  # noqa: E402
import twice  # noqa: E402  (looking.py knows where it is)

PROGRAM = os.path.join(HERE, "targets/python/relay.py")
SECONDS = 2


@contextlib.contextmanager
def started(*words):
    """Starts a part of the program. Returns its process, and its port."""
    command = [sys.executable, PROGRAM, *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


class Requests(unittest.TestCase):
    def test_answers_outstanding_without_a_thread(self):
        """Ten clients, each with a request at a time, which a peer answers after 50 ms."""
        with started("peer", 0.05) as (peer, port), started("relay", port) as (relay, own), started("client", own, 10):
            time.sleep(0.5)
            document = answer("why", "-p", relay.pid, "-s", SECONDS)
        requests = document["requests"]
        self.assertAlmostEqual(requests["served"]["connections"], 10, delta=1.5)
        self.assertAlmostEqual(requests["served"]["under_way"], 10, delta=2, msg=requests)
        [called] = requests["peers"]
        self.assertEqual(called["peer"], f"127.0.0.1:{port}")
        self.assertIn(str(peer.pid), called["process"])
        # The rest is the relay's own time and, on a busy machine, its wait for a processor.
        self.assertGreater(called["outstanding"], 5, called)
        self.assertLess(called["outstanding"], 10.5, called)
        self.assertTrue(0.045 < called["mean_seconds"] < 0.1, called)
        found = {cause["cause"]: cause["sentence"] for cause in document["causes"]}
        self.assertIn("slow-remote", found, document["answer"])
        self.assertIn(f"at 127.0.0.1:{port}", found["slow-remote"])

    def test_prompt_answers_are_no_cause(self):
        """An idle pool of connections, and a peer that answers at once."""
        with started("peer", 0) as (_, port), started("relay", port) as (relay, own):
            with socket.create_connection(("127.0.0.1", int(own))) as client:
                end = time.monotonic() + SECONDS + 1
                thread = threading.Thread(target=talk_slowly, args=(client, end))
                thread.start()
                document = answer("why", "-p", relay.pid, "-s", SECONDS)
                thread.join()
        self.assertNotIn("slow-remote", [cause["cause"] for cause in document["causes"]], document["answer"])
        self.assertLess(document["requests"]["served"]["under_way"], 0.3)
        self.assertGreater(document["requests"]["served"]["requests"], 5)

    def test_no_demand(self):
        with started("peer", 0.05) as (peer, port):
            with socket.create_connection(("127.0.0.1", int(port))):
                document = answer("why", "-p", peer.pid, "-s", 1)
        self.assertEqual(document["causes"], [])
        self.assertIn("no work arrives", document["answer"])


def talk_slowly(client, end):
    """Sends ten lines per second."""
    while time.monotonic() < end:
        client.sendall(b"request\n")
        client.recv(100)
        time.sleep(0.1)


if __name__ == "__main__":
    twice.main()
