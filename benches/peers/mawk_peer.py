"""mawk, the fastest awk."""

import shutil

NAME = "mawk"
PACKAGES = []
PROGRAM = '{ for (i = 1; i <= NF; i++) n[$i]++ } END { OFS = "\\t"; for (w in n) print w, n[w] }'
TASKS = {"words": ["fields"]}


def available():
    return shutil.which("mawk") is not None


def command(task, input_dir, output, memory, form):
    return ["sh", "-c", 'LC_ALL=C mawk "$1" "$2"/* > "$3".tmp && mv "$3".tmp "$3"', "mawk", PROGRAM, input_dir, output]
