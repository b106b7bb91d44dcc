//! Rows that texts have: lines of files, or values of sequence files.
//!
//! ```text
//!   file   |----- morsel 0 -----|----- morsel 1 -----|..     a line belongs to the morsel in which it begins
//! ```

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, StringBuilder};
use datafusion::arrow::datatypes::DataType;
use yunti_base::{Code, Error, Result};
use yunti_engine::codec::CodecKind;
use yunti_engine::columns::vector::Vector;
use yunti_engine::env::Env;
use yunti_engine::memory::Budget;
use yunti_sql_arrow::bytes::Bytes;
use yunti_sql_plan::{Batch, Bounds, Field, Morsel, MorselReader, Statistics, Table, TableSource};

use super::record::{Column, push};
use super::storage::Record;
use super::types::{self, HiveType, values};
use crate::arrow;

/// Bytes of a morsel of a file that is not compressed.
const MORSEL_BYTES: u64 = 16 << 20;
const READ_BYTES: usize = 256 << 10;
/// Bytes of a line, at most.
const LINE_BYTES_MAX: usize = 1 << 30;
/// Rows and bytes of texts of a batch, about.
const BATCH_ROWS: usize = 4096;
const BATCH_BYTES: usize = 4 << 20;

/// How records become rows: the record, the names and types of the columns, and lines to pass.
#[derive(Clone, Debug)]
pub struct Shape {
    pub record: Record,
    pub columns: Vec<(String, HiveType)>,
    /// Lines at the start and at the end of each file that are no records.
    pub header: usize,
    pub footer: usize,
}

impl Shape {
    fn fields(&self) -> Vec<Field> {
        let of =
            |(name, of): &(String, HiveType)| Field { name: name.clone(), data_type: of.data_type(), nullable: true };
        self.columns.iter().map(of).collect()
    }

    fn rows(&self, wanted: &[usize]) -> Rows {
        let mut order: Vec<usize> = wanted.to_vec();
        order.sort_unstable();
        order.dedup();
        let column = |&number: &usize| Column {
            number,
            name: self.columns[number].0.clone(),
            of: self.columns[number].1.clone(),
            texts: StringBuilder::new(),
        };
        let columns: Vec<Column> = order.iter().map(column).collect();
        let places = wanted.iter().map(|number| order.binary_search(number).unwrap_or_default()).collect();
        Rows { record: self.record.clone(), columns, places, rows: 0, bytes: 0 }
    }
}

/// Rows that grow by a record at a time.
struct Rows {
    record: Record,
    columns: Vec<Column>,
    /// Number in `columns` of each wanted column.
    places: Vec<usize>,
    rows: usize,
    bytes: usize,
}

impl Rows {
    fn push(&mut self, line: &[u8]) -> Result<()> {
        push(line, &self.record, &mut self.columns)?;
        self.rows += 1;
        self.bytes += line.len();
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    fn take(&mut self) -> Result<Option<Batch>> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows == 0 {
            return Ok(None);
        }
        let vector = |column: &mut Column| {
            let texts: ArrayRef = Arc::new(column.texts.finish());
            arrow::arrays::vector(&values(texts, &column.of)?).map(Arc::new)
        };
        let columns = self.columns.iter_mut().map(vector).collect::<Result<Vec<Arc<Vector>>>>()?;
        Ok(Some(Batch { columns: self.places.iter().map(|&n| columns[n].clone()).collect(), rows }))
    }
}

/// A file of lines.
#[derive(Clone, Debug)]
struct File {
    path: PathBuf,
    len: u64,
    codec: Option<CodecKind>,
}

/// Lines of files.
struct Lines {
    files: Vec<File>,
    shape: Shape,
    env: Env,
    budget: Arc<Budget>,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "lines of {} files", self.files.len())
    }
}

/// Returns the table of the lines of files: path, length and codec of each.
pub fn table(
    name: &str,
    files: Vec<(PathBuf, u64, Option<CodecKind>)>,
    shape: Shape,
    (env, budget): (&Env, &Arc<Budget>),
) -> Table {
    let fields = shape.fields();
    let files = files.into_iter().map(|(path, len, codec)| File { path, len, codec }).collect();
    let source = Arc::new(Lines { files, shape, env: env.clone(), budget: budget.clone() });
    Table { name: name.into(), fields, statistics: Statistics::default(), source }
}

