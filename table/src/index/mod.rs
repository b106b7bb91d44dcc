//! The index: key -> slot. No two keys of a table have one slot, so that a lookup compares one row.
//!
//! ```text
//!   hash     XXH64 of the key's bytes
//!   part     from the upper 32 bits      parts are built one by one, and lie one behind the other
//!   bucket   from the lower 32 bits      each bucket has a pilot, one byte: about three keys share it
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
