//! Files of a table, and how they are read: by an option, their names, or their bytes.

use std::path::{Component, Path, PathBuf};

use yunti_base::{Code, Error, Result};
use yunti_engine::format::file_formats::{self, END_BYTES, FileFormat};
use yunti_engine::job;
use yunti_sql_execute::operators::shared;

use super::place::Place;
use super::text::{self, TextFormat};
use super::world::{DataFile, World};

/// How files are read.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Columns(&'static FileFormat),
    Text(TextFormat),
    /// Shared tables.
    Shared,
}

/// Returns a path for a message.
pub fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the directory below which directories name columns: the part of the first path without a pattern.
pub fn root_of(paths: &[String]) -> PathBuf {
    let path = Path::new(paths.first().map_or("", |path| path));
    let is_plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let plain: PathBuf = path.components().take_while(is_plain).collect();
    // The values of a path that the query names are columns too, as in 't/day=2026-11-01/x.parquet'.
    plain.components().take_while(|part| !part.as_os_str().to_string_lossy().contains('=')).collect()
}

/// Returns the files of a place, which all have one shape.
pub fn find(place: &Place, world: &World) -> Result<(Vec<DataFile>, Shape)> {
    let found = job::find_inputs(&*world.env.files, &place.paths)?;
    let mut files = Vec::new();
    let mut shape: Option<(Shape, PathBuf)> = None;
    let mut empty = None;
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
        // An empty file is a table without rows in every format, such as Hive and Spark leave them.
        if input.len == 0 && matches!(own, Shape::Columns(_)) {
            empty = empty.or(Some(input.path));
            continue;
        }
        let codec = input.codec.filter(|_| matches!(own, Shape::Text(_)));
        let meta = world.store.add(&input.path, codec)?;
        files.push(DataFile { path: input.path, meta, stored_bytes: input.len, codec, values: Vec::new() });
    }
    match (shape, empty) {
        (Some((shape, _)), _) if !files.is_empty() => Ok((files, shape)),
        (_, Some(path)) => Err(Error::new(Code::Input, "the file is empty, so it has no columns")
            .at_path(shown(&path))
            .hint("name a file with columns")),
        _ => Err(Error::new(Code::Input, "the directory has no file").at_path(place.paths.join(", "))),
    }
}

/// Returns how a file is read: by the option, its extension, or its bytes.
fn shape_of(path: &Path, place: &Place, world: &World) -> Result<Shape> {
    if let Some(name) = &place.format {
        if name == shared::EXTENSION {
            return Ok(Shape::Shared);
        }
        if let Some(format) = file_formats::named(name) {
            return Ok(Shape::Columns(format));
        }
        return text::named(name, place).map(Shape::Text);
    }
    if let Some(format) = file_formats::FILE_FORMATS.iter().find(|format| format.has_extension(path)) {
        return Ok(Shape::Columns(format));
    }
    if path.extension().is_some_and(|own| own.eq_ignore_ascii_case(shared::EXTENSION)) {
        return Ok(Shape::Shared);
    }
    if let Some(text) = text::of_name(path, place) {
        return Ok(Shape::Text(text));
    }
    let failed = |e: std::io::Error| Error::io(Code::Input, "cannot read the input", &e).at_path(shown(path));
    let file = world.env.files.open(path).map_err(failed)?;
    let len = file.len().map_err(failed)?;
    let (mut head, mut tail) = ([0; END_BYTES], [0; END_BYTES]);
    let read = file.read_at(&mut head, 0).map_err(failed)?;
    if shared::is_begin(&head) {
        return Ok(Shape::Shared);
    }
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
    fn directories_with_values_are_not_of_the_root() {
        for (path, expect) in
            [("t/*/x.csv", "t"), ("/a/t", "/a/t"), ("/a/t/day=1/x.csv", "/a/t"), ("*.csv", ""), ("a/b.csv", "a/b.csv")]
        {
            assert_eq!(root_of(&[path.into()]), Path::new(expect), "{path}");
        }
    }
}
