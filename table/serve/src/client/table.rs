//! A table of servers.

use yunti_base::{Code, Error, Result};
use yunti_table::format::row::Layout;
use yunti_table::format::schema::{Column, Schema};

use super::Options;
use super::answers::Answers;
use super::lanes;
use super::servers::Servers;
use crate::address::Address;

/// A table that servers have, each the whole or a shard of it. Threads share it.
pub struct RemoteTable {
    servers: Servers,
    key: Schema,
    layout: Layout,
}

impl RemoteTable {
    /// Opens a table by its name; the only one of the servers if that is `None`.
    pub fn connect(name: Option<&str>, addresses: &[Address], options: Options) -> Result<RemoteTable> {
        let servers = Servers::open(name, addresses, options)?;
        let opened = &servers.opened;
        let key = Schema::new(opened.key.clone(), (0..opened.key.len()).collect());
        let key = key.map_err(|e| Error::new(Code::Corrupt, format!("the key of the server's table: {}", e.what())))?;
        Ok(RemoteTable { key, layout: Layout::of(&opened.columns), servers })
    }

    /// Returns the columns of the key alone, in its order: what `keys::encode` needs.
    pub fn key(&self) -> &Schema {
        &self.key
    }

    /// Returns the columns of rows.
    pub fn columns(&self) -> &[Column] {
        &self.servers.opened.columns
    }

    /// Returns the number of shards.
    pub fn shards(&self) -> u32 {
        self.servers.shards
    }

    /// Returns true if a key may have several rows.
    pub fn has_lists(&self) -> bool {
        self.servers.opened.has_lists
    }

    /// Looks up the first row of each key, or all of its rows.
    pub fn get<K: AsRef<[u8]>>(&self, keys: &[K], all_rows: bool) -> Result<Answers<'_>> {
        if u32::try_from(keys.len()).is_err() {
            return Err(Error::new(Code::Usage, "more than 4,294,967,295 keys in one batch"));
        }
        let mut answers = Answers::new(self.columns(), &self.layout, keys.len());
        lanes::run(&self.servers, keys, all_rows, &mut answers)?;
        Ok(answers)
    }
}
