//! The rules of the house, checked on every file of the checkout: `cargo test -p yunti-tidy`.
//!
//! A rule is a function from a `Tree` (paths and texts) to complaints. Each is tried in its module on a small tree that
//! breaks it. The crate has no dependency, so that a change of a comment is checked in seconds.

pub mod circles;
pub mod code;
pub mod engine_rules;
pub mod floors;
pub mod marks;
pub mod pages;
pub mod sizes;
pub mod tree;
pub mod unsafe_files;
pub mod words;

use tree::Tree;

/// A rule returns one line for each place that breaks it.
pub type Rule = fn(&Tree) -> Vec<String>;

/// All rules by name.
pub const RULES: &[(&str, Rule)] = &[
    ("floors", floors::floors),
    ("circles", circles::circles),
    ("paths", pages::paths),
    ("links", pages::links),
    ("opening", pages::opening),
    ("unsafe", unsafe_files::unsafe_files),
    ("outside world", engine_rules::outside_world),
    ("absences", engine_rules::absences),
    ("unfinished", marks::unfinished),
    ("machine paths", marks::machine_paths),
    ("long files", sizes::long_files),
    ("crowded folders", sizes::crowded_folders),
    ("vague names", sizes::vague_names),
    ("banned words", words::banned),
    ("first words", words::first_words),
    ("wide lines", words::wide_lines),
];
