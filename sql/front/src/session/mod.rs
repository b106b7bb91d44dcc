//! A session: its tables and settings, and the statements that it runs one after the other.
//!
//! ```text
//!   names.rs    names of tables -> tables
//!   parameters.rs  values of $name and $1
//!   rules/      what the planner plans wrongly or refuses
//!   run.rs      a statement: what it is, its plan, its rows
//!   write.rs    statements that write files
//!   general.rs  plans of the general executor
//! ```

mod general;
pub mod names;
mod parameters;
mod rules;
pub mod run;
mod syntax;
pub mod write;

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::catalog::{CatalogProvider, MemoryCatalogProvider};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, MemoryPool, UnboundedMemoryPool};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use yunti_base::{Cancel, Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::memory::Budget;
use yunti_sql_cluster::Yarn;
use yunti_sql_execute::code::Compilation;

use self::names::Names;
use crate::catalog::hive::{Address, Hive, HiveCatalog};
use crate::libraries::Libraries;
use crate::runtime::Runtimes;
use crate::store::{self, FileStore};
use crate::tables::place::Place;
use crate::tables::world::{Library, World};
use crate::{failure, functions, statements};

/// Name of the catalog, and of its one schema at the start.
pub const CATALOG: &str = "yunti";
pub const SCHEMA: &str = "public";

/// Executor of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// Yunti's own if it can, else the general one.
    Auto,
    Native,
    General,
}

/// Dialect of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// PostgreSQL's, with habits of other engines.
    Own,
    Hive,
}

/// Settings of a session.
pub struct Settings {
    pub env: Env,
    pub library: Library,
    /// Class libraries with functions of queries.
    pub libraries: Vec<PathBuf>,
    /// Workers, at least 1.
    pub threads: usize,
    /// Memory of each query.
    pub memory_bytes: u64,
    /// True if the user has set the memory: then no query runs on the general executor, which may not keep to it.
    pub is_memory_set: bool,
    pub executor: Executor,
    /// Compiler of the native executor's queries; None: kernels alone.
    pub compilation: Option<Compilation>,
    /// Prints what became machine code, after each query.
    pub reports_compilation: bool,
    pub dialect: Dialect,
    pub temp_dir: Option<PathBuf>,
    /// Settings of DataFusion, with or without `datafusion.`.
    pub options: Vec<(String, String)>,
    /// Values of `$name` and `$1`.
    pub parameters: Vec<(String, String)>,
    pub tables: Vec<(String, Place)>,
    /// Catalog of tables: `hive:thrift://HOST:PORT`.
    pub catalog: Option<String>,
    /// Connections to a process that serves functions.
    pub functions: Vec<functions::Ends>,
    pub is_read_only: bool,
    /// Paths outside of which nothing is read or written; None: anywhere.
    pub allowed: Option<Vec<PathBuf>>,
    /// True if statements may replace outputs.
    pub overwrite: bool,
    /// Prints no notes.
    pub is_quiet: bool,
    /// Cluster that runs the queries; None: this process does.
    pub cluster: Option<Arc<Yarn>>,
}

/// Tables and settings of statements that follow each other.
pub struct Session {
    pub(crate) context: SessionContext,
    pub(crate) names: Arc<Names>,
    pub(crate) world: Arc<World>,
    pub(crate) libraries: Libraries,
    pub(crate) runtimes: Runtimes,
    pub(crate) settings: Settings,
    pub cancel: Cancel,
}

