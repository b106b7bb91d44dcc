//! Files of a job beside its input and its parts: side files and tables that every task gets, named outputs that
//! tasks write, directories by keys.

pub mod key_directories;
pub mod named_outputs;
pub mod side_files;
pub mod tables;
