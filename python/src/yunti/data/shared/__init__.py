"""Shared tables: one file with an index and rows, which every process maps."""
