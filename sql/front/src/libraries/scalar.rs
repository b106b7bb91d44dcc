//! A function of a class library for the planner, and for the general executor over arrays.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use yunti_sql_plan::Foreign;

use super::class::QueryClass;
use super::types::{coerced, data_type};
use crate::{arrow, failure};

/// A function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct ClassFunction {
    pub class: Arc<QueryClass>,
    signature: Signature,
}

impl ClassFunction {
    pub fn new(class: Arc<QueryClass>) -> ClassFunction {
        ClassFunction { class, signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for ClassFunction {
    fn name(&self) -> &str {
        self.class.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(data_type(self.class.signature().result))
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        coerced(self.class.name(), self.class.signature(), types)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let is_constant = arguments.args.iter().all(|of| matches!(of, ColumnarValue::Scalar(_)));
        let count = if is_constant { 1 } else { rows };
        let mut vectors = Vec::new();
        for argument in arguments.args {
            let array = argument.into_array(count)?;
            vectors.push(Arc::new(arrow::vector(&array).map_err(failure::wrapped)?));
        }
        let values = self.class.evaluate(&vectors, count).map_err(failure::wrapped)?;
        let array = arrow::array(&values, arguments.return_field.data_type()).map_err(failure::wrapped)?;
        match is_constant {
            true => Ok(ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&array, 0)?)),
            false => Ok(ColumnarValue::Array(array)),
        }
    }
}
