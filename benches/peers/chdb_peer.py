"""chdb (ClickHouse in a process), run in the bench's venv.

    chdb_peer.py TASK INPUT_DIR OUTPUT_FILE [--memory BYTES] [--form N]
"""

NAME = "chdb"
PACKAGES = ["chdb"]
LINES = "file('{input}', 'LineAsString', 'line String')"
TASKS = {  # the forms of each query; the harness times the fastest one
    "words": [
        f"SELECT arrayJoin(splitByWhitespace(line)) AS w, count() FROM {LINES} GROUP BY w INTO OUTFILE '{{output}}' "
        f"FORMAT TSV",
        f"SELECT arrayJoin(splitByChar(' ', line)) AS w, count() FROM {LINES} GROUP BY w INTO OUTFILE '{{output}}' "
        f"FORMAT TSV",
        f"SELECT arrayJoin(tokens(line)) AS w, count() FROM {LINES} GROUP BY w INTO OUTFILE '{{output}}' FORMAT TSV",
    ],
    "records": [
        "SELECT k, v FROM file('{input}', 'RowBinary', 'k FixedString(10), v FixedString(90)') ORDER BY k INTO "
        "OUTFILE '{output}' FORMAT RowBinary",
        "SELECT r FROM file('{input}', 'RowBinary', 'r FixedString(100)') ORDER BY r INTO OUTFILE '{output}' FORMAT "
        "RowBinary",
    ],
    "maximum": [
        "SELECT k, max(v) FROM file('{input}', 'TSVRaw', 'k String, v Int64') GROUP BY k INTO OUTFILE '{output}' "
        "FORMAT TSV",
    ],
}


def main(task, input_dir, output, memory, form):
    import chdb

    settings = " SETTINGS max_threads = 2" + (f", max_memory_usage = {memory}" if memory else "")
    sql = TASKS[task][form].format(input=input_dir + "/*", output=output)
    chdb.query(sql + settings, "CSV")


if __name__ == "__main__":
    from arguments import run_peer

    run_peer(main)
