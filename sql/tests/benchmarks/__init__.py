"""Benchmarks of others: TPC-H, TPC-DS, ClickBench, as tests of answers."""
