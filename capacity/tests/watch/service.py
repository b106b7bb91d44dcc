"""A small service of a JVM, and clients that send requests at a fixed rate."""

import http.client
import os
import random
import socket
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 60  # seconds until the service answers


def free_port():
    """Returns a port below the range for clients."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


class Shop:
    """Service whose requests cost `steps` microseconds and more."""

    def __init__(self, folder, steps=150, extra=0):
        self.folder, self.steps, self.extra, self.port = folder, steps, extra, free_port()

    def __enter__(self):
        subprocess.run(["javac", "-d", self.folder, os.path.join(HERE, "Shop.java")], check=True)
        self.process = subprocess.Popen(["java", "-Dsun.net.httpserver.nodelay=true", "-cp", self.folder, "Shop",
                                         str(self.port), str(self.steps), str(self.extra)])
        end = time.time() + PATIENCE
        while time.time() < end:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                    return self
            except OSError:
                time.sleep(0.05)
        self.__exit__()
        raise AssertionError("the service does not answer")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Clients:
    """Clients that send `rate` requests a second over two connections."""

    def __init__(self, port, rate):
        self.port, self.rate, self.stopped = port, rate, threading.Event()
        self.threads = [threading.Thread(target=self.send, args=(number,), daemon=True) for number in range(2)]

    def send(self, number):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        due = time.time() + number / self.rate
        while not self.stopped.wait(max(0.0, due - time.time())):
            try:
                client.request("GET", "/")
                client.getresponse().read()
            except (OSError, http.client.HTTPException):
                client.close()
            due += 2 / self.rate
        client.close()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread in self.threads:
            thread.join()
