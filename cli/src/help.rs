//! The help of `yunti` itself: every command and every part, installed or not, by what a user came for.

use clap::Args;
use yunti_program::part::{PARTS, Part};

use crate::command::generate::GenerateFlags;
use crate::command::inspect::InspectFlags;
use crate::command::report::ReportFlags;
use crate::command::run::flags::RunFlags;
use crate::command::validate::ValidateFlags;
use crate::flags::{CompletionsFlags, HelpFlags, MachineFlags, ManFlags};

/// Columns of the names.
const NAME_WIDTH: usize = 12;

/// Commands of `yunti machine` that are in the part `yunti-machine`, with a line each.
const OF_THE_MACHINE: [(&str, &str); 11] = [
    ("settings", "List settings that matter to jobs and JVMs, with better values"),
    ("apply", "Change a setting, so that it can be undone"),
    ("undo", "Restore what was changed"),
    ("journal", "List the changes"),
    ("bench", "Measure what old and new settings cost"),
    ("make-spill", "Make and mount a file system for spills"),
    ("cache", "What is in the page cache, and who misses it"),
    ("cgroup", "What control groups use, and what they wait for"),
    ("net", "TCP: response times, full accept queues, ports in use"),
    ("ext4", "What blocks are used for, I/O by file, a guard for failing disks"),
    ("crash", "Report crashes of this machine's processes and kernel"),
];

/// The template of clap for `yunti --help`.
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

/// The commands of `yunti machine` beside `doctor` and `limits`, for its help.
pub fn of_the_machine() -> String {
    let is_installed = Part::named("machine").is_some_and(|part| part.program().is_some());
    let missing = if is_installed { "" } else { " (missing: make observe)" };
    let lines = OF_THE_MACHINE.map(|(name, about)| line(name, about));
    format!("Measured from inside the kernel, and settings{missing}:\n{}", lines.concat())
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

/// The first line of a command's help.
fn about<Flags: Args>() -> String {
    let command = Flags::augment_args(clap::Command::new("command"));
    command.get_about().map(ToString::to_string).unwrap_or_default()
}
