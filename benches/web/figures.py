"""Tables, goals, and files of the results."""

import statistics

import pages
from harness import report
from harness.rows import must_faster, must_slower

CPU_LESS_THAN_STOCK = {"stocks": 7, "search": 6}
JSTACHIO_AT_MOST = 1.2
ALLOCATED_MORE_THAN_MODEL = 1024  # bytes
COLD_MS = 30
MANY_SECONDS, MANY_METASPACE_MB, MANY_TEMPLATES = 5, 60, 1000


def _aligned(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines)


def _three(spread, places=1):
    return "/".join(f"{spread[k]:.{places}f}" for k in ("min", "median", "max"))


def pages_table(results):
    lines = [("page", "JDK", "engine", "CPU us min/med/max of forks", "less CPU than stock", "allocated bytes",
              "process us", "page bytes")]
    for r in results:
        if "cpu" in r:
            lines.append((r["row"].removeprefix("web-"), r["jdk"], r["variant"], _three(r["cpu"], 2),
                          f"{r['less_cpu']:.2f}x" if "less_cpu" in r else "-",
                          f"{r['allocated']['median']:.0f}", _three(r["process"]), str(r["bytes"])))
    return _aligned(lines) if len(lines) > 1 else ""


def compile_table(results):
    cold = [("cold, ms wall median", "JDK", "engine start", "load 1st", "(CPU)", "render 1st", "load 2nd", "(CPU)",
             "render 2nd")]
    many = [("many templates", "JDK", "number", "load s min/med/max", "(CPU)", "render s", "metaspace MB loaded",
             "rendered", "heap MB")]
    for r in results:
        middle = lambda name: f"{r[name]['median']:.1f}"
        if r["row"] == "web-compile-cold":
            cold.append((r["variant"], r["jdk"], *map(middle, ("start_ms", "load_first_ms", "load_first_cpu_ms",
                                                               "render_first_ms", "load_second_ms",
                                                               "load_second_cpu_ms", "render_second_ms"))))
        if r["row"] == "web-compile-many":
            many.append((r["variant"], r["jdk"], str(r["samples"][0]["templates"]), _three(r["load_s"], 2),
                         *map(middle, ("load_cpu_s", "render_s", "metaspace_loaded_mb", "metaspace_rendered_mb",
                                       "heap_loaded_mb"))))
    return "\n\n".join(_aligned(t) for t in (cold, many) if len(t) > 1)


def server_table(results):
    lines = [("server, search page", "JDK", "requests/s min/med/max", "CPU us a request", "more requests", "less CPU")]
    for r in results:
        if r["row"] == "web-server":
            lines.append((r["variant"], r["jdk"], _three(r["requests_per_s"], 0), _three(r["cpu_us"]),
                          f"{r['more_requests']:.2f}x", f"{r['less_cpu']:.2f}x"))
    return _aligned(lines) if len(lines) > 1 else ""


def _judged(jdk, what, figure, goal, must, unit, at_least=False):
    good = (lambda bound: figure >= bound) if at_least else (lambda bound: figure <= bound)
    return {"jdk": jdk, "what": what, "figure": figure, "goal": goal, "must": must, "unit": unit, "at_least": at_least,
            "verdict": "goal" if good(goal) else "must" if good(must) else "BELOW"}


def goals(results):
    """Returns the judged goals of each JDK.

    The must is three quarters of a goal's speed. For milliseconds, bytes and "ahead" it is the goal itself.
    """
    found = {(r["jdk"], r["row"].removeprefix("web-"), r.get("variant")): r for r in results if "samples" in r}
    judged = []
    for jdk in sorted({key[0] for key in found}):
        get = lambda row, variant: found.get((jdk, row, variant))
        for page, goal in CPU_LESS_THAN_STOCK.items():
            ours = get(page, pages.OURS)
            if not ours:
                continue
            ratio = lambda other: statistics.median(b["cpu"] / a["cpu"] for a,
                                                    b in zip(ours["samples"], other["samples"]))
            judged.append(_judged(jdk, f"{page}: less CPU than stock", ratio(get(page, pages.STOCK)), goal,
                                  must_faster(goal), "x", True))
            if get(page, "jte"):
                judged.append(_judged(jdk, f"{page}: less CPU than jte", ratio(get(page, "jte")), 1, must_faster(1),
                                      "x", True))
            if get(page, "jstachio"):
                judged.append(_judged(jdk, f"{page}: CPU of JStachio", 1 / ratio(get(page, "jstachio")),
                                      JSTACHIO_AT_MOST,
                                      must_slower(JSTACHIO_AT_MOST), "x"))
            own = [get(page, engine) for engine in (pages.HAND, pages.VARIABLES)]
            if all(own):
                more = ours["allocated"]["median"] - sum(o["allocated"]["median"] for o in own)
                judged.append(_judged(jdk, f"{page}: allocated beyond the model's own", more, ALLOCATED_MORE_THAN_MODEL,
                                      ALLOCATED_MORE_THAN_MODEL, " B"))
        cold, stock = get("compile-cold", pages.OURS), get("compile-cold", pages.STOCK)
        if cold and stock:
            for which in ("first", "second"):
                # Use processor time, because the compilers of a young JVM compete for the processors.
                more = cold[f"load_{which}_cpu_ms"]["median"] - stock[f"load_{which}_cpu_ms"]["median"]
                judged.append(_judged(jdk, f"compile the {which} template, CPU beyond stock's loading", more, COLD_MS,
                                      COLD_MS, " ms"))
        many = get("compile-many", pages.OURS)
        if many and many["samples"][0]["templates"] == MANY_TEMPLATES:
            parsing = get("compile-many", pages.STOCK)
            more = many["load_s"]["median"] - (parsing["load_s"]["median"] if parsing else 0)
            judged.append(_judged(jdk, "compile a thousand templates, beyond stock's loading", more, MANY_SECONDS,
                                  MANY_SECONDS, " s"))
            judged.append(_judged(jdk, "metaspace of a thousand, rendered once",
                                  many["metaspace_rendered_mb"]["median"], MANY_METASPACE_MB,
                                  MANY_METASPACE_MB, " MB"))
    return judged


def goals_table(judged):
    lines = [("goal", "JDK", "figure", "goal", "must", "verdict")]
    for j in judged:
        show = lambda value: f"{value:.2f}{j['unit']}" if j["unit"] != " B" else f"{value:.0f}{j['unit']}"
        bound = ">= " if j["at_least"] else "<= "
        lines.append((j["what"], j["jdk"], show(j["figure"]), bound + show(j["goal"]), bound + show(j["must"]),
                      j["verdict"]))
    return _aligned(lines) if len(lines) > 1 else ""


def save(machine, kept, text):
    """Saves the results like the other benches, with the tables for people beside them."""
    versions = ", ".join(kept["jdks"].values())
    state = "The machine was busy with other work: these figures are not valid results.\n" if kept["busy"] else ""
    head = f"{kept['begin']} to {kept['end']}, {machine}; {versions}\n{state}"
    return report.save_with_text(machine, "web", kept, f"{head}\n{text}\n")
