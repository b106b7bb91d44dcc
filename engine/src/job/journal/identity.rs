//! Identity of a job, for a later attempt: its specification, its class files, its splits.
//!
//! Hashes are xxh3 (XXH3_128bits of xxHash 0.8 for contents, XXH3_64bits for splits): they find changes, not attacks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use twox_hash::{XxHash3_64, XxHash3_128};

use super::frame::{JobIdentity, SplitIdentity, VERSION};
use crate::env::{Files, NamedFile};
use crate::job::plan::Plan;
use crate::job::spec::file::spec_to_toml;
use crate::job::spec::{InputFormat, JobSpec, OutputFormat, OutputTarget, Partitioning, SpillCodec};
use crate::job::task_files::tables;
use crate::operator::ClassSource;
use yunti_base::{Code, Error, Result};

/// Settings that change how a job runs, but not its output.
const NOT_IN_IDENTITY: [&str; 4] =
    ["mapreduce.map.maxattempts", "mapreduce.reduce.maxattempts", "mapreduce.task.timeout", "bad.records"];
/// Prefixes of such settings.
const PREFIXES_NOT_IN_IDENTITY: [&str; 2] = ["scratch.", "resume."];

/// Bytes read at a time for a hash.
const READ_BYTES: usize = 1 << 20;

/// Returns the identity of a job. Errors: `Usage` for a path that is not UTF-8; those of reading the class files.
pub fn of_job(spec: &JobSpec, files: &dyn Files, classes: &[Arc<dyn ClassSource>]) -> Result<JobIdentity> {
    let mut same = JobSpec {
        output: OutputTarget::Stdout,
        libraries: Vec::new(),
        side_files: Vec::new(),
        tables: Default::default(),
        table_token_file: None,
        table_tls_ca: None,
        memory_bytes: None,
        threads: None,
        scratch_dirs: Vec::new(),
        spill_codec: SpillCodec::Auto,
        overwrite: false,
        wait: false,
        durable: false,
        resume: false,
        ..spec.without_inputs()
    };
    same.settings.retain(|key, _| {
        !NOT_IN_IDENTITY.contains(&key.as_str()) && !PREFIXES_NOT_IN_IDENTITY.iter().any(|p| key.starts_with(p))
    });
    let mut job = spec_to_toml(&same)?;
    if let Some((key, value)) = spec.input_types {
        job += &format!("input-types = \"{}, {}\"\n", key.name(), value.name());
    }
    let mut paths = spec.side_files.clone();
    for class in class_names(spec) {
        if let Some(own) = classes.iter().map(|source| source.files(&class)).find(|own| !own.is_empty()) {
            paths.extend(own);
        }
    }
    paths.sort();
    paths.dedup();
    let hashed = |path: &PathBuf| Ok((name_of(path), hash_of(files, path)?));
    let table = |name: &String| Ok((format!("table {name}"), tables::identity(spec, files, name)?));
    let files = paths.iter().map(hashed).chain(spec.tables.keys().map(table)).collect::<Result<Vec<_>>>()?;
    let engine = env!("CARGO_PKG_VERSION").into();
    Ok(JobIdentity { version: VERSION, engine, job, files, durable: spec.durable })
}

/// Returns the names of all classes of a job.
fn class_names(spec: &JobSpec) -> Vec<String> {
    let mut names: Vec<String> =
        [&spec.combiner, &spec.reducer, &spec.folder, &spec.key_order].into_iter().flatten().cloned().collect();
    for source in spec.sources() {
        names.extend(source.mapper);
        if let InputFormat::Class(name) = source.input_format {
            names.push(name);
        }
    }
    if let OutputFormat::Class(name) = &spec.output_format {
        names.push(name.clone());
    }
    if let Partitioning::Class(name) = &spec.partitioning {
        names.push(name.clone());
    }
    names
}

/// Returns the name of a file without its directory: a temporary directory may have another name each time.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn hash_of(files: &dyn Files, path: &Path) -> Result<String> {
    let file = NamedFile::open(files, path, Code::Input)?;
    let mut hash = XxHash3_128::with_seed(0);
    let mut buffer = vec![0; READ_BYTES];
    let mut at = 0;
    loop {
        let n = file.read_up_to(&mut buffer, at)?;
        hash.write(&buffer[..n]);
        at += n as u64;
        if n < buffer.len() {
            return Ok(format!("{:032x}", hash.finish_128()));
        }
    }
}

