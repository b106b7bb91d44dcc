"""Random queries on the program, and the runner on engines with a fault that it must find.

    YUNTI_SQL_RANDOM=300   queries (the long test: 100000)
    YUNTI_SQL_SEED=1       seed of the first tables
"""

import dataclasses
import os
import unittest

import engines
import random_queries

COUNT = int(os.environ.get("YUNTI_SQL_RANDOM", "300"))
SEED = int(os.environ.get("YUNTI_SQL_SEED", "1"))


class Faulty(engines.DuckDb):
    """DuckDB with a fault in its answers."""

    stable = True

    def __init__(self, fault):
        super().__init__()
        self.fault = fault

    def query(self, sql, tables, threads=None, memory=None, options=()):
        answer = super().query(sql, tables)
        return dataclasses.replace(answer, rows=self.fault(answer.rows, sql, threads))


def without_nulls_in_conditions(rows, sql, threads):
    """Loses the rows of a condition that is null."""
    return [] if sql.endswith(") is null") else rows


FAULTS = {
    "a row less": (lambda rows, sql, threads: rows[1:], "differs"),
    "a row more": (lambda rows, sql, threads: rows + rows[:1], "differs"),
    "no nulls": (lambda rows, sql, threads: [tuple(0 if v is None else v for v in row) for row in rows], "differs"),
    "another order": (lambda rows, sql, threads: rows[::-1], "differs"),
    "threads": (lambda rows, sql, threads: rows[::-1] if threads else rows, "changes with limits"),
    "ternary logic": (without_nulls_in_conditions, "parts differ"),
}


class Random(unittest.TestCase):
    maxDiff = None
    def test_queries(self):
        peers = [engines.DuckDb(), engines.Sqlite()]
        sums = random_queries.run(SEED, COUNT, engines.under_test(), peers)
        counts = ", ".join(f"{count} {name}" for name, count in sorted(sums.counts.items()))
        print(f"\nseed {SEED}: {counts}")
        self.assertEqual(sums.failures, [], f"{len(sums.failures)} of {COUNT}")
        # Some queries pass the limits of all engines, and none of them counts as checked.
        self.assertGreater(sums.counts["checked"], COUNT * 0.9)
        self.assertGreater(sums.counts["agrees with sqlite"], COUNT * 0.1)
        # Of the queries that run under a memory, as it is an error there.
        others = {reason: count for reason, count in sums.reasons.items() if reason.startswith("not native")}
        print(others)
        self.assertLess(sums.counts["not native"], 0.1 * COUNT)

    def test_queries_by_machine_code(self):
        engine = engines.Yunti(options=("--compile", "on"))
        if not engine.has_compiler():
            self.skipTest("the program has no compiler: install llvm-19-dev, and build it again")
        sums = random_queries.run(SEED + 1, COUNT // 2, engine, [engines.DuckDb()])
        self.assertEqual(sums.failures, [], f"{len(sums.failures)} of {COUNT // 2}")
        self.assertGreater(sums.counts["checked"], COUNT // 2 * 0.9)

    def test_faults_are_found(self):
        for name, (fault, outcome) in FAULTS.items():
            with self.subTest(fault=name):
                sums = random_queries.run(1, 60, Faulty(fault), [engines.DuckDb()])
                self.assertGreater(sums.counts[outcome], 0, sums.counts)

    def test_a_seed_gives_the_same_queries(self):
        seen = []

        class Recorder(engines.DuckDb):
            def query(self, sql, tables, threads=None, memory=None, options=()):
                seen.append((sql, threads, memory))
                return engines.Rows([], [], [])

        for _ in range(2):
            random_queries.run(5, 40, Recorder(), [])
        half = len(seen) // 2
        self.assertEqual(seen[:half], seen[half:])


if __name__ == "__main__":
    unittest.main()
