//! Values of a query as bytes of keys. A value that the column's type does not have has no bytes, and no row.

use yunti_engine::columns::vector::{Data, Value, Vector};
use yunti_sql_plan::{Bounds, Comparison};
use yunti_table::format::{Kind, Schema};
use yunti_table::index::keys::{encode, widened};

/// Returns a value as it is in a row.
fn in_row(kind: Kind, value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Bytes(bytes) if matches!(kind, Kind::Utf8 | Kind::Bytes) => Some(bytes.clone()),
        Value::Bool(value) if kind == Kind::Bool => Some(vec![u8::from(*value)]),
        Value::Int(value) => whole(kind, (*value).into()).map(|(bytes, width)| bytes[..width].to_vec()),
        Value::Decimal(value) => whole(kind, *value).map(|(bytes, width)| bytes[..width].to_vec()),
        _ => None,
    }
}

/// Returns the bytes of a whole number, of which the first ones are those of a row; None if the type does not have it.
#[inline]
fn whole(kind: Kind, value: i128) -> Option<([u8; 8], usize)> {
    let width = kind.width().filter(|_| !matches!(kind, Kind::Bool | Kind::F32 | Kind::F64 | Kind::Dict))?;
    let bits = 8 * width as u32 - u32::from(kind.is_signed());
    let least = if kind.is_signed() { -(1_i128 << bits) } else { 0 };
    (least..1 << bits).contains(&value).then(|| ((value as u64).to_le_bytes(), width))
}

/// Returns the bytes of a key for a look-up, from the values of its columns.
pub fn key(schema: &Schema, values: &[Value]) -> Option<Vec<u8>> {
    let columns = schema.keys.iter().map(|column| schema.columns[*column].kind);
    let values = columns.zip(values).map(|(kind, value)| in_row(kind, value)).collect::<Option<Vec<_>>>()?;
    let mut bytes = Vec::new();
    encode(schema, values.iter().map(Vec::as_slice), &mut bytes);
    (values.len() == schema.keys.len()).then_some(bytes)
}

/// First and last key of a range: values of the first columns of the key, as they are in a row.
pub struct Range {
    pub from: Option<Vec<Vec<u8>>>,
    pub to: Option<Vec<Vec<u8>>>,
}

/// Returns a range that has all keys within bounds; None if they do not limit the first column of the key.
pub fn range(schema: &Schema, bounds: &[Bounds]) -> Option<Range> {
    let mut same = Vec::new();
    for &column in &schema.keys {
        let kind = schema.columns[column].kind;
        let value = |wanted: &dyn Fn(Comparison) -> bool| {
            let mut own = bounds.iter().filter(|of| of.column == column && wanted(of.comparison));
            own.find_map(|of| in_row(kind, &of.value))
        };
        if let Some(value) = value(&|of| of == Comparison::Equal) {
            same.push(value);
            continue;
        }
        let from = value(&|of| matches!(of, Comparison::Greater | Comparison::GreaterOrEqual));
        let to = value(&|of| matches!(of, Comparison::Less | Comparison::LessOrEqual));
        let end = |own: Option<Vec<u8>>| {
            let values: Vec<Vec<u8>> = same.iter().cloned().chain(own).collect();
            (!values.is_empty()).then_some(values)
        };
        let range = Range { from: end(from), to: end(to) };
        return (range.from.is_some() || range.to.is_some()).then_some(range);
    }
    Some(Range { from: Some(same.clone()), to: Some(same) })
}

/// Keys of a batch that can have a row.
#[derive(Default)]
pub struct Keys {
    /// Number of each key in the batch.
    pub numbers: Vec<u32>,
    pub bytes: KeyBytes,
}

/// Bytes of keys.
pub enum KeyBytes {
    /// Whole numbers.
    Eight(Vec<[u8; 8]>),
    /// Any bytes: where each key ends.
    Any(Vec<u8>, Vec<usize>),
}

impl Default for KeyBytes {
    fn default() -> KeyBytes {
        KeyBytes::Any(Vec::new(), Vec::new())
    }
}

/// Returns the keys of a batch that can have a row, from a vector for each column of the key.
pub fn keys(schema: &Schema, vectors: &[&Vector]) -> Keys {
    let rows = vectors.first().map_or(0, |first| first.len());
    let kinds: Vec<Kind> = schema.keys.iter().map(|column| schema.columns[*column].kind).collect();
    if let ([vector], [kind]) = (vectors, &kinds[..])
        && kind.width().is_some()
    {
        return one_number(*kind, vector);
    }
    let mut numbers = Vec::with_capacity(rows);
    let (mut all, mut ends) = (Vec::new(), Vec::with_capacity(rows));
    // For each column of whole numbers its bytes, and the number of them.
    let mut wholes = vec![([0_u8; 8], 0_usize); kinds.len()];
    'rows: for row in 0..rows {
        for ((vector, kind), place) in vectors.iter().zip(&kinds).zip(&mut wholes) {
            if vector.is_null(row) {
                continue 'rows;
            }
            if kind.width().is_some() {
                match number(*kind, vector, row) {
                    Some(found) => *place = found,
                    None => continue 'rows,
                }
            }
        }
        let values =
            vectors.iter().zip(&kinds).zip(&wholes).map(|((vector, kind), (bytes, width))| match kind.width() {
                Some(_) => &bytes[..*width],
                None => vector.bytes(row),
            });
        encode(schema, values, &mut all);
        ends.push(all.len());
        numbers.push(row as u32);
    }
    Keys { numbers, bytes: KeyBytes::Any(all, ends) }
}

/// Returns a whole number or a boolean of a vector as it is in a row.
#[inline]
fn number(kind: Kind, vector: &Vector, row: usize) -> Option<([u8; 8], usize)> {
    match &vector.data {
        Data::Ints(values) => whole(kind, values[row].into()),
        Data::SmallDecimals(values) => whole(kind, values[row].into()),
        Data::Decimals(values) => whole(kind, values[row]),
        Data::Bools(values) if kind == Kind::Bool => Some((u64::from(values[row]).to_le_bytes(), 1)),
        _ => None,
    }
}

fn one_number(kind: Kind, vector: &Vector) -> Keys {
    let rows = vector.len();
    let (mut numbers, mut eights) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for row in (0..rows).filter(|row| !vector.is_null(*row)) {
        if let Some((bytes, width)) = number(kind, vector, row) {
            numbers.push(row as u32);
            eights.push(widened(kind, &bytes[..width]));
        }
    }
    Keys { numbers, bytes: KeyBytes::Eight(eights) }
}
