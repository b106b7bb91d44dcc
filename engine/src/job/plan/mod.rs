//! The plan of a job: files, splits, classes, types and the memory of each worker, all known before the first record.

pub(super) mod inputs;
pub mod sizing;
pub mod source;

use std::sync::Arc;

use self::source::Source;
use crate::bytes::{KeyKind, KeyOrder};
use crate::env::Env;
use crate::format::columns::Columns;
use crate::job::spec::{JobSpec, Mode, OutputFormat, Partitioning, SPLIT_BYTES_DEFAULT};
use crate::operator::class::find_class;
use crate::operator::{Class, ClassSource, Kind, Type};
use crate::read::class_parser;
use crate::read::reader::READ_BYTES;
use crate::read::split::{InputFile, Piece, Split, split_files};
use crate::write::columned::Columned;
use crate::write::{Encoder, class_writing};
use yunti_base::directory_health::FailureRule;
use yunti_base::{Code, Error, Result};

/// Split size of a job of maps alone, where each split becomes a file.
const MAP_ONLY_SPLIT_BYTES: u64 = 64 << 20;

pub struct Plan {
    pub files: Arc<Vec<InputFile>>,
    pub splits: Vec<Split>,
    pub input_bytes: u64,
    pub split_bytes: u64,
    /// At least one; a split is of one of them.
    pub sources: Vec<Source>,
    pub combiner: Option<Arc<dyn Class>>,
    pub reducer: Option<Arc<dyn Class>>,
    pub folder: Option<Arc<dyn Class>>,
    pub partitioner: Option<Arc<dyn Class>>,
    /// The order of keys, where it is a class's; `order` is that of the forms then.
    pub arranger: Option<Arc<dyn Class>>,
    /// Of an output whose format is a class.
    pub writer: Option<Arc<dyn Class>>,
    /// What the mappers emit.
    pub map_types: (Type, Type),
    /// What goes to the output.
    pub output_types: (Type, Type),
    pub order: KeyOrder,
    pub partitions: u32,
    pub encoder: Encoder,
    /// When a scratch directory is taken out of use.
    pub scratch_rule: FailureRule,
}

impl Plan {
    pub fn make(spec: &JobSpec, env: &Env, sources: &[Arc<dyn ClassSource>]) -> Result<Plan> {
        let class = |name: &Option<String>, kinds: &[Kind]| match name {
            Some(name) => find_class(sources, name, kinds).map(Some),
            None => Ok(None),
        };
        let named = spec.sources();
        let all: Vec<Source> = named.iter().map(|source| Source::make(spec, source, sources)).collect::<Result<_>>()?;
        let mut combiner = class(&spec.combiner, &[Kind::Combiner, Kind::Reducer])?;
        let mut reducer = class(&spec.reducer, &[Kind::Reducer, Kind::Combiner])?;
        let mut folder = class(&spec.folder, &[Kind::Folder, Kind::Reducer, Kind::Combiner])?;
        let partitioner = match &spec.partitioning {
            Partitioning::Class(name) => class(&Some(name.clone()), &[Kind::Partitioner])?,
            _ => None,
        };
        let arranger = class(&spec.key_order, &[Kind::KeyOrder])?;
        let writer = match &spec.output_format {
            OutputFormat::Class(name) => class(&Some(name.clone()), &[Kind::Writer])?,
            _ => None,
        };
        if let Some(class) = &folder
            && class.info().kind != Kind::Folder
            && !class.info().is_fold
        {
            return Err(class.not_a(Kind::Folder));
        }
        // A combiner and a reducer that are the same fold are a folder.
        if let (Some(c), Some(r)) = (&combiner, &reducer)
            && c.info().is_fold
            && r.info().is_fold
            && c.info().name == r.info().name
        {
            folder = reducer.take();
            combiner = None;
        }

        let of = |class: &Arc<dyn Class>| (class.info().key_type, class.info().value_type);
        let map_types = all[0].types;
        if let Some(other) = all.iter().find(|source| source.types != map_types) {
            let name = |(key, value): (Type, Type)| format!("{} and {}", key.name(), value.name());
            return Err(Error::new(
                Code::Usage,
                format!("one source gives {}, another {}", name(map_types), name(other.types)),
            )
            .hint("keys and values of all sources have the same types"));
        }
        for class in [&combiner, &reducer, &folder].into_iter().flatten() {
            let info = class.info();
            if info.in_value_type != Type::None && info.in_value_type != map_types.1 {
                return Err(Error::new(
                    Code::Usage,
                    format!("{} takes values of type {}", info.name, info.in_value_type.name()),
                )
                .hint(format!("the mapper emits {}", map_types.1.name())));
            }
        }
        if let Some(c) = &combiner
            && c.info().value_type != map_types.1
            && !(c.info().is_fold && c.info().value_type == Type::None)
        {
            return Err(Error::new(
                Code::Usage,
                format!("the combiner {} changes the type of the values", c.info().name),
            )
            .hint("a combiner emits what the mapper emits"));
        }
        let last = reducer.as_ref().or(folder.as_ref());
        // A reducer or folder without a key type lets the mapper's keys through.
        let output_types = last.map_or(map_types, |c| match c.info() {
            info if info.is_identity => map_types,
            info if info.key_type == Type::None => (map_types.0, info.value_type),
            info => (info.key_type, info.value_type),
        });
        if let Some(c) = &arranger
            && c.info().key_type != Type::None
            && c.info().key_type != map_types.0
        {
            return Err(Error::new(
                Code::Usage,
                format!("{} orders keys of type {}", c.info().name, c.info().key_type.name()),
            )
            .hint(format!("the mapper emits {}", map_types.0.name())));
        }
        let order_type = spec.key_type.unwrap_or(map_types.0);
        let order = match &arranger {
            Some(_) => KeyOrder::BYTES,
            // Groups without an order: nothing is lost by sorting what compares fast.
            None if spec.mode == Mode::Grouped
                && folder.is_none()
                && !spec.deterministic
                && spec.partitioning != Partitioning::TotalOrder =>
            {
                KeyOrder::NONE
            }
            None => key_order(order_type, spec.descending),
        };
        if order_type.fixed_bytes() != map_types.0.fixed_bytes() {
            return Err(Error::new(
                Code::Usage,
                format!("keys of type {} cannot be ordered as {}", map_types.0.name(), order_type.name()),
            )
            .hint("use the key type that the mapper declares"));
        }

        if let Some(writer) = &writer {
            let (key, value) = of(writer);
            let takes = |takes: Type, is: Type| takes == Type::None || takes == is;
            if !takes(key, output_types.0) || !takes(value, output_types.1) {
                let name = &writer.info().name;
                let what =
                    format!("the writer {name} takes keys of type {} and values of type {}", key.name(), value.name());
                return Err(Error::new(Code::Usage, what).hint(format!(
                    "the job's are {} and {}",
                    output_types.0.name(),
                    output_types.1.name()
                )));
            }
        }
        let split_bytes = match spec.mode {
            Mode::None if spec.split_bytes == SPLIT_BYTES_DEFAULT => MAP_ONLY_SPLIT_BYTES,
            _ => spec.split_bytes,
        };
        let (mut files, mut splits): (Vec<InputFile>, Vec<Split>) = Default::default();
        for (number, (named, source)) in named.iter().zip(&all).enumerate() {
            let own = inputs::find(&*env.files, &named.inputs)?;
            for mut split in split_files(&own, &source.format, split_bytes) {
                split.pieces.iter_mut().for_each(|piece| piece.file += files.len() as u32);
                splits.push(Split { number: splits.len() as u32, source: number, ..split });
            }
            files.extend(own);
        }
        let encoder = encoder(&spec.output_columns, &spec.output_format, output_types)?;
        Ok(Plan {
            input_bytes: splits.iter().map(|s| s.bytes).sum(),
            files: Arc::new(files),
            splits,
            split_bytes,
            sources: all,
            combiner,
            reducer,
            folder,
            partitioner,
            arranger,
            writer,
            map_types,
            output_types,
            order,
            partitions: spec.reduces.max(1),
            encoder,
            scratch_rule: scratch_rule(spec)?,
        })
    }
}

