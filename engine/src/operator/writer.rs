//! Writers: they turn records into the bytes of the output (yt_writer of the C ABI).

use super::{Batch, Out};
use yunti_base::Result;

/// A writer of one part or stretch. Its cursor has the form BYTES: appended bytes are the output.
///
/// A class that writes whole parts has one instance for each part. Call order: `begin`, `write` for each batch of the
/// part, `end`.
///
/// Other classes have one instance for a part's `begin`, one for its `end`, and one for each stretch of its records.
pub trait Writer: Send {
    /// Writes the head of a part.
    fn begin(&mut self, _bytes: &mut Out) -> Result<()> {
        Ok(())
    }
    /// Writes one batch of records.
    fn write(&mut self, records: &Batch<'_>, bytes: &mut Out) -> Result<()>;
    /// Writes the foot of a part.
    fn end(&mut self, _bytes: &mut Out) -> Result<()> {
        Ok(())
    }
}
