//! Whole jobs on small inputs, compared with simple references: modes, formats, memory, threads, faults.

mod budgets;
mod chains;
mod classes;
mod columns;
mod compressed;
mod folds;
mod orders;
mod properties;
mod sorts;
mod sources;
mod splits;
mod support;
