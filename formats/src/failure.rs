//! Failures of decoders as errors of a source.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_schema::ArrowError;
use yunti_api::{Error, Result};

/// Characters of a decoder's message, at most.
const CHARACTERS_MAX: usize = 200;

/// Runs a decoder. A panic is an error of the file: decoders check their input, but not every number in it.
pub fn guarded<T>(of_text: impl FnOnce(&str) -> Error, call: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result,
        Err(panic) => Err(of_text(match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => text,
            (_, Some(text)) => text,
            _ => "a decoder failed",
        })),
    }
}

/// Returns the first line of a message, cut.
pub fn line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(CHARACTERS_MAX).collect()
}

/// Returns the error for a value that has no text, or is damaged.
pub fn of_value(error: &ArrowError) -> Error {
    let text = line(&error.to_string());
    match text.contains("Failed to convert") {
        true => Error::unsupported(format!("a value of the file has no text: {text}")),
        false => Error::damaged(format!("the file is damaged ({text})")),
    }
}
