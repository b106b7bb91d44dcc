//! Tables of files that a class of the library `formats/` reads: Parquet, ORC, Avro, Arrow, sequence files.
//!
//! ```text
//!   file --describe--> fields, rows, least and largest values          once, when the table is opened
//!   file --plan-->     units that bounds do not exclude: the morsels
//!   morsel --open, next--> blocks of columns --> batches
//! ```
//!
//! A class instance holds the foot of its file. It returns to a pool when a morsel ends, for the next morsel of the
//! file.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use arrow_schema::DataType;
use serde_json::Value as Json;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::block::BlockReader;
use yunti_engine::columns::expression::{bound as bound_line, within};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::text;
use yunti_engine::columns::vector::Value;
use yunti_engine::env::Env;
use yunti_engine::format::file_formats::FileFormat;
use yunti_engine::job;
use yunti_engine::memory::{Budget, Buffer};
use yunti_engine::operator::class::find_class;
use yunti_engine::operator::context::{JobContext, Settings};
use yunti_engine::operator::cursor::{HEADER_BYTES, LARGE_BYTES};
use yunti_engine::operator::{self, Class, ClassSource, Emitter, Sink, Source, SourceFile, TaskContext};
use yunti_sql_plan::table::ColumnStatistics;
use yunti_sql_plan::{
    Batch, Bounds, Comparison, Field, Morsel, MorselReader, Statistics, Table, TablePlace, TableSource, ValueSet,
    kind_of,
};

use super::records::Records;
use super::statistics::together;

/// Files of one format with the same columns.
struct FileTable {
    format: &'static FileFormat,
    class: Arc<dyn Class>,
    job: Arc<JobContext>,
    paths: Vec<PathBuf>,
    fields: Vec<Field>,
    /// Shapes of the fields' values; None for a type without one.
    kinds: Vec<Option<Kind>>,
    /// False for a field whose values have another type in the file, such as the text of a list: the library would take
    /// a bound on it for one on the stored values.
    has_bounds: Vec<bool>,
    /// For a column whose units have ranges of their own: the range of each unit of each file.
    own_ranges: BTreeMap<usize, Vec<Vec<(i64, i64)>>>,
    env: Env,
    budget: Arc<Budget>,
    /// Number of the first file among those of the pool.
    first: u32,
    /// True if the pool has no other file.
    is_alone: bool,
    pool: Pool,
}

/// Open files that no morsel is reading, of all tables that were opened together.
type Pool = Arc<Mutex<Vec<Open>>>;

/// A file that is open, with the instance that knows its foot.
struct Open {
    source: Box<dyn Source>,
    file: Arc<SourceFile>,
}

/// Opens files as one table. All must have the columns of the first.
///
/// Errors: `Input` and `Corrupt` with the file; those of the library.
pub fn table(
    name: &str,
    paths: &[PathBuf],
    format: &'static FileFormat,
    library: Arc<dyn ClassSource>,
    env: &Env,
    budget: &Arc<Budget>,
) -> Result<Table> {
    let mut all = tables(name, paths, format, library, (env, budget), &|_| false)?.into_iter();
    let first = all.next().ok_or_else(|| Error::new(Code::Input, format!("the table {name} has no file")))?;
    if all.next().is_some() {
        return Err(other_columns(&paths[first.files], &paths[0]));
    }
    Ok(first.table)
}

/// Returns the error for a file whose columns are not those of another.
pub fn other_columns(path: &Path, first: &Path) -> Error {
    let error = Error::new(Code::Input, format!("the columns are not those of {}", shown(first))).at_path(shown(path));
    error.hint("the files of a table must have the same columns and types")
}

/// A table of files that follow each other and have the same columns.
pub struct Stretch {
    pub table: Table,
    /// Number of its files.
    pub files: usize,
}

