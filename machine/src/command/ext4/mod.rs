//! `yunti machine ext4`: what a file system's blocks are, and which of them are read and written.

mod attribution;
mod guard;
mod io;
mod place;
mod usage;
mod webhook;

use clap::Subcommand;
use yunti_base::{Code, Error};
use yunti_ext4::Trouble;
use yunti_program::failure::Outcome;

use yunti_probe::options::AnswerFlags;

/// An ext4 file system (ext2 and ext3 too): what its blocks are used for
#[derive(Debug, Subcommand)]
pub enum Ext4Command {
    Guard(guard::GuardFlags),
    Io(io::IoFlags),
    Usage(usage::UsageFlags),
}

impl Ext4Command {
    pub fn answer(&self) -> &AnswerFlags {
        match self {
            Ext4Command::Guard(flags) => &flags.answer,
            Ext4Command::Io(flags) => &flags.output.answer,
            Ext4Command::Usage(flags) => &flags.answer,
        }
    }
}

pub fn ext4(command: &Ext4Command) -> Outcome {
    match command {
        Ext4Command::Guard(flags) => guard::guard(flags),
        Ext4Command::Io(flags) => io::io(flags),
        Ext4Command::Usage(flags) => usage::usage(flags),
    }
}

/// With the file, and what can be done.
fn failed(path: &str, error: yunti_ext4::Error) -> Error {
    let code = if error.trouble == Trouble::Damaged { Code::Corrupt } else { Code::Input };
    let told = Error::new(code, error.what).at_path(path);
    match error.trouble {
        Trouble::Damaged => told.hint("e2fsck -n tells what is wrong with it, and changes nothing"),
        Trouble::Foreign => told.hint("name a device or an image that has an ext2, ext3 or ext4"),
        Trouble::Io | Trouble::Unsupported => told,
    }
}
