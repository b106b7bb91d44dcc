//! `yunti man`, `yunti completions` and the flags of `yunti help`. Pages and scripts come from the definition of the
//! command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap_mangen::Man;
use yunti_base::{Code, Error};

use crate::console::stdout;
use crate::failure::Outcome;

/// Print the help of a command
#[derive(Debug, Args)]
pub struct HelpFlags {
    /// Command, as in `run` or `machine cache`
    pub command: Vec<OsString>,
}

/// Print the completions of a shell
///
/// The script completes yunti's commands and flags; load it when the shell starts.
#[derive(Debug, Args)]
pub struct CompletionsFlags {
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Print a manual page
///
/// Prints the page of yunti or of one of its commands in roff: `yunti man run | man -l -`.
#[derive(Debug, Args)]
pub struct ManFlags {
    /// Command [default: the page of yunti itself]
    pub command: Option<String>,
    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub dir: Option<PathBuf>,
}

pub fn completions(shell: clap_complete::Shell, mut definition: clap::Command) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition, "yunti", &mut script);
    stdout::write(&script)
}

pub fn man(flags: &ManFlags, root: clap::Command) -> Outcome {
    if let Some(dir) = &flags.dir {
        let failed = |e: std::io::Error| {
            Error::io(Code::Output, "cannot write the manual pages", &e).at_path(dir.to_string_lossy())
        };
        std::fs::create_dir_all(dir).map_err(failed)?;
        return Ok(clap_mangen::generate_to(root, dir).map_err(failed)?);
    }
    let mut root = root;
    // Sets the full names of the commands, as in "yunti run".
    root.build();
    let page = match &flags.command {
        None => root,
        Some(name) => {
            let known: Vec<&str> = root.get_subcommands().map(|c| c.get_name()).collect();
            root.find_subcommand(name).cloned().ok_or_else(|| {
                Error::new(Code::Usage, format!("there is no command '{name}'"))
                    .hint(format!("the commands are {}", known.join(", ")))
            })?
        }
    };
    let mut text = Vec::new();
    Man::new(page).render(&mut text).map_err(|e| Error::io(Code::Internal, "cannot make the manual page", &e))?;
    stdout::write(&text)
}