impl Session {
    /// Opens a session. Tables are opened when a query names them.
    pub fn new(settings: Settings, cancel: Cancel) -> Result<Session> {
        let config = config_of(&settings)?;
        let budget = Budget::new(settings.memory_bytes);
        let world = Arc::new(World {
            store: Arc::new(FileStore::new(settings.env.files.clone())),
            env: settings.env.clone(),
            budget,
            library: settings.library.clone(),
            allowed: settings.allowed.clone(),
            is_native: settings.executor != Executor::General,
            cluster: settings.cluster.clone(),
        });
        let pool: Arc<dyn MemoryPool> = match settings.is_memory_set {
            true => Arc::new(FairSpillPool::new(settings.memory_bytes as usize)),
            false => Arc::new(UnboundedMemoryPool::default()),
        };
        let dirs = vec![settings.temp_dir.clone().unwrap_or_else(|| settings.env.temp_dir.clone())];
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(dirs));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).with_disk_manager_builder(disk);
        let runtime = runtime.build_arc().map_err(failure::plain)?;
        let url = ObjectStoreUrl::parse(store::URL).map_err(failure::plain)?;
        runtime.register_object_store(url.as_ref(), world.store.clone());
        let libraries = Libraries::load(&settings.libraries, &world.budget)?;
        let builder = SessionStateBuilder::new().with_config(config).with_runtime_env(runtime).with_default_features();
        let builder = builder.with_analyzer_rules(rules::analyzer()).with_optimizer_rules(rules::optimizer());
        let builder = builder.with_physical_optimizer_rules(general::rules());
        let mut state = match settings.dialect {
            Dialect::Own => builder.with_analyzer_rule(Arc::new(crate::functions::casts::Rounded)),
            // Hive cuts digits off, as the planner does.
            Dialect::Hive => builder,
        }
        .build();
        libraries.register(&mut state)?;
        let context = SessionContext::new_with_state(state);
        let hive = match &settings.catalog {
            Some(text) => {
                let address = text.strip_prefix("hive:").ok_or_else(|| {
                    Error::new(Code::Usage, format!("there is no catalog '{text}'"))
                        .hint("write hive:thrift://HOST:9083")
                })?;
                let (world, state) = (world.clone(), context.state_weak_ref());
                Some(Arc::new(Hive::new(Address::parse(address)?, world, state, syntax::parse_view)))
            }
            None => None,
        };
        let tables = settings.tables.iter().cloned();
        let names = Arc::new(Names::new(world.clone(), context.state_weak_ref(), tables, hive.clone()));
        let catalog: Arc<dyn CatalogProvider> = match hive {
            Some(hive) => Arc::new(HiveCatalog { own_name: SCHEMA, own: names.clone(), hive }),
            None => {
                let catalog = MemoryCatalogProvider::new();
                catalog.register_schema(SCHEMA, names.clone()).map_err(failure::plain)?;
                Arc::new(catalog)
            }
        };
        context.register_catalog(CATALOG, catalog);
        functions::register(&context, &settings.functions)?;
        let runtimes = Runtimes::new(settings.threads)?;
        Ok(Session { context, names, world, libraries, runtimes, settings, cancel })
    }
}

fn config_of(settings: &Settings) -> Result<SessionConfig> {
    let mut config = SessionConfig::new()
        .with_create_default_catalog_and_schema(false)
        .with_default_catalog_and_schema(CATALOG, SCHEMA)
        .with_information_schema(true)
        .with_target_partitions(settings.threads);
    let options = config.options_mut();
    for (name, value) in [
        ("datafusion.execution.parquet.schema_force_view_types", "false"),
        ("datafusion.sql_parser.map_string_types_to_utf8view", "false"),
        ("datafusion.sql_parser.collect_spans", "true"),
        // The planner has a large stack.
        ("datafusion.sql_parser.recursion_limit", "5000"),
        ("datafusion.sql_parser.parse_float_as_decimal", "true"),
    ] {
        options.set(name, value).map_err(failure::plain)?;
    }
    for (name, value) in &settings.options {
        let full = if name.contains('.') && name.starts_with("datafusion.") {
            name.clone()
        } else {
            format!("datafusion.{name}")
        };
        options.set(&full, value).map_err(|e| {
            let error = failure::plain(e);
            Error::new(Code::Usage, format!("the setting {name}={value} is not known: {}", error.what()))
                .hint("'select name from information_schema.df_settings' lists all")
        })?;
    }
    Ok(config)
}

impl Session {
    /// Returns the reports of the jobs on the cluster so far, and forgets them.
    pub fn reports(&self) -> String {
        let of = |cluster: &Arc<Yarn>| std::mem::take(&mut *cluster.reports.lock().unwrap_or_else(|e| e.into_inner()));
        self.settings.cluster.as_ref().map(of).unwrap_or_default()
    }

    /// Returns the statements of a text, and true if the last one ends with a semicolon or there is none.
    pub fn split(&self, text: &str) -> (Vec<statements::Statement>, bool) {
        statements::split_escaped(text, self.settings.dialect == Dialect::Hive)
    }

    /// Returns the names of its tables.
    pub fn tables(&self) -> Vec<String> {
        self.names.all()
    }

    /// Begins an output for the rows of a result.
    ///
    /// Errors: `Exists`, `Output`; `Usage` in a session that reads alone, or for a path that is not allowed.
    pub fn output(&self, path: &std::path::Path, format: crate::output::Format) -> Result<crate::output::FileWriter> {
        self.writes("--output")?;
        let path = &self.world.located_path(path);
        self.world.check(path)?;
        crate::output::FileWriter::create(&self.world.env, path, format, self.settings.overwrite)
    }
}
