//! The terminal and the process: standard output, colour, signals.

pub mod paint;
pub mod signals;
pub mod stdout;

use std::io::IsTerminal;

/// Whether to use colours and cursor movements on a stream: a terminal that has them, and a user who did not say no.
pub fn is_rich(stream: &impl IsTerminal) -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    stream.is_terminal() && !dumb
}

/// A help text, with clap's colours where they belong.
pub fn ansi_text(help: &clap::Error) -> String {
    let styled = help.render();
    if paint::for_stdout().is_on() { styled.ansi().to_string() } else { styled.to_string() }
}

/// Columns to fill: those of the terminal that standard output is, from 60 to 100; 96 when it is none.
pub fn width() -> usize {
    let columns = terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    columns.map_or(96, |n| n.clamp(60, 100))
}

/// Lines of the terminal that standard output is; 24 when it is none.
pub fn height() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(24, |(_, height)| usize::from(height.0))
}
