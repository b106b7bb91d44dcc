//! Whole jobs on small inputs, compared with simple references: modes, formats, memory, threads, faults.

mod budgets;
mod chains;
mod classes;
mod columns;
mod directories;
mod folds;
mod inputs;
mod joins;
mod orders;
mod properties;
mod sorts;
mod support;
