//! A function of another process as planner and executors know it.

use std::hash::{Hash, Hasher};
use std::io::Cursor;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_empty_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::common::{Result as FrontResult, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use yunti_base::{Code, Error, Result};

use super::channel::{Answer, Channel, Request, broken};
use crate::failure;

/// Characters of a name, at most.
const NAME_CHARS_MAX: usize = 200;

/// A function of another process.
#[derive(Debug)]
pub struct Remote {
    channel: Arc<Channel>,
    number: u32,
    name: String,
    /// Columns that a call sends: the arguments.
    arguments: SchemaRef,
    result: DataType,
    signature: Signature,
}

impl Remote {
    /// Returns the function that a schema describes: its arguments, then its result, and its name as metadata.
    pub fn new(channel: Arc<Channel>, number: u32, schema: &Schema) -> Result<Remote> {
        let name = schema.metadata().get("name").ok_or_else(|| broken("a function has no name".into()))?;
        let is_plain = |c: char| c.is_alphanumeric() || c == '_';
        let is_name = name.chars().all(is_plain) && name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !is_name || name.chars().count() > NAME_CHARS_MAX {
            let shown: String = name.chars().take(40).flat_map(char::escape_default).collect();
            return Err(Error::new(Code::Usage, format!("'{shown}' is no name for a function"))
                .hint("use letters, digits and underscores"));
        }
        let Some((result, arguments)) = schema.fields().split_last() else {
            return Err(broken(format!("function '{name}' has no result")));
        };
        let pure = schema.metadata().get("pure").is_none_or(|pure| pure != "false");
        let volatility = if pure { Volatility::Immutable } else { Volatility::Volatile };
        let types: Vec<DataType> = arguments.iter().map(|field| field.data_type().clone()).collect();
        let takes = if types.is_empty() { TypeSignature::Nullary } else { TypeSignature::Exact(types) };
        Ok(Remote {
            channel,
            number,
            // Names in a query are in small letters, unless they are quoted.
            name: name.to_lowercase(),
            arguments: Arc::new(Schema::new(arguments.to_vec())),
            result: result.data_type().clone(),
            signature: Signature::new(takes, volatility),
        })
    }

    /// Calls the function with columns of its arguments.
    fn call(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<ArrayRef> {
        if rows == 0 {
            return Ok(new_empty_array(&self.result));
        }
        let within = |error: Error| error.within(&format!("function '{}'", self.name));
        let not_sent = |e| Error::new(Code::Internal, format!("the arguments are not sent: {e}"));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.arguments.clone(), columns, &options);
        let batch = batch.map_err(|e| within(not_sent(e)))?;
        let write = || {
            let mut writer = StreamWriter::try_new(Vec::new(), &self.arguments)?;
            writer.write(&batch)?;
            writer.into_inner()
        };
        let payload = write().map_err(|e| within(not_sent(e)))?;
        match self.channel.call(Request::Call(self.number), &payload).map_err(within)? {
            Answer::Result(bytes) => self.result_of(bytes, rows).map_err(within),
            Answer::Failed(message, detail) => {
                let error = within(Error::new(Code::UserCode, message));
                Err(if detail.is_empty() { error } else { error.detail(detail) })
            }
        }
    }

    /// Returns the column of an answer.
    fn result_of(&self, bytes: Vec<u8>, rows: usize) -> Result<ArrayRef> {
        let reader = StreamReader::try_new(Cursor::new(bytes), None).map_err(|e| broken(e.to_string()))?;
        let batches = reader.collect::<std::result::Result<Vec<_>, _>>().map_err(|e| broken(e.to_string()))?;
        let [batch] = &batches[..] else {
            return Err(broken(format!("an answer has {} batches instead of one", batches.len())));
        };
        let [column] = batch.columns() else {
            return Err(broken(format!("an answer has {} columns instead of one", batch.num_columns())));
        };
        if batch.num_rows() != rows {
            return Err(Error::new(Code::UserCode, format!("it returned {} values for {rows} rows", batch.num_rows())));
        }
        if *column.data_type() != self.result {
            let types = (column.data_type(), &self.result);
            return Err(broken(format!("an answer is of type {}, not {}", types.0, types.1)));
        }
        Ok(column.clone())
    }
}

impl PartialEq for Remote {
    fn eq(&self, other: &Remote) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel) && self.number == other.number
    }
}

impl Eq for Remote {}

impl Hash for Remote {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl ScalarUDFImpl for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> FrontResult<DataType> {
        Ok(self.result.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> FrontResult<ColumnarValue> {
        let is_constant = self.signature.volatility == Volatility::Immutable
            && args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        let columns = args.args.into_iter().zip(self.arguments.fields()).map(|(value, field)| {
            let array = value.into_array(rows)?;
            match array.data_type() == field.data_type() {
                true => Ok(array),
                false => Ok(cast(&array, field.data_type())?),
            }
        });
        let columns = columns.collect::<FrontResult<Vec<_>>>()?;
        let result = self.call(columns, rows).map_err(failure::wrapped)?;
        match is_constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?)),
            false => Ok(ColumnarValue::Array(result)),
        }
    }
}
