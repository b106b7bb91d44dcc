#!/usr/bin/env python3
"""Compares stock Velocity, compiled templates and other engines. See README.md.

The figures are processor time, allocation, compilation, and a whole server.
"""

import argparse
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
sys.dont_write_bytecode = True

import compiling  # noqa: E402
import figures  # noqa: E402
import jvm  # noqa: E402
import pages  # noqa: E402
import serving  # noqa: E402
from harness import machine, measure  # noqa: E402
from harness.measure import Failed  # noqa: E402

PARTS = ("pages", "compile", "server")
JDKS = ("17", "25")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    p.add_argument("--quick", action="store_true",
                   help="run one short fork of the goals' engines on the newest JDK; under two minutes")
    p.add_argument("--parts", default=",".join(PARTS), help="run these parts: " + ", ".join(PARTS))
    p.add_argument("--pages", default="", help="measure these pages, separated by commas: " + ", ".join(pages.PAGES))
    p.add_argument("--engines", default="", help="measure these engines and stock: " + ", ".join(pages.EVERY_ENGINE))
    p.add_argument("--jdks", default="", help="use these versions; default " + ",".join(JDKS))
    p.add_argument("--forks", type=int, default=5,
                   help="run this many rounds; each gives every engine a new JVM (default 5)")
    p.add_argument("--iterations", type=int, default=5, help="measure this many iterations per fork (default 5)")
    p.add_argument("--warm-up", type=int, default=5,
                   help="run this many iterations before; use more on a busy machine, for the compilers (default 5)")
    p.add_argument("--seconds", type=float, default=1.0, help="seconds of an iteration (default 1)")
    p.add_argument("--templates", type=int, default=1000, help="compile this many different templates (default 1000)")
    p.add_argument("--busy", action="store_true", help="mark in the results that the machine had other work")
    p.add_argument("--no-build", action="store_true", help="do not build first")
    p.add_argument("--no-save", action="store_true", help="write no results")
    a = p.parse_args()
    if a.quick:
        a.forks, a.iterations, a.seconds = 1, 1, 1.0
        a.warm_up = min(a.warm_up, 3)
        a.engines = a.engines or ",".join(pages.QUICK_ENGINES)
        a.pages = a.pages or ",".join(pages.QUICK_PAGES)
    for name, known in (("parts", PARTS), ("pages", pages.PAGES), ("engines", pages.EVERY_ENGINE)):
        chosen = [n for n in getattr(a, name).split(",") if n]
        if set(chosen) - set(known):
            p.error(f"there is no {', '.join(sorted(set(chosen) - set(known)))}: " + ", ".join(known))
        setattr(a, name, [n for n in known if not chosen or n in chosen or n == pages.STOCK])
    if min(a.forks, a.iterations, a.warm_up, a.templates) < 1 or a.seconds < 0.1:
        p.error("--forks, --iterations, --warm-up and --templates are at least 1, --seconds at least 0.1")
    a.jdks = [v for v in a.jdks.split(",") if v] or list(JDKS)
    return a


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    held = measure.lock()
    host = machine.describe()  # before the build, which adds load
    if not options.no_build:
        jvm.build()
    print(f"{host['name']}: {host['cores']} cores, {host['memory_gib']} GiB, load {host['load'][0]:.1f}")
    busy = options.busy or host["load"][0] > 0.5
    if busy:
        print("the machine is busy: these figures are not valid results")
    jdks, results = jvm.find(options.jdks), []
    for version in options.jdks:
        if version not in jdks:
            print(f"SKIPPED: JDK {version} is not installed")
            results.append({"row": "web", "jdk": version, "opponent": pages.STOCK,
                            "note": "SKIPPED: this JDK is not installed"})
    if not jdks:
        raise Failed("no JDK is installed: install JDK 17 or 25")
    if options.quick:
        jdks = dict([max(jdks.items(), key=lambda j: int(j[0]))])
    begin = time.strftime("%Y-%m-%d %H:%M")
    outputs = pages.check(next(iter(jdks.values())))
    measured = {"pages": lambda: pages.run(jdks, options, outputs), "compile": lambda: compiling.run(jdks, options),
                "server": lambda: serving.run(jdks, options)}
    for part in options.parts:
        try:
            results += measured[part]()
        except Failed as failure:  # keep the figures of the other parts, which take an hour
            print(f"{part}: FAILED: {failure}", flush=True)
            results.append({"row": "web-" + part, "opponent": pages.STOCK, "verdict": "FAILED", "note": str(failure)})
    goals = figures.goals(results)
    text = "\n\n".join(filter(None, (figures.pages_table(results), figures.compile_table(results),
                                     figures.server_table(results),
                                     figures.goals_table(goals))))
    print("\n" + text)
    if not options.no_save:
        kept = {"machine": host, "busy": busy, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"),
                "arguments": sys.argv[1:],
                "jdks": {v: j.name for v, j in jdks.items()}, "outputs": outputs, "goals": goals, "results": results}
        print("\nsaved in", figures.save(host["name"], kept, text))
    held.close()
    return 1 if any(r.get("verdict") in ("BELOW", "FAILED") for r in goals + results) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failed:
        sys.exit(f"bench-web: {failed}")
