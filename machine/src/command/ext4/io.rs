//! `yunti machine ext4 io`: reads and writes of a file system's device, by the kind of block.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_ext4::{BlockMap, FileSystem, KINDS, Kind};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use super::attribution::{Attribution, Both};
use super::failed;
use super::place::Place;
use yunti_probe::answer::{Answer, Part, Table, Treemap, bytes, percent};
use yunti_probe::kernel::system::Requests;
use yunti_probe::options::OutputFlags;
use yunti_probe::stopping::{PULSE, Stopping};

/// Measure reads and writes of a file system's device by kind of block (data, journal, inode tables, directories, ..)
/// and by file
#[derive(Debug, Args)]
pub struct IoFlags {
    /// A device, or a directory of a mounted file system
    #[arg(value_name = "DEVICE|DIRECTORY")]
    place: PathBuf,
    #[command(flatten)]
    pub output: OutputFlags,
}

const FILES_MAX: usize = 1000;
const SHOWN: usize = 15;
const SECOND: Duration = Duration::from_secs(1);
/// Divisor. A new map is made when requests are to unknown blocks; that takes at most this fraction of the time.
const SHARE_OF_MAPS: u32 = 20;
const TRIES: u32 = 3;

/// Measures the requests to a device until its time is over, and prints the result.
pub fn io(flags: &IoFlags) -> Outcome {
    let mut stopping = Stopping::new()?;
    let place = Place::find(&flags.place)?;
    let shown = place.shown();
    let Some((major, minor)) = place.device() else {
        let error = Error::new(Code::Input, "this image is not mounted, so it has no requests").at_path(shown);
        return Err(error.hint("name a device or a mount point").into());
    };
    let source = place.open()?;
    let fs = FileSystem::open(&source).map_err(|e| failed(&shown, e))?;
    // Before the map is made, so that requests during that time count.
    let mut requests = Requests::start(&shown, major, minor)?;
    let begun = Instant::now();
    let map = map_of(&fs, &place)?;
    eprintln!("watching {shown}; ctrl-C ends it");
    let mut maps = Maps { took: begun.elapsed(), made: Instant::now() };
    let mut all = Attribution::new(map, fs.superblock.blocks, fs.superblock.block_bytes, place.first_sector());
    let mut live = Live::new(!flags.output.answer.json);
    let watched = stopping.wait_for_time(flags.output.seconds, PULSE, || {
        requests.collect(|request| all.add(&request));
        if all.has_unknown() && maps.made.elapsed() > SECOND.max(maps.took * SHARE_OF_MAPS) {
            maps.renew(&fs, &place, &mut all);
        }
        live.pass(&all);
        live.outcome.is_ok()
    });
    live.outcome?;
    requests.collect(|request| all.add(&request));
    if all.has_unknown() {
        maps.renew(&fs, &place, &mut all);
    }
    all.end();
    let mut answer = Answer::of_device("ext4 io", shown);
    answer.watched(&watched);
    answer.missing(requests.lost(), |n| format!("{n} requests: they came faster than they could be read"));
    let paths = paths_of(&fs, &all);
    report(&all, &paths, &mut answer);
    answer.give(&flags.output.answer, watched.end, json_of(&all, &paths, requests.lost()))
}

/// Duration and time of the last map.
struct Maps {
    took: Duration,
    made: Instant,
}

impl Maps {
    fn renew(&mut self, fs: &FileSystem<File>, place: &Place, all: &mut Attribution) {
        let begun = Instant::now();
        // If the file system cannot be read now, the old map stays.
        if let Ok(map) = map_of(fs, place) {
            all.renew(map);
        }
        (self.took, self.made) = (begun.elapsed(), Instant::now());
    }
}

fn map_of(fs: &FileSystem<File>, place: &Place) -> Result<BlockMap> {
    let walk =
        fs.walk(place.mounted_at.is_some(), TRIES, |(): &mut (), _| ()).map_err(|e| failed(&place.shown(), e))?;
    Ok(BlockMap::new(walk.runs()))
}

fn paths_of(fs: &FileSystem<File>, all: &Attribution) -> HashMap<u32, String> {
    let wanted: HashSet<u32> = all.files().into_iter().take(FILES_MAX).map(|(inode, _)| inode).collect();
    fs.paths(all.map().runs(), &wanted)
}

/// Prints a line each second.
struct Live {
    is_wanted: bool,
    begun: Instant,
    last: Instant,
    before: Vec<(&'static str, Both)>,
    outcome: Outcome,
}

impl Live {
    fn new(is_wanted: bool) -> Live {
        Live { is_wanted, begun: Instant::now(), last: Instant::now(), before: Vec::new(), outcome: Ok(()) }
    }

