"""The command lines of what is measured, all in one place: adjust them here when the yunti command changes.

{input} and {output} are folders (a file where a row says so); {reduces} and {memory} come from the row.
"""

import os

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = ROOT + "/dist/bin/yunti"
LIMITS = ROOT + "/build/limits"
WORD_COUNT_LIB = ROOT + "/build/examples/lib/libword_count.so"
MAX_BY_KEY_LIB = ROOT + "/build/examples/lib/libmax_by_key.so"

IN_OUT = "--input {input} --output {output}"

OURS = {
    "wordcount": f"{YUNTI} run wordcount {IN_OUT} --mode grouped",
    "wordcount-folder": f"{YUNTI} run --lib {WORD_COUNT_LIB} --mapper WordCount.Tokenizer --folder WordCount.Count --mode grouped {IN_OUT}",
    "wordcount-loop": f"{YUNTI} run --lib {WORD_COUNT_LIB} --mapper WordCount.PlainTokenizer --folder WordCount.Count --mode grouped {IN_OUT}",
    "wordcount-sorted": f"{YUNTI} run --lib {WORD_COUNT_LIB} --mapper WordCount.Tokenizer --combiner WordCount.SumCombiner --reducer WordCount.SumReducer --mode sorted {IN_OUT}",
    "terasort": f"{YUNTI} run terasort {IN_OUT} --reduces {{reduces}}",
    "terasort-budget": f"{YUNTI} run terasort {IN_OUT} --reduces 1 --memory {{memory}}",
    "sortlines": f"{YUNTI} run sort {IN_OUT}",
    "maxbykey": f"{YUNTI} run --lib {MAX_BY_KEY_LIB} --mapper MaxByKey.Parse --folder MaxByKey.Max --mode grouped {IN_OUT}",
    "empty": f"{YUNTI} run wordcount {IN_OUT} --mode grouped",
}

LIMIT = {
    "wordcount": f"{LIMITS}/wordcount {{input}} {{output}} 2",
    "terasort": f"{LIMITS}/terasort {{input}} {{output}} 2 {{reduces}}",
    "extsort": f"{LIMITS}/extsort {{input}} {{output}} 2 {{memory}}",
    "sortlines": f"{LIMITS}/sortlines {{input}} {{output}} 2",
    "maxbykey": f"{LIMITS}/maxbykey {{input}} {{output}} 2",
}


def fill(template, **values):
    return [word.format(**values) for word in template.split()]
