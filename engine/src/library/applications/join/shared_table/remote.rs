//! A hash join with a table of servers: lines wait in blocks until the rows of their keys are there.
//!
//! ```text
//!   lines -> block that fills -> keys sent -> blocks under way (first to last) -> rows received -> records
//! ```
//!
//! Several blocks are under way, so that servers and network work on the next ones while this task cuts lines and
//! writes records. Records have the order of the lines. Blocks are small enough that all of them, with their rows, fit
//! in the memory that the job has reserved for the task. The first blocks have few keys, and show how long rows are.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use yunti_base::Result;
use yunti_table_remote::address::Address;
use yunti_table_remote::client::{Answers, Lookups, RemoteTable};

use super::{Key, SharedColumns};
use crate::library::applications::columns::ShortLines;
use crate::library::applications::join::hashed::LeftRecord;
use crate::library::applications::join::{Cut, JoinKind, Side};
use crate::library::tables;
use crate::operator::{Batch, Mapper, Out, TaskContext};

/// Name of the table among the values that the tasks of a job share.
const SHARED: &str = "join.table.remote";
/// Blocks with lines: one that fills, and the others under way.
const BLOCKS: usize = 4;
/// Most keys of a block: several requests for each of a few shards.
const KEYS: usize = 16 << 10;
/// Most keys of a block before the length of rows is known, and how much more each later one may have.
const FIRST_KEYS: usize = 64;
const GROWTH: usize = 4;
/// Bytes that the rows of a key count before their length is known.
const ROW_BYTES: u64 = 256;
/// Bytes of a line beside its own: its place, its key, and the place of its rows.
const LINE_BYTES: u64 = 64;

/// A table of servers, and the columns that records have of it.
pub(super) struct RemoteSide {
    pub name: String,
    pub table: Arc<RemoteTable>,
    pub columns: SharedColumns,
    /// Bytes of the rows of a key: the largest mean of a block; 0 before the first.
    row_bytes: AtomicU64,
}

impl RemoteSide {
    pub fn connect(context: &TaskContext, name: &str, addresses: &[Address], kind: JoinKind) -> Result<RemoteSide> {
        let settings = &context.job.settings;
        let whole = tables::connect(settings, name, addresses, None)?;
        let is_key = |name: &str| whole.key().columns.iter().any(|key| key.name == name);
        let keys: Vec<usize> =
            whole.columns().iter().enumerate().filter(|(_, column)| is_key(&column.name)).map(|(at, _)| at).collect();
        let mut columns =
            SharedColumns::of(context, whole.columns(), &keys, kind.pairs).map_err(|e| tables::of_table(e, name))?;
        // Servers send what records have, and nothing else.
        let wanted = columns.others.iter().map(|(at, _)| whole.columns()[*at].name.clone()).collect();
        let table = tables::connect(settings, name, addresses, Some(wanted))?;
        columns.others.iter_mut().enumerate().for_each(|(at, (column, _))| *column = at);
        Ok(RemoteSide { name: name.to_string(), table: Arc::new(table), columns, row_bytes: AtomicU64::new(0) })
    }
}

/// Lines whose rows are wanted.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    /// End of each line.
    ends: Vec<usize>,
    /// Bytes of the rows, as they are expected.
    expected: u64,
}

impl Block {
    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.bytes[begin..*end])
    }

    /// Returns the memory that the block takes with the rows of its keys.
    fn needed(&self) -> u64 {
        self.bytes.len() as u64 + self.ends.len() as u64 * LINE_BYTES + self.expected
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.expected = 0;
    }
}

/// Mapper that pairs the lines of the input, the left side, with rows of a table of servers.
pub struct RemoteJoin {
    small: Arc<RemoteSide>,
    kind: JoinKind,
    left: Side,
    lookups: Lookups,
    filling: Block,
    under_way: VecDeque<Block>,
    /// Empty blocks, for their memory.
    spare: Vec<Block>,
    /// Bytes of one block with its rows.
    block_bytes: u64,
    /// Bytes that the rows of a key are expected to have.
    row_bytes: u64,
    /// Most keys of a block.
    keys: usize,
    record: LeftRecord,
    right: Vec<u8>,
    short: ShortLines,
}

