//! A hash join of tables as two jobs: the first writes the small table as lines, in the order of their keys. The second
//! has these lines as its side file, so that it builds its table as a hash join of lines does, or sorts both sides.
//!
//! Rejected: a table from the rows as they are read. It needs a second way to measure and build a table, and each
//! format would have to give the same rows twice.

use super::held::HeldFiles;
use crate::job::spec::{JobSpec, Mode, OutputFormat, OutputTarget};
use crate::library::applications::join::{LOOKUPS, SMALL, SMALL_ROWS};

/// Name of the lines, below their directory.
const PART: &str = "part-r-00000";

/// Returns true for a hash join of tables.
pub fn is_needed(spec: &JobSpec) -> bool {
    spec.sources.iter().any(|source| source.mapper.as_deref() == Some(SMALL_ROWS))
}

/// Returns the two jobs of a hash join of tables; None for other jobs.
pub fn divide(spec: &JobSpec) -> Option<[JobSpec; 2]> {
    let is_small = |mapper: &Option<String>| mapper.as_deref() == Some(SMALL_ROWS);
    let (small, large): (Vec<_>, Vec<_>) = spec.sources.iter().cloned().partition(|source| is_small(&source.mapper));
    let is_lookup = |mapper: &Option<String>| mapper.as_deref().is_some_and(|mapper| LOOKUPS[1..].contains(&mapper));
    if small.is_empty() || large.is_empty() || !large.iter().all(|source| is_lookup(&source.mapper)) {
        return None;
    }
    let held = HeldFiles::path("small-table");
    let first = JobSpec {
        name: format!("{}: the small table", spec.name),
        sources: small,
        mode: Mode::Sorted,
        reduces: 1,
        output: OutputTarget::Directory(held.clone()),
        output_format: OutputFormat::Text { separator: b"\t".to_vec() },
        output_columns: Default::default(),
        compress: None,
        overwrite: false,
        durable: false,
        resume: false,
        outputs: Default::default(),
        side_files: Vec::new(),
        then: Vec::new(),
        ..spec.clone()
    };
    let mut settings = spec.settings.clone();
    settings.insert(SMALL.into(), PART.into());
    let mut side_files = spec.side_files.clone();
    side_files.push(held.join(PART));
    // Lines have their keys in front, whatever the tables are.
    ["separator", "join.left.column", "join.right.column"].iter().for_each(|key| drop(settings.remove(*key)));
    Some([first, JobSpec { sources: large, side_files, settings, ..spec.clone() }])
}
