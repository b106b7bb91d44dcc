//! Access log as a script: its requests in the order of their times.
//!
//! ```text
//!   line.rs   one line -> method, path, time (time.rs)
//!   file.rs   all lines -> script.rs, with what was left out
//! ```

pub mod file;
pub mod line;
mod time;
