//! Records of a part as batches of columns, for the writers of files.
//!
//! ```text
//!   types of the job      key I64, value BYTES ..      one column each, unless the value has several names
//!   output columns        names; several columns of bytes stand in one byte string (record.rs)
//!   NAME.types            types of the columns of bytes by name, as arrow spells them: their texts are parsed
//! ```

use std::io::Write;
use std::sync::{Arc, Mutex};

use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, BinaryArray, PrimitiveArray, RecordBatch, types::*};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Schema};
use yunti_api::{Context, Error, Result, fail};

use crate::cells::record;

/// Rows of a batch for the encoder.
const BATCH_ROWS: usize = 8192;
/// Bytes of a batch for the encoder, about.
const BATCH_BYTES: usize = 1 << 20;

/// Records that wait for an encoder.
pub struct Rows {
    key: Side,
    value: Side,
    schema: Arc<Schema>,
    rows: usize,
    bytes: usize,
}

impl Rows {
    /// Makes the columns of a job's output. `settings`: the prefix of the format's settings.
    ///
    /// Fails if a number has several columns, and for a type that is none.
    pub fn create(context: &Context, settings: &str) -> Result<Rows> {
        Rows::create_as(context, settings, |kind| kind)
    }

    /// Makes them as `create` does. `stored`: returns the type in which the format stores a declared type.
    pub fn create_as(context: &Context, settings: &str, stored: fn(DataType) -> DataType) -> Result<Rows> {
        let types = context.setting("yunti.writer.types").unwrap_or("bytes bytes");
        let (key, value) = types.split_once(' ').unwrap_or((types, "none"));
        let marks_nulls = context.setting("columns.mark.nulls").is_some_and(|text| text.trim() == "true");
        let names = |setting: &str| -> Vec<String> {
            let text = context.setting(setting).unwrap_or_default();
            text.lines().map(str::to_string).collect()
        };
        let setting = format!("{settings}.types");
        let mut declared = Declared::parse(context.setting(&setting).unwrap_or_default(), &setting)?;
        declared.0.iter_mut().for_each(|(_, kind)| *kind = stored(kind.clone()));
        let (key_names, value_names) = (names("yunti.writer.key.columns"), names("yunti.writer.value.columns"));
        let is_named = !key_names.is_empty() || !value_names.is_empty();
        let mut fields = Vec::new();
        let mut side = |kind: &str, names: Vec<String>, default: &str| match kind {
            // A side without a name is left out, as in CSV and JSON.
            "bytes" if is_named && names.is_empty() => Ok(Side::Nothing),
            kind => Side::new(kind, names, default, marks_nulls, &declared, &mut fields),
        };
        let key = side(key, key_names, "key")?;
        let value = side(value, value_names, "value")?;
        if fields.is_empty() {
            return fail("the records have neither keys nor values: a file needs a column");
        }
        Ok(Rows { key, value, schema: Arc::new(Schema::new(fields)), rows: 0, bytes: 0 })
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Adds a record. Returns true if there are enough for a batch.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        self.key.push(key)?;
        self.value.push(value)?;
        self.rows += 1;
        self.bytes += key.len() + value.len();
        Ok(self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES)
    }

    /// Takes the records that were added; None if there are none.
    ///
    /// Fails for a text that is no value of its type, with the text.
    pub fn take(&mut self) -> Result<Option<RecordBatch>> {
        if self.rows == 0 {
            return Ok(None);
        }
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        self.key.finish(&mut arrays)?;
        self.value.finish(&mut arrays)?;
        (self.rows, self.bytes) = (0, 0);
        Ok(Some(RecordBatch::try_new(self.schema.clone(), arrays)?))
    }
}

/// Columns of the key or of the value.
enum Side {
    /// No column.
    Nothing,
    /// A number of the job's type: its bytes.
    Number(DataType, Vec<u8>),
    /// Columns of bytes: their texts and types. `is_escaped`: even a single column is.
    Columns { columns: Vec<(BinaryBuilder, DataType)>, is_escaped: bool },
}

/// Types of columns that the job declares, by name.
struct Declared(Vec<(String, DataType)>);

impl Declared {
    /// Parses `name=type` lines.
    fn parse(text: &str, setting: &str) -> Result<Declared> {
        let line = |line: &str| {
            let wrong = || Error::new(format!("{setting}: '{line}' is not NAME=TYPE, such as amount=Int64"));
            let (name, kind) = line.rsplit_once('=').ok_or_else(wrong)?;
            Ok((name.to_string(), kind.parse().map_err(|_| wrong())?))
        };
        Ok(Declared(text.lines().filter(|l| !l.trim().is_empty()).map(line).collect::<Result<_>>()?))
    }

    fn of(&self, name: &str) -> DataType {
        self.0.iter().find(|(n, _)| n == name).map_or(DataType::Utf8, |(_, kind)| kind.clone())
    }
}

