//! The index: key -> slot. No two keys of a table have one slot, so that a lookup compares one row.
//!
//! ```text
//!   hash     folded products of the key's bytes
//!   bucket   from the upper bits         each has a pilot, one byte: about two keys share it
//!   part     from the bucket             parts are built one by one, and lie one behind the other
//!   slot     from hash and pilot         pilots are chosen so that all keys of a part have slots of their own
//! ```
//!
//! The idea is from PTHash (Pibiri and Trani, SIGIR 2021) and PtrHash (Groot Koerkamp, SEA 2025): pilots of one byte
//! need one cache line a lookup, and what finds no pilot pushes smaller buckets out, as in a cuckoo hash.
//!
//! ```text
//!   keys.rs    bytes of a key, its hash
//!   order.rs   order of keys
//!   place.rs   part, bucket and slot
//!   pilots.rs  pilots of one part
//! ```

pub mod keys;
pub mod order;
pub mod pilots;
pub mod place;
