//! Fields of a file for its description: names, types, and the types of their texts.

use arrow_schema::{DataType, FieldRef, Fields, Schema};
use serde_json::{Value, json};

/// Returns the columns of a schema with their types, and the types as which their texts are read back. A struct has its
/// members beside them.
pub fn fields(schema: &Schema) -> Value {
    all(schema.fields())
}

fn all(fields: &Fields) -> Value {
    let field = |field: &FieldRef| {
        let kind = described(field.data_type());
        let mut one =
            json!({ "name": field.name(), "type": kind.to_string(), "text_type": text_type(&kind).to_string() });
        if let DataType::Struct(members) = &kind {
            one["members"] = all(members);
        }
        one
    };
    fields.iter().map(field).collect()
}

/// Returns the type of the values of a column of codes, or the type.
fn described(kind: &DataType) -> DataType {
    match kind {
        DataType::Dictionary(_, of) => described(of),
        other => other.clone(),
    }
}

/// Returns the type as which the texts of a column are read back without loss.
pub fn text_type(kind: &DataType) -> DataType {
    match kind {
        // JSON stays JSON; a text of a union does not show its type.
        kind if kind.is_nested() => DataType::Utf8,
        DataType::Null | DataType::Interval(_) | DataType::Duration(_) => DataType::Utf8,
        DataType::FixedSizeBinary(_) => DataType::Binary,
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some("+00:00".into())),
        DataType::Float16 => DataType::Float32,
        other => other.clone(),
    }
}
