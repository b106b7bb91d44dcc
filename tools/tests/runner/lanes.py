"""Runs suites of different parts side by side, then suites that measure a little in pairs, then others alone.

    lane 1   hadoop: a | hadoop: b ....... |  observe: a | observe: b ...  |
    lane 2   engine: a | api: a | web: a   |  machine: a | namenode: a ..  |  one by one: observe, machine, benches ..

Two suites of one part never run at the same time: they share folders, caches and Maven modules. A suite may use the folders of
other parts too (`shares`). The machine that tests have has two processors, and most suites use one: two lanes.
"""

import threading

LANES = 2
LONGEST = "hadoop"
# Needs every part to be built.
LAST = "house"


def used(suite):
    """The parts whose folders a suite uses."""
    return {suite.part, *suite.shares}


def run_all(suites, run_one, lanes=LANES):
    """Calls `run_one(suite)` once for each suite. The longest part comes first, so that the lanes end together;
    the one that needs all others comes last."""
    freely = sorted((suite for suite in suites if not suite.alone and not suite.in_pairs),
                    key=lambda suite: (suite.part == LAST, suite.part != LONGEST))
    side_by_side(freely, run_one, lanes)
    side_by_side([suite for suite in suites if suite.in_pairs], run_one, lanes)
    for suite in suites:
        if suite.alone:
            run_one(suite)


def side_by_side(waiting, run_one, lanes):
    """Runs suites in lanes, in their order as far as their parts are free."""
    busy, changed, failures = set(), threading.Condition(), []

    def take():
        """The next suite whose part is free; None when all are taken."""
        with changed:
            while waiting and not failures:
                for suite in waiting:
                    if busy.isdisjoint(used(suite)):
                        waiting.remove(suite)
                        busy.update(used(suite))
                        return suite
                changed.wait()
            return None

    def work():
        while (suite := take()) is not None:
            try:
                run_one(suite)
            except BaseException as failure:  # pylint: disable=broad-except
                failures.append(failure)
            with changed:
                busy.difference_update(used(suite))
                changed.notify_all()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        # With a timeout the main thread still sees ctrl-C.
        while thread.is_alive():
            thread.join(0.2)
    if failures:
        raise failures[0]