/// Returns the identities of all splits of a plan, by number. Errors: `Usage` for an input that is read once; `Input`
/// for a file that is gone.
pub fn of_splits(plan: &Plan, files: &dyn Files) -> Result<Vec<SplitIdentity>> {
    let mut of_files = Vec::with_capacity(plan.files.len());
    for file in plan.files.iter() {
        let path = file.path.to_string_lossy();
        if file.is_stream {
            return Err(Error::new(Code::Usage, "--resume needs input that can be read again")
                .at_path(path)
                .hint("write the stream to a file first, or leave out --resume"));
        }
        let meta = files.meta(&file.path);
        let meta = meta.map_err(|e| Error::io(Code::Input, "cannot read the metadata", &e).at_path(&*path))?;
        let content = files.content_hash(&file.path);
        let content = content.map_err(|e| Error::io(Code::Input, "cannot read", &e).at_path(&*path))?;
        of_files.push((path.into_owned(), meta.len, meta.modified_ms, content));
    }
    let of_split = |split: &crate::read::Split| {
        let pieces: Vec<_> =
            split.pieces.iter().map(|piece| (&of_files[piece.file as usize], piece.start, piece.end)).collect();
        let text = format!("{} {pieces:?}", split.source);
        SplitIdentity { number: split.number, hash: XxHash3_64::oneshot(text.as_bytes()) }
    };
    Ok(plan.splits.iter().map(of_split).collect())
}

/// Returns a hash over all splits.
pub fn of_input(splits: &[SplitIdentity]) -> u64 {
    let bytes: Vec<u8> = splits.iter().flat_map(|split| split.hash.to_le_bytes()).collect();
    XxHash3_64::oneshot(&bytes)
}

/// Returns the first difference of two jobs in words; None if their outputs are the same.
pub fn difference(before: &JobIdentity, now: &JobIdentity) -> Option<String> {
    if before.version != now.version || before.engine != now.engine {
        return Some(format!("it was begun by version {} of yunti, and this is {}", before.engine, now.engine));
    }
    let only_in = |a: &str, b: &str| a.lines().find(|line| !b.lines().any(|other| other == *line)).map(str::to_string);
    match (only_in(&before.job, &now.job), only_in(&now.job, &before.job)) {
        (Some(old), Some(new)) => return Some(format!("the job changed: {old} is now {new}")),
        (Some(old), None) => return Some(format!("the job changed: it had {old}")),
        (None, Some(new)) => return Some(format!("the job changed: it has {new}")),
        (None, None) if before.job != now.job => return Some("the job changed".into()),
        (None, None) => {}
    }
    let changed = now.files.iter().find(|file| !before.files.contains(file));
    let changed = changed.or_else(|| before.files.iter().find(|file| !now.files.contains(file)));
    changed.map(|(name, _)| format!("{name} changed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let job = |text: &str, file: &str| JobIdentity {
            version: VERSION,
            engine: "1".into(),
            job: text.into(),
            files: vec![("lib.so".into(), file.into())],
            durable: false,
        };
        let check = |now: JobIdentity, expect: Option<&str>| {
            assert_eq!(difference(&job("a = 1\nb = 2\n", "00"), &now).as_deref(), expect);
        };
        check(job("a = 1\nb = 2\n", "00"), None);
        check(JobIdentity { durable: true, ..job("a = 1\nb = 2\n", "00") }, None);
        check(job("a = 1\nb = 3\n", "00"), Some("the job changed: b = 2 is now b = 3"));
        check(job("a = 1\n", "00"), Some("the job changed: it had b = 2"));
        check(job("a = 1\nb = 2\nc = 1\n", "00"), Some("the job changed: it has c = 1"));
        check(job("b = 2\na = 1\n", "00"), Some("the job changed"));
        check(job("a = 1\nb = 2\n", "01"), Some("lib.so changed"));
        let other = JobIdentity { engine: "2".into(), ..job("a = 1\nb = 2\n", "00") };
        check(other, Some("it was begun by version 1 of yunti, and this is 2"));
    }
}
