//! The plan of a job: files, splits, classes and types, all known before the first record.

mod classes;
pub(super) mod complete;
mod early_fold;
pub(super) mod inputs;
pub mod join_cost;
mod lines;
pub(super) mod parts;
pub mod sizing;
pub mod source;
pub(super) mod units;

use std::sync::Arc;

use self::classes::JobClasses;
use self::early_fold::fold_in_workers;
use self::source::Source;
use crate::bytes::{KeyKind, KeyOrder};
use crate::columns::settings::MARK_NULLS;
use crate::env::{Env, NamedFile};
use crate::format::columns::Columns;
use crate::job::spec::{JobSpec, Mode, OutputFormat, Partitioning, SPLIT_BYTES_DEFAULT, SourceSpec};
use crate::operator::context::attempts_max;
use crate::operator::{Class, ClassSource, Type, Unit};
use crate::read::class_parser;
use crate::read::parts::{is_doubtful, reader as part_reader};
use crate::read::reader::READ_BYTES;
use crate::read::split::{InputFile, Piece, RecordFormat, Sharing, Split, split_at_lines, split_at_units, split_files};
use crate::write::column_encoder::ColumnEncoder;
use crate::write::{Encoder, class_encoder};
use yunti_base::directory_health::FailureRule;
use yunti_base::{Cancel, Code, Error, Result};

/// Split size of a job without a reduce, where each split becomes a file.
const MAP_ONLY_SPLIT_BYTES: u64 = 64 << 20;

/// Splits of a process, at most: Hadoop's block.
const PROCESS_SPLIT_BYTES_MAX: u64 = 128 << 20;
/// Processes that a worker starts one after the other, about: more balance the load, and each costs its start.
const PROCESSES_A_WORKER: u64 = 4;
/// Splits of a worker that emits the state of each key of a split, about. A failed attempt costs one.
const FOLDED_SPLITS_A_WORKER: u64 = 2;

/// Splits of a worker that reads typed columns, about, and their bytes: few have many rows.
const COLUMN_SPLITS_A_WORKER: u64 = 6;
const COLUMN_SPLIT_BYTES: std::ops::RangeInclusive<u64> = 2 << 20..=64 << 20;

/// The plan of a job: all decisions that depend on the specification, the classes and the input files.
pub struct Plan {
    pub files: Arc<Vec<InputFile>>,
    pub splits: Vec<Split>,
    pub input_bytes: u64,
    pub split_bytes: u64,
    /// True if the plan cut compressed files where it could.
    pub cuts_parts: bool,
    /// Sources of records, at least one. Each split belongs to one source.
    pub sources: Vec<Source>,
    pub combiner: Option<Arc<dyn Class>>,
    pub reducer: Option<Arc<dyn Class>>,
    pub folder: Option<Arc<dyn Class>>,
    pub partitioner: Option<Arc<dyn Class>>,
    /// Class that orders keys, if any. Then `order` orders the bytes of its forms.
    pub key_order_class: Option<Arc<dyn Class>>,
    /// Class that writes the output, if its format is a class.
    pub writer: Option<Arc<dyn Class>>,
    /// Types of keys and values that the mappers emit.
    pub map_types: (Type, Type),
    /// Types of the records that the job's own mappers emit.
    pub emitted_types: (Type, Type),
    /// Types of keys and values in the output.
    pub output_types: (Type, Type),
    pub order: KeyOrder,
    /// False if the tables of a grouped job's map phase become records, for a reduce elsewhere.
    pub keeps_tables: bool,
    pub partitions: u32,
    pub encoder: Encoder,
    /// Rule for retiring a scratch directory.
    pub scratch_rule: FailureRule,
    /// Attempts of a map task until an error of user code ends the job.
    pub map_attempts_max: u32,
    /// The same for a reduce task.
    pub reduce_attempts_max: u32,
}

impl Plan {
    /// Makes the plan of a job: finds its classes and files, checks their types, cuts the files into splits.
    ///
    /// Errors: `Usage` for parts that do not fit together. `UserCode` for a class that does not exist or is of another
    /// kind. `Input` for a file that cannot be read.
    pub fn make(spec: &JobSpec, env: &Env, sources: &[Arc<dyn ClassSource>]) -> Result<Plan> {
        Plan::make_with(spec, env, sources, false)
    }

