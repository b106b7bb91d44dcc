//! What the kernel sees of the machine, whichever process it is for.
//!
//! ```text
//!   blocks.rs    what is read from a device and written to it
//!   cache.rs     what is asked of the page cache, and what was not in it
//!   cgroups.rs   what threads and requests cost their control groups
//!   errors.rs    errors of a file system and of its device
//!   net.rs       how long answers take over TCP, and what becomes of connections
//!   starts.rs    programs that are started
//!   sock_diag.rs TCP sockets as the kernel lists them
//! ```

mod blocks;
mod cache;
mod cgroups;
mod errors;
mod net;
pub mod sock_diag;
mod starts;

pub use blocks::{Operation, Owner, Request, Requests};
pub use cache::{CacheEvents, Fate, FileId, Folio, Misses, Touches, User, page_bytes};
pub use cgroups::{GroupCounts, RequestCounts, ThreadCounts};
pub use errors::{DeviceErrors, Fault as DeviceFault};
pub use net::{AnswerTimes, NetCounts, Pair, PairCounts, Role};
pub use starts::Starts;
