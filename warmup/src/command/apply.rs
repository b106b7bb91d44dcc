//! `yunti warmup apply`: this process becomes the program, with the options and the gate of its profile.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_program::control_group::ControlGroup;
use yunti_program::failure::Outcome;

use super::flags::{Replay, Subject, text_of, variable};
use crate::java::command_line::CommandLine;
use crate::profile::{Profile, REQUESTS, Stamps};

/// Start the program with its profile: classes from the archive, requests replayed before the port opens
///
/// The program takes the place of this process: same process id, streams, signals and exit code. If the profile does
/// not fit, one line says why, and the program starts without it.
#[derive(Debug, Args)]
pub struct ApplyFlags {
    /// Fail if the profile does not fit or the control group cannot be made, in place of a start without it
    #[arg(long)]
    strict: bool,

    /// Run in a control group of its own: NAME[,memory=SIZE][,cpu=PROCESSORS]
    #[arg(long, value_name = "GROUP")]
    cgroup: Option<ControlGroup>,

    #[command(flatten)]
    replay: Replay,

    #[command(flatten)]
    subject: Subject,
}

/// Start that a profile gives: words and variables of the program.
pub struct Applied {
    pub words: Vec<OsString>,
    pub variables: Vec<(String, OsString)>,
}

/// Becomes the program. Returns only if that fails.
pub fn apply(flags: &ApplyFlags) -> Outcome {
    let line = flags.subject.line()?;
    let applied = applied(&flags.subject, &flags.replay, &line, line.is_script(), |stale| match flags.strict {
        true => Err(stale),
        false => {
            eprintln!("yunti: starting without the profile: {stale}");
            Ok(())
        }
    })?;
    if let Some(group) = &flags.cgroup {
        match group.enter() {
            Ok(_) => {}
            Err(error) if flags.strict => return Err(error.into()),
            Err(error) => eprintln!("yunti: starting without the control group: {error}"),
        }
    }
    let (program, arguments) = applied.words.split_first().expect("a command has a program");
    let error = Command::new(program).args(arguments).envs(applied.variables).exec();
    Err(Error::io(Code::Usage, "cannot start the program", &error)
        .at_path(program.to_string_lossy())
        .hint("check the command after --")
        .into())
}

/// Returns the start of a program with its profile. With `by_variables`, no word of the command changes.
///
/// `on_stale` gets the reason why the archive or the profile does not fit; if it returns an error, so does this.
pub fn applied(
    subject: &Subject,
    replay: &Replay,
    line: &CommandLine,
    by_variables: bool,
    mut on_stale: impl FnMut(Error) -> Result<()>,
) -> Result<Applied> {
    let folder = subject.folder(line)?;
    let profile = match Profile::load(&folder) {
        Ok(profile) => profile,
        Err(error) => {
            on_stale(error)?;
            return Ok(Applied { words: line.words.clone(), variables: Vec::new() });
        }
    };
    let options = match usable_archive(subject, line, &profile, &folder) {
        Ok(options) => options,
        Err(error) => {
            on_stale(error)?;
            Vec::new()
        }
    };
    let (words, mut variables) = line.with_options(&options, by_variables, variable);
    if !replay.no_replay && folder.join(REQUESTS).is_file() {
        match gate() {
            Ok(library) => variables.extend(gate_variables(&library, &folder, replay)),
            Err(error) => on_stale(error)?,
        }
    }
    Ok(Applied { words, variables })
}

/// Returns the options that use the archive of a profile, or why it does not fit.
pub fn usable_archive(subject: &Subject, line: &CommandLine, profile: &Profile, folder: &Path) -> Result<Vec<String>> {
    let (Some(kind), Some(path)) = (profile.archive, profile.archive_path(folder)) else { return Ok(Vec::new()) };
    let stale = |why: String| Error::new(Code::Input, why).hint("record the profile again");
    if let Some(option) = line.own_archive() {
        return Err(Error::new(Code::Usage, format!("the command has {option}"))
            .hint("remove it to use the archive of the profile"));
    }
    let now = match line.is_script() {
        true => profile.stamps.now(),
        false => Stamps::of(line, &subject.release(line)?),
    };
    if let Some(difference) = profile.stamps.difference(&now) {
        return Err(stale(difference));
    }
    if !path.is_file() {
        return Err(stale(format!("{} is gone", path.display())));
    }
    Ok(kind.options_to_use(&text_of(&path)?))
}

/// Returns the variables that load the gate into the program.
fn gate_variables(library: &Path, folder: &Path, replay: &Replay) -> Vec<(String, OsString)> {
    let mut preload = library.as_os_str().to_owned();
    if let Some(own) = variable("LD_PRELOAD") {
        preload.push(format!(":{own}"));
    }
    let mut variables = vec![
        ("LD_PRELOAD".into(), preload),
        ("YUNTI_WARMUP_REQUESTS".into(), folder.join(REQUESTS).into_os_string()),
        ("YUNTI_WARMUP_SECONDS".into(), replay.replay_seconds.to_string().into()),
        ("YUNTI_WARMUP_CONNECTIONS".into(), replay.connections.to_string().into()),
    ];
    variables.extend(replay.port.map(|port| ("YUNTI_WARMUP_PORT".into(), port.to_string().into())));
    variables
}

/// Returns the library of the gate: `../lib/yunti/libyunti-gate.so`, relative to the directory of this program.
fn gate() -> Result<PathBuf> {
    let program = std::env::current_exe().ok();
    let library = program.and_then(|path| Some(path.parent()?.parent()?.join("lib/yunti/libyunti-gate.so")));
    match library {
        Some(path) if path.is_file() => Ok(path),
        path => Err(Error::new(Code::Input, "the gate's library is not installed")
            .at_path(path.unwrap_or_default().to_string_lossy())
            .hint("run 'make warmup' in the sources")),
    }
}
