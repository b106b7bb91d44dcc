//! Schema of a file as the source decodes it: codes, time zones, old times.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema, TimeUnit};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use crate::scan::Picked;

/// Returns the schema as this source decodes it: columns with nothing but dictionary pages are codes, and UTC is an
/// offset, for which no table of time zones is needed.
pub fn schema_to_decode(schema: &Schema, group: &RowGroupMetaData, picked: &Picked) -> Arc<Schema> {
    let coded = |field: &Field| {
        let is_text = matches!(field.data_type(), DataType::Utf8 | DataType::Binary);
        let path = [field.name().clone()];
        let column = group.columns().iter().find(|column| column.column_path().parts() == path);
        is_text && picked.paths().any(|p| p[..] == path) && column.is_some_and(has_only_codes)
    };
    let old_times = old_times(group);
    let fields = schema.fields().iter().map(|field| match coded(field) {
        true => {
            let codes = DataType::Dictionary(Box::new(DataType::Int32), Box::new(field.data_type().clone()));
            Arc::new(field.as_ref().clone().with_data_type(codes))
        }
        false => Arc::new(with_times(field, &mut Vec::new(), &old_times)),
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Returns the paths of columns of the old type of times.
fn old_times(group: &RowGroupMetaData) -> Vec<&[String]> {
    let is_old = |column: &&ColumnChunkMetaData| column.column_type() == PhysicalType::INT96;
    group.columns().iter().filter(is_old).map(|column| column.column_path().parts()).collect()
}

/// Returns the schema of a file in the types that this source gives.
pub fn given_schema(foot: &ArrowReaderMetadata) -> Schema {
    let Some(group) = foot.metadata().row_groups().first() else { return foot.schema().as_ref().clone() };
    let old_times = old_times(group);
    let fields = foot.schema().fields().iter().map(|field| with_times(field, &mut Vec::new(), &old_times));
    Schema::new(fields.collect::<Vec<_>>())
}

/// Returns the field with UTC as an offset, and with microseconds for `old_times`, wherever it is nested.
///
/// Nanoseconds since 1970 end in 2262, and dates such as 9999-12-31 are frequent in files with INT96.
fn with_times(field: &Field, path: &mut Vec<String>, old_times: &[&[String]]) -> Field {
    path.push(field.name().clone());
    let is_old = old_times.contains(&&path[..]);
    let mut below = |field: &FieldRef| Arc::new(with_times(field, path, old_times));
    let kind = match field.data_type() {
        DataType::Timestamp(_, None) if is_old => DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some("+00:00".into())),
        DataType::List(item) => DataType::List(below(item)),
        DataType::Map(entries, sorted) => DataType::Map(below(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(below).collect()),
        other => other.clone(),
    };
    path.pop();
    field.clone().with_data_type(kind)
}

/// Returns true if every data page of a column chunk has codes, as far as the metadata say.
pub fn has_only_codes(column: &ColumnChunkMetaData) -> bool {
    let codes = |encoding: Encoding| matches!(encoding, Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY);
    column.dictionary_page_offset().is_some()
        && column.page_encoding_stats_mask().is_some_and(|mask| mask.encodings().all(codes))
}
