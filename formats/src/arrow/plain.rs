//! Columns in the forms that texts are made of: one kind of strings, of lists, of codes.
//!
//! ```text
//!   large, view, fixed strings, bytes and lists    strings, bytes, lists with offsets of 32 bits
//!   codes of any kind                              codes of 32 bits; the values as text, made once
//!   runs                                           their values
//!   timestamps of any zone                         of UTC: a moment has the same text whatever its zone is
//! ```

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, UnionArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, FieldRef};
use yunti_api::Result;

use crate::cells::json_texts;
use crate::failure::of_value;

/// Values of the codes of a column, and their texts.
#[derive(Default)]
pub struct Texts(Option<(ArrayRef, ArrayRef)>);

/// Returns a column of codes with texts as values; another column as it is.
///
/// `texts`: of the values of the column's batch before, which is mostly the same.
pub fn coded(array: &ArrayRef, texts: &mut Texts) -> Result<ArrayRef> {
    let Some(codes) = array.as_any_dictionary_opt() else { return Ok(array.clone()) };
    let values = codes.values();
    let same = |before: &ArrayRef| before.to_data().ptr_eq(&values.to_data());
    let made = match &texts.0 {
        Some((before, made)) if same(before) => made.clone(),
        _ => {
            let made = as_text(values)?;
            texts.0 = Some((values.clone(), made.clone()));
            made
        }
    };
    // A null among the values is one of the rows.
    let keys = cast(&codes.keys().slice(0, codes.keys().len()), &DataType::Int32)?;
    let keys = keys.as_primitive::<Int32Type>().clone();
    let coded = DictionaryArray::try_new(keys, made).map_err(|e| of_value(&e))?;
    Ok(Arc::new(coded))
}

fn as_text(values: &ArrayRef) -> Result<ArrayRef> {
    let values = plain(values)?;
    Ok(match values.data_type() {
        DataType::Utf8 | DataType::Binary => values,
        DataType::FixedSizeBinary(_) => cast(&values, &DataType::Binary)?,
        kind if kind.is_nested() => Arc::new(json_texts(&values).map_err(|e| of_value(&e))?),
        DataType::Boolean => cast(&values, &DataType::Utf8)?,
        _ => cast(&values, &DataType::Utf8)?,
    })
}

/// Returns the rows of a column in one of the forms above.
pub fn plain(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Dictionary(..) => coded(array, &mut Texts::default()),
        DataType::Union(fields, _) => {
            let union = array.as_union();
            let child = |(kind, field): (i8, &FieldRef)| {
                let plain = plain(union.child(kind))?;
                Ok(((kind, Arc::new(Field::new(field.name(), plain.data_type().clone(), true))), plain))
            };
            let (fields, children): (Vec<_>, Vec<_>) =
                fields.iter().map(child).collect::<Result<Vec<_>>>()?.into_iter().unzip();
            let (kinds, offsets) = (union.type_ids().clone(), union.offsets().cloned());
            let plain = UnionArray::try_new(fields.into_iter().collect(), kinds, offsets, children);
            Ok(Arc::new(plain.map_err(|e| of_value(&e))?))
        }
        kind => cast(array, &plain_type(kind)),
    }
}

fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(array.clone());
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let failed = |e: arrow_schema::ArrowError| {
        yunti_api::Error::unsupported(format!(
            "a column of the Arrow file has no text: {}",
            crate::failure::line(&e.to_string())
        ))
    };
    cast_with_options(array, to, &strict).map_err(failed)
}

/// Returns the form of a type; of a column of codes, the form of its values.
pub fn plain_type(kind: &DataType) -> DataType {
    let below = |field: &FieldRef| Arc::new(field.as_ref().clone().with_data_type(plain_type(field.data_type())));
    match kind {
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some("+00:00".into())),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => DataType::List(below(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(below).collect()),
        DataType::Map(entries, sorted) => DataType::Map(below(entries), *sorted),
        DataType::Dictionary(_, of) => plain_type(of),
        DataType::RunEndEncoded(_, values) => plain_type(values.data_type()),
        other => other.clone(),
    }
}
