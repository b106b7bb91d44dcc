//! History of a load: a line with the outcome of each operation that changes the name space.
//!
//! ```text
//!   ok mkdirs /a/b          acknowledged: the change must survive a crash of the NameNode
//!   ok rename /a/c /a/d
//!   unknown delete /a/d     refused, or without a response: the change may be done or not
//! ```

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;

use yunti_base::{Code, Error, Result};

/// The history file.
pub struct History {
    file: Mutex<BufWriter<File>>,
}

impl History {
    /// Creates the file, or truncates it.
    pub fn create(path: &Path) -> Result<History> {
        let failed = |e| Error::io(Code::Output, "cannot write the history", &e).at_path(path.to_string_lossy());
        Ok(History { file: Mutex::new(BufWriter::new(File::create(path).map_err(failed)?)) })
    }

    /// Adds a line.
    pub fn add(&self, is_known: bool, operation: &str) {
        let word = if is_known { "ok" } else { "unknown" };
        if let Ok(mut file) = self.file.lock() {
            // `finish` reports the error, since the rest of the buffer then fails too.
            let _ = writeln!(file, "{word} {operation}");
        }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// A line could not be written.
    pub fn finish(self) -> Result<()> {
        let flushed = self.file.into_inner().map(|mut file| file.flush());
        match flushed {
            Ok(Err(e)) => Err(Error::io(Code::Output, "cannot write the history", &e)),
            _ => Ok(()),
        }
    }
}
