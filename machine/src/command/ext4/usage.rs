//! `yunti machine ext4 usage`: use of a file system's blocks, fragmentation of files and free space, and the effect of
//! other settings.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use yunti_base::{Code, Error};
use yunti_ext4::{Feature, FileSystem, Files, KINDS, Kind, SuperBlock, Usage};
use yunti_program::failure::{Failure, Outcome};

use super::failed;
use super::place::Place;
use yunti_probe::answer::{Answer, Part, Table, Treemap, bytes, percent};
use yunti_probe::options::AnswerFlags;
use yunti_probe::stopping::End;

/// Report the use of each block by kind, fragmentation of files and free space, and savings by bigalloc, inline data
/// or no journal
///
/// Only reads. On a mounted file system, groups that change are read again until all are consistent.
#[derive(Debug, Args)]
pub struct UsageFlags {
    /// A device, an image, or a directory of a mounted file system
    #[arg(value_name = "DEVICE|IMAGE|DIRECTORY")]
    place: PathBuf,
    /// Read changing groups at most this often
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    tries: u32,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

const SHOWN: usize = 10;
const DAMAGES_SHOWN: usize = 10;

/// Result of a run.
struct UsageSample {
    s: SuperBlock,
    usage: Usage,
    paths: HashMap<u32, String>,
    /// True if the figures were true at one moment.
    is_consistent: bool,
    changing: u64,
    tries: u32,
    damages: Vec<String>,
    mounted_at: Option<String>,
}

/// Reads the file system and prints its block usage. Fails with `Corrupt` on damage.
pub fn usage(flags: &UsageFlags) -> Outcome {
    let place = Place::find(&flags.place)?;
    let shown = place.shown();
    let source = place.open()?;
    let fs = FileSystem::open(&source).map_err(|e| failed(&shown, e))?;
    let is_mounted = place.mounted_at.is_some();
    let (mut tries, mut attempt) = (0, 0);
    let (walk, runs, usage) = loop {
        attempt += 1;
        let walk = fs.walk(is_mounted, flags.tries, Files::add).map_err(|e| failed(&shown, e))?;
        let runs = walk.runs();
        let usage = Usage::of(&fs, &walk, &runs);
        tries += walk.tries;
        // A change of the bitmap and the matching change of the inode may be on both sides of that moment.
        let is_done = !is_mounted || walk.changing > 0 || usage.ownership.is_whole() || attempt == ATTEMPTS;
        if is_done {
            break (walk, runs, usage);
        }
    };
    let wanted: HashSet<u32> = usage.files.worst.iter().map(|p| p.inode).collect();
    let sample = UsageSample {
        paths: fs.paths(&runs, &wanted),
        is_consistent: walk.changing == 0 && (!is_mounted || usage.ownership.is_whole()),
        changing: walk.changing,
        tries,
        damages: walk.damages().map(|e| e.what.clone()).collect(),
        mounted_at: place.mounted_at,
        s: fs.superblock,
        usage,
    };
    let mut answer = Answer::of_device("ext4 usage", shown.clone());
    report(&sample, &mut answer);
    answer.give(&flags.answer, End::Enough, json_of(&sample))?;
    damaged(&sample).map_or(Ok(()), |what| {
        if flags.answer.json {
            // The JSON document is the answer.
            return Err(Failure::Reported(Code::Corrupt));
        }
        Err(Failure::from(
            Error::new(Code::Corrupt, what).at_path(shown).hint("e2fsck -n reports the damage, and changes nothing"),
        ))
    })
}

/// Walks of a mounted file system until bitmaps and inodes agree.
const ATTEMPTS: u32 = 5;

/// Damage of a file system that is not mounted.
fn damaged(sample: &UsageSample) -> Option<String> {
    let o = &sample.usage.ownership;
    if sample.mounted_at.is_some() {
        return None;
    }
    if !sample.damages.is_empty() {
        return Some(format!("{} inodes are damaged, and were left out", sample.damages.len()));
    }
    if o.is_whole() || !sample.s.is_clean {
        return None;
    }
    Some(format!(
        "bitmaps and inodes disagree: {} clusters used without owner, {} owned and marked free, {} blocks with two \
         owners",
        o.lost_clusters, o.unmarked_clusters, o.twice_blocks
    ))
}

fn report(sample: &UsageSample, answer: &mut Answer) {
    let UsageSample { s, usage, .. } = sample;
    let block = u64::from(s.block_bytes);
    let used: u64 = s.blocks - s.first_data_block - usage.free.blocks;
    let data = usage.blocks(Kind::Data);
    let metadata: u64 = KINDS.iter().filter(|kind| !is_content(**kind)).map(|kind| usage.blocks(*kind)).sum();
    answer.lead = format!(
        "{} of {} used: {} of data in {} files; {} of metadata ({}), most of it {}; {} of the files are fragmented.",
        percent(used, s.blocks),
        bytes(s.bytes()),
        bytes(data * block),
        usage.files.regular,
        bytes(metadata * block),
        percent(metadata, s.blocks),
        KINDS
            .into_iter()
            .filter(|kind| !is_content(*kind))
            .max_by_key(|kind| usage.blocks(*kind))
            .map_or("", Kind::name),
        percent(usage.files.fragmented, usage.files.with_blocks),
    );
    notes(sample, answer);
    let size = |blocks: u64| bytes(blocks * block);
    let row =
        |name: &str, blocks: u64| vec![name.to_owned(), size(blocks), blocks.to_string(), percent(blocks, s.blocks)];
    let mut kinds: Vec<(&str, u64)> = KINDS.iter().map(|kind| (kind.name(), usage.blocks(*kind))).collect();
    kinds.push(("used without data (bigalloc)", usage.slack_blocks));
    kinds.push(("free", usage.free.blocks));
    kinds.retain(|(_, blocks)| *blocks > 0);
    kinds.sort_by_key(|(_, blocks)| std::cmp::Reverse(*blocks));
    let part = |(name, blocks): &(&str, u64)| {
        let colour = KINDS.iter().position(|kind| kind.name() == *name);
        Part { name: (*name).to_owned(), value: *blocks, words: size(*blocks), colour }
    };
    answer.treemaps.push(Treemap { title: "All blocks".to_owned(), parts: kinds.iter().map(part).collect() });
    let of_metadata = KINDS.iter().filter(|kind| !is_content(**kind)).map(|kind| (kind.name(), usage.blocks(*kind)));
    answer.treemaps.push(Treemap { title: "Metadata".to_owned(), parts: of_metadata.map(|p| part(&p)).collect() });
    answer.tables.push(Table {
        title: "Use of blocks".to_owned(),
        columns: vec![("kind", false), ("size", true), ("blocks", true), ("of all", true)],
        rows: kinds.iter().map(|(name, blocks)| row(name, *blocks)).collect(),
        shown: usize::MAX,
    });
    let changes = other_settings(sample);
    answer.tables.push(Table {
        title: "Effect of other settings".to_owned(),
        columns: vec![("setting", false), ("space", true), ("why", false)],
        rows: changes.iter().map(|c| vec![c.setting.clone(), signed(c.saved_bytes), c.why.clone()]).collect(),
        shown: usize::MAX,
    });
    answer.tables.push(fragments(&usage.files));
    answer.tables.push(free_space(usage, block));
    answer.tables.push(Table {
        title: "Most fragmented files".to_owned(),
        columns: vec![("fragments", true), ("size", true), ("inode", true), ("path", false)],
        rows: usage
            .files
            .worst
            .iter()
            .map(|p| vec![p.fragments.to_string(), bytes(p.bytes), p.inode.to_string(), path(sample, p.inode)])
            .collect(),
        shown: SHOWN,
    });
}

fn notes(sample: &UsageSample, answer: &mut Answer) {
    let UsageSample { s, usage, .. } = sample;
    let groups = s.group_count();
    if sample.changing > 0 {
        answer.skips.push(format!(
            "one moment: {} of {groups} groups changed at each reading ({} times); their figures are of several \
             moments",
            sample.changing, sample.tries
        ));
    } else if sample.mounted_at.is_some() && !usage.ownership.is_whole() {
        let o = &usage.ownership;
        answer.skips.push(format!(
            "one moment: bitmaps and inodes disagreed in {ATTEMPTS} readings ({} clusters used without owner, {} \
             owned and marked free)",
            o.lost_clusters, o.unmarked_clusters
        ));
    }
    if let Some(at) = &sample.mounted_at {
        answer
            .notes
            .push(format!("It is mounted at {at}. Written data without blocks on the disk is not in these figures."));
    } else if s.has(Feature::RECOVER) {
        answer.notes.push(
            "It was not unmounted: its journal has changes that are not in these figures. A mount or \
            e2fsck replays them."
                .to_owned(),
        );
    }
    if let Some((a, b, block)) = usage.ownership.first_twice {
        answer
            .notes
            .push(format!("Block {block} has two owners, inode {a} and inode {b} (0: the file system itself)."));
    }
    answer.notes.extend(sample.damages.iter().take(DAMAGES_SHOWN).map(|what| format!("Damaged: {what}.")));
    if sample.damages.len() > DAMAGES_SHOWN {
        answer.notes.push(format!("{} more inodes are damaged.", sample.damages.len() - DAMAGES_SHOWN));
    }
    if usage.files.unwritten_blocks > 0 {
        answer.notes.push(format!(
            "{} are reserved for files and not written yet.",
            bytes(usage.files.unwritten_blocks * u64::from(s.block_bytes))
        ));
    }
}

/// Effect of a setting.
struct SettingEffect {
    setting: String,
    /// Bytes saved; negative for more bytes.
    saved_bytes: i64,
    why: String,
}

fn other_settings(sample: &UsageSample) -> Vec<SettingEffect> {
    let UsageSample { s, usage, .. } = sample;
    let block = u64::from(s.block_bytes);
    let mut changes: Vec<SettingEffect> = usage
        .clustered
        .iter()
        .map(|c| SettingEffect {
            setting: format!("bigalloc, clusters of {} KiB", c.cluster_bytes >> 10),
            saved_bytes: c.metadata_bytes as i64 - c.slack_bytes as i64,
            why: format!(
                "{} less for bitmaps and descriptors, {} more for the ends of files and directories",
                bytes(c.metadata_bytes),
                bytes(c.slack_bytes)
            ),
        })
        .collect();
    if s.has(Feature::INLINE_DATA) {
        changes.push(SettingEffect {
            setting: "inline_data".to_owned(),
            saved_bytes: 0,
            why: format!("enabled: {} inodes hold their data", usage.files.inline),
        });
    } else {
        let blocks = usage.files.small_blocks + usage.small_directories;
        changes.push(SettingEffect {
            setting: "inline_data".to_owned(),
            saved_bytes: (blocks * block) as i64,
            why: format!(
                "{} files and {} directories would fit into their inodes of {} bytes",
                usage.files.small, usage.small_directories, s.inode_bytes
            ),
        });
    }
    let journal = usage.blocks(Kind::Journal) * block;
    changes.push(SettingEffect {
        setting: "no journal".to_owned(),
        saved_bytes: journal as i64,
        why: if journal > 0 {
            "metadata is written once only; after a crash the whole file system must be checked: for data that can be \
             created again"
                .to_owned()
        } else {
            "it has no journal".to_owned()
        },
    });
    changes
}

fn signed(saved: i64) -> String {
    match saved {
        0 => "no change".to_owned(),
        1.. => format!("{} less", bytes(saved.unsigned_abs())),
        _ => format!("{} more", bytes(saved.unsigned_abs())),
    }
}

/// Range of a power of two: 1, 2, 3-4, 5-8, ..
fn up_to_power(power: usize) -> String {
    match power {
        0 | 1 => (power + 1).to_string(),
        _ => format!("{}-{}", (1u64 << (power - 1)) + 1, 1u64 << power),
    }
}

fn fragments(files: &Files) -> Table {
    let rows = files.by_fragments.iter().enumerate().filter(|(_, n)| **n > 0);
    Table {
        title: "Files by number of fragments".to_owned(),
        columns: vec![("fragments", true), ("files", true), ("of all", true)],
        rows: rows.map(|(power, n)| vec![up_to_power(power), n.to_string(), percent(*n, files.with_blocks)]).collect(),
        shown: usize::MAX,
    }
}

fn free_space(usage: &Usage, block: u64) -> Table {
    let rows = usage.free.by_power.iter().enumerate().filter(|(_, blocks)| **blocks > 0);
    Table {
        title: format!(
            "Free space by size of its runs: {} runs, the largest of {}",
            usage.free.runs,
            bytes(usage.free.largest_blocks * block)
        ),
        columns: vec![("runs from", true), ("free in them", true), ("of all free", true)],
        rows: rows
            .map(|(power, blocks)| {
                vec![bytes(block << power), bytes(blocks * block), percent(*blocks, usage.free.blocks)]
            })
            .collect(),
        shown: usize::MAX,
    }
}

fn path(sample: &UsageSample, inode: u32) -> String {
    sample.paths.get(&inode).cloned().unwrap_or_else(|| "(no name)".to_owned())
}

fn is_content(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::Bad)
}

