//! Frames of a job's journal: the bytes on disk (docs/formats/job-journal.md).
//!
//! ```text
//!   len u32 | json_len u32 | JSON | blocks, 40 bytes each | crc32c u32         little-endian
//!             `------------- len bytes -----------------'   over all before it
//!
//!   block   offset u64 | first prefix u64 | last prefix u64 | len u32 | raw len u32 | partition u32 | file u32
//! ```
//!
//! JSON, because a person reads a journal when a job surprises. The blocks of runs are binary, because a terabyte has
//! millions of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::bytes::crc32c;
use crate::operator::context::BadRecord;
use crate::run::scratch::Extent;
use crate::run::{BlockEntry, RunTotals};

/// Version of the format; a journal of another version is not used.
pub const VERSION: u32 = 1;

/// Bytes of a block's entry.
const BLOCK_BYTES: usize = 40;
/// Bytes before the JSON, and of the checksum behind it.
const HEADER_BYTES: usize = 8;
const CRC_BYTES: usize = 4;

/// Counters of some tasks: group, name, number.
pub type CounterRows = Vec<(String, String, u64)>;

/// One event of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Frame {
    /// First frame: what the job is.
    Job(JobIdentity),
    /// An attempt to run the job begins. `first_file`: number of its first scratch file, among those of all attempts.
    Attempt { boot: String, unix_ms: u64, first_file: u32, scratch_files: Vec<RawPath> },
    /// The map phase begins. `input`: hash over all splits.
    MapPhase { hash_range_bits: u32, bounds: Vec<Vec<u8>>, input: u64 },
    /// Some splits are mapped, and their records are in runs.
    Checkpoint { splits: Vec<SplitIdentity>, runs: Vec<RunRecord>, counters: CounterRows, bad_records: Vec<Bad> },
    /// All splits are mapped: the numbers of all runs, in the order of merging.
    Mapped { runs: Vec<u32> },
    /// One run took the place of several.
    Merged { run: RunRecord, of: Vec<u32> },
    /// A partition is written up to the keys with prefix `hi`; its file has `bytes` bytes.
    Reduced { partition: u32, hi: u64, bytes: u64, records: u64, counters: CounterRows },
    /// A split of a job without a reduce is written; its file has `bytes` bytes.
    Part { split: SplitIdentity, bytes: u64, records: u64, counters: CounterRows, bad_records: Vec<Bad> },
    /// A run cannot be read any more.
    Lost { run: u32 },
    /// The output is about to get its name.
    Commit,
}

/// Properties of a job that decide its output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobIdentity {
    pub version: u32,
    pub engine: String,
    /// The job as a job file, without memory, threads and the like.
    pub job: String,
    /// Class libraries, side files and tables: name, and hash of the contents.
    pub files: Vec<(String, String)>,
    /// True if the data of a frame are synced before the frame.
    pub durable: bool,
}

/// A split: its number, and a hash of its pieces with path, length and time of the files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitIdentity {
    pub number: u32,
    pub hash: u64,
}

/// A bad record (`BadRecord`), its bytes as numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bad {
    file: String,
    offset: u64,
    reason: String,
    bytes: Vec<u8>,
}

impl From<BadRecord> for Bad {
    fn from(BadRecord { file, offset, reason, bytes }: BadRecord) -> Bad {
        Bad { file, offset, reason, bytes }
    }
}

impl From<Bad> for BadRecord {
    fn from(Bad { file, offset, reason, bytes }: Bad) -> BadRecord {
        BadRecord { file, offset, reason, bytes }
    }
}

/// A run, with its blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Number of the run in the journal.
    pub number: u32,
    /// True for a run of fold states, by hash range.
    pub is_table: bool,
    pub block_bytes: u64,
    pub records: u64,
    pub record_bytes: u64,
    pub stored_bytes: u64,
    /// Number of blocks behind the JSON.
    blocks_len: u64,
    #[serde(skip)]
    pub blocks: Vec<StoredBlock>,
}

/// Entry of a block; `file` is the number of its scratch file in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredBlock {
    pub offset: u64,
    pub first_prefix: u64,
    pub last_prefix: u64,
    pub len: u32,
    pub raw_len: u32,
    pub partition: u32,
    pub file: u32,
}

impl RunRecord {
    /// Returns the record of a run. `first_file`: number of the first file of its scratch space.
    pub fn new(
        number: u32,
        is_table: bool,
        block_bytes: usize,
        totals: RunTotals,
        blocks: &[BlockEntry],
        first_file: u32,
    ) -> RunRecord {
        let stored = |entry: &BlockEntry| StoredBlock {
            offset: entry.extent.offset,
            first_prefix: entry.first_prefix,
            last_prefix: entry.last_prefix,
            len: entry.extent.len,
            raw_len: entry.raw_len,
            partition: entry.partition,
            file: first_file + u32::from(entry.extent.file),
        };
        RunRecord {
            number,
            is_table,
            block_bytes: block_bytes as u64,
            records: totals.records,
            record_bytes: totals.record_bytes,
            stored_bytes: totals.stored_bytes,
            blocks_len: blocks.len() as u64,
            blocks: blocks.iter().map(stored).collect(),
        }
    }

