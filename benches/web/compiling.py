"""Cost of compilation against stock Velocity's loading: the first templates of a new JVM, and 1,000 different ones."""

import jvm
import pages

COLD = ("start_ms", "load_first_ms", "render_first_ms", "load_second_ms", "render_second_ms")
MANY = ("load_s", "load_cpu_s", "render_s", "metaspace_loaded_mb", "metaspace_rendered_mb", "heap_loaded_mb")
# Rounds, each of a second, because single steps vary.
COLD_ROUNDS_PER_FORK = 3


def run(jdks, options):
    results = []
    for version, jdk in jdks.items():
        cold = {pages.STOCK: [], pages.OURS: []}
        many = {pages.STOCK: [], pages.OURS: []}
        for _ in range(options.forks * COLD_ROUNDS_PER_FORK):
            for engine, kept in cold.items():
                kept += jdk.lines(jvm.PACKAGE + ".compile.ColdCompile", engine)
        for _ in range(max(1, options.forks // 2)):
            for engine, kept in many.items():
                kept += jdk.lines(jvm.PACKAGE + ".compile.ManyTemplates", engine, options.templates, timeout=300)
        for engine in cold:
            results.append(summary("web-compile-cold", version, engine, cold[engine],
                                   COLD + tuple(n[:-3] + "_cpu_ms" for n in COLD)))
            results.append(summary("web-compile-many", version, engine, many[engine], MANY))
        print(f"JDK {version}: compilation is measured", flush=True)
    return results


def summary(row, version, engine, samples, names):
    return {"row": row, "jdk": version, "variant": engine, "opponent": pages.STOCK, "samples": samples} | {
        name: pages.spread([s[name] for s in samples]) for name in names}
