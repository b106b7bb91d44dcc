//! NameNodes of this machine, each started as another variant, under the same load.
//!
//! ```text
//!   variant.rs     settings by name        jars.rs  Hadoop's jars        home.rs  folder and command line
//!   namenode.rs    a NameNode as a process
//!   round.rs       one load on one NameNode, and ratios within a round
//!   cure.rs        pairs of variants: the proposals of 2012
//!   in_process.rs, InProcess.java           load without sockets
//! ```

pub mod cure;
pub mod home;
pub mod in_process;
pub mod jars;
pub mod namenode;
pub mod round;
pub mod variant;
