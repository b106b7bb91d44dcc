//! Arrangers: the order of keys as a class, by forms of them whose bytes order as the keys do.

use super::{Batch, Out};
use yunti_base::Result;

/// The group of a form is all of it.
pub const WHOLE_FORM: u32 = u32::MAX;

pub trait Arranger: Send {
    /// Emits one record for each of the batch (keys and values are stored in it), in their order: as key the form, as value nothing.
    /// Forms compare byte by byte, unsigned, a prefix before what it begins.
    ///
    /// `group[i]`, WHOLE_FORM before: how many leading bytes of the form tell groups apart. None of these beginnings may be a prefix
    /// of another.
    fn arrange(&mut self, batch: &Batch<'_>, out: &mut Out, group: &mut [u32]) -> Result<()>;
}
