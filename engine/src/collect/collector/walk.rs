//! From records in a block to their entries.

use super::super::entries::Entry;
use super::super::partition::Partition;
use super::super::store::bundle::{BUNDLE, Bundle};
use super::super::store::{STUB, Store};
use crate::bytes::{KeyOrder, RecordBytes};
use crate::memory::pool::UNIT_BYTES;
use crate::operator::Type;
use crate::operator::cursor::HEADER_BYTES;
use crate::operator::types::wrong_length;
use yunti_base::Result;

/// Makes entries from records with headers; normalises their keys in place.
pub(super) struct Walk<'w> {
    pub store: &'w Store,
    pub order: KeyOrder,
    pub types: (Type, Type),
    pub partition: &'w Partition,
    pub scratch: &'w mut Vec<u8>,
    /// Place of the block's first byte.
    pub place: u64,
    /// Number of the first record in the last call of the partitioner.
    pub number: usize,
}

impl Walk<'_> {
    /// Passes the entries of at most `room` records and bundles from `at` on to `put`, with their numbers.
    #[inline(always)]
    pub fn entries(
        self,
        bytes: &mut [u8],
        mut at: usize,
        room: usize,
        mut put: impl FnMut(usize, Entry),
    ) -> Result<Walked> {
        let Walk { store, order, types, partition, scratch, .. } = self;
        let wants_raw = partition.wants_raw();
        let (mut filled, mut bundled, mut total) = (0, 0, RecordBytes::default());
        while at < bytes.len() && filled < room {
            let number = self.number + filled;
            let header = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or([0; 8]));
            let (klen, vlen) = (header as u32, (header >> 32) as u32);
            let place = self.place + (at / UNIT_BYTES) as u64;
            if klen == STUB {
                let (large, large_klen) = store.bytes(place);
                let key = &large[..large_klen as usize];
                total.add(key.len(), large.len() - key.len());
                scratch.clear();
                if wants_raw {
                    scratch.extend_from_slice(key);
                    order.denormalise(scratch);
                }
                let prefix = order.prefix(key, 0);
                put(filled, Entry::new(prefix, partition.of(number, scratch, key, prefix), place));
                at += HEADER_BYTES;
            } else if klen & BUNDLE != 0 {
                let key_at = at + HEADER_BYTES;
                let end = key_at + (klen & !BUNDLE) as usize + vlen as usize;
                let bundle = Bundle::of(&bytes[key_at..end], (klen & !BUNDLE) as usize);
                let prefix = order.prefix(bundle.key, 0);
                put(filled, Entry::new(prefix, partition.of(number, bundle.key, bundle.key, prefix), place));
                bundled += bundle.count - 1;
                total += bundle.bytes();
                at = end.next_multiple_of(8);
            } else {
                if !types.0.fits(klen as usize) || !types.1.fits(vlen as usize) {
                    return Err(wrong_length(types, klen as usize, vlen as usize));
                }
                let key_at = at + HEADER_BYTES;
                let key = &mut bytes[key_at..key_at + klen as usize];
                let prefix;
                let part = if order.is_bytes() {
                    prefix = order.prefix(key, 0);
                    partition.of(number, key, key, prefix)
                } else {
                    scratch.clear();
                    if wants_raw {
                        scratch.extend_from_slice(key);
                    }
                    order.normalise(key);
                    prefix = order.prefix(key, 0);
                    partition.of(number, scratch, key, prefix)
                };
                put(filled, Entry::new(prefix, part, place));
                total.add(klen as usize, vlen as usize);
                at = (key_at + klen as usize + vlen as usize).next_multiple_of(8);
            }
            filled += 1;
        }
        Ok(Walked { at, entries: filled, records: filled + bundled, bytes: total })
    }
}

/// Result of a walk.
pub(super) struct Walked {
    /// Offset behind the last record.
    pub at: usize,
    /// Number of entries made.
    pub entries: usize,
    /// Number of records.
    pub records: usize,
    /// Bytes of their keys and values.
    pub bytes: RecordBytes,
}
