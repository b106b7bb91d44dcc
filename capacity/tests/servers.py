"""Servers and runs of `yunti-capacity load` for the tests of this folder."""

import atexit
import contextlib
import json
import math
import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.environ.get("YUNTI_CAPACITY", os.path.join(ROOT, "dist/libexec/yunti-capacity"))
SCHEMA = os.path.join(ROOT, "docs/formats/load.schema.json")
LIMIT = 120  # seconds that a run may take on a busy machine


def free_port():
    """Returns a port below the range for clients: a client that tries a port of that range may connect to itself."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def load(*arguments):
    """Runs the program to its end."""
    return subprocess.run([PROGRAM, "load", *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT)


def report(*arguments, code=0):
    """Returns the JSON document of a run that ends with this exit code; it fits the schema."""
    run = load(*arguments, "--json")
    if run.returncode != code:
        raise AssertionError(f"exit code {run.returncode}, not {code}: {run.stdout[-2000:]} {run.stderr}")
    document = json.loads(run.stdout)
    with open(SCHEMA) as file:
        schema = json.load(file)
    check(document, schema, schema["$defs"], "$")
    return document


TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    """Returns true if a value has a type of JSON schemas."""
    if name in ("number", "integer"):
        kinds = (int, float) if name == "number" else (int,)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check(value, schema, defs, place):
    """Raises AssertionError unless a value fits a schema, for the keywords that ours has."""
    if "$ref" in schema:
        check(value, defs[schema["$ref"].rsplit("/", 1)[1]], defs, place)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, name) for name in types):
        raise AssertionError(f"{place}: {value!r} is no {types}")
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        raise AssertionError(f"{place}: {value!r} is not allowed")
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        raise AssertionError(f"{place}: {value!r} is too small")
    if isinstance(value, dict):
        absent = [name for name in schema.get("required", []) if name not in value]
        unknown = [n for n in value if n not in schema.get("properties", {})] if "required" in schema else []
        if absent or unknown:
            raise AssertionError(f"{place}: absent {absent}, not in the schema {unknown}")
        for name, item in value.items():
            check(item, schema.get("properties", {}).get(name, schema.get("additionalProperties", {})), defs,
                  f"{place}.{name}")
    if isinstance(value, list):
        for n, item in enumerate(value):
            check(item, schema.get("items", {}), defs, f"{place}[{n}]")


class Server:
    """HTTP server whose `answer(path)` returns a status and a body, or None to close. One thread a connection."""

    def __init__(self, answer, port=None):
        self.answer, self.port, self.seen = answer, port or free_port(), []
        self.url = f"http://127.0.0.1:{self.port}"
        self.connections = set()
        self.start()

    def start(self):
        """Listens again on the same port."""
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", self.port))
        self.listener.listen(512)
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def stop(self):
        """Closes the port and all connections."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.add(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            with connection, connection.makefile("rb") as lines:
                while first := lines.readline():
                    length = 0
                    while (line := lines.readline().strip()):
                        name, _, value = line.partition(b":")
                        length = int(value) if name.lower() == b"content-length" else length
                    lines.read(length)
                    method, path, _ = first.decode().split(" ")
                    self.seen.append((time.monotonic(), method, path, length))
                    result = self.answer(path)
                    if result is None:
                        return
                    status, body = result
                    head = f"HTTP/1.1 {status} x\r\nContent-Length: {len(body)}\r\n\r\n"
                    connection.sendall(head.encode() + (b"" if method == "HEAD" else body))
        except (OSError, ValueError):
            pass
        finally:
            self.connections.discard(connection)


def compiled(name, source_folder=HERE):
    """Returns the path of a server in C, built; None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        return None
    folder = tempfile.mkdtemp(prefix="yunti-load-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = os.path.join(folder, name)
    subprocess.run([compiler, "-O2", "-o", program, os.path.join(source_folder, name + ".c")], check=True)
    return program


def wait_for(port):
    """Waits until a port takes connections."""
    end = time.time() + LIMIT
    while time.time() < end:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return
        except OSError:
            time.sleep(0.02)
    raise AssertionError(f"port {port} did not open")


@contextlib.contextmanager
def running(program, *arguments):
    """Runs a server that takes its port and these arguments, and yields its URL."""
    port = free_port()
    server = subprocess.Popen([program, str(port), *map(str, arguments)])
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.kill()
        server.wait()


DELAYS = [5] * 80 + [20] * 17 + [50] * 3  # milliseconds that delays.c takes for a request
QUANTILES = {"p50_ms": 0.5, "p90_ms": 0.9, "p99_ms": 0.99, "p999_ms": 0.999, "max_ms": 1}


def true_latency(rate, seconds, stall_at_ms, stall_ms):
    """Returns the quantiles of the latency of even arrivals at delays.c with DELAYS."""
    times = []
    for n in range(rate * seconds):
        due, delay, end = n / rate * 1000, DELAYS[n % len(DELAYS)], stall_at_ms + stall_ms
        answered = due + delay
        if stall_at_ms <= due < end:
            answered = end + delay
        elif stall_at_ms <= answered < end:
            answered = end
        times.append(answered - due)
    times.sort()
    return {name: times[math.ceil(len(times) * share) - 1] for name, share in QUANTILES.items()}
