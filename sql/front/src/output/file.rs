//! An output file or directory. It appears complete, by one rename, or not at all; a failed one leaves nothing.
//!
//! ```text
//!   x.csv    .x.csv._temporary/file                        --rename-->  x.csv
//!   out/     .out._temporary/new/{part-00000.csv, _SUCCESS} --rename-->  out
//! ```

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::{Env, Files, NamedFile};
use yunti_engine::job::Control;
use yunti_engine::job::commit::{Claim, ClaimOptions, PendingOutput};

use super::{Encoder, Format};
use crate::rows::Rows;

/// Bytes that are collected before a write.
const BUFFER_BYTES: usize = 1 << 20;

/// A file as a stream of bytes to write.
pub struct Out {
    file: NamedFile,
    at: u64,
    buffer: Vec<u8>,
}

impl Out {
    fn new(file: NamedFile) -> Out {
        Out { file, at: 0, buffer: Vec::new() }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer, self.at).map_err(io::Error::other)?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// Where the rows become an output.
enum Pending {
    File { files: Arc<dyn Files>, claim: Claim, temporary: PathBuf, output: PathBuf },
    Directory(PendingOutput),
}

/// Writes the rows of a result to an output.
pub struct FileWriter {
    encoder: Encoder<Out>,
    pending: Pending,
    count: u64,
}

impl FileWriter {
    /// Begins an output. A path whose extension names the format is a file, any other a directory.
    ///
    /// Errors: `Exists` for an output that is there, unless `overwrite`; `Output`.
    pub fn create(env: &Env, output: &Path, format: Format, overwrite: bool) -> Result<FileWriter> {
        let options = ClaimOptions { overwrite, ..ClaimOptions::default() };
        let output: PathBuf = output.components().collect();
        let claim = Claim::take(env, &Control::new(), &output, &options)?;
        let is_file = Format::of_path(&output.to_string_lossy()).is_some();
        let (file, pending) = if is_file {
            if env.files.meta(&output).is_ok_and(|meta| meta.is_dir) {
                return Err(Error::new(Code::Exists, "there is a directory of this name")
                    .at_path(output.to_string_lossy())
                    .hint("name another"));
            }
            let temporary = claim.directory().join("file");
            let file = NamedFile::create(&*env.files, &temporary, Code::Output)?;
            (file, Pending::File { files: env.files.clone(), claim, temporary, output })
        } else {
            let pending = PendingOutput::begin(env.files.clone(), Arc::new(claim), overwrite, &|_| false)?;
            let file = pending.create(&format!("part-00000.{}", format.extension()))?;
            (file, Pending::Directory(pending))
        };
        Ok(FileWriter { encoder: Encoder::new(format, Out::new(file)), pending, count: 0 })
    }

    /// Puts the output in place, and returns the number of its rows.
    pub fn finish(self) -> Result<u64> {
        drop(self.encoder.finish()?);
        match self.pending {
            Pending::File { files, claim, temporary, output } => {
                claim.check()?;
                files.rename(&temporary, &output).map_err(|e| {
                    Error::io(Code::Output, "cannot put the output in place", &e).at_path(output.to_string_lossy())
                })?;
                claim.set_committed();
            }
            Pending::Directory(mut pending) => {
                drop(pending.create("_SUCCESS")?);
                pending.finish_uploads()?;
                pending.commit(false)?;
            }
        }
        Ok(self.count)
    }
}

impl Rows for FileWriter {
    fn begin(&mut self, schema: &SchemaRef) -> Result<()> {
        self.encoder.begin(schema)
    }

    fn rows(&mut self, batch: &RecordBatch) -> Result<()> {
        self.count += batch.num_rows() as u64;
        self.encoder.rows(batch)
    }
}