/// Opens files as tables, one for each stretch of files with the same columns. `begins(n)`: true if the file of this
/// number begins a new one, whatever its columns are.
///
/// Errors: `Input` and `Corrupt` with the file; those of the library.
pub fn tables(
    name: &str,
    paths: &[PathBuf],
    format: &'static FileFormat,
    library: Arc<dyn ClassSource>,
    (env, budget): (&Env, &Arc<Budget>),
    begins: &dyn Fn(usize) -> bool,
) -> Result<Vec<Stretch>> {
    let class = find_class(&[library], format.source, &[operator::Kind::Source])?;
    let mut all: Vec<Described> = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        let own = Described::of(path, &class, env)?;
        match all.last_mut().filter(|last| !begins(number) && have_same_columns(&last.fields, &own.fields)) {
            Some(last) => {
                last.files += 1;
                last.statistics = together(std::mem::take(&mut last.statistics), own.statistics);
                let so_far = std::mem::take(&mut last.own_ranges).into_iter();
                last.own_ranges = so_far.filter_map(|of| behind(of, &own.own_ranges)).collect();
            }
            None => all.push(own),
        }
    }
    let pool = Pool::default();
    let (mut next, count) = (0, paths.len());
    let opened = |of: Described| {
        let first = next;
        next += of.files;
        let paths = &paths[first..next];
        let kind = |of: &Field| kind_of(&of.data_type).filter(|_| of.data_type != DataType::Null);
        let inputs = paths.iter().map(|path| shown(path)).collect();
        let table = FileTable {
            format,
            class: class.clone(),
            job: JobContext::new(Settings::new(), BTreeMap::new(), inputs),
            paths: paths.to_vec(),
            kinds: of.fields.iter().map(kind).collect(),
            fields: of.fields.clone(),
            has_bounds: of.as_stored,
            own_ranges: of.own_ranges,
            env: env.clone(),
            budget: budget.clone(),
            first: first as u32,
            is_alone: count == 1,
            pool: pool.clone(),
        };
        let source = Arc::new(FileTableSource(Arc::new(table)));
        let table = Table { name: name.into(), fields: of.fields, statistics: of.statistics, source };
        Stretch { table, files: of.files }
    };
    Ok(all.into_iter().map(opened).collect())
}

/// Description of files with the same columns, as the library gives it.
struct Described {
    fields: Vec<Field>,
    as_stored: Vec<bool>,
    statistics: Statistics,
    /// For a column whose units have ranges of their own: the range of each unit of each file.
    own_ranges: BTreeMap<usize, Vec<Vec<(i64, i64)>>>,
    files: usize,
}

impl Described {
    fn of(path: &Path, class: &Arc<dyn Class>, env: &Env) -> Result<Described> {
        let text = job::inspect::describe(path, class, env)?;
        let described: Json = serde_json::from_str(&text).map_err(|e| {
            Error::new(Code::Internal, format!("the description of a file is no JSON ({e})")).at_path(shown(path))
        })?;
        let fields = fields_of(&described);
        let as_stored = are_as_stored(&described, &fields);
        let columns = columns_of(&described);
        let statistics = statistics_of(&described, &columns, &fields, &as_stored);
        let ranges = ranges_of(&columns, &fields, &as_stored);
        let own_ranges = ranges.into_iter().map(|(column, units)| (column, vec![units])).collect();
        Ok(Described { fields, as_stored, statistics, own_ranges, files: 1 })
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the columns of a description, with the types of their values in blocks: of the file, else as they are read
/// back, else text. Arrow's `Null` has no values that a scan can read.
fn fields_of(described: &Json) -> Vec<Field> {
    let of = |field: &Json| {
        let text = |member: &str| field[member].as_str().unwrap_or_default();
        let kind = Kind::parse(text("text_type")).ok();
        let of_kind = |member| {
            let found = text(member).parse::<DataType>().ok();
            found.filter(|of| kind.is_some() && kind_of(of) == kind && *of != DataType::Null)
        };
        let other = if kind == Some(Kind::Text) { DataType::Utf8 } else { DataType::Null };
        let data_type = of_kind("type").or_else(|| of_kind("text_type")).unwrap_or(other);
        Field { name: text("name").into(), data_type, nullable: true }
    };
    described["fields"].as_array().into_iter().flatten().map(of).collect()
}

/// Returns true for each field whose values have the type that they have in the file.
fn are_as_stored(described: &Json, fields: &[Field]) -> Vec<bool> {
    let is_stored = |(n, field): (usize, &Field)| {
        described["fields"][n]["type"].as_str().and_then(|text| text.parse().ok()) == Some(field.data_type.clone())
    };
    fields.iter().enumerate().map(is_stored).collect()
}

fn have_same_columns(a: &[Field], b: &[Field]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.name == b.name && a.data_type == b.data_type)
}

/// Columns of a description by their names.
type Columns<'d> = HashMap<&'d str, &'d Json>;

/// Returns the columns of a description. Of columns with one name, the first counts.
fn columns_of(described: &Json) -> Columns<'_> {
    let all = described["columns"].as_array().into_iter().flatten();
    all.rev().filter_map(|column| Some((column["path"].as_str()?, column))).collect()
}

