"""What a first job of Python takes from the start of the interpreter to its end."""

import os
import statistics

from batches import PROGRAMS, PYTHON
from comparison import absolute, in_turn, summary
from harness import data
from harness.measure import Program


def row(options):
    folder = data.prepare("text", 100_000)
    words = {
        "python": "-c pass",
        "import yunti": "-c 'import yunti'",
        "first job": os.path.join(PROGRAMS, "first_job.py") + " " + folder,
        "first job without NumPy": os.path.join(PROGRAMS, "first_job_plain.py") + " " + folder,
    }
    programs = [Program(name, lambda output, text=text: ["sh", "-c", f"exec {PYTHON} {text} > {output}"])
                for name, text in words.items()]
    taken = in_turn(programs, options.rounds * 3, all_rounds=True)
    median = {name: statistics.median(s.cpu for s in samples) * 1000 for name, samples in taken.items()}
    bounds = {"python": 0, "import yunti": 50, "first job": 150, "first job without NumPy": 150}
    results = [absolute("start", f"CPU of {name}, from start to end", median[name], "ms", bound)
               for name, bound in bounds.items()]
    results[0]["programs"] = {program.name: summary(program, taken[program.name]) for program in programs}
    return results


ROWS = {"start": row}
