//! Names in queries as tables: a file, a directory, a pattern, with options.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::config::TableParquetOptions;
use datafusion::common::{DataFusionError, ScalarValue, Statistics};
use datafusion::datasource::file_format::FileFormat as Reader;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use object_store::{ObjectMeta, ObjectStore};
use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::env::stores::scheme_of;
use yunti_engine::format::file_formats::{self, END_BYTES, FileFormat};
use yunti_engine::job;
use yunti_engine::memory::Budget;
use yunti_engine::operator::ClassSource;

use super::partitions::Partitions;
use super::text::{self, TextFormat};
use super::{FileTable, native};
use crate::store::FileStore;

/// Files of which statistics are read before the query runs, at most.
const STATISTICS_FILES_MAX: usize = 1000;

/// Loads the class library for files of a format.
pub type Library = Arc<dyn Fn(&FileFormat) -> Result<Arc<dyn ClassSource>> + Send + Sync>;

/// What tables of files are opened with.
pub struct World {
    pub env: Env,
    pub store: Arc<FileStore>,
    pub budget: Arc<Budget>,
    pub library: Library,
    /// Directories and files outside of which no query reads or writes; None: anywhere.
    pub allowed: Option<Vec<PathBuf>>,
    /// False if no query uses Yunti's own executor.
    pub is_native: bool,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}

/// A table by its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Files, directories and patterns.
    pub paths: Vec<String>,
    /// Name of a format; None: by the names of the files.
    pub format: Option<String>,
    /// True if text has the names of columns in its first line.
    pub header: Option<bool>,
    pub delimiter: Option<u8>,
}

/// A file of a table.
#[derive(Clone, Debug)]
pub struct DataFile {
    pub path: PathBuf,
    pub meta: ObjectMeta,
    /// Values of the columns that directories name.
    pub values: Vec<ScalarValue>,
}

/// How files are read.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Columns(&'static FileFormat),
    Text(TextFormat),
}

impl Place {
    /// Returns the place of a path.
    pub fn of(path: &str) -> Place {
        Place { paths: vec![path.into()], ..Place::default() }
    }

    /// Parses `PATH[,format=F][,header=true|false][,delimiter=C]`.
    pub fn parse(text: &str) -> Result<Place> {
        let mut place = Place::default();
        let mut path = text;
        while let Some((rest, option)) = path.rsplit_once(',') {
            let Some((name, value)) = option.split_once('=') else { break };
            match name {
                "format" => place.format = Some(value.into()),
                "header" => place.header = Some(flag(value)?),
                "delimiter" => place.delimiter = Some(byte(value)?),
                _ => break,
            }
            path = rest;
        }
        place.paths.push(path.into());
        Ok(place)
    }
}

/// Parses true or false.
pub fn flag(text: &str) -> Result<bool> {
    match &text.to_ascii_lowercase()[..] {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(Error::new(Code::Usage, format!("'{text}' is neither true nor false"))),
    }
}

/// Parses one character of a byte, or `\t`.
pub fn byte(text: &str) -> Result<u8> {
    match text {
        "\\t" | "tab" => Ok(b'\t'),
        "comma" => Ok(b','),
        _ if text.len() == 1 => Ok(text.as_bytes()[0]),
        _ => Err(Error::new(Code::Usage, format!("'{text}' is not one character")).hint("write \\t for a tab")),
    }
}

impl World {
    /// Fails if a path is outside of the allowed ones, or leads out of them by links.
    pub fn check(&self, path: &Path) -> Result<()> {
        let Some(allowed) = &self.allowed else { return Ok(()) };
        let real = real_path(path);
        if allowed.iter().any(|root| real.starts_with(real_path(root))) {
            return Ok(());
        }
        Err(Error::new(Code::Usage, "the path is outside of the allowed ones")
            .at_path(path.to_string_lossy())
            .hint("name it with --allow"))
    }
}

