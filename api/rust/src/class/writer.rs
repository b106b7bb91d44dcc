//! Writers: user code that makes the bytes of an output, for formats that the engine does not know.

use std::ffi::CStr;

use super::Class;
use crate::error::{Result, fail};
use crate::layout::Batch;
use crate::out::Sink;
use crate::types::{Type, View};

/// A writer of part files.
///
/// Several objects write stretches of a part in parallel, so the bytes of a record must depend on that record alone.
/// With `WHOLE_PART`, one object writes a part in order: `begin`, `write` for each record, `end`.
pub trait Writer: Class {
    /// Type of the keys; [`Any`](crate::Any) takes all types.
    type Key: Type;
    /// Type of the values.
    type Value: Type;
    /// True if one object writes a part from begin to end.
    const WHOLE_PART: bool = false;
    /// End of the names of parts, before a codec's: `Some(c".xml")`.
    const EXTENSION: Option<&'static CStr> = None;

    /// Writes the head of a part, also of a part without records.
    fn begin(&mut self, _out: &mut Sink<'_>) -> Result<()> {
        Ok(())
    }
    /// Writes a record.
    fn write(&mut self, key: View<'_, Self::Key>, value: View<'_, Self::Value>, out: &mut Sink<'_>) -> Result<()>;
    /// Writes the foot of a part.
    fn end(&mut self, _out: &mut Sink<'_>) -> Result<()> {
        Ok(())
    }
}

/// Writes the records of a batch.
pub fn write<W: Writer>(writer: &mut W, batch: &Batch<'_>, out: &mut Sink<'_>) -> Result<()> {
    for i in 0..batch.len() {
        let (Some(key), Some(value)) = (W::Key::decode(batch.key(i)), W::Value::decode(batch.value(i))) else {
            return fail("the writer's keys or values differ in length from the job's: declare the job's types");
        };
        writer.write(key, value, out)?;
    }
    Ok(())
}
