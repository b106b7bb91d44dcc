"""Known refusals and known differences of dialects, each with its reason. Anything else fails the test."""

import re

# Pattern of the error's line, reason.
REFUSALS = [
    (r"Physical plan does not support logical expression (InSubquery|Exists|ScalarSubquery)",
     "a subquery outside of the conditions of WHERE and ON"),
    (r"a value is too large for UInt16", "defect: `case` of a UInt16 and a negative constant takes the type UInt16"),
    (r"null_aware anti join only supports single column", "a correlated `not in` with nulls"),
]

# Pattern of the query, peer, reason.
DIFFERENCES = [
    (r"length\(.* full join .* cross join", "duckdb", "defect: the length of a text comes as text in this result"),
]


def refusal(error):
    """Returns the reason why a query is refused, or None if it is not known."""
    return next((reason for pattern, reason in REFUSALS if re.search(pattern, error)), None)


def difference(query, peer):
    """Returns the reason why the answers to a query differ, or None if it is not known."""
    return next((reason for pattern, name, reason in DIFFERENCES if name == peer and re.search(pattern, query)), None)


def unstable(query):
    """Returns the reason why rows without `order by` come in another order with other threads, or None."""
    sets = re.search(r"grouping sets|rollup|cube", query)
    return "defect: groups of several grouping sets are not in one order for all threads" if sets else None
