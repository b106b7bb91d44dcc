//! The value of a subquery that may have one row at most: an error if there are more.

use std::sync::{Arc, LazyLock};

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

static ONLY_ROW: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| Arc::new(ScalarUDF::from(OnlyRow::new())));

/// Returns the first of two arguments. The second is the number of rows.
pub fn only_row(value_and_rows: Vec<Expr>) -> Expr {
    ONLY_ROW.call(value_and_rows)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OnlyRow {
    signature: Signature,
}

impl OnlyRow {
    fn new() -> OnlyRow {
        OnlyRow { signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for OnlyRow {
    fn name(&self) -> &str {
        "only_row"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments.first().cloned().unwrap_or(DataType::Null))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [value, rows] = &arguments.args[..] else { return exec_err!("only_row takes a value and a number") };
        let rows = rows.to_array(arguments.number_rows)?;
        if rows.as_primitive::<Int64Type>().iter().flatten().any(|rows| rows > 1) {
            return exec_err!("a subquery that is a value gives more than one row; add limit 1 or an aggregate");
        }
        Ok(value.clone())
    }
}
