"""`yunti observe why` on all programs of known causes, of three collections, each with its own measure."""

import dataclasses
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import why_test  # noqa: E402
from why_test import known  # noqa: E402

import field  # noqa: E402  (in a folder that why_test has put into the path)
import host  # noqa: E402
import twice  # noqa: E402  (looking.py knows where it is)

SECONDS = 10


@dataclasses.dataclass
class Judged:
    """What is said of the programs of a collection."""

    singles: int = 0
    singles_named: int = 0
    doubles: int = 0
    doubles_named: int = 0  # both of the two
    of_doubles_named: int = 0  # each of the two by itself
    healthy: int = 0
    healthy_blamed: list = dataclasses.field(default_factory=list)
    told: int = 0
    false: int = 0

    def add(self, name, causes, said):
        if len(causes) == 0:
            self.healthy += 1
            self.healthy_blamed += [name] if said else []
        elif len(causes) == 1:
            self.singles += 1
            self.singles_named += said[:1] == causes
        else:
            self.doubles += 1
            self.doubles_named += set(causes) <= set(said)
            self.of_doubles_named += len(set(causes) & set(said))
        self.told += len(said)
        self.false += len(set(said) - set(causes))

    def __str__(self):
        return (
            f"{self.singles_named} of {self.singles} single causes named; both causes in {self.doubles_named} of {self.doubles} programs with two"
            f" ({self.of_doubles_named} of {2 * self.doubles} causes); nothing told of {self.healthy - len(self.healthy_blamed)} of {self.healthy} healthy ones;"
            f" {self.false} of {self.told} told are false"
        )


class All(unittest.TestCase):
    def judged(self, collection, not_counted=()):
        judged = Judged()
        print(f"\n{collection.__name__}:")
        with tempfile.TemporaryDirectory() as folder:
            collection.build(collection.PROGRAMS, folder, why_test.java_home())
            for program in collection.PROGRAMS:
                name, causes = program["name"], program["causes"]
                if reason := collection.missing(program):
                    print(f"{name:22} SKIP {reason}", flush=True)
                    continue
                document = why_test.asked(program, folder, SECONDS, collection)
                found = [found for found in document["causes"] if found["cause"] not in not_counted]
                said, costs = [one["cause"] for one in found], [round(one["cost"], 2) for one in found]
                print(f"{name:22} {', '.join(causes) or 'healthy':36} {list(zip(said, costs))}", flush=True)
                judged.add(name, causes, said)
        print(f"{collection.__name__}: {judged}", flush=True)
        return judged

    def test_programs(self):
        # At least 14 of 16 are named, with at most one false cause in ten.
        judged = self.judged(known)
        self.assertGreaterEqual(judged.singles_named / judged.singles, 14 / 16)
        self.assertLessEqual(judged.false / max(judged.told, 1), 1 / 10)

    def test_field(self):
        # At least 16 of 18 are named, both causes in at least 2 of 3 programs with two, and nothing is told of the healthy ones.
        judged = self.judged(field)
        self.assertGreaterEqual(judged.singles_named / judged.singles, 16 / 18)
        self.assertGreaterEqual(judged.doubles_named / judged.doubles, 2 / 3)
        self.assertEqual(judged.healthy_blamed, [])

    def test_host(self):
        # At least 24 of 27 are named, and nothing is told of the healthy ones. Others that compute may be named beside, which is true then.
        judged = self.judged(host, not_counted=["cpu-neighbour"])
        if judged.singles:
            self.assertGreaterEqual(judged.singles_named / judged.singles, 24 / 27)
        self.assertEqual(judged.healthy_blamed, [])


if __name__ == "__main__":
    twice.main()
