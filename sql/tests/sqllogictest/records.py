"""Records of a file in the format of sqllogictest: SQLite's and the parts that DuckDB adds.

    statement ok|error           query TYPES [nosort|rowsort|valuesort] [LABEL]        hash-threshold N
    SQL ..                       SQL ..                                                halt
                                 ----                                                  skipif|onlyif ENGINE
                                 values, or `N values hashing to MD5`

DuckDB's `loop`, `foreach` and `mode skip` are expanded; a file that needs more raises Unsupported.
"""

import re
from dataclasses import dataclass, field, replace


class Unsupported(Exception):
    """The file needs what the runner does not have; the text is the reason."""


@dataclass
class Record:
    kind: str  # statement or query
    line: int  # 1 is the first
    sql: str
    expect: str = "ok"  # of a statement: ok, error or maybe
    types: str = ""
    sort: str = "nosort"
    label: str = ""
    result: list = field(default_factory=list)  # lines after ----
    has_result: bool = True  # without one, the label alone is compared
    skip: str = ""  # reason
    error: str = ""


SORTS = ("nosort", "rowsort", "valuesort")
COMMANDS_OF_DUCKDB = ("require", "require-env", "load", "restart", "reconnect", "concurrentloop", "concurrentforeach",
                      "test-env", "unzip", "import", "set", "reset", "sleep", "tags", "template", "continue",
                      "statement_sleep")
HARMLESS = ("set", "tags", "hash-threshold", "sleep")


def parse(text, names=("yunti", )):
    """Returns the records of a file. `names`: names of the engine for skipif and onlyif."""
    return expand(text.replace("\r\n", "\n").split("\n"), 0, names)


def expand(lines, first, names):
    """Returns the records of some lines, which begin at line `first`, with loops unrolled."""
    records, at, skip, mode_skip = [], 0, "", False
    while at < len(lines):
        words, line = lines[at].split(), first + at + 1
        if not words or lines[at].startswith("#"):
            at += 1
            continue
        word = words[0]
        if word in ("skipif", "onlyif"):
            if (words[1].lower() in names) == (word == "skipif"):
                skip = " ".join(words[:2])
            at += 1
        elif word in ("statement", "query"):
            record, at = one(lines, at, first)
            record.skip = skip or ("mode skip" if mode_skip else "")
            records.append(record)
            skip = ""
        elif word == "halt":
            break
        elif word == "mode":
            mode_skip = words[1] == "skip" or (mode_skip and words[1] != "unskip")
            at += 1
        elif word in ("loop", "foreach"):
            end = closing(lines, at)
            for value in range(int(words[2]), int(words[3])) if word == "loop" else values_of(words[2:]):
                body = [substituted(text, words[1], str(value)) for text in lines[at + 1:end]]
                records += expand(body, first + at + 1, names)
                if len(records) > 100_000:
                    raise Unsupported("a loop of more than 100,000 records")
            at = end + 1
        elif word in HARMLESS:
            at += 1
        elif word in COMMANDS_OF_DUCKDB or word.isalpha():
            raise Unsupported(word)
        else:
            raise Unsupported(f"line {line}: {lines[at][:40]!r}")
    return records


def substituted(text, names, value):
    """Returns a line with the values of a loop's variables, several of which are written with commas between."""
    parts = value.split(",") if "," in names else [value]
    for name, part in zip(names.split(","), parts):
        text = text.replace("${" + name + "}", part).replace("{" + name + "}", part)
    return text


def closing(lines, at):
    depth = 0
    for end in range(at, len(lines)):
        word = lines[end].split()[:1]
        depth += word in (["loop"], ["foreach"])
        depth -= word == ["endloop"]
        if depth == 0:
            return end
    raise Unsupported("a loop without an end")


VALUES = {
    "<signed>": "tinyint smallint integer bigint hugeint",
    "<unsigned>": "utinyint usmallint uinteger ubigint uhugeint",
    "<integral>": "tinyint smallint integer bigint hugeint utinyint usmallint uinteger ubigint uhugeint",
    "<numeric>": "tinyint smallint integer bigint hugeint utinyint usmallint uinteger ubigint uhugeint float double",
    "<alltypes>":
    "tinyint smallint integer bigint hugeint utinyint usmallint uinteger ubigint uhugeint float double bool "
    "interval varchar",
    "<compression>": "none",
}


def values_of(words):
    return [value for word in words for value in VALUES.get(word, word).split()]


def one(lines, at, first):
    """Returns the record that begins at a line, and the line after it."""
    words, begin = lines[at].split(), at
    at += 1
    sql = []
    while at < len(lines) and lines[at].strip() != "----" and lines[at].strip():
        if not lines[at].startswith("#"):
            sql.append(lines[at])
        at += 1
    result, has_result = [], False
    if at < len(lines) and lines[at].strip() == "----":
        at, has_result = at + 1, True
        while at < len(lines) and lines[at] != "":
            result.append(lines[at])
            at += 1
    record = Record(words[0],
                    first + begin + 1,
                    "\n".join(sql).strip().rstrip(";"),
                    result=result,
                    has_result=has_result)
    if words[0] == "statement":
        record.expect, record.error = words[1] if len(words) > 1 else "ok", " ".join(result)
        return record, at
    rest = words[1:]
    record.types = rest.pop(0) if rest and re.fullmatch(r"[A-Z]+", rest[0]) else ""
    record.sort = rest.pop(0) if rest and rest[0] in SORTS else "nosort"
    record.label = rest[0] if rest else ""
    return replace(record, expect="error") if record.types == "error" else record, at
