//! Tables by name, and their newest versions.

use std::sync::{Arc, PoisonError, RwLock};

use yunti_base::{Code, Error, Result};
use yunti_table::read::Table;

use super::TableFile;

/// One file that was opened. Handles keep it mapped, as readers of a node do.
pub struct Version {
    pub table: Table,
    pub fingerprint: u64,
    /// Number of the shard, from 1, and of all shards.
    pub shard: (u32, u32),
}

/// A table that clients open by its name.
pub struct Served {
    pub name: String,
    wanted: Option<(u32, u32)>,
    newest: RwLock<Arc<Version>>,
}

impl Served {
    pub fn open(file: TableFile) -> Result<Served> {
        let newest = Version::of(Table::open_with(&file.path, file.options)?, file.shard)?;
        Ok(Served { name: file.name, wanted: file.shard, newest: RwLock::new(Arc::new(newest)) })
    }

    pub fn newest(&self) -> Arc<Version> {
        self.newest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the file that has taken the place of this one. Returns true if there is one.
    pub fn refresh(&self) -> Result<bool> {
        let Some(table) = self.newest().table.reopen()? else { return Ok(false) };
        let newest = Version::of(table, self.wanted)?;
        *self.newest.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(newest);
        Ok(true)
    }
}

impl Version {
    fn of(table: Table, wanted: Option<(u32, u32)>) -> Result<Version> {
        let own = Some(table.header().shard).filter(|(_, shards)| *shards > 0);
        if let (Some(own), Some(wanted)) = (own, wanted)
            && own != wanted
        {
            let what = format!("the table is shard {}/{}, not {}/{}", own.0, own.1, wanted.0, wanted.1);
            return Err(Error::new(Code::Usage, what).at_path(table.path().to_string_lossy()));
        }
        Ok(Version { fingerprint: table.fingerprint(), shard: own.or(wanted).unwrap_or((1, 1)), table })
    }
}
