//! Text for people: numbers with units, and tables. This module is independent of the output stream.

pub mod numbers;
pub mod table;
