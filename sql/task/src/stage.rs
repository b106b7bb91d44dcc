//! The stage of a job as its tasks get it, the tables that they read whole, and their memory.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use yunti_api::Context as TaskContext;
use yunti_base::{Cancel, Code, Error, Result};
use yunti_engine::abi;
use yunti_engine::codec::CodecKind;
use yunti_engine::env::{Env, Files};
use yunti_engine::format::file_formats::{self, FileFormat};
use yunti_engine::memory::Budget;
use yunti_engine::operator::ClassSource;
use yunti_sql_arrow::text::{self, TextFile};
use yunti_sql_execute::Context;
use yunti_sql_execute::operators::{scan, shared};
use yunti_sql_plan::wire::{Stage, TableName};
use yunti_sql_plan::{Bounds, Morsel, MorselReader, Statistics, Table, TablePlace, TableSource};

use crate::{FORMATS, MEMORY, STAGE};

/// Bytes of memory without a setting.
const MEMORY_BYTES_DEFAULT: u64 = 256 << 20;

/// Returns the means of the query in this process. Objects of one process share its memory.
pub fn context(task: &TaskContext) -> yunti_api::Result<Context> {
    static BUDGET: OnceLock<Arc<Budget>> = OnceLock::new();
    let bytes = task.parse(MEMORY)?.unwrap_or(MEMORY_BYTES_DEFAULT);
    let mut env = Env::real();
    // A container has a directory of its own for temporary files, which YARN removes.
    env.temp_dir =
        std::env::current_dir().map(|own| own.join("tmp")).ok().filter(|dir| dir.is_dir()).unwrap_or(env.temp_dir);
    let budget = BUDGET.get_or_init(|| Budget::new(bytes)).clone();
    Ok(Context::new(env, budget, 1, Cancel::default()))
}

/// Returns the bytes of the stage.
pub fn bytes(task: &TaskContext) -> Result<Vec<u8>> {
    let name = task.setting(STAGE).unwrap_or_default();
    // A file of the task's directory: side files of the engine are not there yet when units are planned.
    std::fs::read(PathBuf::from(".").join(name))
        .map_err(|e| Error::io(Code::Input, "cannot read the stage of the query", &e).at_path(name))
}

/// Returns the stage without its tables: what they are, and not their rows.
pub fn outline(task: &TaskContext) -> Result<Stage> {
    Stage::of_bytes(&bytes(task)?, &mut |of| Ok(named(of)))
}

/// Returns a table that is nothing but its name.
pub fn named(of: TableName) -> Arc<Table> {
    let source = Arc::new(Unopened(of.place));
    let statistics = Statistics { rows: of.rows, columns: Vec::new() };
    Arc::new(Table { name: of.name, fields: of.fields, statistics, source })
}

/// Opens a table of files in the task's directory.
///
/// Errors: those of the files; `Input` if they have other columns than the plan was made for.
pub fn open(of: &TableName, context: &Context) -> Result<Arc<Table>> {
    let TablePlace::Files { format, paths } = &of.place else {
        return Err(Error::new(Code::Internal, "the rows of another task are no table"));
    };
    let paths: Vec<PathBuf> = paths.iter().map(|path| PathBuf::from(".").join(path)).collect();
    if let Some((format, codec)) = text::Format::parse(format) {
        let means = (&context.env, &context.budget);
        let files = paths.into_iter().map(|path| text_file(&*context.env.files, path, codec));
        let table = text::table(&of.name, files.collect::<Result<_>>()?, format, &text::schema_of(&of.fields), means);
        return Ok(Arc::new(table));
    }
    let table = match (shared::Part::of_format(format), &paths[..]) {
        (Some(part), [path]) => shared::part(&of.name, path, part)?,
        _ => scan::files::table(&of.name, &paths, format_of(format)?, library()?, &context.env, &context.budget)?,
    };
    let is_same = table.fields.len() == of.fields.len()
        && table.fields.iter().zip(&of.fields).all(|(a, b)| a.name == b.name && a.data_type == b.data_type);
    match is_same {
        true => Ok(Arc::new(table)),
        false => Err(Error::new(Code::Input, format!("the columns of {} have changed since the query began", of.name))),
    }
}

/// Returns a file of text with its length. Errors: `Input`.
pub fn text_file(files: &dyn Files, path: PathBuf, codec: Option<CodecKind>) -> Result<TextFile> {
    let meta = files.meta(&path);
    let meta = meta.map_err(|e| Error::io(Code::Input, "cannot read the table", &e).at_path(path.to_string_lossy()))?;
    Ok(TextFile { path, len: meta.len, codec })
}

/// Returns the format of this name.
pub fn format_of(name: &str) -> Result<&'static FileFormat> {
    file_formats::named(name).ok_or_else(|| Error::new(Code::Corrupt, format!("there is no format '{name}'")))
}

/// Returns the library for files of columns, which is loaded once.
pub fn library() -> Result<Arc<dyn ClassSource>> {
    static LOADED: OnceLock<Arc<dyn ClassSource>> = OnceLock::new();
    if let Some(loaded) = LOADED.get() {
        return Ok(loaded.clone());
    }
    let loaded = abi::load(&PathBuf::from(".").join(FORMATS))?;
    Ok(LOADED.get_or_init(|| loaded).clone())
}

/// A table that is not opened here.
#[derive(Debug)]
struct Unopened(TablePlace);

impl TableSource for Unopened {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        Err(Error::new(Code::Internal, "the table is not open"))
    }

    fn open(&self, _: &Morsel, _: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        Err(Error::new(Code::Internal, "the table is not open"))
    }

    fn place(&self) -> Option<TablePlace> {
        Some(self.0.clone())
    }
}