    fn pass(&mut self, all: &Attribution) {
        if !self.is_wanted || self.last.elapsed() < SECOND {
            return;
        }
        let seconds = self.last.elapsed().as_secs_f64();
        let now: Vec<_> = KINDS.iter().map(|kind| (kind.name(), all.of_kind(*kind))).collect();
        let mut parts: Vec<(u64, String)> = Vec::new();
        let (mut read, mut written) = (0, 0);
        for (i, (name, both)) in now.iter().enumerate() {
            let before = self.before.get(i).map(|(_, both)| *both).unwrap_or_default();
            read += both.read.bytes - before.read.bytes;
            written += both.written.bytes - before.written.bytes;
            let moved = both.bytes() - before.bytes();
            if moved > 0 {
                parts.push((moved, format!("{name} {}", bytes(moved))));
            }
        }
        parts.sort_by_key(|(moved, _)| std::cmp::Reverse(*moved));
        let rate = |sum: u64| bytes((sum as f64 / seconds) as u64);
        let named: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
        let line = format!(
            "{:5.0} s  read {}/s  written {}/s  {}\n",
            self.begun.elapsed().as_secs_f64(),
            rate(read),
            rate(written),
            named.join(", ")
        );
        self.outcome = stdout::print(&line);
        (self.before, self.last) = (now, Instant::now());
    }
}

fn report(all: &Attribution, paths: &HashMap<u32, String>, answer: &mut Answer) {
    let sum = all.all();
    let mut rows: Vec<(&str, Both)> = KINDS.iter().map(|kind| (kind.name(), all.of_kind(*kind))).collect();
    rows.push(("not known", all.not_known));
    rows.retain(|(_, both)| both.bytes() > 0);
    rows.sort_by_key(|(_, both)| std::cmp::Reverse(both.bytes()));
    let data = all.of_kind(Kind::Data);
    answer.lead = if sum.bytes() == 0 {
        "no requests.".to_owned()
    } else {
        format!(
            "{} read and {} written; {} of it regular data, {} journal, {} other metadata; {} flushes.",
            bytes(sum.read.bytes),
            bytes(sum.written.bytes),
            percent(data.bytes(), sum.bytes()),
            percent(all.of_kind(Kind::Journal).bytes(), sum.bytes()),
            percent(
                sum.bytes() - data.bytes() - all.of_kind(Kind::Journal).bytes() - all.not_known.bytes(),
                sum.bytes()
            ),
            all.flushes,
        )
    };
    if all.not_known.bytes() > 0 {
        answer.notes.push(format!(
            "{} went to blocks that were free before and after: short-lived files.",
            bytes(all.not_known.bytes())
        ));
    }
    if all.outside.bytes() > 0 {
        answer.notes.push(format!("{} were outside the file system.", bytes(all.outside.bytes())));
    }
    let files = all.files().len();
    if files > FILES_MAX {
        answer
            .notes
            .push(format!("Of {files} files, the {FILES_MAX} with the most bytes are listed; the sums include all."));
    }
    if all.discarded.requests > 0 {
        answer.notes.push(format!("{} were given back to the device (discard).", bytes(all.discarded.bytes)));
    }
    let part = |(name, both): &(&str, Both)| Part {
        name: (*name).to_owned(),
        value: both.bytes(),
        words: bytes(both.bytes()),
        colour: KINDS.iter().position(|kind| kind.name() == *name),
    };
    if !rows.is_empty() {
        answer
            .treemaps
            .push(Treemap { title: "Bytes read and written".to_owned(), parts: rows.iter().map(part).collect() });
    }
    let columns = |last| {
        vec![("read", true), ("requests", true), ("written", true), ("requests", true), ("of all", true), (last, false)]
    };
    let cells = |both: &Both, name: String| {
        vec![
            bytes(both.read.bytes),
            both.read.requests.to_string(),
            bytes(both.written.bytes),
            both.written.requests.to_string(),
            percent(both.bytes(), sum.bytes()),
            name,
        ]
    };
    answer.tables.push(Table {
        title: "By kind of block".to_owned(),
        columns: columns("kind"),
        rows: rows.iter().map(|(name, both)| cells(both, (*name).to_owned())).collect(),
        shown: usize::MAX,
    });
    answer.tables.push(Table {
        title: "Regular data, by file".to_owned(),
        columns: columns("path"),
        rows: all.files().iter().take(FILES_MAX).map(|(inode, both)| cells(both, path(paths, *inode))).collect(),
        shown: SHOWN,
    });
}

fn path(paths: &HashMap<u32, String>, inode: u32) -> String {
    paths.get(&inode).cloned().unwrap_or_else(|| format!("(inode {inode}, without a name)"))
}

fn json_of(all: &Attribution, paths: &HashMap<u32, String>, lost: u64) -> Value {
    let both = |both: &Both| {
        json!({
            "read_bytes": both.read.bytes, "read_requests": both.read.requests,
            "written_bytes": both.written.bytes, "written_requests": both.written.requests,
        })
    };
    let kinds: serde_json::Map<String, Value> =
        KINDS.iter().map(|kind| (kind.name().to_owned(), both(&all.of_kind(*kind)))).collect();
    let files: Vec<Value> = all
        .files()
        .iter()
        .take(FILES_MAX)
        .map(|(inode, sum)| {
            let mut row = both(sum);
            (row["inode"], row["path"]) = (json!(inode), json!(paths.get(inode)));
            row
        })
        .collect();
    json!({
        "by_kind": kinds,
        "not_known": both(&all.not_known),
        "outside": both(&all.outside),
        "all": both(&all.all()),
        "files_seen": all.files().len(),
        "by_file": files,
        "flushes": all.flushes,
        "discarded_bytes": all.discarded.bytes,
        "lost_requests": lost,
    })
}