impl TableSource for Lines {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        let mut morsels = Vec::new();
        for (number, file) in self.files.iter().enumerate() {
            // Only the end of a file tells which lines are the last.
            let is_cut = file.codec.is_none() && self.shape.footer == 0;
            let count = if is_cut { file.len.div_ceil(MORSEL_BYTES) } else { u64::from(file.len > 0) };
            for unit in 0..count {
                let bytes = if is_cut { MORSEL_BYTES.min(file.len - unit * MORSEL_BYTES) } else { file.len };
                morsels.push(Morsel { file: number as u32, unit, rows: 0, bytes });
            }
        }
        Ok(morsels)
    }

    fn open(&self, morsel: &Morsel, columns: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        let file = &self.files[morsel.file as usize];
        let begin = morsel.unit * MORSEL_BYTES;
        let is_cut = file.codec.is_none() && self.shape.footer == 0;
        let bytes = Bytes::open(&*self.env.files, &file.path, file.codec, begin.saturating_sub(1), &self.budget)?;
        let mut reader = Reader {
            bytes,
            path: file.path.to_string_lossy().into_owned(),
            buffer: Vec::new(),
            from: 0,
            at: begin.saturating_sub(1),
            end: if is_cut { begin + MORSEL_BYTES } else { u64::MAX },
            is_last: false,
            held: Vec::new(),
            footer: self.shape.footer,
            rows: self.shape.rows(columns),
        };
        // A morsel begins behind the first line end at or after the byte before it.
        let pass = if begin > 0 { 1 } else { self.shape.header };
        for _ in 0..pass {
            reader.line()?;
        }
        Ok(Box::new(reader))
    }
}

struct Reader {
    bytes: Bytes,
    path: String,
    /// Bytes that have been read; those from `from` on are not used yet, and begin at `at` in the file.
    buffer: Vec<u8>,
    from: usize,
    at: u64,
    /// Lines that begin here or later belong to the next morsel.
    end: u64,
    is_last: bool,
    /// Lines that may be part of the footer.
    held: Vec<Vec<u8>>,
    footer: usize,
    rows: Rows,
}

impl Reader {
    /// Passes to the next line, and returns its range in the buffer; None at the end.
    fn line(&mut self) -> Result<Option<std::ops::Range<usize>>> {
        let mut seen = self.from;
        loop {
            if let Some(length) = self.buffer[seen..].iter().position(|&byte| byte == b'\n') {
                let range = self.from..seen + length;
                self.at += (range.len() + 1) as u64;
                self.from = range.end + 1;
                return Ok(Some(self.without_return(range)));
            }
            seen = self.buffer.len();
            if self.is_last {
                let range = self.from..seen;
                self.at += range.len() as u64;
                self.from = seen;
                return Ok((!range.is_empty()).then(|| self.without_return(range)));
            }
            if seen - self.from > LINE_BYTES_MAX {
                return Err(Error::new(Code::Corrupt, "a line is longer than 1 GiB").at_path(&*self.path));
            }
            self.buffer.drain(..self.from);
            seen -= self.from;
            self.from = 0;
            self.fill()?;
        }
    }

    /// Hadoop takes CR LF for one line end.
    fn without_return(&self, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let ends = self.buffer[range.clone()].ends_with(b"\r");
        range.start..range.end - usize::from(ends)
    }

    fn fill(&mut self) -> Result<()> {
        let filled = self.buffer.len();
        self.buffer.resize(filled + READ_BYTES, 0);
        let read = self.bytes.read(&mut self.buffer[filled..])?;
        self.buffer.truncate(filled + read);
        self.is_last = read == 0;
        Ok(())
    }
}

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        while !self.rows.is_full() && self.at < self.end {
            let begin = self.at;
            let Some(range) = self.line()? else { break };
            let failed = |e: Error| e.at_path(&*self.path).at_offset(begin);
            if self.footer == 0 {
                self.rows.push(&self.buffer[range]).map_err(failed)?;
                continue;
            }
            self.held.push(self.buffer[range].to_vec());
            if self.held.len() > self.footer {
                self.rows.push(&self.held.remove(0)).map_err(failed)?;
            }
        }
        self.rows.take()
    }
}

/// Values of sequence files as records.
#[derive(Debug)]
struct Values {
    inner: Arc<Table>,
    /// Number of the values' column.
    column: usize,
    shape: Shape,
}

/// Returns the table of the values of sequence files.
pub fn of_values(inner: Arc<Table>, shape: Shape) -> Result<Table> {
    let column = inner.fields.iter().position(|field| field.name == "value");
    let column = column.ok_or_else(|| Error::new(Code::Internal, "sequence files have no values"))?;
    let (name, fields) = (inner.name.clone(), shape.fields());
    Ok(Table { name, fields, statistics: Statistics::default(), source: Arc::new(Values { inner, column, shape }) })
}

impl TableSource for Values {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        self.inner.source.morsels(&[self.column], &[])
    }

    fn open(&self, morsel: &Morsel, columns: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        let inner = self.inner.source.open(morsel, &[self.column], &[])?;
        let data_type = self.inner.fields[self.column].data_type.clone();
        Ok(Box::new(ValuesReader { inner, data_type, rows: self.shape.rows(columns) }))
    }
}

struct ValuesReader {
    inner: Box<dyn MorselReader>,
    data_type: DataType,
    rows: Rows,
}

impl MorselReader for ValuesReader {
    fn next(&mut self) -> Result<Option<Batch>> {
        let Some(batch) = self.inner.next()? else { return Ok(None) };
        let texts = arrow::arrays::array(&batch.columns[0], &self.data_type)?;
        let texts = types::converted(&texts, &DataType::Binary)?;
        let texts = texts.as_binary_opt::<i32>();
        let texts = texts.ok_or_else(|| Error::new(Code::Usage, "the values of a sequence file are no texts"))?;
        for text in texts {
            self.rows.push(text.unwrap_or_default())?;
        }
        self.rows.take()
    }
}
