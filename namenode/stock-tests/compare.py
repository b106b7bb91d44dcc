"""Is a variant worse than its control? By method, over all times that its class was run."""

# From best to worst.
PASSED, FLAKY, SKIPPED, FAILED, MISSING = "passed", "flaky", "skipped", "failed", "missing"
# What comes before and after a class's methods; it is told only where it fails.
CLASS = "(class)"


def outcome(runs, method):
    """Of one method in so many runs of its class. Missing: the class came to its time limit, or crashed, before it had ended."""
    untold = PASSED if method == CLASS else MISSING
    results = [run["methods"].get(method, {}).get("result", untold) for run in runs]
    if results and all(result == PASSED for result in results):
        return PASSED
    for result in (PASSED, SKIPPED, FAILED):
        if result in results:
            return FLAKY if result == PASSED else result
    return MISSING


def methods(*series):
    """In the order in which they ended first. A method's name is that of a template too, whose first time says that there are several."""
    return list(dict.fromkeys(method for runs in series for run in runs for method in run["methods"]))


def is_good(result):
    return result in (PASSED, FLAKY, SKIPPED)


def is_worse(control, result):
    return is_good(control) and not is_good(result) or control in (PASSED, FLAKY) and result == SKIPPED


def rows(control_runs, runs):
    """(method, in the control, in the variant)"""
    return [(method, outcome(control_runs, method), outcome(runs, method)) for method in methods(control_runs, runs)]


def is_clean(runs):
    """All passed the first time: nothing can be worse, whatever the control is."""
    return len(runs) == 1 and runs[0]["end"] == "done" and bool(runs[0]["methods"]) and all(method["result"] == PASSED for method in runs[0]["methods"].values())


def needs_another(control_runs, runs):
    """Whether control, and variant, should be run once more: only where it may decide something."""
    all_rows = rows(control_runs, runs)
    if not all_rows:
        return True, True
    worse = any(is_worse(control, result) for _, control, result in all_rows)
    # What fails in both fails by itself. What fails in the variant alone is tried in both, so that as many tries stand beside each other.
    control_failed = any(not is_good(control) and is_good(result) for _, control, result in all_rows)
    return control_failed or worse, worse


def passed_of(runs, method):
    """(times that it passed, times that its class was run)"""
    return sum(run["methods"].get(method, {}).get("result") == PASSED for run in runs), len(runs)
