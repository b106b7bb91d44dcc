//! What the programs of the command line (`yunti`, `yunti-observe`) do alike: they fail in one line with a documented exit code, write to a
//! terminal or into a pipe, write files that are there whole or not at all, and make pages of one file.
//!
//! ```text
//!   arguments -> program.rs -> the program -> failure.rs -> exit code
//!                                  |-> terminal/   standard output, colours, signals
//!                                  |-> page/       HTML with all that it needs in it
//!                                  `-> whole_file.rs
//! ```

pub mod failure;
pub mod page;
pub mod part;
pub mod program;
pub mod terminal;
pub mod text;
