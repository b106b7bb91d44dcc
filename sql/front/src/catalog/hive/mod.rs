//! Tables of a Hive metastore (`--catalog hive:thrift://HOST:9083`).
//!
//! ```text
//!   thrift.rs      bytes of calls and answers
//!   metastore.rs   the calls: databases, tables, partitions
//!   types.rs       types by their names; storage.rs: formats by their classes; filter.rs: conditions for the metastore
//!   record.rs      a text as values; lines.rs: lines of files as rows
//!   table.rs       a table as the planner sees it
//! ```

mod filter;
mod lines;
mod metastore;
mod record;
mod storage;
mod table;
mod thrift;
mod types;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use datafusion::catalog::view::ViewTable;
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, Result as FrontResult};
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement as Parsed;
use yunti_base::{Code, Error, Result};

pub use self::metastore::Address;
use self::metastore::Metastore;
use self::table::MetastoreTable;
pub use self::table::resolve;
use crate::failure;
use crate::tables::world::World;

/// Views within views, at most.
const VIEWS_MAX: usize = 32;

/// The state of a session, which outlives no session.
pub type State = Weak<parking_lot::RwLock<SessionState>>;

/// A metastore, and means to plan its views.
pub struct Hive {
    metastore: Metastore,
    world: Arc<World>,
    state: State,
    /// Parses the text of a view.
    parse: fn(&str) -> Result<Parsed>,
    /// Views that are being planned.
    views: AtomicUsize,
}

impl fmt::Debug for Hive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.metastore.fmt(f)
    }
}

impl Hive {
    pub fn new(address: Address, world: Arc<World>, state: State, parse: fn(&str) -> Result<Parsed>) -> Hive {
        Hive { metastore: Metastore::new(address), world, state, parse, views: AtomicUsize::new(0) }
    }

    /// Returns a table or view of a database, if it is there.
    pub async fn table(self: &Arc<Self>, database: &str, name: &str) -> FrontResult<Option<Arc<dyn TableProvider>>> {
        let Some(table) = self.metastore.table(database, name).map_err(failure::wrapped)? else { return Ok(None) };
        let Some(text) = &table.view else {
            let table = MetastoreTable::new(self.clone(), database, name, table).map_err(failure::wrapped)?;
            return Ok(Some(Arc::new(table)));
        };
        let within = |e: Error| failure::wrapped(e.within(&format!("view {database}.{name}")));
        if self.views.fetch_add(1, Ordering::Relaxed) >= VIEWS_MAX {
            self.views.fetch_sub(1, Ordering::Relaxed);
            return Err(within(Error::new(Code::Usage, format!("more than {VIEWS_MAX} views are within each other"))));
        }
        let planned = self.plan(text).await;
        self.views.fetch_sub(1, Ordering::Relaxed);
        let plan = planned.map_err(|e| within(failure::plain(e)))?;
        Ok(Some(Arc::new(ViewTable::new(plan, Some(text.clone())))))
    }

    async fn plan(&self, text: &str) -> FrontResult<datafusion::logical_expr::LogicalPlan> {
        let parsed = (self.parse)(text).map_err(failure::wrapped)?;
        let state = self.state.upgrade().ok_or_else(|| DataFusionError::Internal("the session has ended".into()))?;
        let state = state.read().clone();
        Box::pin(state.statement_to_plan(parsed)).await
    }
}

/// The session's own tables, and the databases of a metastore as schemas.
#[derive(Debug)]
pub struct HiveCatalog {
    pub own_name: &'static str,
    pub own: Arc<dyn SchemaProvider>,
    pub hive: Arc<Hive>,
}

impl CatalogProvider for HiveCatalog {
    fn schema_names(&self) -> Vec<String> {
        let mut names = vec![self.own_name.to_string()];
        names.extend(self.hive.metastore.databases().unwrap_or_default());
        names
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        Some(match name == self.own_name {
            true => self.own.clone(),
            false => Arc::new(Database { hive: self.hive.clone(), name: name.into() }),
        })
    }
}

/// A database of a metastore.
#[derive(Debug)]
struct Database {
    hive: Arc<Hive>,
    name: String,
}

#[async_trait]
impl SchemaProvider for Database {
    fn table_names(&self) -> Vec<String> {
        self.hive.metastore.tables(&self.name).unwrap_or_default()
    }

    async fn table(&self, name: &str) -> FrontResult<Option<Arc<dyn TableProvider>>> {
        self.hive.table(&self.name, name).await
    }

    fn table_exist(&self, name: &str) -> bool {
        self.hive.metastore.table(&self.name, name).is_ok_and(|table| table.is_some())
    }
}
