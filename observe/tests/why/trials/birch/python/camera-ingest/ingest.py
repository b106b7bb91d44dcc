"""Takes small pictures of parking lot cameras and estimates how full the lots are."""
import multiprocessing
import socketserver
import sys
import threading

PORT, MODE = int(sys.argv[1]), sys.argv[2]
latest = {}


def occupancy(seed):
    """Model of arrivals and departures, refined for ever."""
    x, full = seed, 0.0
    while True:
        for _ in range(10000):
            x = (x * 1103515245 + 12345) & 0x7FFFFFFF
            full += ((x >> 16) % 100 - full) * 0.001


class Camera(socketserver.BaseRequestHandler):
    def handle(self):
        name = self.client_address
        count = 0
        while True:
            data = b""
            while len(data) < 900:
                part = self.request.recv(900 - len(data))
                if not part:
                    return
                data += part
            count += 1
            latest[name] = (count, data[:16])
            self.request.sendall(b"ok")


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


if __name__ == "__main__":
    kind = multiprocessing.Process if MODE == "process" else threading.Thread
    kind(target=occupancy, args=(17,), daemon=True).start()
    with Server(("127.0.0.1", PORT), Camera) as server:
        server.serve_forever()
