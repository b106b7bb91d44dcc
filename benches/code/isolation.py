"""Class libraries in C++ in the process of the engine, in worker processes, and in sandboxed ones."""

from comparison import Goal, compare
from harness import commands, data
from harness.measure import Program
from harness.rows import BY_NAME

# Job of harness/commands.py -> the row with its data, and what it is.
JOBS = {
    "wordcount-folder": ("wordcount-folder", "word count, a mapper and a folder that the engine knows"),
    "maxbykey": ("maxbykey", "maximum by key, a mapper and a folder of user code"),
    "wordcount-sorted": ("wordcount-sorted", "word count, mapper, combiner and reducer"),
    "terasort-class": ("terasort", "TeraSort, a mapper that passes records"),
}
WAYS = {"yunti": "", "yunti --isolate": commands.ISOLATED, "yunti --sandbox": commands.SANDBOXED}


def row(job, options):
    of, title = JOBS[job]
    of = BY_NAME[of]
    folder = data.of(of, options.size)
    command = lambda flags: lambda output: commands.fill(commands.OURS[job] + flags, input=folder, output=output)
    programs = [Program(name, command(flags)) for name, flags in WAYS.items()]
    goals = [Goal(name, "yunti", 0.97, faster=True) for name in list(WAYS)[1:]]
    return [compare(f"isolated-{job}", f"{of.bytes / 1e9:.0f} GB, {title}", programs, goals, options, of.same)]


ROWS = {f"isolated-{job}": (lambda options, job=job: row(job, options)) for job in JOBS}
