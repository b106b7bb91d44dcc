//! Writers: records in, the bytes of the output out (yt_writer of the C ABI).

use super::{Batch, Out};
use yunti_base::Result;

/// Its cursor has the form BYTES: what is appended is the output.
///
/// Of a class that writes whole parts an instance is made for each part; call order: `begin`, `write` for each batch of the part, `end`.
/// Else an instance is made for a part's `begin`, one for its `end`, and one for each stretch of its records.
pub trait Writer: Send {
    /// The head of a part.
    fn begin(&mut self, _bytes: &mut Out) -> Result<()> {
        Ok(())
    }
    fn write(&mut self, records: &Batch<'_>, bytes: &mut Out) -> Result<()>;
    /// The foot of a part.
    fn end(&mut self, _bytes: &mut Out) -> Result<()> {
        Ok(())
    }
}
