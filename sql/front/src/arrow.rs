//! Columns of Yunti's executor as arrays of Arrow, and back; values of the planner.

use datafusion::common::ScalarValue;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::Value;

pub use yunti_sql_arrow::arrays::{self, array, batch_of, record_batch, vector};

/// Returns a value of the planner. Errors: `Internal` for a type without a shape.
pub fn value(of: &ScalarValue) -> Result<Value> {
    let array = of
        .to_array_of_size(1)
        .map_err(|_| Error::new(Code::Internal, format!("there are no values of type {}", of.data_type())))?;
    Ok(vector(&array)?.value(0))
}
