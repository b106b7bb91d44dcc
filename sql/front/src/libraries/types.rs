//! Types of class libraries as those of queries, and what becomes an argument of which type.

use arrow_schema::{DataType, TimeUnit};
use datafusion::common::{Result, plan_err};
use yunti_engine::operator::Signature;
use yunti_engine::operator::function::ValueType;

/// Returns the type of a value.
pub fn data_type(of: ValueType) -> DataType {
    match of {
        ValueType::Bool => DataType::Boolean,
        ValueType::I32 => DataType::Int32,
        ValueType::I64 => DataType::Int64,
        ValueType::F64 => DataType::Float64,
        ValueType::Text => DataType::Utf8,
        ValueType::Bytes => DataType::Binary,
        ValueType::Date => DataType::Date32,
        ValueType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
    }
}

/// Returns true if values of a type become an argument: numbers become wider, texts become dates as in comparisons.
fn becomes(from: &DataType, to: ValueType) -> bool {
    let is_text = matches!(from, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let is_binary = matches!(from, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    *from == DataType::Null
        || *from == data_type(to)
        || match to {
            ValueType::Bool => false,
            ValueType::I32 | ValueType::I64 => from.is_integer(),
            ValueType::F64 => from.is_numeric(),
            ValueType::Text => is_text,
            ValueType::Bytes => is_binary || is_text,
            ValueType::Date => is_text,
            ValueType::Timestamp => is_text || matches!(from, DataType::Timestamp(..) | DataType::Date32),
        }
}

/// Returns the types of the arguments for values of some types.
pub fn coerced(name: &str, signature: &Signature, from: &[DataType]) -> Result<Vec<DataType>> {
    let fits = from.len() == signature.arguments.len()
        && from.iter().zip(&signature.arguments).all(|(from, &to)| becomes(from, to));
    if !fits {
        let given: Vec<String> = from.iter().map(DataType::to_string).collect();
        return plan_err!("{name}{} does not take ({})", signature.text(), given.join(", "));
    }
    Ok(signature.arguments.iter().map(|&of| data_type(of)).collect())
}
