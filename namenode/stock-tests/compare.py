"""Comparison of a variant with its control: by method, over all runs of its class."""

# From best to worst.
PASSED, FLAKY, SKIPPED, FAILED, MISSING = "passed", "flaky", "skipped", "failed", "missing"
# Setup and teardown of a class; recorded only if they fail.
CLASS = "(class)"


def outcome(runs, method):
    """Returns the outcome of a method over all runs of its class. Missing: the class exceeded its time limit or crashed
    before the method ended."""
    default = PASSED if method == CLASS else MISSING
    results = [run["methods"].get(method, {}).get("result", default) for run in runs]
    if results and all(result == PASSED for result in results):
        return PASSED
    for result in (PASSED, SKIPPED, FAILED):
        if result in results:
            return FLAKY if result == PASSED else result
    return MISSING


def methods(*series):
    """Returns all methods in the order of their first end. The name of a parameterised method is also in the list."""
    return list(dict.fromkeys(method for runs in series for run in runs for method in run["methods"]))


def is_good(result):
    return result in (PASSED, FLAKY, SKIPPED)


def is_worse(control, result):
    return is_good(control) and not is_good(result) or control in (PASSED, FLAKY) and result == SKIPPED


def rows(control_runs, runs):
    """Returns (method, outcome in the control, outcome in the variant) for all methods."""
    return [(method, outcome(control_runs, method), outcome(runs, method)) for method in methods(control_runs, runs)]


def is_clean(runs):
    """Returns True if all methods passed in the only run: no control can make this worse."""
    return (
        len(runs) == 1
        and runs[0]["end"] == "done"
        and bool(runs[0]["methods"])
        and all(method["result"] == PASSED for method in runs[0]["methods"].values())
    )


def needs_another(control_runs, runs):
    """Returns (control, variant): True for each that needs another run to decide."""
    all_rows = rows(control_runs, runs)
    if not all_rows:
        return True, True
    worse = any(is_worse(control, result) for _, control, result in all_rows)
    # A failure in both is decided. A failure only in the variant is repeated in both, for equal numbers of runs.
    control_failed = any(not is_good(control) and is_good(result) for _, control, result in all_rows)
    return control_failed or worse, worse


def passed_of(runs, method):
    """Returns (runs in which the method passed, runs of its class)."""
    return sum(run["methods"].get(method, {}).get("result") == PASSED for run in runs), len(runs)
