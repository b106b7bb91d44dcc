"""Polars, lazy with the streaming engine or in memory, run in the bench's venv.

    polars_peer.py TASK INPUT_DIR OUTPUT_FILE [--form N]
"""

NAME = "Polars"
PACKAGES = ["polars"]
TASKS = {"words": ["streaming", "in-memory"], "records": ["streaming", "in-memory"],
         "lines": ["streaming", "in-memory"], "maximum": ["streaming"]}


def main(task, input_dir, output, memory, form):
    import os

    os.environ["POLARS_MAX_THREADS"] = "2"
    import polars as pl

    files = input_dir + "/*"
    plain = dict(has_header=False, quote_char=None)
    if task == "maximum":
        rows = pl.scan_csv(files, separator="\t", schema={"k": pl.String, "v": pl.Int64},
                           **plain).group_by("k").agg(pl.col("v").max())
    else:
        lines = pl.scan_csv(files, separator="\x01", schema={"line": pl.String}, **plain)
        if task == "words":
            words = lines.select(pl.col("line").str.split(" ").explode().alias("w")).filter(pl.col("w") != "")
            rows = words.group_by("w").len()
        else:
            rows = lines.sort("line")
    to_text = dict(separator="\t" if task in ("words", "maximum") else "\x01", include_header=False,
                   quote_style="never")
    if TASKS[task][form] == "streaming":
        rows.sink_csv(output, engine="streaming", **to_text)
    else:
        rows.collect(engine="in-memory").write_csv(output, **to_text)


if __name__ == "__main__":
    from arguments import run_peer

    run_peer(main)
