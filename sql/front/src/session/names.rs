//! Names of tables in queries. A name that no table has, and that a file or a pattern may have, is a path.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, RwLock, Weak};

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::SessionState;

use crate::catalog::hive::Hive;
use crate::tables::open;
use crate::tables::place::Place;
use crate::tables::world::World;

/// Meaning of a name.
#[derive(Clone)]
enum Entry {
    Table(Arc<dyn TableProvider>),
    /// Files, which are opened for each query.
    Place(Place),
}

/// The tables of a session.
pub struct Names {
    world: Arc<World>,
    state: Weak<parking::Lock>,
    entries: RwLock<BTreeMap<String, Entry>>,
    hive: Option<Arc<Hive>>,
}

/// The lock of DataFusion's state.
mod parking {
    pub type Lock = parking_lot::RwLock<datafusion::execution::SessionState>;
}

impl Names {
    /// `hive`: a metastore, whose database `default` has the names that are not here.
    pub fn new(
        world: Arc<World>,
        state: Weak<parking::Lock>,
        tables: impl Iterator<Item = (String, Place)>,
        hive: Option<Arc<Hive>>,
    ) -> Names {
        let entries = tables.map(|(name, place)| (name, Entry::Place(place))).collect();
        Names { world, state, entries: RwLock::new(entries), hive }
    }

    /// Adds or replaces a table of files.
    pub fn set_place(&self, name: &str, place: Place) {
        self.write().insert(name.into(), Entry::Place(place));
    }

    /// Returns the names of all tables.
    pub fn all(&self) -> Vec<String> {
        self.read().keys().cloned().collect()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<String, Entry>> {
        self.entries.read().unwrap_or_else(|e| e.into_inner())
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<String, Entry>> {
        self.entries.write().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the table of a name. Letters of a name without quotes are small: a table with capitals is found by it,
    /// if it is the only one.
    fn entry(&self, name: &str) -> Option<Entry> {
        let entries = self.read();
        let exact = entries.get(name);
        let folded = || {
            let mut alike = entries.iter().filter(|(other, _)| other.to_ascii_lowercase() == name);
            alike.next().filter(|_| alike.next().is_none()).map(|(_, entry)| entry)
        };
        exact.or_else(folded).cloned()
    }

    /// Returns true for a name that no one gives a table, and that a path may be.
    fn is_path(&self, name: &str) -> bool {
        name.contains(['/', '.', '*', '?', '[', ':']) || self.world.env.files.meta(Path::new(name)).is_ok()
    }

    async fn open(&self, name: &str, place: &Place) -> Result<Arc<dyn TableProvider>> {
        let state = self.state.upgrade().ok_or_else(|| DataFusionError::Internal("the session has ended".into()))?;
        let state: SessionState = state.read().clone();
        Ok(Arc::new(open::open(name, place, &self.world, &state).await?))
    }
}

/// Returns true for a name as a metastore has it.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all()).finish()
    }
}

#[async_trait]
impl SchemaProvider for Names {
    fn table_names(&self) -> Vec<String> {
        self.all()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let entry = self.entry(name);
        match entry {
            Some(Entry::Table(table)) => Ok(Some(table)),
            Some(Entry::Place(place)) => Ok(Some(self.open(name, &place).await?)),
            None if self.hive.is_some() && is_plain(name) => match &self.hive {
                Some(hive) => hive.table("default", name).await,
                None => Ok(None),
            },
            None if self.is_path(name) => Ok(Some(self.open(name, &Place::of(name)).await?)),
            None => Ok(None),
        }
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        match self.write().insert(name, Entry::Table(table)) {
            Some(Entry::Table(older)) => Ok(Some(older)),
            _ => Ok(None),
        }
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        match self.write().remove(name) {
            Some(Entry::Table(older)) => Ok(Some(older)),
            Some(Entry::Place(_)) => Ok(Some(Arc::new(datafusion::datasource::empty::EmptyTable::new(Arc::new(
                datafusion::arrow::datatypes::Schema::empty(),
            ))))),
            None => Ok(None),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }
}
