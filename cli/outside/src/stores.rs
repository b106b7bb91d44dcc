//! Stores behind names with a scheme (`s3://` ..), for every command that takes a path.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Args;
use yunti_engine::env::Env;
use yunti_engine::env::stores::{StoreFiles, StoreProgram};
use yunti_program::part;

/// Beginning of the settings of stores.
pub const PREFIX: &str = "store.";

/// Flags of stores.
#[derive(Debug, Default, Args)]
pub struct StoreFlags {
    /// Setting of an object store, a web server or HDFS, as s3.endpoint=http://HOST:PORT (docs/guide/stores.md); may be
    /// repeated
    #[arg(long = "store-option", value_name = "NAME=VALUE", value_parser = parse_option)]
    pub options: Vec<(String, String)>,
}

impl StoreFlags {
    /// Returns the settings, without `store.`.
    pub fn settings(&self) -> BTreeMap<String, String> {
        let plain = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_string();
        self.options.iter().map(|(name, value)| (plain(name), value.clone())).collect()
    }

    /// Returns the outside world with stores.
    pub fn env(&self) -> Env {
        with_stores(Env::real(), self.settings())
    }
}

fn parse_option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("write NAME=VALUE, as in s3.endpoint=http://127.0.0.1:9000".into()),
    }
}

/// Returns the settings of stores among those of a job, without `store.`.
pub fn settings_of<'s>(settings: impl IntoIterator<Item = (&'s String, &'s String)>) -> BTreeMap<String, String> {
    let own = |(name, value): (&String, &String)| Some((name.strip_prefix(PREFIX)?.to_string(), value.clone()));
    settings.into_iter().filter_map(own).collect()
}

/// Returns `env` with files that also reach stores. The program that serves them starts with the first such name.
pub fn with_stores(env: Env, settings: BTreeMap<String, String>) -> Env {
    let program = match part::program("stores") {
        Some(program) => StoreProgram::At(program),
        None => StoreProgram::Missing(
            "yunti-stores is not installed; run 'make stores' in the sources, or install it into libexec".into(),
        ),
    };
    let files = Arc::new(StoreFiles::new(env.files.clone(), program, settings, env.temp_dir.clone()));
    Env { files, ..env }
}
