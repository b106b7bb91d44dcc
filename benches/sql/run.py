#!/usr/bin/env python3
"""Times the 22 queries of TPC-H over Parquet beside DuckDB, Polars, DataFusion and chdb.

Ours is a fresh process for each query, from start to exit. A peer is one process, warm, that reads the files anew for
each query; its start and imports do not count. Answers are compared before anything is timed.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "../.."))
sys.path[:0] = [os.path.dirname(HERE), HERE, os.path.join(ROOT, "sql/tests")]
sys.dont_write_bytecode = True

from harness import machine, measure, opponents, report  # noqa: E402

PACKAGES = ["duckdb", "pyarrow", "numpy", "tpchgen-cli"]
NAMES = ("duckdb", "polars", "datafusion", "chdb")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                allow_abbrev=False)
    p.add_argument("--scales", default="1,10", help="scale factors (default 1,10)")
    p.add_argument("--queries", default=",".join(map(str, range(1, 23))), help="numbers of queries (default all)")
    p.add_argument("--peers", default=",".join(NAMES), help="run only these peers: " + ", ".join(NAMES) + "; or none")
    p.add_argument("--rounds", type=int, default=3, help="runs of each query, in turn; the least counts (default 3)")
    p.add_argument("--threads", type=int, default=2, help="threads and processors of each program (default 2)")
    p.add_argument("--option", action="append", default=[], help="a further option of `yunti sql`")
    p.add_argument("--tiny", action="store_true", help="scale 0.01, one round, DuckDB alone, nothing saved")
    p.add_argument("--no-save", action="store_true", help="write no results file")
    a = p.parse_args()
    if a.tiny:
        a.scales, a.rounds, a.peers, a.no_save = "0.01", 1, "duckdb", True
    a.scales = [float(scale) for scale in a.scales.split(",")]
    a.queries = [int(number) for number in a.queries.split(",")]
    a.peers = [peer for peer in a.peers.split(",") if peer != "none"]
    if set(a.peers) - set(NAMES):
        p.error("not known: " + ", ".join(sorted(set(a.peers) - set(NAMES))))
    return a


def in_venv():
    """Runs this program by the interpreter of the bench's venv, which has the packages that read answers."""
    if os.path.realpath(sys.prefix) == os.path.realpath(opponents.VENV):
        return
    if not opponents.install(PACKAGES):
        raise SystemExit("the bench needs " + ", ".join(PACKAGES) + " from PyPI")
    python = opponents.VENV + "/bin/python"
    os.execv(python, [python, os.path.abspath(__file__), *sys.argv[1:]])


def form(sql, program):
    """Returns the text for a program. chdb takes 0.06 - 0.01 for a float, which is not 0.05."""
    return sql.replace("0.06 - 0.01", "0.05").replace("0.06 + 0.01", "0.07") if program == "chdb" else sql


def run_query(number, scale, ours, peers, rounds):
    """Returns the result of a query: the samples of each program, failures, and answers that differ from ours."""
    import programs
    from benchmarks import tpch_test

    sql = tpch_test.text(number, scale)
    result = {"query": number, "scale": scale, "samples": {}, "failures": {}, "differ": {}, "rows": None,
              "executor": ours.executor(sql)}
    answers, running = {}, []
    for program in (ours, *peers):
        try:
            answers[program.name] = program.answer(form(sql, program.name))
            running.append(program)
        except programs.Failed as failure:
            result["failures"][program.name] = str(failure)
    if ours.name in answers:
        result["rows"] = len(answers[ours.name].rows)
        for name, theirs in answers.items():
            difference = tpch_test.difference(number, answers[ours.name], theirs, quotients=True)
            if difference:
                result["differ"][name] = " ".join(difference.split())[:300]
    for _ in range(rounds):
        for program in list(running):
            try:
                result["samples"].setdefault(program.name, []).append(program.sample(form(sql, program.name)))
            except programs.Failed as failure:
                result["failures"][program.name] = str(failure)
                running.remove(program)
    return result


def run_scale(scale, options, scratch):
    import figures
    import programs
    from data import tables

    paths = tables.tpch(scale)
    for path in paths.values():
        with open(path, "rb", buffering=0) as f:  # into the page cache
            while f.read(8 << 20):
                pass
    ours = programs.Yunti(os.environ.get("YUNTI", programs.engines.YUNTI), paths, options.threads, options.option)
    peers = [programs.Peer(name, paths, options.threads, scratch) for name in options.peers]
    results = []
    try:
        for number in options.queries:
            print(f"-- SF{scale:g} Q{number}", flush=True)
            result = run_query(number, scale, ours, peers, options.rounds)
            results.append(result)
            cells = [f"{name} {figures.seconds(figures.least(result, name, 'wall'))} s, CPU "
                     f"{figures.seconds(figures.least(result, name, 'cpu'))}" for name in result["samples"]]
            print("\n".join([*figures.problems([result]), "; ".join(cells)]), flush=True)
    finally:
        for peer in peers:
            peer.close()
    return results


def main():
    options = arguments()
    in_venv()
    import figures

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    held = measure.lock()
    missing = [peer for peer in options.peers if not opponents.install([peer])]
    options.peers = [peer for peer in options.peers if peer not in missing]
    opponents.install(PACKAGES)  # for their versions
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])  # all programs inherit it
    host, busy = machine.introduce()
    begin, commit, results = time.strftime("%Y-%m-%d %H:%M"), machine.commit(), []
    scratch = tempfile.mkdtemp(prefix="yunti-bench-sql-")
    try:
        for scale in options.scales:
            results += run_scale(scale, options, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    text = figures.text(results)
    text += "".join(f"\nSKIPPED: {peer} cannot be installed" for peer in missing)
    print("\n" + text)
    if not options.no_save:
        kept = {"machine": host, "busy": busy, "begin": begin, "end": time.strftime("%Y-%m-%d %H:%M"),
                "commit": commit, "arguments": sys.argv[1:], "threads": options.threads,
                "peers": opponents.versions(), "results": results}
        peers = ", ".join(f"{package} {version}" for package, version in kept["peers"].items())
        noise = "The machine was busy with other work: load {:.1f} at the beginning.\n".format(host["load"][0])
        head = f"{begin} to {kept['end']}, {host['name']}, commit {commit}\n{peers}\n" + noise * busy + "\n"
        print("\nsaved in", report.save_with_text(host["name"], "sql", kept, head + text + "\n"))
    held.close()
    judged = [figures.verdict(figure, goal) for scale in options.scales
              for _, figure, goal in figures.verdicts(results, scale)]
    # A peer may differ from DuckDB and us, and then counts in no mean.
    wrong = any("duckdb" in r["differ"] or "yunti" in r["failures"] for r in results)
    return 1 if wrong or "BELOW" in judged else 0


if __name__ == "__main__":
    sys.exit(main())
