"""`yunti observe why` on all programs with known causes, in three collections with limits of their own."""

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
class Score:
    """Score of `why` on a collection."""

    singles: int = 0
    singles_named: int = 0
    doubles: int = 0
    doubles_named: int = 0  # both of the two
    of_doubles_named: int = 0  # each of the two by itself
    healthy: int = 0
    healthy_blamed: list = dataclasses.field(default_factory=list)
    reported: int = 0
    false: int = 0

    def add(self, name, causes, names):
        if len(causes) == 0:
            self.healthy += 1
            self.healthy_blamed += [name] if names else []
        elif len(causes) == 1:
            self.singles += 1
            self.singles_named += names[:1] == causes
        else:
            self.doubles += 1
            self.doubles_named += set(causes) <= set(names)
            self.of_doubles_named += len(set(causes) & set(names))
        self.reported += len(names)
        self.false += len(set(names) - set(causes))

    def __str__(self):
        return (
            f"{self.singles_named} of {self.singles} single causes named;"
            f" both causes in {self.doubles_named} of {self.doubles} programs with two"
            f" ({self.of_doubles_named} of {2 * self.doubles} causes);"
            f" nothing reported for {self.healthy - len(self.healthy_blamed)} of {self.healthy} healthy ones;"
            f" {self.false} of {self.reported} reported are false"
        )


class All(unittest.TestCase):
    def score(self, collection, not_counted=()):
        score = Score()
        print(f"\n{collection.__name__}:")
        with tempfile.TemporaryDirectory() as folder:
            collection.build(collection.PROGRAMS, folder, why_test.java_home())
            for program in collection.PROGRAMS:
                name, causes = program["name"], program["causes"]
                if reason := collection.missing(program):
                    print(f"{name:22} SKIP {reason}", flush=True)
                    continue
                document = why_test.answer_for(program, folder, SECONDS, collection)
                found = [found for found in document["causes"] if found["cause"] not in not_counted]
                names, costs = [one["cause"] for one in found], [round(one["cost"], 2) for one in found]
                print(f"{name:22} {', '.join(causes) or 'healthy':36} {list(zip(names, costs))}", flush=True)
                score.add(name, causes, names)
        print(f"{collection.__name__}: {score}", flush=True)
        return score

    def test_programs(self):
        # At least 14 of 16 causes are named, and at most one in ten reported causes is false.
        score = self.score(known)
        self.assertGreaterEqual(score.singles_named / score.singles, 14 / 16)
        self.assertLessEqual(score.false / max(score.reported, 1), 1 / 10)

    def test_field(self):
        # At least 16 of 18 causes are named, both in at least 2 of 3 programs with two, and none for the healthy ones.
        score = self.score(field)
        self.assertGreaterEqual(score.singles_named / score.singles, 16 / 18)
        self.assertGreaterEqual(score.doubles_named / score.doubles, 2 / 3)
        self.assertEqual(score.healthy_blamed, [])

    def test_host(self):
        # At least 24 of 27 causes are named, and none for the healthy ones. Other busy processes do not count.
        score = self.score(host, not_counted=["cpu-neighbour"])
        if score.singles:
            self.assertGreaterEqual(score.singles_named / score.singles, 24 / 27)
        self.assertEqual(score.healthy_blamed, [])


if __name__ == "__main__":
    twice.main()
