//! Files of columns: the library that reads and writes them, and `yunti convert`.

pub mod convert;
mod infer;
pub mod library;
pub mod resolve;
mod table;
