"""The dashboard on the wall of the office: how many carts wait for payment."""
import socket
import sys
import time

port, plan = int(sys.argv[1]), sys.argv[2]
link = socket.create_connection(("127.0.0.1", port))
file = link.makefile("rb", buffering=1 << 16)


def ask(*words):
    link.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))


def carts_waiting():
    if plan == "b":
        ask(b"SCARD", b"waiting")
        return int(file.readline()[1:])
    ask(b"KEYS", b"cart:*:waiting")
    count = int(file.readline()[1:])
    for _ in range(count):
        file.readline()
        file.readline()
    return count


while True:
    print("waiting", carts_waiting(), flush=True)
    time.sleep(0.01)