/// Returns the path without links and `..`, as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    if scheme_of(path).is_some() {
        // A store has no links. A part that leads up never matches an allowed path.
        let leads_up = path.components().any(|part| part == Component::ParentDir);
        return if leads_up { PathBuf::new() } else { path.into() };
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let mut existing = absolute.as_path();
    let mut missing = Vec::new();
    loop {
        if let Ok(real) = existing.canonicalize() {
            let mut real = real;
            for part in missing.iter().rev() {
                match part {
                    Component::ParentDir => drop(real.pop()),
                    part => real.push(part),
                }
            }
            return real;
        }
        missing.extend(existing.components().next_back());
        match existing.parent() {
            Some(parent) => existing = parent,
            None => return absolute,
        }
    }
}

/// Opens a table. Errors: `Input` for files that are missing, `Corrupt`, `Usage` for formats that are unknown.
pub async fn open(
    name: &str,
    place: &Place,
    world: &World,
    state: &dyn Session,
) -> std::result::Result<FileTable, DataFusionError> {
    let (mut files, shape) = find(place, world).map_err(crate::failure::wrapped)?;
    let store: Arc<dyn ObjectStore> = world.store.clone();
    let metas: Vec<ObjectMeta> = files.iter().map(|file| file.meta.clone()).collect();
    let (schema, reader): (SchemaRef, Arc<dyn Reader>) = match &shape {
        Shape::Columns(format) if format.name == "parquet" => {
            let global = state.config_options().execution.parquet.clone();
            let reader = ParquetFormat::new().with_options(TableParquetOptions { global, ..Default::default() });
            (reader.infer_schema(state, &store, &metas).await.map_err(|e| of_files(e, &files))?, Arc::new(reader))
        }
        Shape::Columns(format) => {
            let what = format!("files of format {} are not readable here yet", format.title);
            return Err(crate::failure::wrapped(
                Error::new(Code::Usage, what).hint("convert them with yunti convert").at_path(shown(&files[0].path)),
            ));
        }
        Shape::Text(text) => {
            let reader = text::reader(text, place);
            (reader.infer_schema(state, &store, &metas).await.map_err(|e| of_files(e, &files))?, reader)
        }
    };
    let root = root_of(&place.paths);
    let partitions = Partitions::of(&root, &mut files, &schema);
    let mut statistics = Vec::new();
    if files.len() <= STATISTICS_FILES_MAX && matches!(shape, Shape::Columns(_)) {
        for meta in &metas {
            let of: Statistics = reader.infer_stats(state, &store, schema.clone(), meta).await?;
            statistics.push(Arc::new(of));
        }
    }
    let native = match shape {
        Shape::Columns(format) if world.is_native && partitions.fields.is_empty() => {
            native::table(name, &files, format, world)
        }
        _ => None,
    };
    FileTable::new(name.into(), (schema, reader), (files, partitions), statistics, native)
}

