//! `yunti man` and `yunti completions`: both come from the definition of the command line.

use clap::CommandFactory;
use clap_mangen::Man;
use yunti_base::{Code, Error};

use crate::console::stdout;
use crate::failure::Outcome;
use crate::flags::{Flags, ManFlags};

pub fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition(), "yunti", &mut script);
    stdout::write(&script)
}

pub fn man(flags: &ManFlags) -> Outcome {
    let root = definition();
    if let Some(dir) = &flags.dir {
        let failed = |e: std::io::Error| {
            Error::io(Code::Output, "cannot write the manual pages", &e).at_path(dir.to_string_lossy())
        };
        std::fs::create_dir_all(dir).map_err(failed)?;
        return Ok(clap_mangen::generate_to(root, dir).map_err(failed)?);
    }
    let mut root = root;
    // Gives the commands their full names, "yunti run".
    root.build();
    let page = match &flags.command {
        None => root,
        Some(name) => {
            let known: Vec<&str> = root.get_subcommands().map(|c| c.get_name()).collect();
            root.find_subcommand(name).cloned().ok_or_else(|| {
                Error::new(Code::Usage, format!("there is no command '{name}'"))
                    .hint(format!("there are {}", known.join(", ")))
            })?
        }
    };
    let mut text = Vec::new();
    Man::new(page).render(&mut text).map_err(|e| Error::io(Code::Internal, "cannot make the manual page", &e))?;
    stdout::write(&text)
}

fn definition() -> clap::Command {
    Flags::command()
}
