//! NameNodes of this machine, each started in a way of its own, and what the same load makes of them.
//!
//! ```text
//!   variant.rs  how each is started     jars.rs  from where     home.rs  in which folder
//!   namenode.rs one of them, as a process
//!   round.rs    the same load on one after the other, and the ratios of each round
//!   cure.rs     pairs of variants: what was proposed once, and what it cures
//!   in_process.rs, InProcess.java       one that is asked without sockets
//! ```

pub mod cure;
pub mod home;
pub mod in_process;
pub mod jars;
pub mod namenode;
pub mod round;
pub mod variant;
