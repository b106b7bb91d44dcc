//! `yunti watch export` and `import`: a history as JSON lines, one record each.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;
use yunti_program::text::numbers::several;

use super::store;
use crate::record::{Record, from_line, to_line};

/// Bytes of a line at most.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// Print the history as JSON lines
#[derive(Debug, Args)]
pub struct ExportFlags {
    /// Name of the watch
    name: String,
}

/// Add records of an export to a history
///
/// All lines are checked before the first is added. Records get new numbers, in the order of the lines.
#[derive(Debug, Args)]
pub struct ImportFlags {
    /// Name of the watch
    name: String,
    /// File of JSON lines, or - for standard input
    file: PathBuf,
}

/// Runs `export`.
pub fn export(flags: &ExportFlags) -> Outcome {
    let history = store().history(&flags.name)?;
    for sequence in history.sequences()? {
        stdout::print(&to_line(&history.read(sequence)?))?;
    }
    Ok(())
}

/// Runs `import`.
pub fn import(flags: &ImportFlags) -> Outcome {
    let history = store().history(&flags.name)?;
    let records = read(&flags.file)?;
    for record in &records {
        history.append(record)?;
    }
    stdout::print(&format!("{}: added {}\n", flags.name, several(records.len() as u64, "record")))
}

fn read(path: &PathBuf) -> Result<Vec<Record>> {
    let failed = |e: std::io::Error| Error::io(Code::Input, "cannot read", &e).at_path(path.to_string_lossy());
    let input: Box<dyn Read> = match path.as_os_str() == "-" {
        true => Box::new(std::io::stdin()),
        false => Box::new(File::open(path).map_err(failed)?),
    };
    let mut input = BufReader::new(input);
    let mut records = Vec::new();
    for number in 1.. {
        let mut line = String::new();
        if (&mut input).take(LINE_BYTES_MAX).read_line(&mut line).map_err(failed)? == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let record =
            from_line(line.trim()).map_err(|e| e.within(&format!("line {number}")).at_path(path.to_string_lossy()));
        records.push(record?);
    }
    Ok(records)
}
