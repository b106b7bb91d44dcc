//! The help of `yunti` itself: every command and every part, installed or not, grouped by the user's task.

use clap::Args;
use yunti_program::part::PARTS;

use crate::command::generate::GenerateFlags;
use crate::command::inspect::InspectFlags;
use crate::command::machine::MachineFlags;
use crate::command::manual::{CompletionsFlags, HelpFlags, ManFlags};
use crate::command::report::ReportFlags;
use crate::command::run::flags::RunFlags;
use crate::command::validate::ValidateFlags;

/// Width of the names, in columns.
const NAME_WIDTH: usize = 12;

/// Returns clap's template for `yunti --help`.
pub fn template() -> String {
    let mut out = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    let mut group = |title: &str, lines: &[String]| out += &format!("\n{title}:\n{}", lines.concat());
    group(
        "My data, on this machine",
        &[
            line("run", &about::<RunFlags>()),
            line("generate", &about::<GenerateFlags>()),
            line("validate", &about::<ValidateFlags>()),
            line("report", &about::<ReportFlags>()),
            line("inspect", &about::<InspectFlags>()),
        ],
    );
    group("My Hadoop cluster", &[part("hadoop")]);
    group("My service or job is slow", &[part("observe")]);
    group("My machine", &[line("machine", &about::<MachineFlags>())]);
    group("My NameNode", &[part("nn")]);
    group(
        "This command",
        &[
            line("help", &about::<HelpFlags>()),
            line("man", &about::<ManFlags>()),
            line("completions", &about::<CompletionsFlags>()),
        ],
    );
    out + "\n{options}{after-help}"
}

fn line(name: &str, about: &str) -> String {
    format!("  {name:NAME_WIDTH$} {about}\n")
}

fn part(name: &str) -> String {
    let Some(part) = PARTS.into_iter().find(|part| part.name == name) else { return String::new() };
    match part.program() {
        Some(_) => line(name, part.about),
        None => line(name, &format!("{} (missing: make {})", part.about, part.make)),
    }
}

/// Returns the first line of a command's help.
fn about<Flags: Args>() -> String {
    let command = Flags::augment_args(clap::Command::new("command"));
    command.get_about().map(ToString::to_string).unwrap_or_default()
}
