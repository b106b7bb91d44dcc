//! Files of tokens.

use std::path::Path;

use yunti_base::{Code, Error, Result};

/// Most bytes of a token.
pub const MOST: usize = 4096;

/// Reads a token: the file without the space around it.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let at_path = |e: Error| e.at_path(path.to_string_lossy());
    let read = std::fs::read(path).map_err(|e| at_path(Error::io(Code::Usage, "cannot read the token", &e)))?;
    let token = read.trim_ascii();
    if token.is_empty() || token.len() > MOST {
        return Err(at_path(Error::new(Code::Usage, "a token has 1 to 4,096 bytes")));
    }
    Ok(token.to_vec())
}