    /// Makes the plan of a job as `make` does. `cut_parts`: compressed files are cut into parts, and the caller can
    /// begin again without cuts if `is_doubtful`. No file is cut if any is a pipe, which cannot be read again.
    pub fn make_with(spec: &JobSpec, env: &Env, sources: &[Arc<dyn ClassSource>], cut_parts: bool) -> Result<Plan> {
        let named = spec.sources();
        let mut all: Vec<Source> =
            named.iter().map(|source| Source::make(spec, source, sources)).collect::<Result<_>>()?;
        let mut classes = JobClasses::find(spec, sources)?;
        let mut map_types = map_types(&all)?;
        classes.check_values(map_types)?;
        let mut output_types = classes.output_types(map_types);
        if spec.has_directories() {
            // The key is the directory.
            output_types.0 = Type::None;
        }
        classes.check_key_order(map_types)?;
        let order = order(spec, &classes, map_types.0)?;
        classes.check_writer(output_types)?;
        let emitted_types = map_types;
        let folds_early = fold_in_workers(&mut all, &mut classes, &mut map_types);
        let CutInput { files, splits, split_bytes, cuts_parts } =
            files_and_splits(spec, &named, &all, folds_early, cut_parts, env)?;
        let encoder = encoder(&spec.output_columns, &spec.output_format, output_types)?;
        let json_values: Vec<&str> = spec.settings.get(JSON_VALUES).iter().flat_map(|names| names.lines()).collect();
        let mut encoder = encoder.with_json_values(&spec.output_columns, &json_values);
        if source::is_true(spec, MARK_NULLS)? {
            encoder = encoder.with_marked_nulls();
        }
        let JobClasses { combiner, reducer, folder, partitioner, key_order: key_order_class, writer } = classes;
        Ok(Plan {
            input_bytes: splits.iter().map(|s| s.bytes).sum(),
            files: Arc::new(files),
            splits,
            split_bytes,
            cuts_parts,
            sources: all,
            combiner,
            reducer,
            folder,
            partitioner,
            key_order_class,
            writer,
            map_types,
            emitted_types,
            output_types,
            order,
            keeps_tables: true,
            partitions: spec.reduces.max(1),
            encoder,
            scratch_rule: scratch_rule(spec)?,
            map_attempts_max: attempts_max(&spec.settings, false)?,
            reduce_attempts_max: attempts_max(&spec.settings, true)?,
        })
    }
}

/// Returns the types that all mappers emit. Errors: `Usage` if two sources differ.
fn map_types(sources: &[Source]) -> Result<(Type, Type)> {
    let types = sources[0].types;
    let Some(other) = sources.iter().find(|source| source.types != types) else { return Ok(types) };
    let name = |(key, value): (Type, Type)| format!("{} and {}", key.name(), value.name());
    let what = format!("one source emits {}, another {}", name(types), name(other.types));
    Err(Error::new(Code::Usage, what).hint("keys and values of all sources must have the same types"))
}

/// Returns the order of normalised keys. Errors: `Usage` if the key type of `spec` has another length than the mappers'
/// keys.
fn order(spec: &JobSpec, classes: &JobClasses, map_key_type: Type) -> Result<KeyOrder> {
    let key_type = spec.key_type.unwrap_or(map_key_type);
    let order = match &classes.key_order {
        Some(_) => KeyOrder::BYTES,
        // Groups need no order, so keys are sorted by what compares fastest.
        None if spec.mode == Mode::Grouped
            && classes.folder.is_none()
            && !spec.deterministic
            && spec.partitioning != Partitioning::TotalOrder =>
        {
            KeyOrder::NONE
        }
        None => key_order(key_type, spec.descending),
    };
    if key_type.fixed_bytes() != map_key_type.fixed_bytes() {
        let what = format!("keys of type {} cannot be ordered as {}", map_key_type.name(), key_type.name());
        return Err(Error::new(Code::Usage, what).hint("use the key type that the mapper declares"));
    }
    Ok(order)
}

/// Files of a job, cut into splits.
struct CutInput {
    files: Vec<InputFile>,
    splits: Vec<Split>,
    /// Target size of a split.
    split_bytes: u64,
    /// True if compressed files are cut where they can be.
    cuts_parts: bool,
}

