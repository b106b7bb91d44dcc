//! Features of the ext4 below a scratch directory, and what its journal costs here.

use std::fs::File;

use yunti_ext4::{Feature, SuperBlock};
use yunti_settings::System;

use super::super::finding::{Finding, Level};
use super::trial::Trial;
use yunti_program::text::numbers;

const AREA: &str = "scratch";
/// A sync that takes longer is what spills and commits wait for.
const SYNC_MAX_MS: f64 = 20.0;

/// `device`: as the kernel calls it, `sda1`.
pub fn finding(system: &System, kind: &str, device: &str, trial: &Trial) -> Option<Finding> {
    if !kind.starts_with("ext") {
        return None;
    }
    // Only root reads devices: without, what the kernel tells of the journal.
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
    Some(judged(&facts))
}

struct Facts {
    has_journal: bool,
    /// None: only root may know.
    features: Option<[(&'static str, bool); 5]>,
    /// Transactions, and what each took on average.
    commit: Option<(u64, String)>,
    sync_ms: Option<f64>,
}

/// `123 transactions (..)` and `  5ms average transaction time`, of the journal's own account.
fn commit(text: &str) -> Option<(u64, String)> {
    let count = text.lines().next()?.split(' ').next()?.parse().ok()?;
    let took = text.lines().find_map(|line| {
        line.trim()
            .strip_suffix(" average transaction commit time")
            .or(line.trim().strip_suffix(" transaction commit time"))
    })?;
    Some((count, took.trim().to_owned()))
}

fn judged(facts: &Facts) -> Finding {
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
        None => seen += "; its other features cannot be read: only root may, and not in each container",
    }
    if let Some(ms) = facts.sync_ms {
        seen += &format!("; measured: 4 KiB more of a file synced in {}", numbers::milliseconds(ms));
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
            "addresses of large files are blocks of their own, one for each 4 MiB, which are read and written too",
        ),
        () if slow => (
            Level::Note,
            "what is synced waits for the journal, and for all that others have in it; what may be lost, as spills, needs none",
        ),
        () => (
            Level::Ok,
            "a journal is written before each change of metadata; inline_data is for many files below 150 bytes, bigalloc for few large ones (yunti machine bench)",
        ),
    };
    Finding::new(AREA, "features", seen, why)
        .level(level)
        .change("a file system for spill: sudo yunti machine make-spill 20G")
        .cost("its room; and after a crash it is made again")
        .undo("the line that make-spill prints: umount, rm")
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = "812 transactions (800 requested), each up to 8192 blocks\naverage: \n  0ms waiting for transaction\n  31ms running transaction\n  4ms logging transaction\n  5123us average transaction commit time\n  9 handles per transaction\n";

    #[test]
    fn each_rule_holds_and_is_broken() {
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
        let good = judged(&facts(true, Some(all(true)), 3.0));
        assert!(good.level == Level::Ok && good.seen.contains("without bigalloc, inline_data"), "{good:?}");
        assert!(good.seen.contains("812 commits of the journal, 5123us each"), "{good:?}");
        let slow = judged(&facts(true, None, 30.0));
        assert!(
            slow.level == Level::Note
                && slow.seen.contains("synced in 30 ms")
                && slow.cost.is_some()
                && slow.undo.is_some(),
            "{slow:?}"
        );
        assert_eq!(judged(&facts(false, None, 30.0)).level, Level::Ok);
        assert_eq!(judged(&facts(false, Some(all(false)), 3.0)).level, Level::Note);
        assert_eq!(
            (commit(""), commit("x transactions\n"), commit("0 transactions (0 requested)")),
            (None, None, None)
        );
    }
}
