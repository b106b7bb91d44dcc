//! Tests of expressions.

mod measure;
mod random;
mod reference;
mod tables;

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_engine::columns::vector::{Bytes, Data, Value, Vector};
use yunti_sql_plan::{Arithmetic, Batch, Comparison, Expression, Function, Operation};

pub fn column(number: usize, data_type: DataType) -> Expression {
    Expression::column(number, data_type)
}

pub fn literal(value: Value, data_type: DataType) -> Expression {
    Expression::new(data_type, Operation::Literal(value))
}

pub fn int(value: i64) -> Expression {
    literal(Value::Int(value), DataType::Int64)
}

pub fn text(value: &str) -> Expression {
    literal(Value::Bytes(value.into()), DataType::Utf8)
}

pub fn boolean(operation: Operation) -> Expression {
    Expression::new(DataType::Boolean, operation)
}

pub fn compare(how: Comparison, left: Expression, right: Expression) -> Expression {
    boolean(Operation::Compare(how, Box::new([left, right])))
}

pub fn arithmetic(how: Arithmetic, left: Expression, right: Expression, data_type: DataType) -> Expression {
    Expression::new(data_type, Operation::Arithmetic(how, Box::new([left, right])))
}

pub fn cast(value: Expression, data_type: DataType, lenient: bool) -> Expression {
    Expression::new(data_type, Operation::Cast { value: Box::new(value), lenient })
}

pub fn call(function: Function, arguments: Vec<Expression>, data_type: DataType) -> Expression {
    Expression::new(data_type, Operation::Call(function, arguments))
}

/// Returns a vector; None is a null.
pub fn ints(values: &[Option<i64>]) -> Vector {
    let nulls: Vec<bool> = values.iter().map(Option::is_none).collect();
    Vector {
        data: Data::Ints(values.iter().map(|value| value.unwrap_or(0)).collect()),
        nulls: Some(nulls).filter(|nulls| nulls.contains(&true)),
    }
}

pub fn texts(values: &[Option<&str>]) -> Vector {
    let nulls: Vec<bool> = values.iter().map(Option::is_none).collect();
    let bytes: Bytes = values.iter().map(|value| value.unwrap_or("").as_bytes()).collect();
    Vector { data: Data::Bytes(bytes), nulls: Some(nulls).filter(|nulls| nulls.contains(&true)) }
}

/// Returns the vector with codes: a dictionary of its values in reverse, and one more that no row has.
pub fn coded(vector: &Vector) -> Vector {
    let rows = vector.len() as u32;
    let reverse: Vec<u32> = (0..rows).rev().collect();
    let codes = reverse.clone();
    let data = match vector.data.select(&reverse) {
        Data::Bytes(values) => {
            let more = values.iter().chain([&b"not in a row"[..]]).collect::<Bytes>();
            Data::Codes(codes, Arc::new(more))
        }
        Data::Ints(mut values) => {
            values.push(i64::MAX);
            Data::NumberCodes(codes, Arc::new(Data::Ints(values)))
        }
        values => Data::NumberCodes(codes, Arc::new(values)),
    };
    Vector { data, nulls: vector.nulls.clone() }
}

pub fn batch(columns: Vec<Vector>) -> Batch {
    let rows = columns.first().map_or(0, Vector::len);
    Batch::of(columns, rows)
}

/// Returns all values of a vector.
pub fn values(vector: &Vector) -> Vec<Value> {
    (0..vector.len()).map(|row| vector.value(row)).collect()
}