/// Returns an error of a reader with the name of the file, if there is one file.
fn of_files(error: DataFusionError, files: &[DataFile]) -> DataFusionError {
    let error = crate::failure::plain(error);
    let known = error.path().is_some();
    let path = match files {
        _ if known => return crate::failure::wrapped(error),
        [one] => shown(&one.path),
        [first, ..] => format!("{} and {} others", shown(&first.path), files.len() - 1),
        [] => return crate::failure::wrapped(error),
    };
    let error = match error.code() {
        Code::Usage | Code::Internal | Code::UserCode => Error::new(Code::Corrupt, error.what().to_string()),
        _ => error,
    };
    crate::failure::wrapped(error.at_path(path))
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the directory below which directories name columns: the part of the first path without a pattern.
fn root_of(paths: &[String]) -> PathBuf {
    let path = Path::new(paths.first().map_or("", |path| path));
    let is_plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let plain: PathBuf = path.components().take_while(is_plain).collect();
    // The values of a path that the query names are columns too, as in 't/day=2026-11-01/x.parquet'.
    plain.components().take_while(|part| !part.as_os_str().to_string_lossy().contains('=')).collect()
}

/// Returns the files of a place, which all have one shape.
fn find(place: &Place, world: &World) -> Result<(Vec<DataFile>, Shape)> {
    let found = job::find_inputs(&*world.env.files, &place.paths)?;
    let mut files = Vec::new();
    let mut shape: Option<(Shape, PathBuf)> = None;
    for input in found {
        world.check(&input.path)?;
        if input.is_stream {
            return Err(Error::new(Code::Usage, "a query reads its files more than once, which a stream cannot give")
                .at_path(shown(&input.path))
                .hint("write it to a file first"));
        }
        let own = shape_of(&input.path, place, world)?;
        match &shape {
            None => shape = Some((own.clone(), input.path.clone())),
            Some((first, _)) if *first == own => {}
            Some((_, first)) => {
                return Err(Error::new(Code::Usage, format!("the file has another format than {}", first.display()))
                    .at_path(shown(&input.path))
                    .hint("name files of one format with a pattern, as in 'dir/*.parquet'"));
            }
        }
        let codec = input.codec.filter(|_| matches!(own, Shape::Text(_)));
        let meta = world.store.add(&input.path, codec)?;
        files.push(DataFile { path: input.path, meta, values: Vec::new() });
    }
    match shape {
        Some((shape, _)) => Ok((files, shape)),
        None => Err(Error::new(Code::Input, "the directory has no file").at_path(place.paths.join(", "))),
    }
}

/// Returns how a file is read: by the option, its extension, or its bytes.
fn shape_of(path: &Path, place: &Place, world: &World) -> Result<Shape> {
    if let Some(name) = &place.format {
        if let Some(format) = file_formats::named(name) {
            return Ok(Shape::Columns(format));
        }
        return text::named(name, place).map(Shape::Text);
    }
    if let Some(format) = file_formats::FILE_FORMATS.iter().find(|format| format.has_extension(path)) {
        return Ok(Shape::Columns(format));
    }
    if let Some(text) = text::of_name(path, place) {
        return Ok(Shape::Text(text));
    }
    let failed = |e: std::io::Error| Error::io(Code::Input, "cannot read the input", &e).at_path(shown(path));
    let file = world.env.files.open(path).map_err(failed)?;
    let len = file.len().map_err(failed)?;
    let (mut head, mut tail) = ([0; END_BYTES], [0; END_BYTES]);
    let read = file.read_at(&mut head, 0).map_err(failed)?;
    let ends = file.read_at(&mut tail, len.saturating_sub(END_BYTES as u64)).map_err(failed)?;
    match file_formats::with_ends(&head[..read], &tail[..ends]) {
        Some(format) => Ok(Shape::Columns(format)),
        None => Err(Error::new(Code::Usage, "the format of the file is unknown")
            .at_path(shown(path))
            .hint("name it with --table NAME=PATH,format=csv (or tsv, json, parquet ..)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_follow_the_path() {
        let place = Place::parse("a,b/x.txt,format=csv,header=no,delimiter=\\t").unwrap();
        assert_eq!(place.paths, ["a,b/x.txt"]);
        assert_eq!((place.format.as_deref(), place.header, place.delimiter), (Some("csv"), Some(false), Some(b'\t')));
        assert_eq!(Place::parse("t/day=1,2/x.csv").unwrap().paths, ["t/day=1,2/x.csv"]);
        assert!(Place::parse("x,header=maybe").is_err());
    }

    #[test]
    fn directories_with_values_are_not_of_the_root() {
        for (path, expect) in
            [("t/*/x.csv", "t"), ("/a/t", "/a/t"), ("/a/t/day=1/x.csv", "/a/t"), ("*.csv", ""), ("a/b.csv", "a/b.csv")]
        {
            assert_eq!(root_of(&[path.into()]), Path::new(expect), "{path}");
        }
    }

    #[test]
    fn links_and_dots_do_not_lead_out() {
        let dir = std::env::temp_dir().join(format!("yunti-sql-allow-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("in")).unwrap();
        let _ = std::os::unix::fs::symlink("/etc", dir.join("in/link"));
        let real = dir.canonicalize().unwrap();
        assert_eq!(real_path(&dir.join("in/link/passwd")), Path::new("/etc/passwd"));
        assert_eq!(real_path(&dir.join("in/../x/../../y")), real.parent().unwrap().join("y"));
        assert!(real_path(&dir.join("in/new/file")).starts_with(real.join("in")));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
