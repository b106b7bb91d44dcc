//! Measurements of the whole machine.
//!
//! ```text
//!   blocks.rs    requests to a block device
//!   cache.rs     page-cache requests and misses
//!   cgroups.rs   costs of threads and requests by control group
//!   errors.rs    errors of a file system and its device
//!   meddlers.rs  processes that act on another process
//!   net.rs       response times over TCP, and the fate of connections
//!   starts.rs    started programs
//!   tcp_info.rs  TCP connections of a process with their counters
//!   unix_diag.rs Unix-domain sockets, their peers and queues
//! ```

mod blocks;
mod cache;
mod cgroups;
mod errors;
mod meddlers;
mod net;
mod starts;
pub mod tcp_info;
pub mod unix_diag;

pub use blocks::{Operation, Owner, Request, Requests};
pub use cache::{CacheEvents, Fate, FileId, Folio, Misses, Touches, User, page_bytes};
pub use cgroups::{GroupCounts, RequestCounts, ThreadCounts};
pub use errors::{DeviceErrors, Fault as DeviceFault};
pub use meddlers::{Act, Meddler, Meddlers};
pub use net::{AnswerTimes, NetCounts, Pair, PairCounts, Role};
pub use starts::Starts;
