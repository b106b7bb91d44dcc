//! Buckets in order, each sorted when it is requested, for one worker that takes all.

use super::bucket::{Bucket, Buckets};
use super::sort::sort_bucket;
use super::store::Store;
use super::vsort::Simd;
use crate::env::sync::Mutex;

/// Iterator-like access to sorted buckets.
pub struct SortedBuckets<'b> {
    store: &'b Store,
    simd: Simd,
    taken: std::vec::IntoIter<Mutex<Option<Bucket<'b>>>>,
    current: Option<Bucket<'b>>,
    buffer: Vec<u64>,
    scratch: Vec<(u64, u64)>,
}

impl<'b> SortedBuckets<'b> {
    /// Takes all buckets; the store holds their records.
    pub fn new(store: &'b Store, buckets: &'b mut Buckets<'_>) -> Self {
        SortedBuckets {
            store,
            simd: Simd::detect(),
            taken: buckets.take().into_iter(),
            current: None,
            buffer: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Returns the partition and the sorted places of the next non-empty bucket, or None after the last. Partitions
    /// ascend.
    pub fn next_bucket(&mut self) -> Option<(u32, &[u64])> {
        loop {
            let next = self.taken.next()?.into_inner().unwrap_or_else(|e| e.into_inner());
            if next.as_ref().is_some_and(|bucket| bucket.len() > 0) {
                self.current = next;
                break;
            }
        }
        let bucket = self.current.as_mut()?;
        let (shape, partition) = (bucket.shape, bucket.partition);
        let places = bucket.entries(&mut self.buffer);
        sort_bucket(self.store, self.simd, shape, places, &mut self.scratch);
        Some((partition, places))
    }
}
