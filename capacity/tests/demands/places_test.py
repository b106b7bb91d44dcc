"""Places at which requests wait, each with known hold times and units, as `yunti observe demands` measures them.

    python3 capacity/tests/demands/places_test.py          # 40 s

The program (places/Desk.java) has requests of many kinds side by side. Few of them wait for one another, so that no
sample of waits shows the places; in the contended run most of them wait.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../services"))
import services  # noqa: E402
from holds import Holds  # noqa: E402

BUILD = os.path.join(services.ROOT, "build/capacity/places")
SECONDS = 5
# Sleeps end late by the timer's slack and the way back to a processor.
OFF, LATE_MS = 0.1, 0.3
# Kind: a part of the resource's name, its units, and the milliseconds for which a request holds it (shared: readers).
HOLDS = {
    "permit": ("Semaphore in Locks$Permit.", 4, 10, None),
    "permits": ("Semaphore in Locks$Permits.", 3, 10, None),
    "answer": ("Semaphore in Locks$Answers.", 4, 10, None),
    "till": ("ReentrantLock in Locks$Till.", 1, 5, None),
    "shelf": ("ReentrantLock in Locks$Shelf.", 1, 4, None),
    "prices": ("ReentrantReadWriteLock in Locks$Prices.", 1, 5, 10),
    "rates": ("StampedLock in Locks$Rates.", 1, 5, 10),
    "stock": ("Locks$Stock", 1, 5, None),
    "bell": ("Object in Locks$Bell.", 1, 4, None),
    "desks": ("ArrayBlockingQueue in Locks$Desks.", 4, 10, None),
    "lib-hikari": ("zaxxer.hikari.pool.HikariPool", 4, 10, None),
    "lib-pool2": ("GenericObjectPool", 4, 10, None),
    "lib-client5": ("PoolingHttpClientConnectionManager of ", 4, 11, None),  # with the work of the client itself
}
# Kind: the name of the threads, their number, and the milliseconds of a task.
THREADS = {"exports": ("exporter", 3, 10), "futures": ("futures", 3, 5), "forks": ("forks", 2, 10)}


def build(version):
    """Returns the class path of the program."""
    services.build()
    classes = os.path.join(BUILD, version)
    path = f"{classes}:{services.BUILD}/lib/*"
    if services.is_stale(classes, os.path.join(HERE, "places")):
        shutil.rmtree(classes, ignore_errors=True)
        sources = [os.path.join(HERE, "places", name) for name in os.listdir(os.path.join(HERE, "places"))]
        services.run(f"{services.JDKS[version]}/bin/javac", "-d", classes, "-cp", path, *sources)
    return path


def start(command):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=services.tie)
    services.wait_ready(process, command[0])
    return process


@contextlib.contextmanager
def demands(version, kinds):
    """Measures a program with these kinds: pairs of threads and mean pauses. Yields its demands when they are there."""
    ports = [services.free_port() for _ in range(2)]
    with contextlib.ExitStack() as stack:
        peer = start([f"{services.BUILD}/bin/peer", *(f"{port}=10000" for port in ports)])
        stack.callback(services.end, peer)
        desk = start([f"{services.JDKS[version]}/bin/java", f"-Dpeers={','.join(map(str, ports))}", "-cp",
                      build(version), "Desk", *(f"{kind}={n}={ms}" for kind, (n, ms) in kinds.items())])
        stack.callback(services.end, desk)
        measure = subprocess.Popen(
            [services.YUNTI, "observe", "demands", "-p", str(desk.pid), "-m", "Desk.serve", "-s", str(SECONDS), "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def answer():
            out, error = measure.communicate(timeout=120)
            assert measure.returncode == 0, (measure.returncode, error)
            return json.loads(out)

        stack.callback(measure.kill)
        yield answer


def median(times):
    return sorted(times)[len(times) // 2] if times else 0


@unittest.skipUnless(os.geteuid() == 0, "programs in the kernel are not allowed")
class Places(unittest.TestCase):
    def check(self, document, kinds):
        found, wrong = Holds(document), []
        for kind in kinds:
            name, units, *expected = HOLDS.get(kind) or (*THREADS[kind], None)
            resources = [one for one in document["resources"] if name in one["name"]]
            if not resources:
                wrong.append(f"{kind}: no resource {name}")
            for resource in resources:
                of, at = resource["id"], f"{kind}: {resource['name']}"
                if resource.get("parallelism") != units:
                    wrong.append(f"{at}: {resource.get('parallelism')} units, not {units}")
                if of in found.unreleased:
                    wrong.append(f"{at}: a hold without end")
                times = [found.tasks.get(of)] if kind in THREADS else [found.holds.get((of, i)) for i in (False, True)]
                for all_times, ms in zip(times, expected):
                    if ms and not ms * (1 - OFF) <= median(all_times) <= ms * (1 + OFF) + LATE_MS:
                        wrong.append(f"{at}: {median(all_times):.2f} ms in {len(all_times or [])} holds, not {ms}")
        return wrong

    def test_hold_times_and_units(self):
        """Places that are hardly contended on both JDKs, and contended ones."""
        alone = {kind: (2, 60) for kind in [*HOLDS, *THREADS]}
        crowded = {kind: (6, 10) for kind in ("permit", "prices", "stock", "lib-hikari", "lib-client5", "exports")}
        runs = [(version, kinds) for version, kinds in (("17", alone), ("25", alone), ("17", crowded))
                if version in services.JDKS]
        self.assertTrue(runs)
        with contextlib.ExitStack() as stack:
            answers = [stack.enter_context(demands(version, kinds)) for version, kinds in runs]
            for (version, kinds), answer in zip(runs, answers):
                with self.subTest(version, threads=max(n for n, _ in kinds.values())):
                    wrong = self.check(answer(), kinds)
                    if wrong:
                        # The three runs share a machine with others: once more, alone.
                        print("again:", *wrong, sep="\n", flush=True)
                        with demands(version, kinds) as again:
                            wrong = self.check(again(), kinds)
                    self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
