//! Cancellation: a flag that a caller sets and that work checks between batches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Code, Error, Result};

/// Cancellation request of a user or of a host program. Clones share one flag.
#[derive(Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Requests cancellation. The request cannot be withdrawn.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true once cancellation is requested.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the shared flag, for code that outlives a borrow.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    /// Returns an error of code [`Code::Cancelled`] once cancellation is requested.
    pub fn check(&self) -> Result<()> {
        if self.is_set() { Err(Error::new(Code::Cancelled, "the job was cancelled")) } else { Ok(()) }
    }
}
