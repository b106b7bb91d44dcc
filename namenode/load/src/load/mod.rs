//! Load on a NameNode: the driver of all connections, its operations and its figures.

pub mod client;
pub mod driver;
pub mod figures;
pub mod history;
pub mod mix;
pub mod names;
pub mod recent;
pub mod schedule;
pub mod worker;