fn json_of(sample: &UsageSample) -> Value {
    let UsageSample { s, usage, .. } = sample;
    let block = u64::from(s.block_bytes);
    let kinds: serde_json::Map<String, Value> =
        KINDS.iter().map(|kind| (kind.name().to_owned(), json!(usage.blocks(*kind)))).collect();
    let files = &usage.files;
    let o = &usage.ownership;
    json!({
        "mounted_at": sample.mounted_at,
        "consistent": sample.is_consistent,
        "groups_changing": sample.changing,
        "attempts": sample.tries,
        "block_bytes": block,
        "blocks": s.blocks,
        "cluster_blocks": s.cluster_blocks,
        "groups": s.group_count(),
        "features": s.feature_names(),
        "label": s.label,
        "blocks_by_kind": kinds,
        "blocks_not_filled": usage.slack_blocks,
        "free": {
            "blocks": usage.free.blocks,
            "recorded_blocks": usage.free_blocks_recorded,
            "runs": usage.free.runs,
            "largest_blocks": usage.free.largest_blocks,
            "blocks_by_power_of_run": usage.free.by_power,
        },
        "inodes": {"all": s.inodes, "used": usage.inodes_used},
        "files": {
            "regular": files.regular, "directories": files.directories, "symlinks": files.symlinks,
            "special": files.special, "inline": files.inline,
            "bytes": files.bytes, "with_blocks": files.with_blocks, "fragmented": files.fragmented,
            "fragments": files.fragments,
            "by_power_of_fragments": files.by_fragments, "unwritten_blocks": files.unwritten_blocks,
            "blocks_behind_end": files.blocks_behind_end,
        },
        "most_fragmented": files.worst.iter().map(|p| json!({"inode": p.inode, "fragments": p.fragments,
        "bytes": p.bytes, "path": sample.paths.get(&p.inode)})).collect::<Vec<_>>(),
        "other_settings": other_settings(sample).iter().map(|c| json!({"setting": c.setting,
        "saved_bytes": c.saved_bytes, "why": c.why})).collect::<Vec<_>>(),
        "ownership": {"lost_clusters": o.lost_clusters, "unmarked_clusters": o.unmarked_clusters,
        "twice_blocks": o.twice_blocks},
        "damaged": sample.damages,
    })
}
