//! The help of `yunti` itself: every command and every part, installed or not, grouped by the user's task.

use clap::Args;
use yunti_program::part::PARTS;

use crate::command::columns::convert::ConvertFlags;
use crate::command::generate::GenerateFlags;
use crate::command::inspect::InspectFlags;
use crate::command::machine::MachineFlags;
use crate::command::manual::{CompletionsFlags, HelpFlags, ManFlags};
use crate::command::report::ReportFlags;
use crate::command::run::flags::RunFlags;
use crate::command::streaming::StreamingFlags;
use crate::command::validate::ValidateFlags;
use crate::text::named_line;

/// Width of the names, in columns.
const NAME_WIDTH: usize = 12;

/// Returns clap's template for `yunti --help`.
pub fn template() -> String {
    let mut out = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    let mut group = |title: &str, lines: &[String]| out += &format!("\n{title}:\n{}", lines.concat());
    group(
        "My data, on this machine",
        &[
            named_line(NAME_WIDTH, "run", &about::<RunFlags>()),
            named_line(NAME_WIDTH, "streaming", &about::<StreamingFlags>()),
            named_line(NAME_WIDTH, "convert", &about::<ConvertFlags>()),
            named_line(NAME_WIDTH, "generate", &about::<GenerateFlags>()),
            named_line(NAME_WIDTH, "validate", &about::<ValidateFlags>()),
            named_line(NAME_WIDTH, "report", &about::<ReportFlags>()),
            named_line(NAME_WIDTH, "inspect", &about::<InspectFlags>()),
            part("table"),
        ],
    );
    group("My Hadoop cluster", &[part("hadoop")]);
    group("My service or job is slow", &[part("observe"), part("capacity"), part("watch"), part("warmup")]);
    group("My machine", &[named_line(NAME_WIDTH, "machine", &about::<MachineFlags>())]);
    group("My NameNode", &[part("nn")]);
    group(
        "This command",
        &[
            named_line(NAME_WIDTH, "help", &about::<HelpFlags>()),
            named_line(NAME_WIDTH, "man", &about::<ManFlags>()),
            named_line(NAME_WIDTH, "completions", &about::<CompletionsFlags>()),
        ],
    );
    out + "\n{options}{after-help}"
}

fn part(name: &str) -> String {
    let Some(part) = PARTS.into_iter().find(|part| part.name == name) else { return String::new() };
    match part.program() {
        Some(_) => named_line(NAME_WIDTH, name, part.about),
        None => named_line(NAME_WIDTH, name, &format!("{} (missing: make {})", part.about, part.make)),
    }
}

/// Returns the first line of a command's help.
fn about<Flags: Args>() -> String {
    let command = Flags::augment_args(clap::Command::new("command"));
    command.get_about().map(ToString::to_string).unwrap_or_default()
}
