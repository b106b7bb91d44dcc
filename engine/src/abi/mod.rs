//! Beside the floors: class libraries, loaded from shared objects through the C ABI (api/include/yunti.h).
//!
//! Implements the interfaces of `operator` over foreign tables. Nothing but the command line and hosts imports it: a job is given
//! classes and does not know where they come from.

mod adapters;
mod context;
mod layout;
mod library;

use std::path::PathBuf;
use std::sync::Arc;

pub use library::{fuzz, load};

use crate::operator::ClassSource;
use yunti_base::Result;

/// The classes of a job: those of its libraries come first, so that a class of the user's may have any name, then `others`.
pub fn load_before(libraries: &[PathBuf], others: Arc<dyn ClassSource>) -> Result<Vec<Arc<dyn ClassSource>>> {
    libraries.iter().map(|path| load(path)).chain([Ok(others)]).collect()
}
