"""Command lines of all measured programs. Adjust them here when the yunti command changes.

{input} and {output} are folders, or a file for some rows. {reduces} and {memory} come from the row, and {threads} from
the measurement.
"""

import os

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
YUNTI = ROOT + "/dist/bin/yunti"
# Limit programs for the instruction set that the engine may use.
LEVEL = "avx2" if os.environ.get("YUNTI_SIMD") in ("avx2", "plain") else "native"
LIMITS = ROOT + ("/build/limits-avx2" if LEVEL == "avx2" else "/build/limits")
WORD_COUNT_LIB = ROOT + "/build/examples/lib/libword_count.so"
MAX_BY_KEY_LIB = ROOT + "/build/examples/lib/libmax_by_key.so"
TERA_SORT_LIB = ROOT + "/build/examples/lib/libtera_sort.so"
CRASHING_LIB = ROOT + "/build/bench-libraries/libcrashing.so"
DOUBLE_BY_KEY_LIB = ROOT + "/build/bench-libraries/libdouble_by_key.so"

IN_OUT = "--input {input} --output {output}"

OURS = {
    "wordcount": f"{YUNTI} run wordcount {IN_OUT} --mode grouped",
    "wordcount-folder": f"{YUNTI} run --lib {WORD_COUNT_LIB} --mapper WordCount.Tokenizer --folder WordCount.Count "
                        f"--mode grouped {IN_OUT}",
    "wordcount-loop": f"{YUNTI} run --lib {WORD_COUNT_LIB} --mapper WordCount.PlainTokenizer --folder WordCount.Count "
                      f"--mode grouped {IN_OUT}",
    "wordcount-sorted": f"{YUNTI} run --lib {WORD_COUNT_LIB} --mapper WordCount.Tokenizer --combiner "
                        f"WordCount.SumCombiner --reducer WordCount.SumReducer --mode sorted {IN_OUT}",
    "terasort": f"{YUNTI} run terasort {IN_OUT} --reduces {{reduces}}",
    "terasort-class": f"{YUNTI} run terasort --lib {TERA_SORT_LIB} --mapper TeraSort.Records {IN_OUT}",
    "wordcount-crashing": f"{YUNTI} run --lib {CRASHING_LIB} --mapper Crashing.Words --folder Yunti.CountFolder "
                          f"--mode grouped --isolate {IN_OUT}",
    "terasort-budget": f"{YUNTI} run terasort {IN_OUT} --reduces 1 --memory {{memory}}",
    "sortlines": f"{YUNTI} run sort {IN_OUT}",
    "maxbykey": f"{YUNTI} run --lib {MAX_BY_KEY_LIB} --mapper MaxByKey.Parse --folder MaxByKey.Max --mode grouped "
                f"{IN_OUT}",
    "sumdouble": f"{YUNTI} run --lib {DOUBLE_BY_KEY_LIB} --mapper DoubleByKey.Parse --folder Yunti.SumDoubleFolder "
                 f"--mode grouped --deterministic {IN_OUT}",
    "empty": f"{YUNTI} run wordcount {IN_OUT} --mode grouped",
}

# Flags that a bullet adds to a command of Yunti.
THREADS = " --threads {threads}"
MEMORY = " --memory {memory}"
SPLITS = " --split-size {split_bytes}"
ISOLATED = " --isolate"
SANDBOXED = " --sandbox"

LIMIT = {
    "wordcount": f"{LIMITS}/wordcount {{input}} {{output}} {{threads}}",
    "terasort": f"{LIMITS}/terasort {{input}} {{output}} {{threads}} {{reduces}}",
    "extsort": f"{LIMITS}/extsort {{input}} {{output}} {{threads}} {{memory}}",
    "sortlines": f"{LIMITS}/sortlines {{input}} {{output}} {{threads}}",
    "maxbykey": f"{LIMITS}/maxbykey {{input}} {{output}} {{threads}}",
}


def fill(template, **values):
    """Returns the words of a command line with the values filled in."""
    return [word.format(**values) for word in template.split()]
