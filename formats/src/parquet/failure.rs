//! Errors of the crate `parquet` as errors of a source: damaged files, and files of a kind that it cannot read.

use parquet::errors::ParquetError;
use yunti_api::{Error, Result};

use super::input::ReadFailed;

/// Returns the error of a file.
pub fn of_parquet(error: ParquetError) -> Error {
    match error {
        ParquetError::NYI(what) => Error::unsupported(format!("this Parquet file cannot be read: {}", line(&what))),
        // The engine reports its own reason.
        ParquetError::External(cause) if cause.is::<ReadFailed>() => Error::new(line(&cause.to_string())),
        other => of_text(&other.to_string()),
    }
}

/// Returns the error of a file for a message of a decoder.
pub fn of_text(text: &str) -> Error {
    let text = line(text);
    let encrypted = ["encrypt", "Encrypt", "decrypt"].iter().any(|word| text.contains(word));
    match encrypted {
        // Encrypted columns have no metadata of their own.
        _ if text.contains("Required field type_ is missing") => {
            Error::unsupported("the Parquet file has encrypted columns, or is damaged: decrypt it, or copy it again")
        }
        _ if text.contains("Failed to convert") => {
            Error::unsupported(format!("a value of the Parquet file has no text: {text}"))
        }
        true => Error::unsupported("the Parquet file is encrypted: decrypt it first"),
        false => Error::damaged(format!("the Parquet file is damaged ({text})")),
    }
}

/// Runs a decoder of the crate; its panic is an error of the file.
pub fn guarded<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    crate::failure::guarded(of_text, call)
}

/// Returns the first line of a message, without the crate's prefix.
fn line(text: &str) -> String {
    crate::failure::line(text.trim_start_matches("Parquet error: "))
}
