//! Plans, functions and types that this executor lacks, as errors.

use yunti_base::{Code, Error};

/// Returns the error for something that this executor lacks.
pub fn not_native(what: &str) -> Error {
    Error::new(Code::Usage, format!("Yunti's own executor has no {what}"))
}
