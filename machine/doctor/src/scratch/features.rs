//! Features of the ext4 file system below a scratch directory, and the cost of its journal.

use std::fs::File;

use yunti_ext4::{Feature, SuperBlock};
use yunti_settings::System;

use super::super::finding::{Finding, Level};
use super::trial::Trial;
use yunti_program::text::numbers;

const AREA: &str = "scratch";
/// Milliseconds. A slower sync delays spills and commits.
const SYNC_MAX_MS: f64 = 20.0;

/// Returns the finding about an ext file system, else `None`. `device`: the kernel's name of the block device, such as
/// `sda1`.
pub fn finding(system: &System, kind: &str, device: &str, trial: &Trial) -> Option<Finding> {
    if !kind.starts_with("ext") {
        return None;
    }
    // Only root can read the device. Without root, the kernel's account of the journal remains.
    let features =
        File::open(system.root().join("dev").join(device)).ok().and_then(|file| SuperBlock::read(&file).ok());
    let journal = system
        .names("proc/fs/jbd2")
        .into_iter()
        .find(|name| name == device || name.rsplit_once('-').is_some_and(|(of, _)| of == device));
    let commits = journal.as_ref().and_then(|name| system.text(format!("proc/fs/jbd2/{name}/info")));
    let facts = Facts {
        has_journal: journal.is_some(),
        features: features.as_ref().map(|s| {
            [Feature::EXTENTS, Feature::FLEX_BG, Feature::METADATA_CSUM, Feature::BIGALLOC, Feature::INLINE_DATA]
                .map(|f| (f.name, s.has(f)))
        }),
        commit: commits.as_deref().and_then(commit),
        sync_ms: trial.sync_ms,
    };
    Some(judge(&facts))
}

/// Measurements and counters that the finding is derived from.
struct Facts {
    has_journal: bool,
    /// Features and whether each is set; `None` if the device is not readable.
    features: Option<[(&'static str, bool); 5]>,
    /// Transactions, and the mean time of each as the kernel prints it.
    commit: Option<(u64, String)>,
    sync_ms: Option<f64>,
}

/// Parses the kernel's account of the journal: `123 transactions (..)` and `  5ms average transaction time`.
fn commit(text: &str) -> Option<(u64, String)> {
    let count = text.lines().next()?.split(' ').next()?.parse().ok()?;
    let took = text.lines().find_map(|line| {
        line.trim()
            .strip_suffix(" average transaction commit time")
            .or(line.trim().strip_suffix(" transaction commit time"))
    })?;
    Some((count, took.trim().to_owned()))
}

fn judge(facts: &Facts) -> Finding {
    let mut seen = if facts.has_journal { "a journal" } else { "no journal" }.to_owned();
    match &facts.features {
        Some(features) => {
            let (with, without): (Vec<_>, Vec<_>) = features.iter().partition(|(_, has)| *has);
            let names = |list: Vec<&(&str, bool)>| list.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            if !with.is_empty() {
                seen += &format!(", {}", names(with));
            }
            if !without.is_empty() {
                seen += &format!("; without {}", names(without));
            }
        }
        None => seen += "; run as root to read its other features (not possible in every container)",
    }
    if let Some(ms) = facts.sync_ms {
        seen += &format!("; measured: 4 KiB appended and synced in {}", numbers::milliseconds(ms));
    }
    if let Some((count, took)) = &facts.commit {
        seen += &format!("; counted: {count} commits of the journal, {took} each");
    }
    let without_extents =
        facts.features.is_some_and(|all| all.iter().any(|(name, has)| *name == Feature::EXTENTS.name && !has));
    let slow = facts.has_journal && facts.sync_ms.is_some_and(|ms| ms > SYNC_MAX_MS);
    let (level, why) = match () {
        () if without_extents => (
            Level::Note,
            "without extents, a large file needs a block of addresses for each 4 MiB, which is read and written too",
        ),
        () if slow => (
            Level::Note,
            "a sync waits for the journal and for the other programs' data in it; spills may be lost and need no \
             journal",
        ),
        () => (
            Level::Ok,
            "the journal is written before each change of metadata; inline_data helps many files below 150 bytes, \
             bigalloc few large ones (yunti machine bench)",
        ),
    };
    Finding::new(AREA, "features", seen, why)
        .level(level)
        .change("a file system for spill: sudo yunti machine make-spill 20G --image FILE --at DIR")
        .cost("its disk space; after a crash it is created again")
        .undo("the command that make-spill prints: umount, rm")
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = "812 transactions (800 requested), each up to 8192 blocks\naverage: \n  0ms waiting for \
        transaction\n  31ms running transaction\n  4ms logging transaction\n  5123us average transaction commit \
        time\n  9 handles per transaction\n";

    #[test]
    fn each_rule_detects_its_problem() {
        let all = |extents| {
            [
                ("extent", extents),
                ("flex_bg", true),
                ("metadata_csum", true),
                ("bigalloc", false),
                ("inline_data", false),
            ]
        };
        let facts = |has_journal, features, sync_ms| Facts {
            has_journal,
            features,
            commit: commit(INFO),
            sync_ms: Some(sync_ms),
        };
        let good = judge(&facts(true, Some(all(true)), 3.0));
        assert!(good.level == Level::Ok && good.seen.contains("without bigalloc, inline_data"), "{good:?}");
        assert!(good.seen.contains("812 commits of the journal, 5123us each"), "{good:?}");
        let slow = judge(&facts(true, None, 30.0));
        assert!(
            slow.level == Level::Note
                && slow.seen.contains("synced in 30 ms")
                && slow.cost.is_some()
                && slow.undo.is_some(),
            "{slow:?}"
        );
        assert_eq!(judge(&facts(false, None, 30.0)).level, Level::Ok);
        assert_eq!(judge(&facts(false, Some(all(false)), 3.0)).level, Level::Note);
        assert_eq!(
            (commit(""), commit("x transactions\n"), commit("0 transactions (0 requested)")),
            (None, None, None)
        );
    }
}
