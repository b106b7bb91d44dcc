//! What was changed, and what is known of it: a line for each operation that changes the name space, as it ended.
//!
//! ```text
//!   ok mkdirs /a/b          acknowledged: it is there from then on, whatever becomes of the NameNode
//!   ok rename /a/c /a/d
//!   unknown delete /a/d     asked, and refused or never answered: it was done, or not
//! ```

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;

use yunti_base::{Code, Error, Result};

pub struct History {
    file: Mutex<BufWriter<File>>,
}

impl History {
    pub fn create(path: &Path) -> Result<History> {
        let failed = |e| Error::io(Code::Output, "cannot write the history", &e).at_path(path.to_string_lossy());
        Ok(History { file: Mutex::new(BufWriter::new(File::create(path).map_err(failed)?)) })
    }

    pub fn add(&self, is_known: bool, operation: &str) {
        let word = if is_known { "ok" } else { "unknown" };
        if let Ok(mut file) = self.file.lock() {
            // Told by `finish`, where the rest of the buffer fails as well.
            let _ = writeln!(file, "{word} {operation}");
        }
    }

    /// # Errors
    /// Not all of it could be written.
    pub fn finish(self) -> Result<()> {
        let flushed = self.file.into_inner().map(|mut file| file.flush());
        match flushed {
            Ok(Err(e)) => Err(Error::io(Code::Output, "cannot write the history", &e)),
            _ => Ok(()),
        }
    }
}
