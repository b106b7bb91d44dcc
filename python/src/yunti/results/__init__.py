"""Results of jobs: the report, and the records as a table."""
