//! Load on a NameNode.

pub mod client;
pub mod driver;
pub mod figures;
pub mod history;
pub mod latency;
pub mod mix;
pub mod names;
pub mod operation;
pub mod schedule;
pub mod worker;
