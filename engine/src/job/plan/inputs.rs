//! Input files of a job, from the names that the user gave.
//!
//! A directory stands for the files in it and below it, except names that begin with `_` or `.`, as in Hadoop. A name
//! that does not exist may be a glob (`*`, `?`, `[..]`, `{a,b}`). Files come in the order of the given names, and below
//! a directory in byte order.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::codec::CodecKind;
use crate::env::files::Meta;
use crate::env::{Files, stores};
use crate::read::split::InputFile;
use crate::write::part_file::MARK_BYTES;
use yunti_base::{Code, Error, Result};

/// Returns the files that `names` stand for; `-` is standard input.
///
/// Errors: `Input` for a name that does not exist, cannot be read or matches nothing; `Usage` for a bad pattern.
pub fn find(files: &dyn Files, names: &[String]) -> Result<Vec<InputFile>> {
    let mut found = Vec::new();
    let _ = walk(files, names, &mut |file| {
        found.push(file);
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Returns the first file that `names` stand for and that is `wanted`. Files after it are not listed.
///
/// Errors: those of `find`, for the names before it.
pub fn first(files: &dyn Files, names: &[String], wanted: impl Fn(&InputFile) -> bool) -> Result<Option<InputFile>> {
    let found = walk(files, names, &mut |file| match wanted(&file) {
        true => ControlFlow::Break(file),
        false => ControlFlow::Continue(()),
    })?;
    Ok(found.break_value())
}

/// Tells if the walk goes on, or the file with which it ends.
type Step = ControlFlow<InputFile>;

fn walk(files: &dyn Files, names: &[String], see: &mut dyn FnMut(InputFile) -> Step) -> Result<Step> {
    for name in names {
        let path = Path::new(name);
        let step = if name == "-" {
            see(InputFile { path: "-".into(), is_stream: true, ..InputFile::default() })
        } else {
            match files.meta(path) {
                Ok(_) => walk_path(files, path, see)?,
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                    if stores::scheme_of(path).is_none() {
                        stores::refuse_unknown_scheme(path, Code::Input)?;
                    }
                    match is_pattern(name) {
                        true => walk_glob(files, name, see)?,
                        false => return Err(cannot_read(path, &e)),
                    }
                }
                Err(e) => return Err(cannot_read(path, &e)),
            }
        };
        if step.is_break() {
            return Ok(step);
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn walk_glob(files: &dyn Files, pattern: &str, see: &mut dyn FnMut(InputFile) -> Step) -> Result<Step> {
    let mut is_empty = true;
    let mut see = |file| {
        is_empty = false;
        see(file)
    };
    for path in glob(files, pattern)? {
        let step = walk_path(files, &path, &mut see)?;
        if step.is_break() {
            return Ok(step);
        }
    }
    if is_empty {
        return Err(Error::new(Code::Input, "no file matches").at_path(pattern).hint("check the pattern"));
    }
    Ok(ControlFlow::Continue(()))
}

fn cannot_read(path: &Path, e: &std::io::Error) -> Error {
    let error = Error::io(Code::Input, "cannot read the input", e).at_path(path.to_string_lossy());
    match e.kind() {
        std::io::ErrorKind::NotFound => error.hint("check the path"),
        std::io::ErrorKind::PermissionDenied => error.hint("check the permissions"),
        _ => error,
    }
}

fn walk_path(files: &dyn Files, path: &Path, see: &mut dyn FnMut(InputFile) -> Step) -> Result<Step> {
    let meta = files.meta(path).map_err(|e| cannot_read(path, &e))?;
    if !meta.is_dir {
        let codec = CodecKind::from_path(path);
        let mut marks = files.marks(path);
        // One mark a stretch, the least: this choice does not depend on how the writers divided the file.
        marks.dedup_by_key(|mark| *mark / MARK_BYTES);
        let (path, Meta { len, is_stream, .. }) = (path.into(), meta);
        return Ok(see(InputFile { path, len, codec, is_stream, marks, ..InputFile::default() }));
    }
    for child in files.list(path).map_err(|e| cannot_read(path, &e))? {
        if hidden(&child) {
            continue;
        }
        let step = walk_path(files, &child, see)?;
        if step.is_break() {
            return Ok(step);
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b".") || n.as_encoded_bytes().starts_with(b"_"))
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '{'])
}

/// Returns the paths that match, in byte order. Only directories that may lead to a match are listed.
fn glob(files: &dyn Files, pattern: &str) -> Result<Vec<PathBuf>> {
    // The bucket of a store is no part of the pattern.
    let (root, rest) = match stores::root_of(pattern) {
        Some((root, rest)) if root.ends_with('/') => (format!("{root}/"), rest),
        Some((root, rest)) => (root.to_string(), rest),
        None => (String::from(if pattern.starts_with('/') { "/" } else { "" }), pattern),
    };
    let mut paths = vec![PathBuf::from(root)];
    let is_far = stores::scheme_of(Path::new(pattern)).is_some();
    let mut parts = split_components(rest).peekable();
    while let Some(part) = parts.next() {
        if !is_pattern(part) {
            // A lookup in a store lists all that is below: what follows finds out if there is something.
            if is_far && parts.peek().is_some() {
                paths.iter_mut().for_each(|path| path.push(part));
                continue;
            }
            let mut there = Vec::new();
            for mut path in paths {
                path.push(part);
                if found(&path, files.meta(&path))?.is_some() {
                    there.push(path);
                }
            }
            paths = there;
            continue;
        }
        let matcher = globset::GlobBuilder::new(part)
            .literal_separator(true)
            .build()
            .map_err(|e| Error::new(Code::Usage, format!("bad pattern: {}", e.kind())).at_path(pattern))?
            .compile_matcher();
        let mut next = Vec::new();
        for dir in &paths {
            let list = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
            let Some(children) = found(list, files.list(list))? else { continue };
            for child in children {
                let Some(name) = child.file_name() else { continue };
                if matcher.is_match(name) && (!hidden(&child) || part.starts_with(['.', '_'])) {
                    next.push(dir.join(name));
                }
            }
        }
        paths = next;
    }
    paths.sort();
    Ok(paths)
}

/// Returns None for a path that does not exist. Any other failure is an error, because ignoring it would lose input
/// silently.
fn found<T>(path: &Path, result: std::io::Result<T>) -> Result<Option<T>> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    match result {
        Ok(value) => Ok(Some(value)),
        Err(e) if matches!(e.kind(), NotFound | NotADirectory) => Ok(None),
        Err(e) => Err(cannot_read(path, &e)),
    }
}

/// Returns the components of a pattern; a `/` within braces does not separate.
fn split_components(pattern: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    pattern
        .split(move |c: char| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            c == '/' && depth <= 0
        })
        .filter(|part| !part.is_empty())
}
