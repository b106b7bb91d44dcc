//! Frame of the command-line programs (`yunti`, `yunti-observe`, ..): failures in one line with a documented exit code,
//! terminals and pipes, numbers and tables, HTML pages of one file, and control groups of a job's own.
//!
//! ```text
//!   arguments -> program.rs -> the program -> failure.rs -> exit code
//!                                  |-> terminal/   standard output, colours, signals
//!                                  |-> text/       numbers with units, tables
//!                                  `-> page/       HTML with its styles and scripts inline
//! ```

pub mod control_group;
pub mod failure;
pub mod page;
pub mod part;
pub mod program;
pub mod terminal;
pub mod text;
