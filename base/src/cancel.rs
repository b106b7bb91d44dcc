//! Cancellation: a flag that a caller sets and that work checks between batches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Code, Error, Result};

/// The request of a user or of a host program that work ends. Clones share one flag.
#[derive(Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Requests the end. It cannot be taken back.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true once the end was requested.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for code that outlives a borrow.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    /// Returns an error of code `Cancelled` once the end was requested.
    pub fn check(&self) -> Result<()> {
        if self.is_set() { Err(Error::new(Code::Cancelled, "the job was cancelled")) } else { Ok(()) }
    }
}
