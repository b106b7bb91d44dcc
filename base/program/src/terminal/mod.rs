//! Terminal and process: standard output, colour, signals.

pub mod paint;
pub mod signals;
pub mod stdout;

use std::io::IsTerminal;

/// Returns true if a stream accepts colours and cursor movements: a terminal whose `TERM` is set and not `dumb`.
pub fn is_rich(stream: &impl IsTerminal) -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    stream.is_terminal() && !dumb
}

/// Returns a help text, with clap's colours if standard output accepts them.
pub fn ansi_text(help: &clap::Error) -> String {
    let styled = help.render();
    if paint::for_stdout().is_on() { styled.ansi().to_string() } else { styled.to_string() }
}

/// Returns the columns to fill: the width of the terminal on standard output, clamped to 60..=100, or 96 without one.
pub fn width() -> usize {
    let columns = terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    columns.map_or(96, |n| n.clamp(60, 100))
}

/// Returns the lines of the terminal on standard output, or 24 without one.
pub fn height() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(24, |(_, height)| usize::from(height.0))
}