/// Finds the files of all sources and cuts them into splits, numbered through.
fn files_and_splits(
    spec: &JobSpec,
    named: &[SourceSpec],
    sources: &[Source],
    folds_early: bool,
    cut_parts: bool,
    env: &Env,
) -> Result<CutInput> {
    let (mut files, mut splits): (Vec<InputFile>, Vec<Split>) = Default::default();
    let lines = lines::lines_of_split(spec)?;
    let mut found: Vec<Vec<InputFile>> =
        named.iter().map(|named| inputs::find(&*env.files, &named.inputs)).collect::<Result<_>>()?;
    // A job that reads a pipe cannot begin again after a wrong cut.
    let cuts_parts = cut_parts && !found.iter().flatten().any(|file| file.is_stream);
    if let Some(lines) = lines {
        found.iter_mut().zip(sources).try_for_each(|(own, s)| lines::mark(&*env.files, own, &s.format, lines))?;
    }
    let splits_a_worker = match sources.iter().any(Source::starts_processes) {
        true => Some(PROCESSES_A_WORKER),
        false => folds_early.then_some(FOLDED_SPLITS_A_WORKER),
    };
    let split_bytes = split_bytes(spec, splits_a_worker, found.iter().flatten().map(|file| file.len).sum(), env);
    for (number, (mut own, source)) in found.into_iter().zip(sources).enumerate() {
        // Each file has a process of its own anyway.
        let sharing = if source.starts_processes() { Sharing::FileEach } else { Sharing::Shared };
        let cut = match (&source.format, lines) {
            (RecordFormat::Source(scan), _) => {
                let units = units::plan(spec, source, scan, &own, env)?;
                let bytes = if scan.blocks { column_split_bytes(spec, &units, env) } else { split_bytes };
                split_at_units(&units, bytes)
            }
            (_, Some(_)) => split_at_lines(&own),
            (format, None) => {
                if cuts_parts {
                    parts::cut(spec, env, &mut own, format, split_bytes)?;
                }
                split_files(&own, format, split_bytes, sharing)
            }
        };
        for mut split in cut {
            split.pieces.iter_mut().for_each(|piece| piece.file += files.len() as u32);
            splits.push(Split { number: splits.len() as u32, source: number, ..split });
        }
        files.extend(own);
    }
    Ok(CutInput { files, splits, split_bytes, cuts_parts })
}

/// Returns the bytes of a split, unless the job sets them: larger ones for output files, and for few splits a worker.
fn split_bytes(spec: &JobSpec, splits_a_worker: Option<u64>, input_bytes: u64, env: &Env) -> u64 {
    if spec.split_bytes != SPLIT_BYTES_DEFAULT {
        return spec.split_bytes;
    }
    match (spec.mode, splits_a_worker) {
        (Mode::None, _) => MAP_ONLY_SPLIT_BYTES,
        (_, Some(splits)) => {
            let workers = spec.threads.unwrap_or_else(|| env.threads.processors()) as u64;
            (input_bytes / (splits * workers.max(1))).clamp(SPLIT_BYTES_DEFAULT, PROCESS_SPLIT_BYTES_MAX)
        }
        _ => spec.split_bytes,
    }
}

/// Returns the bytes of a split of typed columns, unless the job sets them: an aggregation passes on its groups once a
/// split.
fn column_split_bytes(spec: &JobSpec, units: &[(u32, Unit)], env: &Env) -> u64 {
    if spec.split_bytes != SPLIT_BYTES_DEFAULT {
        return spec.split_bytes;
    }
    let workers = spec.threads.unwrap_or_else(|| env.threads.processors()) as u64;
    let bytes: u64 = units.iter().map(|(_, unit)| unit.bytes).sum();
    (bytes / (COLUMN_SPLITS_A_WORKER * workers.max(1))).clamp(*COLUMN_SPLIT_BYTES.start(), *COLUMN_SPLIT_BYTES.end())
}

impl Plan {
    /// Returns the source that a split belongs to.
    pub fn source(&self, split: &Split) -> &Source {
        &self.sources[split.source]
    }

    /// Returns true if no mapper changes records.
    pub fn passes_on(&self) -> bool {
        self.sources.iter().all(Source::passes_on)
    }

    /// Returns true if one writer must make each part of the output from start to end.
    pub fn writes_whole_parts(&self) -> bool {
        self.writer.as_ref().is_some_and(|w| w.info().flags.whole_part)
    }

    /// Returns true if a file without records has bytes, such as the names of its columns.
    pub fn has_schema(&self) -> bool {
        self.writer.is_some() || self.encoder.as_columns().is_some_and(|columns| !columns.head().is_empty())
    }

