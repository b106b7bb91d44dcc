//! `yunti machine ext4`: kinds of a file system's blocks, requests to them, and errors.

mod attribution;
mod guard;
mod io;
mod place;
mod usage;
mod webhook;

use clap::Subcommand;
use yunti_base::{Code, Error};
use yunti_ext4::ErrorKind;
use yunti_program::failure::Outcome;

use yunti_probe::options::AnswerFlags;

/// Inspect an ext4 file system (ext2 and ext3 too): block usage, requests, errors
#[derive(Debug, Subcommand)]
pub enum Ext4Command {
    Guard(guard::GuardFlags),
    Io(io::IoFlags),
    Usage(usage::UsageFlags),
}

impl Ext4Command {
    /// Returns the flags of the answer.
    pub fn answer(&self) -> &AnswerFlags {
        match self {
            Ext4Command::Guard(flags) => &flags.answer,
            Ext4Command::Io(flags) => &flags.output.answer,
            Ext4Command::Usage(flags) => &flags.answer,
        }
    }
}

/// Runs the command.
pub fn ext4(command: &Ext4Command) -> Outcome {
    match command {
        Ext4Command::Guard(flags) => guard::guard(flags),
        Ext4Command::Io(flags) => io::io(flags),
        Ext4Command::Usage(flags) => usage::usage(flags),
    }
}

/// Returns the error with the path and a hint.
fn failed(path: &str, error: yunti_ext4::Error) -> Error {
    let yunti_ext4::Error { kind, what: message } = error;
    let code = if kind == ErrorKind::Damaged { Code::Corrupt } else { Code::Input };
    let error = Error::new(code, message).at_path(path);
    match kind {
        ErrorKind::Damaged => error.hint("e2fsck -n reports the damage, and changes nothing"),
        ErrorKind::Foreign => error.hint("name a device or an image with ext2, ext3 or ext4"),
        ErrorKind::Io | ErrorKind::Unsupported => error,
    }
}
