//! A table of servers.

use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_table::format::row::Layout;
use yunti_table::format::schema::{Column, Schema};

use super::Options;
use super::answers::{Answers, Shape};
use super::lanes::Lanes;
use super::report::ServerReport;
use super::servers::Servers;
use crate::address::Address;

/// A table that servers have, each the whole or a shard of it. Threads share it.
pub struct RemoteTable {
    servers: Servers,
    key: Schema,
    shape: Arc<Shape>,
}

impl RemoteTable {
    /// Opens a table by its name; the only one of the servers if that is `None`.
    pub fn connect(name: Option<&str>, addresses: &[Address], options: Options) -> Result<RemoteTable> {
        if name == Some("") {
            return Err(
                Error::new(Code::Usage, "the name of the table is empty").hint("name one that the servers have")
            );
        }
        let servers = Servers::open(name, addresses, options)?;
        let opened = &servers.opened;
        let key = Schema::new(opened.key.clone(), (0..opened.key.len()).collect());
        let key = key.map_err(|e| Error::new(Code::Corrupt, format!("the key of the server's table: {}", e.what())))?;
        let shape = Shape { columns: opened.columns.clone(), layout: Layout::of(&opened.columns) };
        Ok(RemoteTable { key, shape: Arc::new(shape), servers })
    }

    /// Returns the columns of the key alone, in its order: what `keys::encode` needs.
    pub fn key(&self) -> &Schema {
        &self.key
    }

    /// Returns the columns of rows.
    pub fn columns(&self) -> &[Column] {
        &self.shape.columns
    }

    /// Returns the number of shards.
    pub fn shards(&self) -> u32 {
        self.servers.shards
    }

    /// Returns true if a key may have several rows.
    pub fn has_lists(&self) -> bool {
        self.servers.opened.has_lists
    }

    /// Returns the versions of the files that the servers have, each once, in a fixed order.
    pub fn versions(&self) -> Vec<u64> {
        self.servers.versions()
    }

    /// Returns what each server has now, and its counters, in the order of the addresses; an error for a server that is
    /// away. Each request has a connection of its own.
    pub fn report(&self) -> Vec<(Address, Result<ServerReport>)> {
        self.servers.report()
    }

    /// Looks up the first row of each key, or all of its rows.
    pub fn get<K: AsRef<[u8]>>(&self, keys: &[K], all_rows: bool) -> Result<Answers> {
        let mut lanes = Lanes::new(all_rows);
        lanes.add(&self.servers, &self.shape, keys)?;
        let answers = lanes.take(&self.servers)?;
        lanes.give_back(&self.servers);
        answers.ok_or_else(|| Error::new(Code::Internal, "a batch without answers"))
    }
}

/// Batches of lookups of one caller, several under way: servers work on the next ones while the caller uses the rows
/// of the first. Each has its own connections, which go back to the table at the end.
pub struct Lookups {
    table: Arc<RemoteTable>,
    lanes: Lanes,
}

impl Lookups {
    /// Begins lookups of the first row of each key, or of all of its rows.
    pub fn new(table: Arc<RemoteTable>, all_rows: bool) -> Lookups {
        Lookups { table, lanes: Lanes::new(all_rows) }
    }

    /// Returns the number of batches that were added and not taken.
    pub fn count(&self) -> usize {
        self.lanes.count()
    }

    /// Adds a batch, and sends what may be under way.
    pub fn add<K: AsRef<[u8]>>(&mut self, keys: &[K]) -> Result<()> {
        self.lanes.add(&self.table.servers, &self.table.shape, keys)?;
        self.lanes.send(&self.table.servers)
    }

    /// Waits for the rows of the first batch, and sends what may be under way behind it; None without a batch.
    pub fn take(&mut self) -> Result<Option<Answers>> {
        let answers = self.lanes.take(&self.table.servers)?;
        self.lanes.send(&self.table.servers)?;
        Ok(answers)
    }
}

impl Drop for Lookups {
    fn drop(&mut self) {
        self.lanes.give_back(&self.table.servers);
    }
}
