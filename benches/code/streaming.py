"""Programs as mappers and reducers, against the programs alone, pipes, GNU parallel, Hadoop Streaming and mrjob."""

import os
import shutil
import subprocess

from comparison import Goal, compare
from harness import commands, data, opponents
from harness.measure import Program

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
# Mapper and reducer of each pair.
PAIRS = {"words": ("words.py", "sum.py"), "joined": ("words_joined.py", "sum.awk"), "awk": ("words.awk", "sum.awk")}
SORT = "LC_ALL=C sort --parallel=2"


def shell(name, text):
    """Returns a program of the shell; {out} is the output."""
    return Program(name, lambda output: ["sh", "-c", text.replace("{out}", output)])


def hadoop(mapper, reducer, folder):
    """Returns a job of Hadoop Streaming in one Java process, or None without its jars."""
    found = subprocess.run([os.path.join(commands.ROOT, "tests/conformance/jars.sh")], capture_output=True, text=True)
    if found.returncode:
        return None
    jars = found.stdout.strip()
    return Program("Hadoop Streaming", lambda output: [
        "java", "-Xmx4g", "-cp", jars + "/*", "org.apache.hadoop.streaming.HadoopStreaming",
        "-Dmapreduce.framework.name=local", "-Dfs.defaultFS=file:///", "-Dmapreduce.local.map.tasks.maximum=2",
        "-Dmapreduce.task.io.sort.mb=256", f"-Dhadoop.tmp.dir={output}.spill",
        "-input", folder, "-output", output, "-mapper", mapper, "-reducer", reducer])


def mrjob(folder):
    """Returns mrjob's local runner, or None if it cannot be installed."""
    if not opponents.install(["mrjob"]):
        return None
    return Program("mrjob", lambda output: [opponents.VENV + "/bin/python", PROGRAMS + "/words_mrjob.py", "-r", "local",
                                            "--output-dir", output, *data.files(folder)])


def row(pair, megabytes, options):
    folder = data.prepare("text", max(100_000, int(megabytes * 1e6 * options.size)))
    files = " ".join(data.files(folder))
    mapper, reducer = (os.path.join(PROGRAMS, name) for name in PAIRS[pair])
    mapped = f"{commands.ROOT}/build/bench-data/mapped-{pair}-{os.path.basename(folder)}"
    if not os.path.exists(mapped):
        subprocess.run(["sh", "-c", f"cat {files} | {mapper} | {SORT} > {mapped}.part && mv {mapped}.part {mapped}"],
                       check=True)
    programs = [
        Program("yunti", lambda output: [commands.YUNTI, "run", "--mapper", mapper, "--reducer", reducer, "--input",
                                         folder, "--output", output]),
        shell("programs alone", f"cat {files} | {mapper} > {{out}}.mapped && cat {mapped} | {reducer} > {{out}}"),
        shell("pipe", f"cat {files} | {mapper} | {SORT} | {reducer} > {{out}}"),
    ]
    skipped = {}
    if shutil.which("parallel"):
        programs.append(shell("GNU parallel", f"parallel --will-cite -j2 --pipepart --block -1 -a {files} {mapper} | "
                                              f"{SORT} | {reducer} > {{out}}"))
    else:
        skipped["GNU parallel"] = "GNU parallel is not installed"
    if options.peers and megabytes == 50:
        wanted = {"Hadoop Streaming": hadoop(mapper, reducer, folder)}
        if pair == "words":
            wanted["mrjob"] = mrjob(folder)
        programs += [program for program in wanted.values() if program]
        skipped |= {name: "cannot be installed" for name, program in wanted.items() if not program}
    goals = [Goal("yunti", "programs alone", 1.15), Goal("yunti", "pipe", 1, faster=True),
             Goal("yunti", "GNU parallel", 1, faster=True), Goal("yunti", "Hadoop Streaming", 5, faster=True),
             Goal("yunti", "mrjob", 8, faster=True)]
    result = compare(f"streaming-{pair}-{megabytes}", f"word count of {megabytes} MB: {' and '.join(PAIRS[pair])}",
                     programs, goals, options)
    result["skipped"] |= skipped
    return [result]


ROWS = {f"streaming-{pair}-{megabytes}": (lambda options, pair=pair, megabytes=megabytes: row(pair, megabytes, options))
        for megabytes in (50, 200) for pair in PAIRS}