impl Side {
    fn new(
        kind: &str,
        names: Vec<String>,
        default: &str,
        marks_nulls: bool,
        declared: &Declared,
        fields: &mut Vec<Field>,
    ) -> Result<Side> {
        let number = match kind {
            "none" => return Ok(Side::Nothing),
            "i32" => Some(DataType::Int32),
            "i64" => Some(DataType::Int64),
            "u32" => Some(DataType::UInt32),
            "u64" => Some(DataType::UInt64),
            "f32" => Some(DataType::Float32),
            "f64" => Some(DataType::Float64),
            _ => None,
        };
        let names = if names.is_empty() { vec![default.to_string()] } else { names };
        if let Some(number) = number {
            if names.len() != 1 {
                return fail(format!("the {default} is a number: it has one column, not {}", names.len()));
            }
            fields.push(Field::new(&names[0], number.clone(), false));
            return Ok(Side::Number(number, Vec::new()));
        }
        let columns = names.iter().map(|name| (BinaryBuilder::new(), declared.of(name)));
        let columns: Vec<_> = columns.collect();
        fields.extend(names.iter().zip(&columns).map(|(name, (_, kind))| Field::new(name, kind.clone(), true)));
        Ok(Side::Columns { columns, is_escaped: marks_nulls })
    }

    /// Adds the key or value of a record. Fails if it has another number of columns.
    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Side::Nothing => {}
            Side::Number(_, all) => all.extend_from_slice(bytes),
            Side::Columns { columns, is_escaped } => {
                if let ([(only, kind)], false) = (&mut columns[..], *is_escaped) {
                    // A single column stands as it is. Nothing of a type other than text is a null.
                    if bytes.is_empty() && !matches!(kind, DataType::Utf8 | DataType::Binary) {
                        only.append_null();
                    } else {
                        only.append_value(bytes);
                    }
                    return Ok(());
                }
                let n = columns.len();
                if memchr::memchr(b'\\', bytes).is_none() {
                    return push_plain(columns, bytes);
                }
                let mut cells = record::split(bytes);
                for (column, kind) in columns.iter_mut() {
                    match cells.next() {
                        None => return fail(format!("a record has fewer than {n} columns")),
                        Some(Some(cell)) if !cell.is_empty() || matches!(kind, DataType::Utf8 | DataType::Binary) => {
                            column.append_value(cell)
                        }
                        Some(_) => column.append_null(),
                    }
                }
                if cells.next().is_some() {
                    return fail(format!("a record has more than {n} columns"));
                }
            }
        }
        Ok(())
    }

    /// Takes the arrays of the records that were added.
    fn finish(&mut self, arrays: &mut Vec<ArrayRef>) -> Result<()> {
        match self {
            Side::Nothing => {}
            Side::Number(kind, bytes) => {
                let bytes = std::mem::take(bytes);
                arrays.push(match kind {
                    DataType::Int32 => numbers::<Int32Type, 4>(&bytes, i32::from_le_bytes),
                    DataType::Int64 => numbers::<Int64Type, 8>(&bytes, i64::from_le_bytes),
                    DataType::UInt32 => numbers::<UInt32Type, 4>(&bytes, u32::from_le_bytes),
                    DataType::UInt64 => numbers::<UInt64Type, 8>(&bytes, u64::from_le_bytes),
                    DataType::Float32 => numbers::<Float32Type, 4>(&bytes, f32::from_le_bytes),
                    _ => numbers::<Float64Type, 8>(&bytes, f64::from_le_bytes),
                });
            }
            Side::Columns { columns, .. } => {
                for (texts, kind) in columns {
                    arrays.push(typed(texts.finish(), kind)?);
                }
            }
        }
        Ok(())
    }
}

/// Adds a record whose columns have no escapes, and are no marked nulls.
fn push_plain(columns: &mut [(BinaryBuilder, DataType)], bytes: &[u8]) -> Result<()> {
    let n = columns.len();
    let mut ends = memchr::memchr_iter(b'\t', bytes).chain([bytes.len()]);
    let mut start = 0;
    for (column, kind) in columns {
        let Some(end) = ends.next() else { return fail(format!("a record has fewer than {n} columns")) };
        match &bytes[start..end] {
            b"" if !matches!(kind, DataType::Utf8 | DataType::Binary) => column.append_null(),
            cell => column.append_value(cell),
        }
        start = end + 1;
    }
    if ends.next().is_some() { fail(format!("a record has more than {n} columns")) } else { Ok(()) }
}

fn numbers<T: ArrowPrimitiveType, const N: usize>(bytes: &[u8], of: fn([u8; N]) -> T::Native) -> ArrayRef {
    let (chunks, _) = bytes.as_chunks::<N>();
    Arc::new(PrimitiveArray::<T>::from_iter_values(chunks.iter().map(|chunk| of(*chunk))))
}

/// Returns texts as values of a type. Fails for a text that is none, with the text.
fn typed(texts: BinaryArray, kind: &DataType) -> Result<ArrayRef> {
    if *kind == DataType::Binary {
        return Ok(Arc::new(texts));
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let strings = cast_with_options(&texts, &DataType::Utf8, &strict)
        .map_err(|_| Error::new("a column is not UTF-8: declare it as Binary, as in --type NAME=Binary"))?;
    match kind {
        DataType::Utf8 => Ok(strings),
        kind => Ok(cast_with_options(&strings, kind, &strict)?),
    }
}

/// Encoded bytes between the encoder and the engine.
#[derive(Clone, Default)]
pub struct Bin(Arc<Mutex<Vec<u8>>>);

impl Bin {
    /// Takes the bytes that were written.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(|e| e.into_inner()))
    }
}

impl Write for Bin {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