/// Returns what a description says of the rows.
fn statistics_of(described: &Json, columns: &Columns<'_>, fields: &[Field], as_stored: &[bool]) -> Statistics {
    let of = |(field, as_stored): (&Field, &bool)| {
        let Some(column) = columns.get(&field.name[..]) else { return ColumnStatistics::default() };
        let value = |member: &str| {
            column[member]
                .as_str()
                .filter(|_| *as_stored)
                .and_then(|text| bound_value(text, kind_of(&field.data_type)?))
        };
        let distinct = column["distinct_about"].as_u64();
        ColumnStatistics { min: value("min"), max: value("max"), nulls: column["nulls"].as_u64(), distinct }
    };
    Statistics { rows: described["rows"].as_u64(), columns: fields.iter().zip(as_stored).map(of).collect() }
}

/// Returns the ranges of a column in each unit, if a description says that they are apart.
fn ranges_of(columns: &Columns<'_>, fields: &[Field], as_stored: &[bool]) -> BTreeMap<usize, Vec<(i64, i64)>> {
    let mut all = BTreeMap::new();
    for (n, field) in fields.iter().enumerate().filter(|(n, _)| as_stored[*n]) {
        use DataType::{Date32, Int8, Int16, Int32, Int64};
        if let (Int8 | Int16 | Int32 | Int64 | Date32, Some(units)) =
            (&field.data_type, columns.get(&field.name[..]).and_then(|column| column["apart"].as_array()))
        {
            let pair = |unit: &Json| Some((unit[0].as_i64()?, unit[1].as_i64()?));
            if let Some(units) = units.iter().map(pair).collect::<Option<Vec<_>>>() {
                all.insert(n, units);
            }
        }
    }
    all
}

/// Returns the ranges of a column in some files and in one more, if they are apart there too.
fn behind(
    (column, mut files): (usize, Vec<Vec<(i64, i64)>>),
    more: &BTreeMap<usize, Vec<Vec<(i64, i64)>>>,
) -> Option<(usize, Vec<Vec<(i64, i64)>>)> {
    let more = more.get(&column)?;
    let last = files.iter().flatten().last().map_or(i64::MIN, |(_, most)| *most);
    let is_behind = more.iter().flatten().next().is_none_or(|(least, _)| *least >= last);
    files.extend_from_slice(more);
    is_behind.then_some((column, files))
}

/// Returns a value that a description has as stored: numbers, dates and times in their units.
fn bound_value(text: &str, kind: Kind) -> Option<Value> {
    match kind {
        Kind::Int | Kind::Date | Kind::Time(_) | Kind::Timestamp { .. } => text.parse().ok().map(Value::Int),
        Kind::Decimal { .. } => text.parse().ok().map(Value::Decimal),
        Kind::Float | Kind::Float32 | Kind::Text | Kind::Boolean => text::parse(kind, text.as_bytes()),
    }
}

impl FileTable {
    fn idle(&self) -> MutexGuard<'_, Vec<Open>> {
        self.pool.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns an open file: one that is idle, or a new one.
    fn take(&self, file: u32) -> Result<Open> {
        let number = self.first + file;
        let mut idle = self.idle();
        if let Some(at) = idle.iter().rposition(|open| open.file.index() == number) {
            return Ok(idle.swap_remove(at));
        }
        // Files that no morsel needs any more: morsels come in the order of files.
        idle.retain(|open| open.file.index() > number);
        drop(idle);
        let context = TaskContext::new(self.job.clone(), false, 0, 1);
        let source = self.class.source(&context)?;
        let path = &self.paths[file as usize];
        Ok(Open { source, file: Arc::new(SourceFile::open(&*self.env.files, path, number, &self.budget)?) })
    }

