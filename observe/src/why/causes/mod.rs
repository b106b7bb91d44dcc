//! Causes, one rule for each. A rule estimates the share of the time that its cause costs.
//!
//! ```text
//!   finding.rs  a cause with its cost, evidence and cure, and measures that rules share
//!   rules.rs    all rules in order, and those of memory, quotas and peers
//!   processor/  one function, system calls, one thread
//!   waits/      what threads hold and others wait for
//!   network/    connections and the way to peers
//!   runtimes/   collectors and compilers of the JVM, Go, Python and V8
//!   outside/    harm from outside: tracers, memory taken away, neighbours
//!   storage.rs  files and devices
//!   growth.rs   numbers that grow all the time
//! ```

pub mod finding;
pub mod growth;
mod network;
pub mod outside;
pub mod processor;
mod rules;
pub mod runtimes;
pub mod storage;
pub mod waits;

pub use rules::findings;
