"""DuckDB, run in the bench's venv.

    duckdb_peer.py TASK INPUT_DIR OUTPUT_FILE [--memory BYTES] [--form N]
"""

NAME = "DuckDB"
PACKAGES = ["duckdb"]
LINES = ("read_csv('{input}', columns = {{'line': 'VARCHAR'}}, header = false, auto_detect = false, delim = '\x01', "
         "quote = '', escape = '', max_line_size = 33554432)")
AS_TEXT = "(FORMAT csv, HEADER false, DELIMITER '{delimiter}', QUOTE '', ESCAPE '')"
WORDS = "SELECT w, count(*) FROM (SELECT unnest({split}) AS w FROM " + LINES + ") WHERE w <> '' GROUP BY w"
SORTED = "SELECT line FROM " + LINES + " ORDER BY line"
TASKS = {
    "words": [WORDS.replace("{split}", "string_split(line, ' ')"),
              WORDS.replace("{split}", "regexp_split_to_array(line, '[ \\t\\n\\f\\r]+')")],
    "records": [SORTED],
    "lines": [SORTED],
    "maximum": ["SELECT k, max(v) FROM read_csv('{input}', columns = {{'k': 'VARCHAR', 'v': 'BIGINT'}}, header = "
                "false, auto_detect = false, delim = '\t', quote = '', escape = '') GROUP BY k"],
}


def main(task, input_dir, output, memory, form):
    import duckdb

    db = duckdb.connect()
    db.execute("SET threads = 2; SET preserve_insertion_order = false")
    if memory:
        db.execute(f"SET memory_limit = '{memory}B'; SET temp_directory = '{output}.spill'")
    delimiter = "\t" if task in ("words", "maximum") else "\x01"
    query = TASKS[task][form].format(input=input_dir + "/*")
    db.execute(f"COPY ({query}) TO '{output}' {AS_TEXT.format(delimiter=delimiter)}")


if __name__ == "__main__":
    from arguments import run_peer

    run_peer(main)