    /// Returns false for a class that passes on records, as the one of sequence files does.
    fn gives_blocks(&self) -> bool {
        self.class.info().flags.gives_blocks
    }

    fn scan(&self, columns: &[usize], bounds: &[Bounds]) -> operator::Scan {
        operator::Scan {
            value: columns.iter().map(|&n| self.fields[n].name.clone()).collect(),
            no_value: columns.is_empty(),
            marks_nulls: true,
            blocks: self.gives_blocks(),
            condition: self.condition(bounds),
            ..operator::Scan::default()
        }
    }

    fn condition(&self, bounds: &[Bounds]) -> String {
        bounds.iter().filter_map(|bound| self.line(bound)).collect::<Vec<_>>().join("\n")
    }

    /// Returns a bound as the library takes it: name, operator and value, apart by tabs.
    fn line(&self, bound: &Bounds) -> Option<String> {
        let operator = match bound.comparison {
            Comparison::Equal => "=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
            Comparison::NotEqual | Comparison::Distinct | Comparison::NotDistinct => return None,
        };
        if !self.has_bounds[bound.column] {
            return None;
        }
        let line = bound_line(&self.fields[bound.column].name, operator, &bound.value)?;
        String::from_utf8(line).ok()
    }

    /// Returns the shapes of columns. Errors: `Usage` for a type that a block has not.
    fn kinds(&self, columns: &[usize]) -> Result<Vec<Kind>> {
        let kind = |&n: &usize| {
            let no =
                || Error::new(Code::Usage, format!("the column {} has a type without a shape", self.fields[n].name));
            self.kinds[n].ok_or_else(no)
        };
        columns.iter().map(kind).collect()
    }
}

/// A table that its morsels share.
struct FileTableSource(Arc<FileTable>);

impl fmt::Debug for FileTableSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files", self.0.paths.len())
    }
}

impl TableSource for FileTableSource {
    fn morsels(&self, columns: &[usize], bounds: &[Bounds]) -> Result<Vec<Morsel>> {
        let table = &self.0;
        let scan = table.scan(columns, bounds);
        let mut morsels = Vec::new();
        for index in 0..table.paths.len() as u32 {
            let mut open = table.take(index)?;
            // An empty file is a table without rows in every format, such as Hive and Spark leave them.
            if !open.file.is_empty() {
                let units = open.source.plan(&open.file, &scan)?;
                morsels.extend(units.into_iter().map(|unit| Morsel {
                    file: index,
                    unit: unit.number,
                    rows: unit.records,
                    bytes: unit.bytes,
                }));
            }
            // Many files would be too many to stay open.
            if table.is_alone {
                table.idle().push(open);
            }
        }
        Ok(morsels)
    }

    fn open(&self, morsel: &Morsel, columns: &[usize], bounds: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        self.open_within(morsel, columns, (bounds, &[]))
    }

    fn open_within(
        &self,
        morsel: &Morsel,
        columns: &[usize],
        (bounds, sets): (&[Bounds], &[ValueSet]),
    ) -> Result<Box<dyn MorselReader>> {
        let table = &self.0;
        let kinds = table.kinds(columns)?;
        let mut open = table.take(morsel.file)?;
        let mut scan = table.scan(columns, bounds);
        for set in sets.iter().filter(|set| table.has_bounds[set.column]) {
            let line = String::from_utf8(within(&table.fields[set.column].name, &set.text)).unwrap_or_default();
            if !scan.condition.is_empty() {
                scan.condition.push('\n');
            }
            scan.condition.push_str(&line);
        }
        open.source.open(&open.file, &scan, morsel.unit)?;
        let emitter = Emitter::new(Blocks::new(kinds, table.gives_blocks())?, false, false)?;
        Ok(Box::new(Unit { table: table.clone(), open: Some(open), emitter, has_more: true }))
    }

