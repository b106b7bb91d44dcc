//! The ground under the engine and every program: errors with stable codes, cancellation, the health of directories, and files that
//! appear whole or not at all.
//!
//! It knows nothing of records or jobs, so that a program which only reads counters is not rebuilt when a sort changes. The crate
//! `yunti-program`, in the folder `program/`, adds what a program of the command line needs: arguments, terminals, pages. It is a crate
//! of its own because the engine also lives inside a JVM, where no command line is parsed.

pub mod cancel;
pub mod directory_health;
pub mod error;
pub mod process;
pub mod whole_file;

pub use cancel::Cancel;
pub use error::{Code, Error, Result};
