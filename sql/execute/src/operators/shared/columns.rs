//! Rows as vectors, a column at a time.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::vector::{Bytes, Data, Vector};
use yunti_sql_plan::Batch;
use yunti_table::format::Kind;
use yunti_table::format::row::damaged;
use yunti_table::read::Row;

use super::SharedTable;

/// Rows of a batch at most, and bytes of rows after which no further one is added.
pub const ROWS_MAX: usize = 8192;
pub const BYTES_MAX: usize = 4 << 20;
/// Bytes of all dictionaries up to which they are held; texts of larger ones are copied row by row.
const DICTIONARY_BYTES_MAX: u64 = 16 << 20;

/// Rows that become one batch.
#[derive(Default)]
pub struct Rows<'t> {
    pub rows: Vec<Row<'t>>,
    bytes: usize,
}

impl<'t> Rows<'t> {
    pub fn push(&mut self, row: Row<'t>) {
        self.bytes += row.bytes().len();
        self.rows.push(row);
    }

    pub fn is_full(&self) -> bool {
        self.rows.len() >= ROWS_MAX || self.bytes >= BYTES_MAX
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.bytes = 0;
    }
}

impl SharedTable {
    /// Returns columns of rows.
    pub fn batch(&self, rows: &[Row<'_>], columns: &[usize]) -> Result<Batch> {
        let columns = columns.iter().map(|&column| self.vector(rows, column));
        Ok(Batch::of(columns.collect::<Result<_>>()?, rows.len()))
    }

    fn vector(&self, rows: &[Row<'_>], column: usize) -> Result<Vector> {
        // Numbers stand in rows as they are; a text of any length needs another loop.
        macro_rules! numbers {
            ($type:ty, $to:ty, $data:path) => {{
                let read = |bytes: &[u8]| Some(<$to>::from(<$type>::from_le_bytes(bytes.try_into().ok()?)));
                let (values, nulls) = fixed(rows, column, read)?;
                Vector { data: $data(values), nulls }
            }};
        }
        Ok(match self.table.schema().columns[column].kind {
            Kind::Bool => {
                let (values, nulls) = fixed(rows, column, |bytes| Some(bytes != [0]))?;
                Vector { data: Data::Bools(values), nulls }
            }
            Kind::I8 => numbers!(i8, i64, Data::Ints),
            Kind::I16 => numbers!(i16, i64, Data::Ints),
            Kind::I32 => numbers!(i32, i64, Data::Ints),
            Kind::I64 => numbers!(i64, i64, Data::Ints),
            Kind::U8 => numbers!(u8, i64, Data::Ints),
            Kind::U16 => numbers!(u16, i64, Data::Ints),
            Kind::U32 => numbers!(u32, i64, Data::Ints),
            Kind::U64 => numbers!(u64, i128, Data::Decimals),
            Kind::F32 => numbers!(f32, f64, Data::Floats),
            Kind::F64 => numbers!(f64, f64, Data::Floats),
            Kind::Dict => return self.coded(rows, column),
            Kind::Utf8 | Kind::Bytes => texts(rows, |row| row.raw_value(column))?,
            Kind::Record | Kind::List => {
                let json = rows.iter().map(|row| row.text(column)).collect::<Result<Vec<Option<String>>>>()?;
                let mut all = json.iter().map(|of| of.as_ref().map(String::as_bytes));
                texts(rows, |_| Ok(all.next().flatten()))?
            }
        })
    }

    /// Returns the texts of a `dict` column as codes.
    fn coded(&self, rows: &[Row<'_>], column: usize) -> Result<Vector> {
        let Some(dictionary) = self.dictionary(column)? else { return texts(rows, |row| row.value(column)) };
        let last = dictionary.len();
        let code = |bytes: &[u8]| {
            let code = u32::from_le_bytes(bytes.try_into().ok()?);
            ((code as usize) < last).then_some(code)
        };
        let (codes, nulls) = fixed(rows, column, code)?;
        // A null has the code 0, which an empty dictionary lacks.
        let dictionary = if last == 0 { Arc::new([&b""[..]].into_iter().collect()) } else { dictionary };
        Ok(Vector { data: Data::Codes(codes, dictionary), nulls })
    }

    fn dictionary(&self, column: usize) -> Result<Option<Arc<Bytes>>> {
        if let Some(known) = self.dictionaries[column].get() {
            return Ok(known.clone());
        }
        let is_held = self.table.header().sections.dictionaries.bytes <= DICTIONARY_BYTES_MAX;
        let texts = if is_held { self.table.dictionary(column)? } else { Vec::new() };
        let held = is_held.then(|| Arc::new(texts.into_iter().collect()));
        Ok(self.dictionaries[column].get_or_init(|| held).clone())
    }
}

/// Returns the values of a column of fixed width, and its nulls.
fn fixed<T: Copy + Default>(
    rows: &[Row<'_>],
    column: usize,
    read: impl Fn(&[u8]) -> Option<T>,
) -> Result<(Vec<T>, Option<Vec<bool>>)> {
    let mut values = Vec::with_capacity(rows.len());
    let mut nulls = None;
    for (number, row) in rows.iter().enumerate() {
        values.push(match row.raw_value(column)? {
            Some(bytes) => read(bytes).ok_or_else(|| damaged().hint("build it again"))?,
            None => {
                nulls.get_or_insert_with(|| vec![false; rows.len()])[number] = true;
                T::default()
            }
        });
    }
    Ok((values, nulls))
}

fn texts<'r>(rows: &[Row<'r>], mut value: impl FnMut(&Row<'r>) -> Result<Option<&'r [u8]>>) -> Result<Vector> {
    let mut values = Bytes::with_capacity(rows.len(), 16 * rows.len());
    let mut nulls = None;
    for (number, row) in rows.iter().enumerate() {
        let text = value(row)?;
        if text.is_none() {
            nulls.get_or_insert_with(|| vec![false; rows.len()])[number] = true;
        }
        values.push(text.unwrap_or_default());
    }
    Ok(Vector { data: Data::Bytes(values), nulls })
}
