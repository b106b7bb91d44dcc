//! Proof of a what-if: the change tried on copies of the service, and measured beside the prediction.
//!
//! ```text
//!   original (/proc) -> plan: two recipes -> running copy -> trial -> proof
//!                                              |                 peak of each copy, and their ratio
//!                                              `- keeper: a process that ends the copy, also if this one is killed
//! ```
//! The copies run one after the other, with the same load from the same client. The original is only read.

pub mod keeper;
pub mod original;
pub mod plan;
pub mod ports;
pub mod proof;
pub mod running;
pub mod text;
pub mod trial;
