"""Comparison of answers of two engines to one query.

Rows are a multiset. Floats are equal within 1e-9 of their value, everything else exactly. A decimal against a float
may also differ by one unit of its last digit: engines choose the digits of an average and of a quotient.
Where a query orders its rows, the sequence of its keys must be the same, and rows of equal keys may change places.
"""

import datetime
import decimal
import math

RELATIVE = 1e-9
ABSOLUTE = 1e-12
SHOWN = 3


def difference(ours, theirs, keys=None, limited=False, relative=RELATIVE, quotients=False):
    """Returns what differs in a few lines, or None.

    `keys`: numbers of the columns that order the rows. `limited`: the query has a limit, so that the rows of the last
    keys are any of several. `quotients`: decimals of other scales may differ by a unit of the shorter one's last digit.
    """
    if len(ours.names) != len(theirs.names):
        return f"{len(ours.names)} columns, not {len(theirs.names)}"
    if len(ours.rows) != len(theirs.rows):
        return f"{len(ours.rows)} rows, not {len(theirs.rows)}" + shown(ours.rows, theirs.rows)
    loose = [tolerance(ours, theirs, at, relative, quotients) for at in range(len(ours.names))]
    left, right = plain(ours.rows), plain(theirs.rows)
    if keys is not None:
        for number, (a, b) in enumerate(zip(left, right)):
            if not all(same(a[at], b[at], loose[at]) for at in keys):
                return f"row {number + 1} in order is {a}, not {b}"
        if limited and left:
            last = left[-1]
            left, right = ([row for row in rows if not all(same(row[at], last[at], loose[at]) for at in keys)]
                           for rows in (left, right))
    return multiset_difference(left, right, loose)


class Tolerance:
    def __init__(self, relative, absolute):
        self.relative, self.absolute = relative, absolute


def tolerance(ours, theirs, at, relative, quotients):
    """Returns the tolerance of a column, or None if its values must be the same."""
    scales = [side.places[at] if side.places else None for side in (ours, theirs)]
    if quotients and None not in scales and scales[0] != scales[1]:
        return Tolerance(relative, 10.0 ** -min(scales))
    if not (ours.approximate[at] or theirs.approximate[at]):
        return None
    absolute = ABSOLUTE
    for side, other in ((ours, theirs), (theirs, ours)):
        if side.places and side.places[at] is not None and other.approximate[at]:
            absolute = max(absolute, 10.0 ** -side.places[at])
    return Tolerance(relative, absolute)


def multiset_difference(left, right, loose):
    """Groups both sides by their exact columns, then pairs the rows of a group by nearest values."""
    exact = [at for at, column in enumerate(loose) if column is None]
    near = [at for at, column in enumerate(loose) if column is not None]
    groups = {}
    for side, rows in enumerate((left, right)):
        for row in rows:
            groups.setdefault(tuple(row[at] for at in exact), ([], []))[side].append(row)
    only_left, only_right = [], []
    for a, b in groups.values():
        if near:
            a, b = unpaired(a, b, near, loose)
        elif len(a) == len(b):
            a = b = []
        else:
            shorter = min(len(a), len(b))
            a, b = a[shorter:], b[shorter:]
        only_left += a
        only_right += b
    if only_left or only_right:
        return f"{max(len(only_left), len(only_right))} rows differ" + shown(only_left, only_right)
    return None


def unpaired(a, b, near, loose):
    """Returns the rows of each side without a partner on the other."""
    def order(row):
        return [(row[at] is None, math.inf if is_nan(row[at]) or row[at] is None else row[at]) for at in near]

    def agree(x, y):
        return all(same(x[at], y[at], loose[at]) for at in near)

    try:
        a, b = sorted(a, key=order), sorted(b, key=order)
    except TypeError:  # values of several types, as SQLite has them
        pass
    if len(a) == len(b) and all(map(agree, a, b)):
        return [], []
    # Values that differ in their last bits may sort differently on each side.
    rest, left = list(b), []
    for row in a:
        partner = next((at for at, other in enumerate(rest) if agree(row, other)), None)
        if partner is None:
            left.append(row)
        else:
            rest.pop(partner)
    return left, rest


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def same(a, b, loose=None):
    if a is None or b is None:
        return a is b
    if loose is None or isinstance(a, str) or isinstance(b, str):
        return a == b
    if not isinstance(a, (int, float, decimal.Decimal)) or not isinstance(b, (int, float, decimal.Decimal)):
        return a == b
    a, b = float(a), float(b)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return math.isclose(a, b, rel_tol=loose.relative, abs_tol=loose.absolute)


def plain(rows):
    return [tuple(map(plain_value, row)) for row in rows]


def plain_value(value):
    """Returns a value that is equal to its like of another engine: times without a zone, days as midnights."""
    if isinstance(value, bool):
        return value
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).replace(tzinfo=None) if value.tzinfo else value
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    if isinstance(value, (list, tuple)):
        return tuple(map(plain_value, value))
    if isinstance(value, dict):
        return tuple((key, plain_value(inner)) for key, inner in value.items())
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    return value


def shown(left, right):
    lines = [f"\n  ours:   {row}" for row in left[:SHOWN]] + [f"\n  theirs: {row}" for row in right[:SHOWN]]
    return "".join(lines)
