//! Arrow IPC files (Feather v2) and streams: record batches as units, columns by name or path.

mod body;
mod describe;
mod dictionaries;
mod fields;
mod messages;
mod plain;
pub mod source;
pub mod writer;
