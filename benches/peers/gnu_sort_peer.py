"""GNU sort in the C locale on two threads, with enough memory to sort without temporary files."""

import shutil

NAME = "GNU sort"
PACKAGES = []
TASKS = {"records": ["lines"], "lines": ["lines"]}


def available():
    return shutil.which("sort") is not None


def command(task, input_dir, output, memory, form):
    buffer = str(memory) + "b" if memory else "50%"
    return ["sh", "-c", 'LC_ALL=C sort --parallel=2 -S "$3" -o "$2".tmp "$1"/* && mv "$2".tmp "$2"', "sort", input_dir,
            output, buffer]
