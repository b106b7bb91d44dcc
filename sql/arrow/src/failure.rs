//! Errors of Arrow's readers as those of Yunti.

use arrow_schema::ArrowError;
use yunti_base::{Code, Error};

/// Returns the error of a reader in one line, with the path.
pub fn failed(error: &ArrowError, path: &str) -> Error {
    let text = error.to_string();
    let plain = ["Csv error: ", "Json error: ", "Parser error: "].iter().find_map(|prefix| text.strip_prefix(prefix));
    let line: Vec<&str> = plain.unwrap_or(&text).lines().map(str::trim).collect();
    Error::new(Code::Corrupt, line.join(" ")).at_path(path)
}
