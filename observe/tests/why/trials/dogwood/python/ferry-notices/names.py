"""A name server for one zone: every name is 127.0.0.1.

With "quiet" it is a host which takes packets and says nothing."""
import socket
import sys

sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind((sys.argv[1], 53))
print("ready", flush=True)
while True:
    ask, peer = sock.recvfrom(2048)
    if sys.argv[2] == "quiet":
        continue
    end = ask.index(b"\0", 12) + 5
    address = ask[end - 4:end - 2] == b"\0\1"
    head = ask[:2] + b"\x85\x80\0\1" + (b"\0\1" if address else b"\0\0") + b"\0\0\0\0"
    record = b"\xc0\x0c\0\1\0\1\0\0\0\x05\0\4\x7f\0\0\1" if address else b""
    sock.sendto(head + ask[12:end] + record, peer)
