//! Rows of an input, added by several threads.

use std::path::{Path, PathBuf};

use yunti_base::{Code, Error, Result};

use super::Settings;
use super::dictionary::{Dictionary, Seen};
use super::partitions::{PARTITIONS, Partitions, Record};
use crate::format::row::Layout;
use crate::format::schema::{Kind, Schema};
use crate::index::keys;

/// Bytes of a thread's buffer for a partition.
const BUFFER: usize = 64 << 10;
/// Part of the budget that rows may take. The rest is for what sorts and writes them.
const ROWS_SHARE: u64 = 2;

/// Rows of a table that is being built.
pub struct Gather {
    pub schema: Schema,
    pub layout: Layout,
    pub(super) partitions: Partitions,
    pub(super) dictionaries: Vec<Dictionary>,
    pub(super) seed: u64,
    pub(super) shard: (u32, u32),
    path: PathBuf,
}

impl Gather {
    /// Returns an empty table. `path` is where it will be: rows beyond the budget are beside it.
    pub fn new(schema: Schema, path: &Path, settings: &Settings) -> Gather {
        let dictionaries = schema.columns.iter().filter(|column| column.kind == Kind::Dict);
        Gather {
            layout: Layout::of(&schema.columns),
            partitions: Partitions::new(settings.budget_bytes / ROWS_SHARE),
            dictionaries: dictionaries.map(|_| Dictionary::default()).collect(),
            seed: 0,
            shard: settings.shard,
            path: path.to_owned(),
            schema,
        }
    }

    /// Returns what a thread adds rows with.
    pub fn feeder(&self) -> Feeder<'_> {
        Feeder {
            gather: self,
            buffers: (0..PARTITIONS).map(|_| Vec::new()).collect(),
            seen: self.dictionaries.iter().map(|_| Seen::default()).collect(),
            row: Vec::new(),
            key: Vec::new(),
            hash_start: keys::start(self.seed),
        }
    }

    /// Writes the bytes of a row's key over `out`.
    pub(super) fn key_of(&self, row: &[u8], out: &mut Vec<u8>) {
        out.clear();
        keys::encode(&self.schema, self.key_values(row), out);
    }

    pub(super) fn key_values<'a>(&'a self, row: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        self.schema.keys.iter().map(|column| self.layout.present(row, *column))
    }

    /// Hashes all rows once more with another seed.
    pub(super) fn with_seed(self, seed: u64, settings: &Settings) -> Result<Gather> {
        let fresh = Gather { seed, ..Gather::new(self.schema.clone(), &self.path, settings) };
        let mut feeder = fresh.feeder();
        for partition in 0..PARTITIONS {
            let chunks = self.partitions.take(partition).map_err(|e| failed(&e))?;
            for chunk in chunks {
                let mut at = 0;
                while at < chunk.len() {
                    let record = Record::at(&chunk, at);
                    at += Record::bytes_of(record.row);
                    feeder.add_row(record.row, record.number)?;
                }
            }
        }
        feeder.finish()?;
        Ok(fresh)
    }
}

fn failed(e: &std::io::Error) -> Error {
    Error::io(Code::Output, "cannot write the rows of the table", e)
}

/// Adds the rows of one thread. What it has must be given back by [`Feeder::finish`].
pub struct Feeder<'a> {
    gather: &'a Gather,
    buffers: Vec<Vec<u8>>,
    seen: Vec<Seen>,
    row: Vec<u8>,
    key: Vec<u8>,
    /// Where the hashes of keys begin: the seed decides.
    hash_start: u64,
}

impl Feeder<'_> {
    /// Adds a row. A value is its bytes, in a dictionary its text; `None` if it is missing.
    pub fn add(&mut self, values: &[Option<&[u8]>], number: u64) -> Result<()> {
        let Gather { schema, layout, dictionaries, .. } = self.gather;
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        if dictionaries.is_empty() {
            layout.write(values, &mut row);
        } else {
            let mut numbers: Vec<[u8; 4]> = Vec::with_capacity(dictionaries.len());
            for (column, value) in schema.columns.iter().zip(values).filter(|(column, _)| column.kind == Kind::Dict) {
                debug_assert!(value.is_some() || column.is_nullable);
                let at = numbers.len();
                let number = value.map_or(Ok(0), |text| dictionaries[at].number(&mut self.seen[at], text))?;
                numbers.push(number.to_le_bytes());
            }
            let mut numbers = numbers.iter();
            let coded = schema.columns.iter().zip(values).map(|(column, value)| match column.kind {
                Kind::Dict => numbers.next().map(<[u8; 4]>::as_slice).filter(|_| value.is_some()),
                _ => *value,
            });
            layout.write(&coded.collect::<Vec<_>>(), &mut row);
        }
        let added = self.add_row(&row, number);
        self.row = row;
        added
    }

    /// Adds a row by its bytes.
    fn add_row(&mut self, row: &[u8], number: u64) -> Result<()> {
        if u32::try_from(row.len()).is_err() {
            return Err(Error::new(Code::Input, format!("row {}: more than 4 GiB", number + 1)));
        }
        self.gather.key_of(row, &mut self.key);
        let (shard, shards) = self.gather.shard;
        if shards > 0 && keys::shard(&self.key, shards) != shard - 1 {
            return Ok(());
        }
        let hash = keys::hash(&self.key, self.hash_start);
        let partition = Record::partition(hash);
        let buffer = &mut self.buffers[partition];
        if !buffer.is_empty() && buffer.len() + Record::bytes_of(row) > BUFFER {
            let full = std::mem::take(buffer);
            self.gather.partitions.add(partition, full, &self.gather.path).map_err(|e| failed(&e))?;
        }
        let buffer = &mut self.buffers[partition];
        if buffer.capacity() == 0 {
            buffer.reserve_exact(BUFFER.max(Record::bytes_of(row)));
        }
        Record { hash, number, row }.write(buffer);
        Ok(())
    }

    /// Gives the rest of the rows to the table.
    pub fn finish(mut self) -> Result<()> {
        for (partition, buffer) in self.buffers.iter_mut().enumerate().filter(|(_, buffer)| !buffer.is_empty()) {
            let mut rest = std::mem::take(buffer);
            rest.shrink_to_fit();
            self.gather.partitions.add(partition, rest, &self.gather.path).map_err(|e| failed(&e))?;
        }
        Ok(())
    }
}
