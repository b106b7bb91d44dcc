//! Stock NameNodes of this machine, each started in a way of its own, and what the same load makes of them.
//!
//! ```text
//!   variant.rs  how each is started     jars.rs  from where
//!   namenode.rs one of them, as a process
//!   round.rs    the same load on one after the other, and the ratios of each round
//! ```

pub mod jars;
pub mod namenode;
pub mod round;
pub mod variant;
