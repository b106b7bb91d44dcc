//! Beside the floors: class libraries, loaded from shared objects through the C ABI (api/include/yunti.h).
//!
//! This module implements the interfaces of `operator` over foreign tables. Only the command line and hosts import it:
//! a job gets classes without knowing their origin.

mod adapters;
mod context;
mod functions;
mod layout;
mod library;
mod source;

use std::path::PathBuf;
use std::sync::Arc;

pub use library::{fuzz, load};

use crate::operator::ClassSource;
use yunti_base::Result;

/// Returns the class sources of a job: the libraries come first, so that a user's class may have any name, then
/// `others`.
///
/// Fails with `Code::UserCode` if a library cannot be loaded.
pub fn load_before(libraries: &[PathBuf], others: Arc<dyn ClassSource>) -> Result<Vec<Arc<dyn ClassSource>>> {
    libraries.iter().map(|path| load(path)).chain([Ok(others)]).collect()
}