impl RemoteJoin {
    /// Connects, once in the process. Errors: `Usage` for bad settings, `Input` for servers that do not answer.
    pub fn new(context: &Arc<TaskContext>, name: &str, addresses: &[Address]) -> Result<RemoteJoin> {
        let kind = JoinKind::new(context)?;
        let small = context.job.shared(SHARED, || RemoteSide::connect(context, name, addresses, kind))?;
        let all_rows = kind.pairs && small.table.has_lists();
        let (row_bytes, keys) = match small.row_bytes.load(Ordering::Relaxed) {
            _ if !kind.pairs => (0, KEYS),
            0 => (ROW_BYTES, FIRST_KEYS),
            known => (known, KEYS),
        };
        Ok(RemoteJoin {
            lookups: Lookups::new(small.table.clone(), all_rows),
            small,
            kind,
            left: Side::new(context, "join.left.column")?,
            filling: Block::default(),
            under_way: VecDeque::new(),
            spare: Vec::new(),
            block_bytes: context.job.workspace.reserved_bytes / BLOCKS as u64,
            row_bytes,
            keys,
            record: LeftRecord::default(),
            right: Vec::new(),
            short: ShortLines::new(context),
        })
    }

    /// Sends the keys of the block that fills.
    fn send(&mut self) -> Result<()> {
        let block = std::mem::replace(&mut self.filling, self.spare.pop().unwrap_or_default());
        let small = &self.small;
        let cut = |line| self.left.cut(line).map(|line| small.columns.key(line.key));
        let keys: Vec<Key<'_>> = block.lines().filter_map(cut).filter(|key| !matches!(key, Key::None)).collect();
        self.lookups.add(&keys).map_err(|e| tables::of_table(e, &small.name))?;
        self.under_way.push_back(block);
        Ok(())
    }

    /// Waits for the rows of the first block, and emits its records.
    fn receive(&mut self, out: &mut Out) -> Result<()> {
        let small = self.small.clone();
        let answers = self.lookups.take().map_err(|e| tables::of_table(e, &small.name))?;
        let (Some(mut block), Some(answers)) = (self.under_way.pop_front(), answers) else { return Ok(()) };
        let mut number = 0;
        for line in block.lines() {
            let Some(line) = self.left.cut(line) else { continue };
            let key = match small.columns.key(line.key) {
                Key::None => None,
                _ => Some(number),
            };
            number += usize::from(key.is_some());
            self.emit(&line, key.map(|key| (&answers, key)), out)?;
        }
        if number > 0 && self.kind.pairs {
            let mean = (answers.bytes_len() / number) as u64 + 1;
            self.row_bytes = small.row_bytes.fetch_max(mean, Ordering::Relaxed).max(mean);
            self.keys = (self.keys * GROWTH).min(KEYS);
        }
        block.clear();
        self.spare.push(block);
        Ok(())
    }

    /// Emits the records of a line. `found`: where its rows are, unless the table cannot have its key.
    fn emit(&mut self, line: &Cut<'_>, found: Option<(&Answers, usize)>, out: &mut Out) -> Result<()> {
        let mut rows = found.into_iter().flat_map(|(answers, key)| answers.rows(key)).peekable();
        if rows.peek().is_none() {
            return if self.kind.left { self.record.begin(line).alone(out) } else { Ok(()) };
        }
        self.record.begin(line);
        if self.kind.pairs {
            for row in rows {
                self.right.clear();
                self.small.columns.append(|column| row.value(column), self.left.separator, &mut self.right)?;
                self.record.pair(&self.right, self.left.separator, out)?;
            }
        }
        if self.kind.matched { self.record.alone(out) } else { Ok(()) }
    }
}

impl Mapper for RemoteJoin {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        for number in 0..batch.len() {
            let line = batch.record(number).1;
            if self.left.cut(line).is_none() {
                self.short.add();
                continue;
            }
            let filling = &mut self.filling;
            filling.bytes.extend_from_slice(line);
            filling.ends.push(filling.bytes.len());
            filling.expected += self.row_bytes;
            if filling.ends.len() >= self.keys || filling.needed() >= self.block_bytes {
                self.send()?;
                if self.under_way.len() >= BLOCKS {
                    self.receive(out)?;
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        if !self.filling.ends.is_empty() {
            self.send()?;
        }
        while !self.under_way.is_empty() {
            self.receive(out)?;
        }
        Ok(())
    }
}