    /// Returns the bytes of a worker's memory for decoders of parts, and for classes that read and write.
    pub fn formats_bytes(&self) -> u64 {
        let reader = match self.sources.iter().any(|source| source.reader.is_some()) {
            true => class_parser::memory_bytes(READ_BYTES),
            false => 0,
        };
        let parts =
            self.files.iter().filter_map(|file| file.parts.as_ref()).map(|parts| part_reader::memory_bytes(parts));
        reader + self.writer.as_ref().map_or(0, |_| class_encoder::MEMORY_BYTES) + parts.max().unwrap_or(0)
    }

    /// Returns true if the records of a cut compressed file may be others than a reader in order gives.
    ///
    /// Errors: `Cancelled`, as a proof that is cancelled shows nothing.
    pub fn is_doubtful(&self, env: &Env, cancel: &Cancel) -> Result<bool> {
        let is_doubtful = self.files.iter().any(|input| {
            let (Some(kind), Some(parts)) = (input.codec, &input.parts) else { return false };
            if parts.unproven().is_empty() {
                return parts.has_failed();
            }
            let file = NamedFile::open(&*env.files, &input.path, Code::Input);
            file.map_or(true, |file| is_doubtful(&file, kind, parts, cancel))
        });
        if is_doubtful {
            cancel.check()?;
        }
        Ok(is_doubtful)
    }

    /// Returns the number of splits with a compressed file that cannot be cut.
    pub fn whole_compressed(&self) -> usize {
        let whole = |piece: &Piece| {
            let file = &self.files[piece.file as usize];
            file.codec.is_some() && !file.cut_by_blocks(piece)
        };
        self.splits.iter().filter(|split| split.pieces.iter().any(whole)).count()
    }
}

/// Returns the encoder of an output format. `columns`: names of the columns for CSV and JSON.
///
/// Errors: `Usage` for columns that do not fit the types.
pub fn encoder(columns: &Columns, format: &OutputFormat, types: (Type, Type)) -> Result<Encoder> {
    let (key, value) = types;
    Ok(match format {
        OutputFormat::Text { separator } => Encoder::text(key, value, separator),
        OutputFormat::Raw => Encoder::raw(key, value),
        OutputFormat::Framed => Encoder::framed(key, value),
        OutputFormat::Csv { separator, header } => {
            let columns = ColumnEncoder::csv(types, columns, *separator, *header)?;
            Encoder::columns(key, value, columns)
        }
        OutputFormat::Json => Encoder::columns(key, value, ColumnEncoder::json(types, columns)?),
        // The class gets keys and values unchanged.
        OutputFormat::Class(_) => Encoder::raw(key, value),
    })
}

/// Returns the rule for retiring a scratch directory: a number of errors within a number of milliseconds.
///
/// Errors: `Usage` for a setting that is not a positive whole number.
pub fn scratch_rule(spec: &JobSpec) -> Result<FailureRule> {
    let number = |key: &str, scale: u64| {
        let Some(text) = spec.settings.get(key) else { return Ok(None) };
        let number = text.trim().parse::<u32>().ok().filter(|&n| n > 0);
        let wrong = || Error::new(Code::Usage, format!("{key}: '{text}' is not a whole number from 1"));
        number.map(|n| Some(u64::from(n) * scale)).ok_or_else(wrong)
    };
    let default = FailureRule::default();
    Ok(FailureRule {
        errors_max: number(SCRATCH_ERRORS_MAX, 1)?.map_or(default.errors_max, |n| n as u32),
        window_ns: number(SCRATCH_ERRORS_WINDOW_MS, 1_000_000)?.unwrap_or(default.window_ns),
    })
}

/// Setting: names of output columns whose texts are JSON values, a line each.
pub const JSON_VALUES: &str = "output.json.values";
const SCRATCH_ERRORS_MAX: &str = "scratch.errors.max";
const SCRATCH_ERRORS_WINDOW_MS: &str = "scratch.errors.window.ms";

fn key_order(key_type: Type, descending: bool) -> KeyOrder {
    let kind = match key_type {
        Type::None | Type::Bytes => KeyKind::Bytes,
        Type::I32 | Type::I64 => KeyKind::Signed,
        Type::U32 | Type::U64 => KeyKind::Unsigned,
        Type::F32 | Type::F64 => KeyKind::Float,
    };
    KeyOrder { kind, descending }
}
