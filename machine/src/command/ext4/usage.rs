//! `yunti machine ext4 usage`: what the blocks of a file system are used for, how files and free space are cut, and what other settings would change.

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

/// What each block is used for: by kind, with pieces of files and of free space, and what bigalloc, inline data or no journal would save here
///
/// Only reads. Of a file system that is mounted, groups that change meanwhile are read again, until all of them were seen as they were at one moment.
#[derive(Debug, Args)]
pub struct UsageFlags {
    /// A device, an image, or a directory of a mounted file system
    #[arg(value_name = "DEVICE|IMAGE|DIRECTORY")]
    place: PathBuf,
    /// How often groups that change are read again
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    tries: u32,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

const SHOWN: usize = 10;
const DAMAGES_SHOWN: usize = 10;

/// All that was found.
struct Seen {
    s: SuperBlock,
    usage: Usage,
    paths: HashMap<u32, String>,
    /// What was read was true at one moment.
    is_consistent: bool,
    changing: u64,
    tries: u32,
    damages: Vec<String>,
    mounted_at: Option<String>,
}

pub fn usage(flags: &UsageFlags) -> Outcome {
    let place = Place::find(&flags.place)?;
    let shown = place.shown();
    let source = place.open()?;
    let fs = FileSystem::open(&source).map_err(|e| failed(&shown, e))?;
    let is_mounted = place.mounted_at.is_some();
    let (mut tries, mut look) = (0, 0);
    let (walked, runs, usage) = loop {
        look += 1;
        let walked = fs.walk(is_mounted, flags.tries, Files::add).map_err(|e| failed(&shown, e))?;
        let runs = walked.runs();
        let usage = Usage::of(&fs, &walked, &runs);
        tries += walked.tries;
        // A change of the bitmaps and that of the inode which belongs to it may have stood on both sides of the moment.
        let is_done = !is_mounted || walked.changing > 0 || usage.ownership.is_whole() || look == LOOKS;
        if is_done {
            break (walked, runs, usage);
        }
    };
    let wanted: HashSet<u32> = usage.files.worst.iter().map(|p| p.inode).collect();
    let seen = Seen {
        paths: fs.paths(&runs, &wanted),
        is_consistent: walked.changing == 0 && (!is_mounted || usage.ownership.is_whole()),
        changing: walked.changing,
        tries,
        damages: walked.damages().map(|e| e.what.clone()).collect(),
        mounted_at: place.mounted_at,
        s: fs.superblock,
        usage,
    };
    let mut answer = Answer::of_device("ext4 usage", shown.clone());
    tell(&seen, &mut answer);
    answer.give(&flags.answer, End::Enough, json_of(&seen))?;
    damaged(&seen).map_or(Ok(()), |what| {
        if flags.answer.json {
            // One document is the answer.
            return Err(Failure::Reported(Code::Corrupt));
        }
        Err(Failure::from(
            Error::new(Code::Corrupt, what)
                .at_path(shown)
                .hint("e2fsck -n tells what is wrong with it, and changes nothing"),
        ))
    })
}

/// Of a mounted one whose bitmaps and inodes do not fit to each other.
const LOOKS: u32 = 5;

/// Of one that nobody writes to.
fn damaged(seen: &Seen) -> Option<String> {
    let o = &seen.usage.ownership;
    if seen.mounted_at.is_some() {
        return None;
    }
    if !seen.damages.is_empty() {
        return Some(format!("{} inodes say what cannot be, and were left out", seen.damages.len()));
    }
    if o.is_whole() || !seen.s.is_clean {
        return None;
    }
    Some(format!(
        "bitmaps and inodes contradict each other: {} clusters in use and of nobody, {} of somebody and free, {} blocks of two",
        o.lost_clusters, o.unmarked_clusters, o.twice_blocks
    ))
}

fn tell(seen: &Seen, answer: &mut Answer) {
    let Seen { s, usage, .. } = seen;
    let block = u64::from(s.block_bytes);
    let used: u64 = s.blocks - s.first_data_block - usage.free.blocks;
    let data = usage.blocks(Kind::Data);
    let metadata: u64 = KINDS.iter().filter(|kind| !is_content(**kind)).map(|kind| usage.blocks(*kind)).sum();
    answer.lead = format!(
        "{} of {} used: {} of data in {} files; {} of metadata ({}), most of it {}; {} of the files lie in more than one piece.",
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
    notes(seen, answer);
    let size = |blocks: u64| bytes(blocks * block);
    let row =
        |name: &str, blocks: u64| vec![name.to_owned(), size(blocks), blocks.to_string(), percent(blocks, s.blocks)];
    let mut kinds: Vec<(&str, u64)> = KINDS.iter().map(|kind| (kind.name(), usage.blocks(*kind))).collect();
    kinds.push(("used, not filled (bigalloc)", usage.slack_blocks));
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
        title: "What blocks are used for".to_owned(),
        columns: vec![("kind", false), ("size", true), ("blocks", true), ("of all", true)],
        rows: kinds.iter().map(|(name, blocks)| row(name, *blocks)).collect(),
        shown: usize::MAX,
    });
    let changes = other_settings(seen);
    answer.tables.push(Table {
        title: "What other settings would change here".to_owned(),
        columns: vec![("setting", false), ("space", true), ("why", false)],
        rows: changes.iter().map(|c| vec![c.setting.clone(), signed(c.saved_bytes), c.why.clone()]).collect(),
        shown: usize::MAX,
    });
    answer.tables.push(pieces(&usage.files));
    answer.tables.push(free_space(usage, block));
    answer.tables.push(Table {
        title: "Files in the most pieces".to_owned(),
        columns: vec![("pieces", true), ("size", true), ("inode", true), ("path", false)],
        rows: usage
            .files
            .worst
            .iter()
            .map(|p| vec![p.fragments.to_string(), bytes(p.bytes), p.inode.to_string(), path(seen, p.inode)])
            .collect(),
        shown: SHOWN,
    });
}

