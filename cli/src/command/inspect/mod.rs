//! `yunti inspect`: identifies a file by its content, and shows its beginning.
//!
//! ```text
//!   first bytes  ->  JSON with a format of Yunti  report, facts of a cluster's job, limits, comparison    documents.rs
//!                    format = "yunti-job/..       job file                                               documents.rs
//!                    24 n + 8 bytes and a sum     index of Hadoop's map output, with its segments        map_output.rs
//!                    PAR1, Obj1, ..               columns of a file, as of Parquet                   columns.rs
//!                    a known beginning            files that local jobs do not read                      recognise.rs
//!                    anything else                records, as `yunti run` would read them                records.rs
//! ```
//!
//! Runs that the engine spills have no names and are deleted with their process, so they cannot be inspected.

mod columns;
mod documents;
mod map_output;
mod recognise;
mod records;

use std::path::PathBuf;
use std::sync::Arc;

use crate::command::numbers::whole;
use crate::command::part::stores::StoreFlags;
use clap::Args;
use serde_json::Value;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::{Env, NamedFile};
use yunti_engine::format::file_formats::END_BYTES;
use yunti_engine::job::spec::InputFormat;
use yunti_engine::job::spec::change::{input_formats, parse_input_format};

use crate::console::{self, stdout};
use crate::failure::Outcome;
use recognise::Kind;

/// Identify a file and show its beginning
///
/// Reports, facts of a cluster's jobs, limits, job files, the index and the segments of Hadoop's map output, and any
/// input of `yunti run`: its compression, whether several workers can read it in parallel, its first records. Of a
/// file of columns, such as Parquet: its rows, schema and statistics.
/// A damaged file gives a one-line error with exit code 4.
#[derive(Debug, Args)]
pub struct InspectFlags {
    /// File to inspect
    pub path: PathBuf,

    #[arg(long, value_name = "FORMAT", value_parser = parse_input_format,
          help = format!("Format of the records, as in yunti run: {}", input_formats()))]
    pub input_format: Option<InputFormat>,

    /// Number of records to show
    #[arg(short = 'n', long, value_name = "N", value_parser = whole(0..=usize::MAX), default_value_t = 5)]
    pub records: usize,

    /// Read the whole file: count the records and find damage anywhere in it
    #[arg(long)]
    pub check: bool,

    /// Columns: print the schema of the file
    #[arg(long)]
    pub schema: bool,

    /// Columns: print sizes, encodings and statistics of each column
    #[arg(long)]
    pub statistics: bool,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub stores: StoreFlags,
}

/// Result of an inspection, as text for people and as a document for programs.
pub struct Inspection {
    pub text: String,
    pub document: Value,
}

/// Bytes at the beginning of a file that are read to identify it.
const HEAD_BYTES: usize = 64 << 10;

pub fn inspect(flags: &InspectFlags) -> Outcome {
    let env = flags.stores.env();
    let found = identify(flags, &env)?;
    if flags.json { stdout::print_json(&found.document) } else { stdout::print(&found.text) }
}

fn identify(flags: &InspectFlags, env: &Env) -> Result<Inspection> {
    let path = &flags.path;
    let named = |e: Error| e.at_path(path.to_string_lossy());
    let meta =
        env.files.meta(path).map_err(|e| named(Error::io(Code::Input, "cannot read", &e)).hint("check the path"))?;
    if meta.is_dir {
        let hint = "name a file in it; yunti report explains a job's output directory";
        return Err(named(Error::new(Code::Usage, "this is a directory")).hint(hint));
    }
    if meta.is_stream {
        return Err(named(Error::new(Code::Usage, "this is not a regular file")).hint("write it to a file first"));
    }
    let file = NamedFile::open(&*env.files, path, Code::Input)?;
    let mut head = vec![0; HEAD_BYTES];
    let n = file.read_up_to(&mut head, 0)?;
    head.truncate(n);
    let kind = match &flags.input_format {
        Some(format) => yunti_engine::job::read_format(format).map_or(Kind::Records, Kind::Columns),
        None => {
            let mut tail = [0; END_BYTES];
            let n = file.read_up_to(&mut tail, meta.len.saturating_sub(END_BYTES as u64))?;
            recognise::kind(path, &head, &tail[..n], meta.len)
        }
    };
    match kind {
        Kind::Document => documents::document(path, &*env.files, console::width()),
        Kind::JobFile => documents::job_file(path, &file),
        Kind::MapOutputIndex => map_output::index(path, &file, meta.len, env),
        Kind::Columns(format) => columns::columns(flags, format, env),
        Kind::Foreign(what, hint) => Ok(documents::foreign(path, meta.len, what, hint)),
        Kind::Records => records::records(flags, &head, env),
    }
}

/// Returns bytes in readable form: text unchanged, other bytes as `\x1f`.
pub fn printable(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out += "\\\\",
                '\t' => out += "\\t",
                '\n' => out += "\\n",
                '\r' => out += "\\r",
                c if c.is_control() => c.to_string().bytes().for_each(|b| out += &format!("\\x{b:02x}")),
                c => out.push(c),
            }
        }
        chunk.invalid().iter().for_each(|b| out += &format!("\\x{b:02x}"));
    }
    out
}

/// Returns a control that ctrl-C cancels, for long reads.
pub fn control() -> Arc<yunti_engine::job::Control> {
    let control = yunti_engine::job::Control::new();
    crate::console::signals::cancel_on_signals(control.cancelled());
    control
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_bytes_that_are_not_text() {
        assert_eq!(printable(b"a\\\t\xff\xc3\xbc\x00\x7f"), "a\\\\\\t\\xffü\\x00\\x7f");
    }
}
