"""Queries: text in, rows of Arrow out, run by the program `yunti sql`. Needs pyarrow."""