fn notes(seen: &Seen, answer: &mut Answer) {
    let Seen { s, usage, .. } = seen;
    let groups = s.group_count();
    if seen.changing > 0 {
        answer.skips.push(format!(
            "one moment: {} of {groups} groups were written to each time they were looked at ({} times); what was read of them is of several moments",
            seen.changing, seen.tries
        ));
    } else if seen.mounted_at.is_some() && !usage.ownership.is_whole() {
        let o = &usage.ownership;
        answer.skips.push(format!(
            "one moment: bitmaps and inodes did not fit to each other in {LOOKS} looks ({} clusters in use and of nobody, {} of somebody and free)",
            o.lost_clusters, o.unmarked_clusters
        ));
    }
    if let Some(at) = &seen.mounted_at {
        answer.notes.push(format!(
            "It is mounted at {at}. What was written and has no place on the disk yet is not in these figures."
        ));
    } else if s.has(Feature::RECOVER) {
        answer.notes.push("It was not unmounted: its journal has changes that are not in these figures. Mounting it or e2fsck replays them.".to_owned());
    }
    if let Some((a, b, block)) = usage.ownership.first_twice {
        answer
            .notes
            .push(format!("Block {block} is in use twice, by inode {a} and inode {b} (0: the file system itself)."));
    }
    answer.notes.extend(seen.damages.iter().take(DAMAGES_SHOWN).map(|what| format!("Damaged: {what}.")));
    if seen.damages.len() > DAMAGES_SHOWN {
        answer.notes.push(format!("And {} more are damaged.", seen.damages.len() - DAMAGES_SHOWN));
    }
    if usage.files.unwritten_blocks > 0 {
        answer.notes.push(format!(
            "{} are reserved for files and not written yet.",
            bytes(usage.files.unwritten_blocks * u64::from(s.block_bytes))
        ));
    }
}

struct Change {
    setting: String,
    /// Less than now; negative: more.
    saved_bytes: i64,
    why: String,
}

