"""Functions of Python over batches, against a class library in C++, DuckDB, Polars, NumPy, and a record at a time."""

import os
import subprocess

from comparison import Goal, cheapest, compare
from harness import commands, data, opponents
from harness.measure import Program

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
PYTHON = opponents.VENV + "/bin/python"


def python(name, script, *arguments):
    return Program(name, lambda output: [PYTHON, f"{PROGRAMS}/{script}.py", *arguments, output])


def library(name, job, folder):
    return Program(name, lambda output: commands.fill(commands.OURS[job], input=folder, output=output))


def peers(options, task, folder, modules):
    """Returns the fastest form of each peer by CPU seconds of one run, and the peers that cannot be installed."""
    found, skipped = [], {}
    for module in modules if options.peers else []:
        name, forms = opponents.peer_of(module, task, folder)
        if forms:
            found.append(cheapest(forms))
        else:
            skipped[name] = "cannot be installed"
    return found, skipped


def words(options, megabytes):
    folder = data.prepare("text", max(100_000, int(megabytes * 1e6 * options.size)))
    others, skipped = peers(options, "words", folder, ["duckdb_peer", "polars_peer"])
    programs = [python("yunti", "words_batch", folder), library("yunti C++", "wordcount-folder", folder), *others]
    goals = [Goal("yunti", "yunti C++", 1.15), Goal("yunti", "DuckDB", 4, faster=True),
             Goal("yunti", "Polars", 5, faster=True)]
    result = compare(f"python-words-{megabytes}", f"word count of {megabytes} MB, batches of Python", programs, goals,
                     options)
    result["skipped"] |= skipped
    return [result]


def maximum(options, megabytes):
    folder = data.prepare("pairs", max(100_000, int(megabytes * 1e6 * options.size)))
    others, skipped = peers(options, "maximum", folder, ["polars_peer", "duckdb_peer"])
    programs = [python("yunti", "maximum_batch", folder), library("yunti C++", "maxbykey", folder), *others]
    goals = [Goal("yunti", "Polars", 1, faster=True), Goal("yunti", "DuckDB", 0, faster=True), Goal("yunti", "yunti C++")]
    result = compare(f"python-maximum-{megabytes}", f"maximum by key of {megabytes} MB, batches of Python", programs,
                     goals, options)
    result["skipped"] |= skipped
    return [result]


def sessions(options, megabytes=100):
    folder = f"{data.DATA}/visits-{max(100_000, int(megabytes * 1e6 * options.size))}"
    if not os.path.exists(folder):
        os.makedirs(folder + ".part", exist_ok=True)
        subprocess.run([PYTHON, PROGRAMS + "/visits.py", folder.rpartition("-")[2], folder + ".part/log"], check=True)
        os.rename(folder + ".part", folder)
    programs = [python("yunti", "sessions_batch", folder), python("Python, a record at a time", "sessions_record", folder),
                python("yunti, a record at a time", "sessions_function", folder),
                python("NumPy", "sessions_table", "numpy", folder)]
    if options.peers and opponents.install(["pyarrow"]):
        programs.append(python("NumPy, read by Arrow", "sessions_table", "arrow", folder))
    goals = [Goal("yunti", "Python, a record at a time", 10, faster=True), Goal("yunti", "NumPy", 1.5),
             Goal("yunti", "NumPy, read by Arrow"), Goal("yunti", "yunti, a record at a time", faster=True)]
    return [compare(f"python-sessions-{megabytes}", f"sessions of each user, {megabytes} MB of visits", programs, goals,
                    options)]


ROWS = {
    "python-words-1000": lambda options: words(options, 1000),
    "python-words-200": lambda options: words(options, 200),
    "python-sessions-100": sessions,
    "python-maximum-100": lambda options: maximum(options, 100),
    "python-maximum-1000": lambda options: maximum(options, 1000),
}
