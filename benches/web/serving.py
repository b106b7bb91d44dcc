"""Search page over loopback: the JDK's HTTP server, stock against compiled templates, under a closed loop."""

import statistics
import subprocess
import threading

import jvm
import pages
from harness.measure import Failed

CONNECTIONS = 8
START_SECONDS_MAX = 60


def serve(jdk, engine, warm_seconds, seconds):
    """Starts a new server and a new client, and returns the result of the client."""
    command = jdk.command(jvm.PACKAGE + ".server.SearchServer", engine, options=["-Dsun.net.httpserver.nodelay=true"])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as server:
        watchdog = threading.Timer(START_SECONDS_MAX + warm_seconds + seconds, server.kill)
        watchdog.start()
        try:
            port = server.stdout.readline().strip()
            if not port:
                raise Failed(f"the server with {engine} does not start")
            return jdk.lines(jvm.PACKAGE + ".server.LoadClient", port, CONNECTIONS, warm_seconds, seconds,
                             timeout=60 + 2 * (warm_seconds + seconds))[0]
        finally:
            watchdog.cancel()
            server.kill()


def run(jdks, options):
    results = []
    warm, seconds = (2, 2) if options.quick else (5, 8)
    for version, jdk in jdks.items():
        samples = {pages.STOCK: [], pages.OURS: []}
        for turn in range(options.forks):
            for engine, kept in samples.items():
                kept.append(serve(jdk, engine, warm, seconds))
                print(f"{turn + 1} JDK {version} server {engine}: {kept[-1]['requests_per_s']:.0f} requests/s, "
                      f"{kept[-1]['cpu_us']:.0f} us each", flush=True)
        for engine, some in samples.items():
            results.append({
                "row": "web-server", "jdk": version, "variant": engine, "opponent": pages.STOCK, "samples": some,
                "connections": CONNECTIONS,
                "requests_per_s": pages.spread([s["requests_per_s"] for s in some]),
                "cpu_us": pages.spread([s["cpu_us"] for s in some]),
                "more_requests": statistics.median(b["requests_per_s"] / a["requests_per_s"] for a,
                                                   b in zip(samples[pages.STOCK], some)),
                "less_cpu": statistics.median(a["cpu_us"] / b["cpu_us"] for a, b in zip(samples[pages.STOCK], some)),
            })
    return results
