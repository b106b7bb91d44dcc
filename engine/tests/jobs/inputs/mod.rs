//! Inputs of jobs: compressed files, several sources, splits.

mod compressed;
mod sources;
mod splits;
mod units;
