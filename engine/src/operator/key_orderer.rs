//! Key orderers: a class's order of keys, given by an ordered key for each record. The bytes of ordered keys compare as
//! the keys do.

use super::{Batch, Out};
use yunti_base::Result;

/// Group length that makes the whole ordered key the group (`UINT32_MAX` in the C ABI).
pub const WHOLE_KEY: u32 = u32::MAX;

/// One instance of a key order class (`arrange` in the C ABI).
pub trait KeyOrderer: Send {
    /// Emits one record for each record of the batch, in the batch's order: the ordered key as key, and an empty value.
    ///
    /// The batch has keys and values. Ordered keys compare byte by byte, unsigned; a prefix comes before its
    /// extensions.
    ///
    /// `group[i]` is WHOLE_KEY before the call. The class may set it to the number of leading bytes that make up the
    /// group of record i. No group may be a prefix of another.
    ///
    /// The batch has keys and values. Fails with the class's own error.
    fn order_keys(&mut self, batch: &Batch<'_>, out: &mut Out, group: &mut [u32]) -> Result<()>;
}
