"""A light, steady client of a service: client.py PORT http|line REQUESTS_PER_SECOND"""
import http.client
import json
import random
import signal
import socket
import sys
import time

port, kind, rate = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
signal.alarm(125)


def alert():
    values = (
        "%s=%d" % (random.choice(["cpu", "mem", "disk", "net", "swap", "temp"]), random.randint(0, 999))
        for _ in range(120)
    )
    return json.dumps(
        {
            "host": "web%02d" % random.randint(1, 40),
            "sev": random.choice(["info", "warn", "crit"]),
            "text": " ".join(values),
        }
    )


def ask_pages():
    service = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    while True:
        time.sleep(random.expovariate(rate))
        service.request("GET", random.choice(["/health", "/status?s=%d" % random.randint(1, 9)]))
        service.getresponse().read()


def send_alerts():
    service = socket.create_connection(("127.0.0.1", port))
    answers = service.makefile("rb")
    while True:
        time.sleep(random.expovariate(rate))
        service.sendall(alert().encode() + b"\n")
        answers.readline()


while True:
    try:
        ask_pages() if kind == "http" else send_alerts()
    except OSError:
        time.sleep(0.3)
