//! `yunti warmup env`: what `apply` would set, as lines for a shell, for start scripts that nobody may change.

use clap::Args;
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use super::apply::applied;
use super::flags::{Replay, Subject};

/// Print the variables that `apply` would set, for a shell: eval "$(yunti warmup env -- bin/start.sh)"
#[derive(Debug, Args)]
pub struct EnvFlags {
    /// Set JAVA_TOOL_OPTIONS, which every JVM reads, in place of JDK_JAVA_OPTIONS, which only the launcher java reads
    #[arg(long)]
    tool_options: bool,

    #[command(flatten)]
    replay: Replay,

    #[command(flatten)]
    subject: Subject,
}

/// Runs the command.
pub fn env(flags: &EnvFlags) -> Outcome {
    let line = flags.subject.line()?;
    let applied = applied(&flags.subject, &flags.replay, &line, true, Err)?;
    let mut text = String::new();
    for (name, value) in applied.variables {
        let name = if flags.tool_options && name == "JDK_JAVA_OPTIONS" { "JAVA_TOOL_OPTIONS".into() } else { name };
        text += &format!("export {name}='{}'\n", value.to_string_lossy().replace('\'', r"'\''"));
    }
    stdout::print(&text)
}
