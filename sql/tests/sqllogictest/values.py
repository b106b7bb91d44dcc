"""Values as text, as each suite prints them, and the comparison with the lines of a record."""

import dataclasses
import datetime
import decimal
import hashlib
import math
import re

HASHED = re.compile(r"(\d+) values hashing to ([0-9a-f]{32})")
RELATIVE = 1e-6


def sqlite_text(value, type):
    """Returns a value as SQLite's own runner prints it: I, R and T are %d, %.3f and the text."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        value = int(value)
    if type == "I":
        return str(integer(value))
    if type == "R":
        return f"{number(value):.3f}"
    if isinstance(value, float) and value.is_integer():
        value = f"{value:.1f}"
    text = str(value)
    return "".join(c if " " <= c <= "~" else "@" for c in text) if text else "(empty)"


def integer(value):
    """Returns an integer as SQLite reads it: fractions cut, the number at the front of a text or 0."""
    if isinstance(value, str):
        found = re.match(r"\s*[-+]?\d+", value)
        return int(found[0]) if found else 0
    return int(value) if not isinstance(value, float) or math.isfinite(value) else 0


def number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0


def duckdb_text(value, inner=False):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if value or inner else "(empty)"
    if isinstance(value, datetime.datetime):
        text = value.isoformat(" ")
        return text.rstrip("0") if "." in text and "+" not in text else text
    if isinstance(value, datetime.time):
        text = value.isoformat()
        return text.rstrip("0") if "." in text else text
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(entry, tuple) for entry in value):  # a map
            return "{" + ", ".join(f"{duckdb_text(k, True)}={duckdb_text(v, True)}" for k, v in value) + "}"
        return "[" + ", ".join(duckdb_text(entry, True) for entry in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"'{k}': {duckdb_text(v, True)}" for k, v in value.items()) + "}"
    return str(value)


def texts(record, answer, suite):
    """Returns the rows of an answer as texts, or None if SQLite's record has another number of columns."""
    width = len(answer.names)
    if suite == "sqlite":
        types = record.types
        if len(types) != width:
            return None
        return [[sqlite_text(value, types[at]) for at, value in enumerate(row)] for row in answer.rows]
    return [[duckdb_text(value) for value in row] for row in answer.rows]


def only_nulls_move(record, answer, suite):
    """True if the rows are right and some are null, so that the order of nulls may be all that differs."""
    cells = [cell for row in answer.rows for cell in row]
    if record.sort != "nosort" or not answer.names or None not in cells:
        return False
    return difference(dataclasses.replace(record, sort="rowsort"), answer, suite) is None


def difference(record, answer, suite):
    """Returns how an answer differs from the record, or None."""
    width, rows = len(answer.names), texts(record, answer, suite)
    if rows is None:
        return f"{width} columns, not {len(record.types)}"
    if record.sort == "rowsort":
        rows.sort()
    cells = [cell for row in rows for cell in row]
    if record.sort == "valuesort":
        cells.sort()
    hashed = HASHED.fullmatch(record.result[0].strip()) if len(record.result) == 1 else None
    if hashed:
        found = hashlib.md5("".join(cell + "\n" for cell in cells).encode()).hexdigest()
        same = len(cells) == int(hashed[1]) and found == hashed[2]
        return None if same else f"{len(cells)} values hashing to {found}"
    expected = record.result
    if width > 1 and len(expected) != len(cells) or suite == "duckdb" and any("\t" in line for line in expected):
        expected = [cell for line in expected for cell in line.split("\t")]
    if suite == "duckdb":
        if len(expected) != len(cells):
            expected = [cell for cell in expected if cell]  # columns set apart by several tabs
        expected = [cell.strip() or "(empty)" for cell in expected]
    if suite == "duckdb" and record.sort == "rowsort" and width and len(expected) % width == 0:
        lines = sorted(expected[at:at + width] for at in range(0, len(expected), width))
        expected = [cell for line in lines for cell in line]
    if len(cells) != len(expected):
        return f"{len(cells)} values, not {len(expected)}: {cells[:6]}, not {expected[:6]}"
    flat = [value for row in answer.rows for value in row] if record.sort == "nosort" else [None] * len(cells)
    for at, (cell, other) in enumerate(zip(cells, expected)):
        if cell != other and not (suite == "duckdb" and alike(cell, other, flat[at])):
            return f"value {at + 1} is {cell!r}, not {other!r}"
    return None


def alike(cell, expected, value):
    """True if two texts stand for one value of DuckDB's: a pattern, a boolean, or a number in other digits."""
    if expected.startswith(("<REGEX>:", "<!REGEX>:")):
        found = re.fullmatch(expected.partition(":")[2], cell, re.S) is not None
        return found == expected.startswith("<REGEX>:")
    if cell in ("true", "false") and expected.lower() in ("true", "false", "0", "1"):
        return (cell == "true") == (expected.lower() in ("true", "1"))
    if isinstance(value, datetime.datetime) and len(expected) == 10:
        return cell == expected + " 00:00:00"
    try:
        a, b = decimal.Decimal(cell), decimal.Decimal(expected)
    except decimal.InvalidOperation:
        return False
    return a == b or a.is_nan() and b.is_nan() or math.isclose(a, b, rel_tol=RELATIVE)
