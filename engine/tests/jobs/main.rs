//! Whole jobs on small inputs, held against plain references: modes, formats, memory, threads, faults.

mod budgets;
mod folds;
mod support;
mod sorts;
