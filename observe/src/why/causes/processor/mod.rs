//! Causes in processor time.
//!
//! ```text
//!   hot.rs         one function, or system calls
//!   repeated.rs    work that is needed once, done again and again
//!   one_thread.rs  one thread that works all the time
//!   saturated.rs   finds that thread
//! ```

pub mod hot;
pub mod one_thread;
pub mod repeated;
pub mod saturated;
