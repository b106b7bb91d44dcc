"""Ticket gateway: sells seats over a line protocol; rescoring of customers runs beside it."""
import socketserver
import sys
import threading


class Scorer(threading.Thread):
    def __init__(self):
        super().__init__(name='scorer', daemon=True)
        self.scores = {}

    def run(self):
        customer = 0
        while True:
            customer = (customer + 1) % 5000
            s = 0.0
            for k in range(400):
                s += ((customer * 31 + k * k) % 97) / 97.0
            self.scores[customer] = s / 400


class Hall:
    def __init__(self):
        self.lock = threading.Lock()
        self.sold = 0

    def sell(self):
        with self.lock:
            self.sold += 1
            return self.sold


hall = Hall()


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        while True:
            line = self.rfile.readline()
            if not line:
                return
            who = line.decode().split()[1]
            n = hall.sell()
            self.wfile.write(('SEAT %d row %d for %s\n' % (n, n // 40, who)).encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


if __name__ == '__main__':
    if sys.argv[2] == 'with-scorer':
        Scorer().start()
    Server(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