    /// Returns the totals of the run.
    pub fn totals(&self) -> RunTotals {
        RunTotals { records: self.records, record_bytes: self.record_bytes, stored_bytes: self.stored_bytes }
    }

    /// Returns the entries of the run's blocks; None for a file number that no scratch space has.
    pub fn entries(&self) -> Option<Vec<BlockEntry>> {
        let entry = |block: &StoredBlock| {
            Some(BlockEntry {
                extent: Extent { offset: block.offset, len: block.len, file: u16::try_from(block.file).ok()? },
                first_prefix: block.first_prefix,
                last_prefix: block.last_prefix,
                raw_len: block.raw_len,
                partition: block.partition,
            })
        };
        self.blocks.iter().map(entry).collect()
    }
}

/// A path as its bytes, which need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawPath(Vec<u8>);

impl From<PathBuf> for RawPath {
    fn from(path: PathBuf) -> RawPath {
        RawPath(path.as_os_str().as_bytes().to_vec())
    }
}

impl From<RawPath> for PathBuf {
    fn from(path: RawPath) -> PathBuf {
        PathBuf::from(OsString::from_vec(path.0))
    }
}

impl StoredBlock {
    fn write(&self, to: &mut Vec<u8>) {
        for number in [self.offset, self.first_prefix, self.last_prefix] {
            to.extend_from_slice(&number.to_le_bytes());
        }
        for number in [self.len, self.raw_len, self.partition, self.file] {
            to.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn read(bytes: &[u8; BLOCK_BYTES]) -> StoredBlock {
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let short = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        StoredBlock {
            offset: long(0),
            first_prefix: long(8),
            last_prefix: long(16),
            len: short(24),
            raw_len: short(28),
            partition: short(32),
            file: short(36),
        }
    }
}

impl Frame {
    fn runs(&self) -> &[RunRecord] {
        match self {
            Frame::Checkpoint { runs, .. } => runs,
            Frame::Merged { run, .. } => std::slice::from_ref(run),
            _ => &[],
        }
    }

    fn runs_mut(&mut self) -> &mut [RunRecord] {
        match self {
            Frame::Checkpoint { runs, .. } => runs,
            Frame::Merged { run, .. } => std::slice::from_mut(run),
            _ => &mut [],
        }
    }

    /// Returns the frame's bytes; None if they are too many for a frame.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let json = serde_json::to_vec(self).ok()?;
        let mut bytes = vec![0; HEADER_BYTES];
        bytes.extend_from_slice(&json);
        self.runs().iter().flat_map(|run| &run.blocks).for_each(|block| block.write(&mut bytes));
        let len = u32::try_from(bytes.len() - 4).ok()?;
        bytes[..4].copy_from_slice(&len.to_le_bytes());
        bytes[4..HEADER_BYTES].copy_from_slice(&(json.len() as u32).to_le_bytes());
        let crc = crc32c(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        Some(bytes)
    }

    /// Decodes the frame at the start of `bytes`. Returns it with its length; None for a frame that is torn or damaged.
    pub fn decode(bytes: &[u8]) -> Option<(Frame, usize)> {
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let end = 4 + word(0)? as usize;
        if word(end)? != crc32c(&bytes[..end]) {
            return None;
        }
        let json_end = HEADER_BYTES.checked_add(word(4)? as usize).filter(|&json_end| json_end <= end)?;
        let mut frame: Frame = serde_json::from_slice(&bytes[HEADER_BYTES..json_end]).ok()?;
        let (blocks, rest) = bytes[json_end..end].as_chunks::<BLOCK_BYTES>();
        let mut blocks = blocks.iter();
        for run in frame.runs_mut() {
            if run.blocks_len > blocks.len() as u64 {
                return None;
            }
            run.blocks = blocks.by_ref().take(run.blocks_len as usize).map(StoredBlock::read).collect();
        }
        (rest.is_empty() && blocks.len() == 0).then_some((frame, end + CRC_BYTES))
    }
}

/// Decodes the frames of a journal up to the first that is torn or damaged. Returns them with the bytes they take.
pub fn decode_all(bytes: &[u8]) -> (Vec<Frame>, usize) {
    let (mut frames, mut at) = (Vec::new(), 0);
    while let Some((frame, len)) = Frame::decode(&bytes[at..]) {
        frames.push(frame);
        at += len;
    }
    (frames, at)
}

/// Returns counters as rows.
pub fn rows_of(counters: &BTreeMap<(String, String), u64>) -> CounterRows {
    counters.iter().map(|((group, name), n)| (group.clone(), name.clone(), *n)).collect()
}

/// Decodes any bytes as a journal, for the fuzzer: frames that decode also encode to the same bytes.
///
/// A second try corrects length and checksum.
pub fn fuzz(bytes: &[u8]) {
    let mut corrected = [&[0; 4], bytes].concat();
    let len = bytes.len() as u32;
    corrected[..4].copy_from_slice(&len.to_le_bytes());
    let crc = crc32c(&corrected);
    corrected.extend_from_slice(&crc.to_le_bytes());
    fuzz_frames(bytes);
    fuzz_frames(&corrected);
}

fn fuzz_frames(bytes: &[u8]) {
    let (frames, len) = decode_all(bytes);
    assert!(len <= bytes.len());
    for frame in frames {
        let encoded = frame.encode().expect("a frame that was decoded");
        let (again, n) = Frame::decode(&encoded).expect("a frame that was encoded");
        assert!(again == frame && n == encoded.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u32, blocks: u32) -> RunRecord {
        let entry = |i: u32| BlockEntry {
            extent: Extent { offset: u64::from(i) << 33, len: 9 + i, file: (i % 3) as u16 },
            first_prefix: u64::MAX - u64::from(i),
            last_prefix: 7,
            raw_len: 1 << 20,
            partition: i / 2,
        };
        let totals = RunTotals { records: u64::MAX, record_bytes: 5, stored_bytes: 6 };
        RunRecord::new(number, number % 2 == 1, 4096, totals, &(0..blocks).map(entry).collect::<Vec<_>>(), 10)
    }

    fn frames() -> Vec<Frame> {
        let split = |number| SplitIdentity { number, hash: u64::MAX - u64::from(number) };
        let bad = Bad { file: "a\u{e4}".into(), offset: 3, reason: "r".into(), bytes: vec![0, 255, 10] };
        let counters = vec![("group".to_string(), "NAME".to_string(), 12)];
        vec![
            Frame::Job(JobIdentity {
                version: VERSION,
                engine: "0.1".into(),
                job: "reduces = 2\n".into(),
                files: vec![("lib.so".into(), "00ff".into())],
                durable: true,
            }),
            Frame::Attempt {
                boot: "b".into(),
                unix_ms: 5,
                first_file: 0,
                scratch_files: vec![RawPath(vec![b'/', 0xff])],
            },
            Frame::MapPhase { hash_range_bits: 3, bounds: vec![vec![1, 2], vec![]], input: u64::MAX },
            Frame::Checkpoint {
                splits: vec![split(0), split(7)],
                runs: vec![run(0, 5), run(1, 0), run(2, 2)],
                counters: counters.clone(),
                bad_records: vec![bad.clone()],
            },
            Frame::Mapped { runs: vec![2, 0, 1] },
            Frame::Merged { run: run(3, 4), of: vec![0, 1] },
            Frame::Reduced { partition: 1, hi: u64::MAX, bytes: 9, records: 8, counters: counters.clone() },
            Frame::Part { split: split(3), bytes: 1, records: 2, counters, bad_records: vec![bad] },
            Frame::Lost { run: 2 },
            Frame::Commit,
        ]
    }

    fn bytes_of(frames: &[Frame]) -> Vec<u8> {
        frames.iter().flat_map(|frame| frame.encode().unwrap()).collect()
    }

    #[test]
    fn every_frame_survives_and_a_torn_or_damaged_one_ends_the_journal() {
        let frames = frames();
        let bytes = bytes_of(&frames);
        assert_eq!(decode_all(&bytes), (frames.clone(), bytes.len()));
        let ends: Vec<usize> = (0..=frames.len()).map(|n| bytes_of(&frames[..n]).len()).collect();
        for cut in 0..bytes.len() {
            let whole = ends.iter().filter(|&&end| end <= cut).count() - 1;
            assert_eq!(decode_all(&bytes[..cut]), (frames[..whole].to_vec(), ends[whole]), "cut {cut}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x41;
            let whole = ends.iter().filter(|&&end| end <= at).count() - 1;
            assert_eq!(decode_all(&damaged), (frames[..whole].to_vec(), ends[whole]), "byte {at}");
        }
        fuzz(&bytes);
        fuzz(&bytes[4..bytes_of(&frames[..1]).len() - 4]);
    }

    #[test]
    fn blocks_keep_their_places() {
        let record = run(4, 6);
        let entries = record.entries().unwrap();
        assert_eq!(entries.iter().map(|e| e.extent.file).collect::<Vec<_>>(), [10, 11, 12, 10, 11, 12]);
        assert_eq!((entries[5].extent.offset, entries[5].partition), (5 << 33, 2));
        assert_eq!(record.totals().records, u64::MAX);
    }
}
