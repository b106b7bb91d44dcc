//! Rows of a table that is printed while the measurement runs.

use yunti_base::{Code, Error, Result};
use yunti_program::terminal::stdout;

/// Prints rows.
pub fn print(text: &str) -> Result<()> {
    stdout::print(text).map_err(|_| Error::new(Code::Output, "standard output is closed".to_owned()))
}
