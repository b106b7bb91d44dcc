//! `yunti X` for an X that is a program of its own: it becomes `libexec/yunti-X` (observe, hadoop, nn and the web tools
//! have heavy needs that the core does without).

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::CommandFactory;
use yunti_base::{Code, Error};

use crate::failure::Outcome;
use crate::flags::Flags;

/// Parts of Yunti that may not be installed, and what they are.
const PARTS: [(&str, &str); 6] = [
    ("hadoop", "Java jobs here or on a cluster"),
    ("host", "the machine's own settings"),
    ("nn", "load for a NameNode"),
    ("observe", "why a process is slow"),
    ("capacity", "how much a service can carry"),
    ("console", "jobs in a browser"),
];

/// Returns only if it cannot be done.
pub fn execute(arguments: &[OsString]) -> Outcome {
    let name = arguments.first().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    // A name and nothing that leads out of libexec.
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if let Some(program) = find(&name).filter(|_| is_name) {
        let error = Command::new(&program).args(&arguments[1..]).exec();
        return Err(Error::io(Code::Usage, &format!("cannot execute the part {name}"), &error)
            .at_path(program.to_string_lossy())
            .hint("install it anew")
            .into());
    }
    let error = match missing(&name) {
        Some(error) => error,
        None => {
            let flags = Flags::command();
            let commands: Vec<&str> = flags.get_subcommands().map(|c| c.get_name()).collect();
            let hint = format!("the commands are {}; see yunti --help", commands.join(", "));
            Error::new(Code::Usage, format!("there is no command '{name}'")).hint(hint)
        }
    };
    Err(error.into())
}

/// The program of a part that another command needs.
pub fn installed(name: &str) -> yunti_base::Result<PathBuf> {
    find(name).ok_or_else(|| missing(name).unwrap_or_else(|| Error::new(Code::Internal, format!("no part '{name}'"))))
}

fn find(name: &str) -> Option<PathBuf> {
    libexec().map(|dir| dir.join(format!("yunti-{name}"))).filter(|program| program.is_file())
}

fn missing(name: &str) -> Option<Error> {
    let (_, what) = PARTS.iter().find(|(part, _)| *part == name)?;
    let error = Error::new(Code::Usage, format!("the part '{name}' ({what}) is not installed"));
    Some(error.hint(format!("put yunti-{name} into {}", libexec().unwrap_or_default().display())))
}

/// `../libexec` beside the directory of this program.
fn libexec() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("libexec"))
}
