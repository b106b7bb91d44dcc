//! Frame of the command-line programs (`yunti`, `yunti-observe`, ..): failures in one line with a documented exit code,
//! terminals and pipes, numbers and tables, and HTML pages of one file.
//!
//! ```text
//!   arguments -> program.rs -> the program -> failure.rs -> exit code
//!                                  |-> terminal/   standard output, colours, signals
//!                                  |-> text/       numbers with units, tables
//!                                  `-> page/       HTML with its styles and scripts inline
//! ```

pub mod failure;
pub mod page;
pub mod part;
pub mod program;
pub mod terminal;
pub mod text;