    fn own_range(&self, morsel: &Morsel, column: usize) -> Option<(i64, i64)> {
        self.0.own_ranges.get(&column)?.get(morsel.file as usize)?.get(morsel.unit as usize).copied()
    }

    fn place(&self) -> Option<TablePlace> {
        // Records in place of blocks are read by the process that plans alone.
        self.0
            .gives_blocks()
            .then(|| TablePlace::Files { format: self.0.format.name.into(), paths: self.0.paths.clone() })
    }

    fn condition(&self, bounds: &[Bounds]) -> String {
        self.0.condition(bounds)
    }
}

/// Rows of one unit of a file.
struct Unit {
    table: Arc<FileTable>,
    /// None once the unit has ended.
    open: Option<Open>,
    emitter: Emitter<Blocks>,
    has_more: bool,
}

impl MorselReader for Unit {
    fn next(&mut self) -> Result<Option<Batch>> {
        loop {
            if let Some(batch) = self.emitter.sink_mut().take() {
                return Ok(Some(batch));
            }
            let Some(open) = &mut self.open else { return Ok(None) };
            if !self.has_more {
                let open = self.open.take();
                self.table.idle().extend(open);
                return Ok(None);
            }
            let mut more = false;
            let emitted = self.emitter.run(&[], |out| {
                more = open.source.next(out)?;
                Ok(())
            });
            let place = |e: Error| if e.path().is_some() { e } else { e.at_path(open.file.path()) };
            emitted.and_then(|()| self.emitter.hand_over()).map_err(place)?;
            self.has_more = more;
        }
    }
}

/// Receives the blocks of a class and keeps their columns. A block of usual size comes as a large record, which is read
/// where it stands; small ones are written to the buffer.
struct Blocks {
    reader: BlockReader,
    kinds: Vec<Kind>,
    /// Rows of a class that passes on records in place of blocks.
    records: Option<Records>,
    /// Batches in reverse order.
    read: Vec<Batch>,
    buffer: Buffer,
}

impl Blocks {
    fn new(kinds: Vec<Kind>, gives_blocks: bool) -> Result<Blocks> {
        let records = (!gives_blocks).then(|| Records::new(&kinds));
        let buffer = Buffer::new(LARGE_BYTES, None)?;
        Ok(Blocks { reader: BlockReader::default(), kinds, records, read: Vec::new(), buffer })
    }

    /// Returns the oldest batch that is left.
    fn take(&mut self) -> Option<Batch> {
        self.read.pop().or_else(|| self.records.as_mut()?.take())
    }

    fn add(&mut self, block: &[u8]) -> Result<()> {
        if let Some(records) = &mut self.records {
            return records.push(block);
        }
        let (columns, rows) = self.reader.read(block, &self.kinds)?;
        self.read.insert(0, Batch::of(columns, rows));
        Ok(())
    }
}

impl Sink for Blocks {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok((self.buffer.with_slack_mut().as_mut_ptr(), self.buffer.len()))
    }

    fn filled(&mut self, len: usize, _need: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        let bytes = self.buffer[..len].to_vec();
        let mut rest = &bytes[..];
        while let Some((head, behind)) = rest.split_first_chunk::<HEADER_BYTES>() {
            let length = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
            let (key, value) = (length(0), length(4));
            let block = behind.get(key..key + value).ok_or_else(|| {
                Error::new(Code::UserCode, "the source passed on a record that is longer than its buffer")
            })?;
            self.add(block)?;
            let used = (HEADER_BYTES + key + value).next_multiple_of(8);
            rest = rest.get(used..).unwrap_or_default();
        }
        self.begin()
    }

    fn large(&mut self, _: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        self.add(value)?;
        self.begin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_descriptions() {
        for (text, kind, value) in [
            ("-5", Kind::Int, Some(Value::Int(-5))),
            ("10561", Kind::Date, Some(Value::Int(10561))),
            ("123", Kind::Decimal { scale: 2 }, Some(Value::Decimal(123))),
            ("abc", Kind::Text, Some(Value::Bytes(b"abc".to_vec()))),
            ("x", Kind::Int, None),
        ] {
            assert_eq!(bound_value(text, kind), value, "{text}");
        }
    }
}
