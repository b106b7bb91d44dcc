//! Files of a job beside its input and its parts: side files that every task gets, named outputs that tasks write.

pub mod named_outputs;
pub mod side_files;
