"""Nightly export of club rosters from the directory service."""
import csv
import io
import socket
import sys
import time


class Directory:
    def __init__(self, port):
        self.sock = socket.create_connection(('127.0.0.1', port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.sock.makefile('rb')

    def get(self, member):
        self.sock.sendall(b'GET member:%d\n' % member)
        return self.file.readline()

    def get_many(self, members):
        self.sock.sendall(b'MGET ' + b' '.join(b'member:%d' % m for m in members) + b'\n')
        return [self.file.readline()] * len(members)


def members_of(club):
    return range(club * 100, club * 100 + 25 + club % 10)


def export(directory, club, bulk):
    ids = list(members_of(club))
    rows = directory.get_many(ids) if bulk else [directory.get(m) for m in ids]
    out = io.StringIO()
    w = csv.writer(out)
    for i, r in zip(ids, rows):
        w.writerow([club, i, r.decode().strip()])
    return out.getvalue()


def main():
    directory, bulk = Directory(int(sys.argv[1])), sys.argv[2] == 'bulk'
    done, size, last = 0, 0, 0
    for club in range(1 << 30):
        size += len(export(directory, club, bulk))
        done += 1
        if time.time() - last > 1:
            last = time.time()
            print('done', done, 'bytes', size, flush=True)


main()
