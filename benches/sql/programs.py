"""Measured programs: Yunti, a fresh process for each query, and peers, each one process that answers many."""

import json
import os
import subprocess
import sys
import time

import engines

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {"duckdb": "DuckDB", "polars": "Polars", "datafusion": "DataFusion", "chdb": "chdb"}


class Failed(Exception):
    pass


def last_line(text):
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "no message"


class Yunti:
    name = "yunti"

    def __init__(self, program, tables, threads, options=()):
        self.engine, self.tables, self.threads, self.options = engines.Yunti(program), tables, threads, list(options)

    def sample(self, sql):
        """Returns the figures of a whole process, from start to exit."""
        options = [*self.options, "--output-format", "csv"]
        command = self.engine.command(sql, self.tables, self.threads, options=options)
        with open(os.devnull, "wb") as null:
            begin = time.monotonic()
            child = subprocess.Popen(command, stdout=null, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
            error = child.stderr.read()
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stderr.close()
        if child.returncode:
            raise Failed(f"exit code {child.returncode}: {last_line(error)}")
        return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "rss": usage.ru_maxrss * 1024}

    def answer(self, sql):
        try:
            return self.engine.query(sql, self.tables, self.threads, options=self.options)
        except (engines.Refused, engines.Broken) as error:
            raise Failed(str(error)) from None

    def executor(self, sql):
        """Returns the first line of the plan, which names the executor."""
        try:
            return engines.first_line(self.engine.explain(sql, self.tables, self.options))
        except (engines.Refused, engines.Broken) as error:
            return f"not explained: {error}"

    def close(self):
        pass


class Peer:
    def __init__(self, name, tables, threads, scratch):
        self.name, self.kept = name, os.path.join(scratch, f"{name}.parquet")
        words = [sys.executable, os.path.join(HERE, "peer.py"), name, "--threads", str(threads)]
        words += [f"{table}={path}" for table, path in tables.items()]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Failed(f"its process ended with {self.process.wait()}")
        reply = json.loads(line)
        if "failure" in reply:
            raise Failed(reply["failure"])
        return reply

    def sample(self, sql):
        return self.ask(sql=sql)

    def answer(self, sql):
        self.ask(sql=sql, answer=self.kept)
        return engines.of_arrow(engines.read_parquet(self.kept))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
