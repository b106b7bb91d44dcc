"""Spark in local mode with Datasets, which are faster here than RDDs, run in the bench's venv.

    spark_peer.py TASK INPUT_DIR OUTPUT_DIR
"""

NAME = "Spark"
PACKAGES = ["pyspark"]
TASKS = {"words": ["dataset"], "records": ["dataset"], "lines": ["dataset"]}


def main(task, input_dir, output, memory, form):
    from pyspark.sql import SparkSession, functions as f

    spark = (
        SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g").config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4").config("spark.local.dir", output + ".spill").getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    lines = spark.read.text(input_dir)
    if task == "words":
        words = lines.select(f.explode(f.split("value", " ")).alias("w")).where("w <> ''")
        words.groupBy("w").count().write.csv(output, sep="\t", quote="\u0000", emptyValue="")
    else:
        lines.orderBy("value").write.text(output)
    import os, shutil, signal

    shutil.rmtree(output + ".spill", ignore_errors=True)
    # Kill the JVM that this peer started, so that the figure excludes its shutdown.
    os.kill(spark.sparkContext._gateway.proc.pid, signal.SIGKILL)


if __name__ == "__main__":
    from arguments import run_peer

    run_peer(main)