fn other_settings(seen: &Seen) -> Vec<Change> {
    let Seen { s, usage, .. } = seen;
    let block = u64::from(s.block_bytes);
    let mut changes: Vec<Change> = usage
        .clustered
        .iter()
        .map(|c| Change {
            setting: format!("bigalloc, clusters of {} KiB", c.cluster_bytes >> 10),
            saved_bytes: c.metadata_bytes as i64 - c.slack_bytes as i64,
            why: format!(
                "{} less of bitmaps and descriptors, {} more for ends of files and directories",
                bytes(c.metadata_bytes),
                bytes(c.slack_bytes)
            ),
        })
        .collect();
    if s.has(Feature::INLINE_DATA) {
        changes.push(Change {
            setting: "inline_data".to_owned(),
            saved_bytes: 0,
            why: format!("it is on: {} inodes have their data in them", usage.files.inline),
        });
    } else {
        let blocks = usage.files.small_blocks + usage.small_directories;
        changes.push(Change {
            setting: "inline_data".to_owned(),
            saved_bytes: (blocks * block) as i64,
            why: format!(
                "{} files and {} directories would lie in their inodes of {} bytes",
                usage.files.small, usage.small_directories, s.inode_bytes
            ),
        });
    }
    let journal = usage.blocks(Kind::Journal) * block;
    changes.push(Change {
        setting: "no journal".to_owned(),
        saved_bytes: journal as i64,
        why: if journal > 0 {
            "and metadata are written once; after a crash all of it must be checked: for what can be made again"
                .to_owned()
        } else {
            "there is none".to_owned()
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

/// 1, 2, 3-4, 5-8, ..
fn up_to_power(power: usize) -> String {
    match power {
        0 | 1 => (power + 1).to_string(),
        _ => format!("{}-{}", (1u64 << (power - 1)) + 1, 1u64 << power),
    }
}

fn pieces(files: &Files) -> Table {
    let rows = files.by_fragments.iter().enumerate().filter(|(_, n)| **n > 0);
    Table {
        title: "Files by the pieces that they lie in".to_owned(),
        columns: vec![("pieces", true), ("files", true), ("of all", true)],
        rows: rows.map(|(power, n)| vec![up_to_power(power), n.to_string(), percent(*n, files.with_blocks)]).collect(),
        shown: usize::MAX,
    }
}

fn free_space(usage: &Usage, block: u64) -> Table {
    let rows = usage.free.by_power.iter().enumerate().filter(|(_, blocks)| **blocks > 0);
    Table {
        title: format!(
            "Free space by the pieces that it lies in: {} pieces, the largest of {}",
            usage.free.runs,
            bytes(usage.free.largest_blocks * block)
        ),
        columns: vec![("pieces from", true), ("free in them", true), ("of all free", true)],
        rows: rows
            .map(|(power, blocks)| {
                vec![bytes(block << power), bytes(blocks * block), percent(*blocks, usage.free.blocks)]
            })
            .collect(),
        shown: usize::MAX,
    }
}

fn path(seen: &Seen, inode: u32) -> String {
    seen.paths.get(&inode).cloned().unwrap_or_else(|| "(no name)".to_owned())
}

fn is_content(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::Bad)
}

fn json_of(seen: &Seen) -> Value {
    let Seen { s, usage, .. } = seen;
    let block = u64::from(s.block_bytes);
    let kinds: serde_json::Map<String, Value> =
        KINDS.iter().map(|kind| (kind.name().to_owned(), json!(usage.blocks(*kind)))).collect();
    let files = &usage.files;
    let o = &usage.ownership;
    json!({
        "mounted_at": seen.mounted_at,
        "consistent": seen.is_consistent,
        "groups_changing": seen.changing,
        "looks": seen.tries,
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
            "blocks_told": usage.free_blocks_told,
            "runs": usage.free.runs,
            "largest_blocks": usage.free.largest_blocks,
            "blocks_by_power_of_run": usage.free.by_power,
        },
        "inodes": {"all": s.inodes, "used": usage.inodes_used},
        "files": {
            "regular": files.regular, "directories": files.directories, "symlinks": files.symlinks, "special": files.special, "inline": files.inline,
            "bytes": files.bytes, "with_blocks": files.with_blocks, "fragmented": files.fragmented, "fragments": files.fragments,
            "by_power_of_fragments": files.by_fragments, "unwritten_blocks": files.unwritten_blocks, "blocks_behind_end": files.blocks_behind_end,
        },
        "most_fragmented": files.worst.iter().map(|p| json!({"inode": p.inode, "fragments": p.fragments, "bytes": p.bytes, "path": seen.paths.get(&p.inode)})).collect::<Vec<_>>(),
        "other_settings": other_settings(seen).iter().map(|c| json!({"setting": c.setting, "saved_bytes": c.saved_bytes, "why": c.why})).collect::<Vec<_>>(),
        "ownership": {"lost_clusters": o.lost_clusters, "unmarked_clusters": o.unmarked_clusters, "twice_blocks": o.twice_blocks},
        "damaged": seen.damages,
    })
}