impl Plan {
    pub fn source(&self, split: &Split) -> &Source {
        &self.sources[split.source]
    }

    /// Whether all records go on as they were read.
    pub fn passes_on(&self) -> bool {
        self.sources.iter().all(Source::passes_on)
    }

    /// One writer makes a part of the output from its beginning to its end.
    pub fn writes_whole_parts(&self) -> bool {
        self.writer.as_ref().is_some_and(|w| w.info().flags.whole_part)
    }

    /// What classes that read and write take of a worker's memory.
    pub fn formats_bytes(&self) -> u64 {
        let reader = match self.sources.iter().any(|source| source.reader.is_some()) {
            true => class_parser::memory_bytes(READ_BYTES),
            false => 0,
        };
        reader + self.writer.as_ref().map_or(0, |_| class_writing::MEMORY_BYTES)
    }

    /// Splits with a compressed file that nobody can cut.
    pub fn whole_compressed(&self) -> usize {
        let whole = |piece: &Piece| {
            let file = &self.files[piece.file as usize];
            file.codec.is_some() && !file.cut_by_blocks(piece)
        };
        self.splits.iter().filter(|split| split.pieces.iter().any(whole)).count()
    }
}

pub fn encoder(columns: &Columns, format: &OutputFormat, types: (Type, Type)) -> Result<Encoder> {
    let (key, value) = types;
    Ok(match format {
        OutputFormat::Text { separator } => Encoder::text(key, value, separator),
        OutputFormat::Raw => Encoder::raw(key, value),
        OutputFormat::Framed => Encoder::framed(key, value),
        OutputFormat::Csv { separator, header } => {
            let columned = Columned::csv(types, columns, *separator, *header)?;
            Encoder::columned(key, value, columned)
        }
        OutputFormat::Json => Encoder::columned(key, value, Columned::json(types, columns)?),
        // The class has them as they are.
        OutputFormat::Class(_) => Encoder::raw(key, value),
    })
}

/// When a scratch directory is taken out of use: after so many errors, within so many milliseconds.
pub fn scratch_rule(spec: &JobSpec) -> Result<FailureRule> {
    let number = |key: &str, scale: u64| {
        let Some(text) = spec.settings.get(key) else { return Ok(None) };
        let number = text.trim().parse::<u32>().ok().filter(|&n| n > 0);
        let wrong = || Error::new(Code::Usage, format!("{key}: '{text}' is no whole number from 1"));
        number.map(|n| Some(u64::from(n) * scale)).ok_or_else(wrong)
    };
    let default = FailureRule::default();
    Ok(FailureRule {
        errors_max: number(SCRATCH_ERRORS_MAX, 1)?.map_or(default.errors_max, |n| n as u32),
        window_ns: number(SCRATCH_ERRORS_WINDOW_MS, 1_000_000)?.unwrap_or(default.window_ns),
    })
}

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
