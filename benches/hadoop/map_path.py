"""Native map path without the start of a JVM: identity and sort, in MB per second of processor time.

The program is java/.../MapPath.java.
"""

import os
import statistics
import tempfile

import inputs
import jobs
from harness.measure import Failed

NAME = "map-path"
GOAL = 300.0
ROUNDS = 5
# (sort.mb, title): Hadoop's default, which spills and merges a split of 128 MB, and a size that holds a split.
SORT_MB = ((100, "io.sort.mb 100, spilled"), (256, "io.sort.mb 256"))
NO_CODEC = 0
SOURCE = os.path.join(jobs.HERE, "java/org/yunti/hadoop/task/MapPath.java")


def run(cluster, scale):
    """Returns a result for each size of memory."""
    jar = jobs.plug_in_jar(cluster)
    classes = jobs.compiled(cluster, SOURCE, "map-path", [jar])
    source = inputs.local("tera", scale)[0]
    found = []
    for megabytes, what in SORT_MB:
        with tempfile.TemporaryDirectory(dir=jobs.BUILT) as folder:
            class_path = os.pathsep.join([classes, jar, cluster.call("hadoop", "classpath").strip()])
            command = ["java", "-cp", class_path, "org.yunti.hadoop.task.MapPath", source, folder, str(megabytes),
                       str(NO_CODEC), str(ROUNDS)]
            speeds = [float(n) for n in cluster.call(*command).splitlines()[-1].split()]
        if len(speeds) != ROUNDS:
            raise Failed(f"{NAME}: {len(speeds)} of {ROUNDS} rounds")
        figure = statistics.median(speeds)
        verdict = ("goal" if figure >= GOAL else "BELOW") if scale == 1 else ""
        print(f"{NAME}, {what}: {figure:.0f} MB/s of processor time ({' '.join(f'{s:.0f}' for s in speeds)}); goal "
              f"{GOAL:.0f}  {verdict}", flush=True)
        found.append({"row": "hadoop-" + NAME, "variant": what, "mb_per_cpu_second": speeds,
                      "median_mb_per_cpu_second": figure, "goal": GOAL,
                      "verdict": verdict})
    return found
