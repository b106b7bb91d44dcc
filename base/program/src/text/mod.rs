//! Text for people: numbers with their units, tables. Nothing here knows where it is printed.

pub mod numbers;
pub mod table;
